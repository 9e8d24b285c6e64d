"""`python -m arena`: the command `arena`, by the interpreter of your choice."""


def main() -> None:
    """Imported here, since worker processes import this file too."""
    from arena.cli import main as run

    run()


if __name__ == "__main__":  # not when multiprocessing imports the file into a worker
    main()
