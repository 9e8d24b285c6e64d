"""`python -m arena`: the command `arena`, by the interpreter of your choice."""


def main() -> None:
    """Imported here, since worker processes import this file too."""
    import os
    import signal

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small here, and more threads take longer
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends the process without a word until a command runs
    from arena.cli import main as run

    run()


if __name__ == "__main__":  # not when multiprocessing imports the file into a worker
    main()
