"""`python -m arena`: the command `arena`, by the interpreter of your choice."""


def main() -> None:
    """Run the command that the user typed; it is imported here, since worker processes import this file, too."""
    from arena.cli import main as run

    run()


if __name__ == "__main__":  # not where multiprocessing imports it into a process of its own
    main()
