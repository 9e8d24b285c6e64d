"""Whether a command accepts the options that its messages name."""

import functools
import re

import typer.testing

from arena.cli import app

NAMED = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
COMMAND = re.compile(r"\barena ((?:[a-z-]+ ?){1,2})")
OF_OTHERS = {"--shm-size"}  # of Docker
SENTENCE = re.compile(r"[;.] |\n|$")


def refused(arguments: list[str], text: str) -> list[str]:
    """Options that a message names and neither the command typed nor the one named before them in the sentence has.

    What was typed is no advice: "No such option: --foo" names what is wrong.
    """
    found = []
    usage = re.search(r"^Usage: arena ([a-z -]+)", text, re.M)  # of a command by its older name, too
    typed = usage[1].split() if usage else arguments
    for sentence in SENTENCE.split(text):
        for option in NAMED.finditer(sentence):
            before = COMMAND.findall(sentence[: option.start()])
            words = before[-1].split() if before else typed
            known = _options(*_named(words)) | OF_OTHERS
            if option[0] not in known and not any(option[0] in one for one in arguments):
                found.append(f"{option[0]} of arena {' '.join(_named(words))}")
    return found


def _named(words: list[str]) -> tuple[str, ...]:
    """The command among words: `study schemes --games 3` is study, schemes."""
    command, path = typer.testing._get_command(app), []
    for word in words:
        subcommands = getattr(command, "commands", {})
        if word not in subcommands:
            break
        command = subcommands[word]
        path.append(word)
    return tuple(path)


@functools.cache
def _options(*path: str) -> frozenset[str]:
    command = typer.testing._get_command(app)
    for word in path:
        command = command.commands[word]
    own = (option for parameter in command.params for option in [*parameter.opts, *parameter.secondary_opts])
    return frozenset({*own, "--help"})
