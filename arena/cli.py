"""The command `arena`.

Numba, pandas and SciPy are imported by the commands that need them, so that help is quick.
"""

import importlib

from arena.commands.application import app

COMMANDS = (  # in the order of help
    "demo", "run", "curve", "table", "show", "solve", "grade", "tablebase", "book", "tree", "exercise", "report",
    "status", "elo", "sprt", "export", "import_", "play", "scaling", "bench", "list", "cache",
)  # fmt: skip

for module in COMMANDS:
    importlib.import_module(f"arena.commands.{module}")


def main() -> None:
    """Entry point of the console command."""
    app()


if __name__ == "__main__":
    main()
