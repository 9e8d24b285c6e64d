"""The line that tells how far a solver is."""


def solver_progress(solver):
    """A line that tells how far the solver is, while it works; nothing where no terminal is."""
    from rich.console import Console

    console = Console(stderr=True)
    status = console.status("")

    def told(progress):
        numbers = "" if progress.proof is None else f"proof {progress.proof:,}, disproof {progress.disproof:,}, "
        status.update(f"{numbers}{progress.nodes:,} nodes, {progress.seconds:.1f} s")

    solver.progress = told
    return status
