"""`arena solve`: the value of a position."""

import json
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.options import Json, Moves, SolvingAgent
from arena.commands.output import tell
from arena.commands.progress import solver_progress

UNSOLVED = 1

WORDS = {1: "win", 0: "draw", -1: "loss", None: "not solved"}


@command(
    examples="arena solve tictactoe\n"
    'arena solve "breakthrough(rows=5, columns=4)" --agent "dfpn(table=256, seconds=60)"\n'
    'arena solve connect4 --moves "44444 3 2252576253462244111563365343671351441" --shortest --json\n'
    "arena solve connect4 --agent alphabeta --file positions.txt"
)
def solve(
    game: Annotated[str, typer.Argument(help='A game such as "connect4(rows=6, columns=7)".', metavar="GAME")],
    moves: Moves = "",
    agent: SolvingAgent = "dfpn",
    shortest: Annotated[bool, typer.Option("--shortest", help="Find the fewest plies to the end, too.")] = False,
    goal: Annotated[str, typer.Option(help="Settle only whether the player to move reaches a win, or a draw.")] = "",
    one: Annotated[
        bool, typer.Option("--one", help="Find one best move, rather than all: often much quicker.")
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option(help="Solve the positions of a file, lines of moves and score as of Connect 4's tests."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Solve a position: its value, the best moves and the line of best play.

    Ends with 1 if the agent's budget (of nodes or seconds) did not suffice, or a position of a file has another score.
    Without a budget, it goes on until the position is solved or the memory is full.
    """
    import agents
    import games
    from agents.core.solve import solver_of

    made = games.make(game)
    solver = solver_of(agents.make(agent), made)
    if file and (moves or goal or one or shortest):
        raise typer.BadParameter("--file solves the positions of a file: it goes with --agent and --json only")
    if file:
        _check_file(solver, file, agent, as_json)
    else:
        _solve_one(
            solver, moves, agent, {"goal": goal, "shortest": shortest, "moves": "one" if one else "all"}, as_json
        )


def _solve_one(solver, moves, agent, question, as_json) -> None:
    from agents.core.solve import solve as solve_position

    made, state = solver.game.read_line(moves)
    if solver.game.is_over(state):
        raise typer.BadParameter(f"the game is over after {moves!r}: there is nothing to solve")
    with solver_progress(solver):
        solver.warm(state)
        solution = solve_position(solver, state, **question)
    report = _report(solver.game, state, agent, len(made), solution)
    if as_json:
        typer.echo(json.dumps(report, indent=1))
    else:
        _print_solution(solver.game, state, report)
    if solution.unsolved:
        raise typer.Exit(UNSOLVED)


def _report(game, state, agent, plies, solution) -> dict:
    """A solution in plain values, its moves by name."""
    line, at = [], state
    for move in solution.principal_variation:
        line.append(game.move_name(at, move))
        at = game.after(at, move)
    return {
        "game": str(game), "agent": agent, "after": plies, "player": int(game.player(state)), "value": solution.value,
        "goals": solution.goals, "best": [game.move_name(state, move) for move in solution.best], "plies": solution.plies,
        "nodes": solution.nodes, "seconds": solution.seconds, "peak_bytes": solution.peak_bytes,
        "principal_variation": line, "unsolved": solution.unsolved,
    }  # fmt: skip


def _print_solution(game, state, report) -> None:
    side = ("first", "second")[report["player"]]
    typer.echo(f"{report['game']}, after {report['after']} plies, the {side} player to move:\n\n{game.render(state)}\n")
    known = {name: "yes" if held else "no" for name, held in report["goals"].items() if held is not None}
    rows = {"value": WORDS[report["value"]]}
    if report["value"] is None:
        rows |= {f"at least a {name}": answer for name, answer in known.items()}
    if report["plies"] is not None:
        rows["plies to the end"] = report["plies"]
    if report["best"]:
        rows |= {"best moves": " ".join(report["best"]), "line": " ".join(report["principal_variation"])}
    rows |= {"nodes": f"{report['nodes']:,}", "seconds": f"{report['seconds']:.3f}"}
    rows["memory"] = f"{report['peak_bytes'] / 2**20:.2f} MiB"
    if report["unsolved"]:
        rows["not all found"] = report["unsolved"]
    for name, words in rows.items():
        typer.echo(f"{name:<18}{words}")


def _check_file(solver, path, agent, as_json) -> None:
    from arena.study.solving import check_positions, read_positions

    known = read_positions(path)
    with solver_progress(solver) as status:
        checked = check_positions(solver, known, path, lambda one: status.update(f"line {one.known.line} of {path}"))
    wrong = [entry for entry in checked if entry.found != entry.known.score]
    count = len(checked)
    report = {
        "game": str(solver.game), "agent": agent, "positions": count, "correct": count - len(wrong),
        "accuracy": (count - len(wrong)) / count, "nodes": sum(entry.nodes for entry in checked) / count,
        "seconds": sum(entry.seconds for entry in checked) / count,
        "wrong": [{"line": e.known.line, "moves": e.known.moves, "score": e.known.score, "found": e.found} for e in wrong],
    }  # fmt: skip
    if as_json:
        typer.echo(json.dumps(report, indent=1))
    else:
        typer.echo(f"{report['correct']} of {count} scores are right ({report['accuracy']:.1%}), by {agent}")
        typer.echo(f"{report['nodes']:,.1f} nodes and {report['seconds']:.6f} s a position")
        for entry in wrong:
            tell(
                f"{path}:{entry.known.line}: {entry.known.moves} has the score {entry.known.score}, found: {entry.found}"
            )
    if wrong:
        raise typer.Exit(UNSOLVED)
