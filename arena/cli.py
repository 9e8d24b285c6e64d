"""The command `arena`: imports every file of `arena.commands`, which registers its command.

Commands import Numba, NumPy, pandas and SciPy themselves, so that `arena --help` is quick.
"""

import importlib
import pkgutil
import signal
import sys

from arena import commands
from arena.commands.application import app
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.specialized import mode_of_environment

for module in pkgutil.iter_modules(commands.__path__, "arena.commands."):
    importlib.import_module(module.name)


def main() -> None:
    """Run the command that the user typed."""
    try:
        mode_of_environment()
    except UserError as error:
        print(f"arena: {error}", file=sys.stderr)
        sys.exit(2)
    try:
        app(prog_name="arena")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a late Ctrl-C changes no exit code
        exec("")  # nor one within an `exec` of a text, as in making a dataclass, which Python remembers until the next
