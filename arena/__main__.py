"""`python -m arena`: the command `arena`, by the interpreter of your choice."""

from arena.cli import main

if __name__ == "__main__":  # not where multiprocessing imports it into a process of its own
    main()
