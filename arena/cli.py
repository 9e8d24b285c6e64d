"""The command `arena`: every file of `arena.commands` is imported, and registers the command that it defines.

Numba, NumPy, pandas and SciPy are imported inside the commands that need them, so that `arena --help` is quick.
"""

import importlib
import pkgutil

from arena import commands
from arena.commands.application import app

for module in pkgutil.iter_modules(commands.__path__, "arena.commands."):
    importlib.import_module(module.name)


def main() -> None:
    """Run the command that the user typed."""
    app()


if __name__ == "__main__":
    main()
