"""Commands as a person types them."""

import json

from typer.testing import CliRunner

from arena.cli import app


def call(*arguments):
    """What comes of `arena` with these words; its `output`, `stdout`, `stderr` and `exit_code`."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def as_json(*arguments):
    """What a command prints with --json, which must go well."""
    done = call(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)
