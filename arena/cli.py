"""The command `arena`.

Numba, pandas and SciPy are imported by the commands that need them, so that help is quick.
"""

import importlib

from arena.commands.common import app

MODULES = (  # in the order in which help lists their commands
    "play", "read", "solve", "prepare", "study", "solo", "report", "statistics", "records", "duel", "compare", "lists",
    "speed",
)  # fmt: skip

for module in MODULES:
    importlib.import_module(f"arena.commands.{module}")


def main() -> None:
    """Entry point of the console command."""
    app()


if __name__ == "__main__":
    main()
