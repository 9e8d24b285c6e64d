"""`arena solve`: the value of a position."""

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Cluster, Force, Game, Moves, SolvingAgent
from arena.commands.output import answered, check_free, say, tell, wants_json, write_whole
from arena.commands.progress import progress_line, solver_progress

UNSOLVED = 1  # the exit code
WORDS = {1: "win", 0: "draw", -1: "loss", None: "not solved"}

Shortest = Annotated[bool, typer.Option("--shortest", help="Also find the fewest plies to the end.")]
Goal = Annotated[str, typer.Option(help="Only decide whether the player to move reaches at least a win, or a draw.")]
One = Annotated[bool, typer.Option("--one", help="Find one best move instead of all: often much quicker.")]
PositionsFile = Annotated[
    Path | None,
    typer.Option(help="Solve the positions of a file: each line has moves and a score, as in Connect 4's tests."),
]
Certificate = Annotated[
    Path | None, typer.Option(help="Write a certificate of who wins to a file, for `arena verify`.")
]


@command(
    Panel.STUDY,
    examples="arena solve tictactoe\n"
    'arena solve "breakthrough(rows=5, columns=4)" --agent "dfpn(table=256, seconds=60)"\n'
    'arena solve connect4 --moves "44444 3 2252576253462244111563365343671351441" --shortest --json\n'
    "arena solve connect4 --agent alphabeta --file positions.txt\n"
    "arena solve connect4 --agent alphabeta --file positions.txt --cluster local:2\n"
    'arena solve "domineering(rows=5, columns=4)" --agent "jlpns(workers=2)" --cluster local:2\n'
    'arena solve "breakthrough(rows=5, columns=4)" --agent alphabeta --proof b54.proof',
    as_json=True,
)
def solve(
    game: Game,
    moves: Moves = "",
    agent: SolvingAgent = "dfpn",
    shortest: Shortest = False,
    goal: Goal = "",
    one: One = False,
    file: PositionsFile = None,
    proof: Certificate = None,
    cluster: Cluster = None,
    force: Force = False,
) -> None:
    """Solve a position: its value, the best moves, the best line.

    Without a budget, the search ends when the position is solved or the memory is full.  The exit code is 1 if the
    agent's budget of nodes or seconds was too small, or if a position of a file has another score.
    """
    from arena import agents, games
    from arena.agents.core.solve import solver_of
    from arena.agents.minimax.strategy import check_certifies

    solver = solver_of(agents.make(agent), games.make(game))
    check_free(proof, force)
    if file and (moves or goal or one or shortest or proof):
        raise typer.BadParameter(
            "--file solves the positions of a file: it goes with --agent, --cluster and --json only"
        )
    if proof:
        check_certifies(solver)
    if file:
        _check_file(solver, file, agent, cluster)
    else:
        question = {"goal": goal, "shortest": shortest, "moves": "one" if one else "all"}
        with on_cluster(solver, cluster):
            _solve_one(solver, moves, agent, question)
        if proof:
            _write_certificate(solver, moves, proof, force)


def shares_jobs(solver) -> bool:
    """Whether a solver's work is jobs that a cluster's workers can do."""
    from arena.agents.proof.jlpns import JLPNS

    agent = getattr(solver, "agent", None)
    return isinstance(agent, JLPNS) and not agent.streams and not agent.simulated


def on_cluster(solver, cluster: str | None):
    """A context in which a cluster's workers, if one is named, do a solver's jobs."""
    if not cluster:
        return nullcontext()
    if not shares_jobs(solver):
        raise typer.BadParameter(
            "--cluster shares out the positions of --file, or the jobs of an agent such as jlpns(workers=2); "
            f"a search by {solver.agent} is done on one machine"
        )
    from arena.cluster.proof_jobs import jobs_on

    return jobs_on(cluster, solver)


def _solve_one(solver, moves: str, agent: str, question: dict) -> None:
    """Solve the position after some moves, and print the solution."""
    from arena.agents.core.solve import solve as solve_position

    line, state = solver.game.read_line(moves)
    if solver.game.is_over(state):
        raise typer.BadParameter(f"the game is over after {moves!r}: there is nothing to solve")
    if not solver.budget.given():
        tell("No budget is given: the search ends when the position is solved or the memory is full.")
    with solver_progress(solver):
        solver.warm(state)
        solution = solve_position(solver, state, **question)
    report = _report(solver.game, state, agent, len(line), solution)
    if not answered(report):
        _print_solution(solver.game, state, report)
    if solution.unsolved:
        raise typer.Exit(UNSOLVED)


def _write_certificate(solver, moves: str, path: Path, force: bool) -> None:
    from arena.agents.minimax.strategy import certificate
    from arena.study.positions import names_of

    with progress_line("making the certificate"):
        made = certificate(solver, " ".join(names_of(solver.game, solver.game.read_line(moves)[0])))
        data = made.packed()
    write_whole(path, data, force)
    if not wants_json():
        say(f"{'certificate':<18}{len(made.moves):,} moves, {made.positions:,} positions, {len(data):,} bytes: {path}")


def _report(game, state, agent: str, plies: int, solution) -> dict:
    """A solution as plain values, with moves by name."""
    from arena.study.positions import names_of

    about = {"game": str(game), "agent": agent, "after": plies, "player": int(game.player(state))}
    best = [game.move_name(state, move) for move in solution.best]
    line = names_of(game, solution.principal_variation, state)
    return about | asdict(solution) | {"best": best, "principal_variation": line}


def _print_solution(game, state, report: dict) -> None:
    """Print the position and a line for each known fact."""
    side = ("first", "second")[report["player"]]
    say(f"{report['game']}, after {report['after']} plies, the {side} player to move:\n\n{game.render(state)}\n")
    rows = {"value": WORDS[report["value"]]}
    if report["value"] is None:
        known = {name: held for name, held in report["goals"].items() if held is not None}
        rows |= {f"at least a {name}": "yes" if held else "no" for name, held in known.items()}
    if report["plies"] is not None:
        rows["plies to the end"] = report["plies"]
    if report["best"]:
        rows |= {"best moves": " ".join(report["best"]), "line": " ".join(report["principal_variation"])}
    rows |= {"nodes": f"{report['nodes']:,}", "seconds": f"{report['seconds']:.3f}"}
    if report["virtual_time"] is not None:
        rows["virtual time"] = f"{report['virtual_time']:,} nodes"
    rows["memory"] = f"{report['peak_bytes'] / 2**20:.2f} MiB"
    if report["unsolved"]:
        rows["not all found"] = report["unsolved"]
    for name, words in rows.items():
        say(f"{name:<18}{words}")


def _check_file(solver, path: Path, agent: str, cluster: str | None) -> None:
    """Solve the positions of a file, and print how many scores are right."""
    from arena.study.positions import check_positions, read_positions

    known = read_positions(path)
    with solver_progress(solver) as show:

        def show_line(one):
            show(f"line {one.known.line} of {path}")

        if cluster:
            from arena.study.positions_on_cluster import check_positions_on

            checked = check_positions_on(cluster, str(solver.game), agent, known, path, show_line)
        else:
            checked = check_positions(solver, known, path, show_line)
    report = _report_of_file(solver, agent, checked)
    if not answered(report):
        _print_report_of_file(report, path)
    if report["wrong"]:
        raise typer.Exit(UNSOLVED)


def _report_of_file(solver, agent: str, checked) -> dict:
    """The number of positions solved right, the cost, and the wrong ones."""
    wrong, count = [one for one in checked if one.found != one.known.score], len(checked)
    return {
        "game": str(solver.game),
        "agent": agent,
        "positions": count,
        "correct": count - len(wrong),
        "accuracy": (count - len(wrong)) / count,
        "nodes": sum(one.nodes for one in checked) / count,
        "seconds": sum(one.seconds for one in checked) / count,
        "wrong": [
            {"line": one.known.line, "moves": one.known.moves, "score": one.known.score, "found": one.found}
            for one in wrong
        ],
    }


def _print_report_of_file(report: dict, path: Path) -> None:
    right = f"{report['correct']} of {report['positions']} scores are right ({100 * report['accuracy']:.1f} %)"
    say(f"{right}, by {report['agent']}")
    say(f"{report['nodes']:,.1f} nodes and {report['seconds']:.6f} s a position")
    for one in report["wrong"]:
        tell(f"{path}:{one['line']}: {one['moves']} has the score {one['score']}, found: {one['found']}")
