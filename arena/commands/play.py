"""`arena play`: a person against an agent."""

import difflib
import os
import sys
import textwrap
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import INTERRUPTED, VOID, command, complain
from arena.commands.options import Moves, budget_of
from arena.commands.output import tell, write_whole

Side = StrEnum("Side", ["first", "second", "random"])

HELP = """\
a move     as it is named in `moves`, such as the ones above
moves      the legal moves
hint       what the agent would play in your place, and why
undo       take back your last move, and all since
board      draw the board again
resign     give up
quit       break off (Ctrl-D and Ctrl-C too); --save keeps the moves made so far"""

WORDS = [line.split()[0] for line in HELP.splitlines()[1:]] + ["help"]

WIDTH, FEW = 100, 12  # characters of a line of moves; moves that are named unasked

DEFAULT_SECONDS = 1.0

DEFAULT_COUNTS = {"playouts": 1000, "nodes": 10_000, "depth": 4}  # of agents that know no clock

MARKS = {".jsonl": "\n", ".pgn": "[Event ", ".sgf": "(;FF["}  # one of each game in a file of records


@command(
    examples='arena play breakthrough "uct(seconds=2)"\narena play connect4 alphabeta --side second --budget depth=6\n'
    "arena play hex uct --save games.jsonl --name Ada"
)
def play(
    game: Annotated[str, typer.Argument(help='A game such as "connect4(rows=6, columns=7)".', metavar="GAME")],
    agent: Annotated[str, typer.Argument(help='An agent such as "uct(playouts=1000)".', metavar="AGENT")],
    side: Annotated[Side, typer.Option(help="Yours: first moves first.")] = Side.first,
    budget: Annotated[
        list[str] | None, typer.Option(help="Of a move of the agent: playouts=1000, nodes=..., depth=..., seconds=...")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of agent, dice and random side; drawn when left out.")] = None,
    moves: Moves = "",
    plugin: Annotated[list[str] | None, typer.Option(help="A module that defines games or agents of your own.")] = None,
    name: Annotated[str, typer.Option(help="Yours, in the record.")] = "person",
    save: Annotated[
        Path | None, typer.Option(help="A file .jsonl, .pgn or .sgf, to which the record is added.")
    ] = None,
) -> None:
    """Play against an agent at the terminal, with hints; or, where a game is for one player, play it with its hints.

    It says what it thinks: the value of the position for itself (-1 lost, 1 won), what it searched, and the moves it
    expects.  A record in JSON lines can be rated: arena import games.jsonl.
    """
    import agents
    import games
    from arena.config.config import import_plugins
    from arena.runner.duel import Duel
    from arena.runner.referee import Forfeit
    from games.core.game import IllegalMove

    import_plugins({"plugins": plugin or [], "plugin_path": "."})
    made, opponent = games.make(game), agents.make(agent)
    if not name.strip() or not name.isprintable() or name == str(opponent):
        raise typer.BadParameter(f"--name {name!r} must be printable text, and not the agent's name")
    if save:
        _check_file(save, made)
    seed = _drawn_seed() if seed is None else _checked_seed(seed)
    try:
        opening, _ = made.read_line(moves)
    except IllegalMove as error:
        raise typer.BadParameter(f"--moves: {error}") from None
    opponent = _with_budget(opponent, budget)
    seat = _index(side, seed, made)
    failed, interrupted = None, False
    _warm(made, opponent)
    try:
        duel = Duel(made, opponent, opponent.budget(), seat, seed, name, opening)
    except Forfeit as error:
        complain(f"the agent failed: {error}")
        raise typer.Exit(VOID) from None
    if duel.over:
        raise typer.BadParameter("--moves: the game is over after these moves")
    try:
        Dialogue(duel).run()
    except Forfeit as error:
        failed = error
    except KeyboardInterrupt:
        interrupted = True
        typer.echo()
    _end(duel, save)
    if failed:
        complain(f"the agent failed: {failed}")
    if failed or interrupted:
        raise typer.Exit(VOID if failed else INTERRUPTED)


def _checked_seed(seed):
    if not 0 <= seed < 2**63:
        raise typer.BadParameter(f"--seed {seed} is out of range: it can be 0 to 2**63 - 1")
    return seed


def _drawn_seed() -> int:
    import secrets

    return secrets.randbelow(10**6)


def _index(side, seed, game) -> int:
    """The number of the person's side."""
    from games.core.random import random_below, stream

    if game.players == 1:
        if side is Side.second:
            raise typer.BadParameter(f"--side second: {game} is a game for one player")
        return 0
    return int(random_below(stream(seed, "side"), 2)) if side is Side.random else list(Side).index(side)


def _with_budget(agent, given):
    """The agent with its own budget; or else with the one given, or with one that is told."""
    from dataclasses import replace

    from agents import Budget

    if agent.own_budget().given() or not agent.budgets:
        if given:
            raise typer.BadParameter(f"--budget: {agent} has its own budget, or needs none")
        return agent
    if given:
        try:
            usable = agent.budget(Budget(**budget_of(given)))
        except TypeError:  # of a kind that there is not
            raise typer.BadParameter(f"--budget {' '.join(given)}: {agent} knows {', '.join(agent.budgets)}") from None
        except ValueError as error:
            raise typer.BadParameter(f"--budget: {error}") from None
        return replace(agent, **usable.given())
    kind = "seconds" if "seconds" in agent.budgets else agent.budgets[0]
    budget = {kind: {"seconds": DEFAULT_SECONDS, **DEFAULT_COUNTS}[kind]}
    tell(f"{agent} has no budget: it takes {kind}={budget[kind]:g} for a move. To change that: --budget {kind}=...")
    return replace(agent, **budget)


def _warm(game, agent) -> None:
    """Compile what the agent runs before the clock counts; what fails shows in the game."""
    from rich.console import Console

    from arena.config.config import Seat
    from arena.runner.warming import warm

    with Console(stderr=True).status("compiling"), suppress(SystemExit):
        warm([game], [Seat(str(agent), agent, agent.budget())])


class Dialogue:
    """Draws the board, tells what the agent does, and takes what the person types."""

    def __init__(self, duel):
        self.duel, self.game = duel, duel.game

    def run(self) -> None:
        """Until the game is over or broken off."""
        with suppress(ImportError):  # where there is none, lines are typed without a history
            import readline  # noqa: F401

        duel = self.duel
        place = ("first", "second")[duel.side] if self.game.players == 2 else "alone"
        typer.echo(f"{self.game} with {duel.agent}. You are {duel.name} and play {place}. Seed {duel.seed}.")
        typer.echo("For help: help")
        self.board()
        while True:
            for made in duel.advance():
                self.tell_move(made)
            if duel.over:
                return
            if not self.turn():
                return

    def turn(self) -> bool:
        """What the person types, until a move is made; False if the game is given up or broken off."""
        while True:
            text = self.read()
            if text is None or self.matches(text, "quit"):
                return False
            if self.matches(text, "resign"):
                self.duel.resign()
                return False
            if self.matches(text, "undo"):
                if self.undo():
                    return True
            elif text and self.answer(text):
                return True

    def matches(self, text, word) -> bool:
        """Whether a word is the command, and no move of that name."""
        return text.lower() == word and text not in self.moves()

    def read(self) -> str | None:
        """A line without the blanks around it; None at the end of the input."""
        try:
            text = input("your move> ").strip()
        except EOFError:
            typer.echo()
            return None
        if not sys.stdin.isatty():
            typer.echo(text)  # so that what is recorded of a dialogue shows both sides of it
        return text

    def answer(self, text) -> bool:
        """Do what a line says; True if that was a move."""
        legal = self.moves()
        if text not in legal and text.lower() in WORDS:
            {"moves": self.list_moves, "hint": self.hint, "board": self.board, "help": self.help}[text.lower()]()
            return False
        move = self.move_of(text, legal)
        if move is None:
            self.refuse(text, legal)
            return False
        self.duel.move(move)
        if self.duel.over or int(self.game.player(self.duel.state)) == self.duel.side:
            self.board()  # else it is drawn after what follows
        return True

    def move_of(self, text, legal) -> int | None:
        """The legal move that a text names; capitals do not matter where they make no difference."""
        from games.core.game import IllegalMove

        try:
            return self.game.parse_move(self.duel.state, text)
        except IllegalMove:
            alike = [move for name, move in legal.items() if name.lower() == text.lower()]
            return alike[0] if len(alike) == 1 else None

    def refuse(self, text, legal) -> None:
        turned = [name for name in legal if sorted(name.lower()) == sorted(text.lower())]
        close = turned[:3] or difflib.get_close_matches(text.lower(), [*legal, *WORDS], 3)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        some = " ".join(list(legal)[:FEW]) + (" ..." if len(legal) > FEW else "")
        fault = f"{text!r} is neither a legal move here nor a command.{hint}"
        typer.echo(f"{fault} Legal ({len(legal)}): {some}. For help: help")

    def moves(self) -> dict[str, int]:
        """The legal moves by name."""
        state = self.duel.state
        return {self.game.move_name(state, move): move for move in self.game.moves(state)}

    def list_moves(self) -> None:
        legal = self.moves()
        typer.echo(textwrap.fill(f"{len(legal)} legal moves: {' '.join(legal)}", WIDTH, break_on_hyphens=False))

    def hint(self) -> None:
        from arena.runner.referee import Forfeit

        try:
            made = self.duel.hint()
        except Forfeit as error:
            typer.echo(f"There is no hint: {error}")
        else:
            typer.echo(f"hint: {made.name}{self.thoughts(made)}")

    def help(self) -> None:
        typer.echo(HELP)

    def undo(self) -> bool:
        """Take back; False if there is nothing to take back."""
        taken = self.duel.undo()
        if not taken:
            typer.echo("You have made no move yet that could be taken back.")
            return False
        typer.echo(f"{taken} moves are taken back." if taken > 1 else "Your move is taken back.")
        self.board()
        return True

    def board(self) -> None:
        typer.echo(f"\n{self.game.render(self.duel.state)}\n")

    def tell_move(self, made) -> None:
        who = "chance" if made.record is None else str(self.duel.agent)
        typer.echo(f"{who}: {made.name}{self.thoughts(made)}")
        self.board()

    def thoughts(self, made) -> str:
        """What the agent says of its decision, as far as it counts it."""
        if made.record is None:
            return ""
        record, parts = made.record, []
        if record.value is not None:
            parts.append(f"value {record.value:+.3f}")
        parts += [f"{count:,} {kind}" for kind in ("playouts", "nodes") if (count := getattr(record, kind)) is not None]
        if record.depth is not None:
            parts.append(f"depth {record.depth}")
        parts.append(f"{record.seconds:.2f} s")
        if len(made.expected) > 1:
            more = " ..." if len(made.expected) > FEW else ""
            parts[-1] += f"; expects {' '.join(made.expected[:FEW])}{more}"
        return f"   ({', '.join(parts)})"


def _end(duel, save) -> None:
    """Say how the game ended, and keep its record."""
    typer.echo(_result_in_words(duel))
    typer.echo(f"Moves: {' '.join(made.name for made in duel.made) or 'none'}")
    if save:
        number = _games_in(save)
        before = save.read_bytes() if save.exists() else b""
        if before and not before.endswith(b"\n"):
            before += b"\n"
        write_whole(save, before + _rendered(duel, duel.record(number), save.suffix.lower()).encode())
        tell(f"The record is game {number + 1} in {save}.")


def _result_in_words(duel) -> str:
    from results.record import Reason

    record = duel.record()
    if record.reason == Reason.UNFINISHED:
        return f"Broken off after {record.plies} plies."
    if duel.game.players == 1:
        result = "No score" if record.score is None else f"Score {record.score:g}"
    elif record.outcome == 0.5:
        result = "Draw"
    else:
        result = "You win" if (record.outcome == 1) == (duel.side == 0) else f"{duel.agent} wins"
    return f"{result} ({record.reason}), after {record.plies} plies."


def _check_file(path, game) -> None:
    """Before play: whether a record of the game can be added to the file."""
    from arena.report.sgf import games_with_sgf

    if path.suffix.lower() not in MARKS:
        raise typer.BadParameter(f"--save {path} is not a file {', '.join(MARKS)}")
    if path.suffix.lower() == ".sgf" and game.sgf_number is None:
        known = ", ".join(games_with_sgf())
        raise typer.BadParameter(f"--save {path}: {game} has no records in SGF; those that have are {known}")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"--save {path}: there is no folder {path.parent}")
    if (path.exists() and not path.is_file()) or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise typer.BadParameter(f"--save {path}: cannot be written")
    _games_in(path)


def _games_in(path) -> int:
    """How many games a file holds; 0 if there is none."""
    from results.exchange import ExchangeError, from_jsonl, from_pgn

    if not path.exists():
        return 0
    suffix = path.suffix.lower()
    try:
        text = path.read_text(encoding="utf-8")
        if suffix == ".sgf" and text.strip() and not text.lstrip().startswith("("):
            raise ExchangeError("it does not begin with (")
        {".jsonl": from_jsonl, ".pgn": from_pgn}.get(suffix, str)(text)
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"--save {path} holds no records: byte {error.start} is not UTF-8") from None
    except ExchangeError as error:
        raise typer.BadParameter(f"--save {path} holds no records: {error}") from None
    return text.count(MARKS[suffix])


def _rendered(duel, record, suffix) -> str:
    from arena.report.sgf import to_sgf
    from results.exchange import to_jsonl, to_pgn

    if suffix == ".jsonl":
        return to_jsonl(record)
    return to_sgf(duel.game, record) if suffix == ".sgf" else to_pgn(record, str(duel.game))
