"""`arena play`: a person against an agent."""

import secrets
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import INTERRUPTED, VOID, Panel, command, complain
from arena.commands.dialogue import Dialogue
from arena.commands.options import AgentArgument, Game, Moves, budget_of, line_of
from arena.commands.output import check_writable, say, tell, write_whole
from arena.commands.progress import progress_line

Side = StrEnum("Side", ["first", "second", "random"])
MARKS = {".jsonl": "\n", ".pgn": "[Event ", ".sgf": "(;FF["}  # text that each game of a file has once

YourSide = Annotated[Side, typer.Option(help="Your side; first moves first.")]
Budget = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND=AMOUNT", help="The agent's budget for a move: playouts=1000, nodes=..., depth=..., seconds=..."
    ),
]
Seed = Annotated[int | None, typer.Option(help="The seed of the agent, the dice and a random side. Default: drawn.")]


@command(
    Panel.PLAY,
    examples='arena play breakthrough\narena play breakthrough "uct(seconds=2)"\n'
    "arena play connect4 alphabeta --side second --budget depth=6\n"
    "arena play hex uct --save games.jsonl --name Ada",
)
def play(
    game: Game,
    agent: AgentArgument = "",
    side: YourSide = Side.first,
    budget: Budget = None,
    seed: Seed = None,
    moves: Moves = "",
    name: Annotated[str, typer.Option(help="Your name in the record.")] = "person",
    save: Annotated[Path | None, typer.Option(help="A .jsonl, .pgn or .sgf file to add the game's record to.")] = None,
) -> None:
    """Play a game against an agent at the terminal, with hints.

    The agent shows the value of the position for itself (-1 lost, 1 won), what it searched, and the moves it expects.
    In a game for one player you play alone, with the agent's hints.  Without AGENT it is uct, for one player nmcs.
    Records in JSON lines can be rated: arena import games.jsonl.
    """
    from arena import agents, games

    made = games.make(game)
    opponent = agents.make(agent or ("uct" if made.players == 2 else "nmcs"))
    if not name.strip() or not name.isprintable() or name == str(opponent):
        raise typer.BadParameter(f"--name {name!r} must be printable text, and not the agent's name")
    if save:
        _check_file(save, made)
    seed = secrets.randbelow(10**6) if seed is None else seed
    if not 0 <= seed < 2**63:
        raise typer.BadParameter(f"--seed {seed} is out of range: it can be 0 to 2**63 - 1")
    opening = line_of(made, moves)[0]
    opponent = _with_budget(opponent, budget)
    place = _place(side, seed, made)
    if reason := opponent.refuses(made):
        raise agents.Unsuited(reason)
    _warm(made, opponent)
    _play(made, opponent, save, person=place, seed=seed, name=name, opening=opening)


def _play(game, agent, save: Path | None, **how) -> None:
    """Play the game, save its record, and exit with a code if the agent failed or the person interrupted."""
    from arena.play.duel import Duel
    from arena.play.referee import Forfeit

    try:
        duel = Duel(game, agent, **how)
    except Forfeit as error:
        complain(f"the agent failed: {error}")
        raise typer.Exit(VOID) from None
    if duel.is_over:
        raise typer.BadParameter("--moves: the game is over after these moves")
    failed, interrupted = None, False
    try:
        Dialogue(duel).run()
    except Forfeit as error:
        failed = error
    except KeyboardInterrupt:
        interrupted = True
        typer.echo()
    finally:
        duel.close()
    _end(duel, save)
    if failed:
        complain(f"the agent failed: {failed}")
    if failed or interrupted:
        raise typer.Exit(VOID if failed else INTERRUPTED)


def _place(side: Side, seed: int, game) -> int:
    """The number of the person's side; 0 moves first."""
    from arena.games.core.random import random_below, stream

    if game.players == 1:
        if side is Side.second:
            raise typer.BadParameter(f"--side second: {game} is a game for one player")
        return 0
    return int(random_below(stream(seed, "side"), 2)) if side is Side.random else list(Side).index(side)


def _with_budget(agent, given: list[str] | None):
    """The agent with its own budget, the given one, or a default, which is announced."""
    from dataclasses import replace

    from arena.agents import Budget
    from arena.play.duel import usual_budget

    usual = usual_budget(agent)
    if not usual:
        if given:
            raise typer.BadParameter(f"--budget: {agent} has its own budget, or needs none")
        return agent
    if given:
        try:
            usable = agent.budget(Budget(**budget_of(given)))
        except TypeError:  # unknown kind
            raise typer.BadParameter(f"--budget {' '.join(given)}: {agent} knows {', '.join(agent.budgets)}") from None
        except ValueError as error:
            raise typer.BadParameter(f"--budget: {error}") from None
        return replace(agent, **usable.given())
    for kind, amount in usual.items():
        tell(f"{agent} has no budget: it takes {kind}={amount:g} for a move. To change that: --budget {kind}=...")
    return replace(agent, **usual)


def _warm(game, agent) -> None:
    """Compile what the agent runs before the clock counts; a failure will show in the game."""
    from arena.config.config import Seat
    from arena.play.warming import warm

    with progress_line():
        warm([game], Seat(str(agent), agent, agent.budget()))


def _end(duel, save: Path | None) -> None:
    say(_result_in_words(duel))
    say(f"Moves: {' '.join(duel.names) or 'none'}")
    if save:
        from arena.lab.saving import text_of

        number = _games_in(save)
        before = save.read_bytes() if save.exists() else b""
        if before and not before.endswith(b"\n"):
            before += b"\n"
        write_whole(save, before + text_of(duel.game, duel.recorded(number), save.suffix.lower()[1:]), force=True)
        tell(f"The record is game {number + 1} in {save}.")


def _result_in_words(duel) -> str:
    from arena.results.database.record import Reason

    record = duel.recorded()
    if record.reason == Reason.UNFINISHED:
        return f"Broken off after {record.plies} plies."
    if duel.game.players == 1:
        result = "No score" if record.score is None else f"Score {record.score:g}"
    elif record.outcome == 0.5:
        result = "Draw"
    else:
        result = "You win" if (record.outcome == 1) == (duel.person == 0) else f"{duel.agent} wins"
    return f"{result} ({record.reason}), after {record.plies} plies."


def _check_file(path: Path, game) -> None:
    """BadParameter if the game's record cannot be added to the file."""
    from arena.results.files.sgf import games_with_sgf

    if path.suffix.lower() not in MARKS:
        raise typer.BadParameter(f"--save {path} must end in {', '.join(MARKS)}")
    if path.suffix.lower() == ".sgf" and game.sgf_number is None:
        known = ", ".join(games_with_sgf())
        raise typer.BadParameter(f"--save {path}: {game} has no records in SGF; those that have are {known}")
    check_writable(path, "--save")
    _games_in(path)


def _games_in(path: Path) -> int:
    """The number of games in a file; 0 if it does not exist."""
    from arena.games.core.shared.files import read_bounded
    from arena.results.files.exchange import ExchangeError, from_jsonl
    from arena.results.files.pgn_reader import from_pgn

    if not path.exists():
        return 0
    suffix = path.suffix.lower()
    try:
        text = read_bounded(path, 256 << 20).decode("utf-8")
        if suffix == ".sgf" and text.strip() and not text.lstrip().startswith("("):
            raise ExchangeError("it does not begin with (")
        if suffix == ".jsonl":
            from_jsonl(text)
        elif suffix == ".pgn":
            from_pgn(text)
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"--save {path} holds no records: byte {error.start} is not UTF-8") from None
    except ExchangeError as error:
        raise typer.BadParameter(f"--save {path} holds no records: {error}") from None
    return text.count(MARKS[suffix])
