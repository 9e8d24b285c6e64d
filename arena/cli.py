"""The command `arena`.  Numba, pandas and SciPy are imported by the commands that need them, so that help is quick."""

# in the order in which help lists them
from arena.commands import play, read, solve, prepare, study, solo, report, statistics, records, duel, compare, lists, speed  # noqa: F401, I001
from arena.commands.common import app


def main() -> None:
    """Entry point of the console command."""
    app()


if __name__ == "__main__":
    main()
