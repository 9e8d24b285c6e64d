"""`arena show`: the stored games, and each of them."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import BAD, Panel, command, complain
from arena.commands.options import Folder, Force, Trust, output_option, trust_run
from arena.commands.output import answered, print_table, quoted, say, say_written, tell, write_whole

LAST = 10  # improvements that are shown


@command(
    Panel.READ,
    examples="arena show runs/first\narena show runs/first 2v1-0007\narena show runs/first 2v1-0007 --ply 12\n"
    "arena show runs/first 2v1-0007 --ply 12 --output board.svg\n"
    "arena show runs/first 2v1-0007 --candidates",
    as_json=True,
)
def show(
    folder: Folder,
    id: Annotated[str | None, typer.Argument(help="A game's id. Default: list the games.", metavar="ID")] = None,
    ply: Annotated[int | None, typer.Option(help="Show the board after this many plies. Default: the end.")] = None,
    output: Annotated[Path | None, output_option("An SVG file for a drawing of the position.", ".svg")] = None,
    force: Force = False,
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Show the most visited moves of each search, with visits and values.")
    ] = False,
    trust: Trust = False,
) -> None:
    """Show a game: moves, decisions, board; or list a run's games."""
    from arena.config.config import games_played
    from arena.play.game_calls import started
    from arena.results.database.store import Store

    if id is None:
        _list_games(folder)
        return
    with Store.open(folder) as store:
        record = store.record(id)
        if answered(asdict(record)):
            return
        meta = store.meta
    if ply is not None and not 0 <= ply <= record.plies:
        raise typer.BadParameter(f"--ply {ply} is out of range: the game has 0 to {record.plies} plies")
    trust_run(folder, trust)
    game, record = started(games_played(meta)[record.condition], record)
    moves = [*record.opening_moves.split(), *record.moves.split()][: record.plies if ply is None else ply]
    if output:
        write_whole(output, game.picture(moves).encode(), force)
        say_written(output)
    if record.second is None:
        _show_run(game, record, moves)
    else:
        _show_game(game, record, moves)
    if candidates:
        _show_candidates(record)


def _list_games(folder: Path) -> None:
    from arena import results

    run = results.load(folder)
    print_table(run.table("games"))
    if len(run.games):
        tell(f"\nTo show one: arena show {quoted(folder)} {run.games['id'].iloc[-1]}")


def _board(game, moves: list[str]) -> str:
    return f"\n{game.render(game.read_line(' '.join(moves))[1])}\n"


def _show_game(game, record, moves: list[str]) -> None:
    """Print a game for two players: names, decisions, board, result."""
    from arena.results.database.record import in_words

    say(f"Game {record.id} of {game}, opening {record.opening}, seed {record.seed}")
    say(f"First: {record.first}\nSecond: {record.second}\nOpening: {record.opening_moves or 'none'}\n")
    if record.decisions:
        print_table(_decisions_frame(record), kind="moves")
    say(f"\nAfter {len(moves)} of {record.plies} plies:\n{_board(game, moves)}")
    say(in_words(record))


def _decisions_frame(record):
    """The decisions of a game as a table with the agents' names."""
    import pandas as pd

    frame = pd.DataFrame([asdict(decision) for decision in record.decisions])
    frame["agent"] = frame["side"].map({0: record.first, 1: record.second})
    main = ["ply", "agent", "move", "value"]
    others = frame.columns.difference([*main, "side", "seconds", "candidates"], sort=False)
    counts = [name for name in others if frame[name].any()]
    frame[counts] = frame[counts].convert_dtypes()
    return frame[[*main, *counts, "seconds"]]


def _show_candidates(record) -> None:
    """Print the candidates of every decision that has any, with a tick at the move played."""
    from arena.results.database.candidates import read

    agents = (record.first, record.second)
    rows = [
        {"ply": decision.ply, "agent": agents[decision.side], **one._asdict(), "played": played}
        for decision in record.decisions
        for one in read(decision.candidates)
        for played in ["✓" if one.move == decision.move else ""]
    ]
    if not rows:
        say("\nNo candidates are stored: the agents gave none.")
        return
    say("\nThe moves that each search visited most:\n")
    print_table(rows, kind="candidates")


def _show_run(game, record, moves: list[str]) -> None:
    """Print a one-player run: what the search found and when, the board, and the score if the rules confirm it."""
    say(f"Run {record.id} of {game}, seed {record.seed}\nAgent: {record.first}\n")
    for one in record.improvements[-LAST:]:
        say(f"  {one.score:>14,.6g}  after {one.playouts:,} playouts, {one.seconds:.2f} s")
    if record.improvements:
        typer.echo("")
    say(f"Moves: {' '.join(moves) or 'none'}")
    say(f"\nAfter {len(moves)} of {record.plies} moves:\n{_board(game, moves)}")
    if record.score is None:
        say(f"Broken off ({record.reason}): {record.detail}")
        return
    _, end = game.read_line(f"{record.opening_moves} {record.moves}")
    score = float(game.score(end)) if game.is_over(end) else None
    if score != record.score:
        found = "no end" if score is None else f"the score {score:g}"
        complain(f"the rules give {found}, but {record.score:g} is stored")
        raise typer.Exit(BAD)
    say(f"Score {score:,.10g} after {record.plies} moves, verified by the rules.")
