"""The dialogue of `arena play`: draws the board, shows the agent's moves, and reads the person's."""

import difflib
import re
import sys
import textwrap
from contextlib import suppress

import typer

from arena.commands.output import say
from arena.games.core.shared.errors import same_letters
from arena.results.printable import printable

HELP = """\
a move     as it is named in `moves`, such as the ones above
moves      the legal moves
hint       what the agent would play in your place, and why
undo       take back your last move, and all since
board      draw the board again
rules      the rules of the game
resign     give up
quit       leave the game (as do q, exit, Ctrl-D and Ctrl-C); --save keeps the moves made so far"""
WORDS = [line.split()[0] for line in HELP.splitlines()[1:]] + ["help"]
QUIT = ("quit", "q", "exit")
# squares by column and row, and by row and column; people may write either
TURNED = re.compile(r"([a-z]+)(\d+)", re.IGNORECASE), re.compile(r"(\d+)([a-z]+)", re.IGNORECASE)
WIDTH, FEW = 100, 12  # characters of a line of moves; moves that are listed unasked


class Dialogue:
    """A game of a person with an agent, `arena.play.duel.Duel`, at the terminal."""

    def __init__(self, duel):
        self.duel, self.game = duel, duel.game
        self.before = self.drawn = self.game.render(duel.state)  # the board before the last move, and after it

    def run(self) -> None:
        """Play until the game is over or the person leaves it."""
        with suppress(ImportError):  # on systems without it, lines have no history
            import readline  # noqa: F401

        from arena.play.duel import PERSON

        duel = self.duel
        place = ("first", "second")[duel.person] if self.game.players == 2 else "alone"
        have = self.game.pieces(duel.person) if self.game.players == 2 else ""
        yours = f" with {have}" if have else ""
        you = "You play" if duel.name == PERSON else f"You are {duel.name} and play"
        say(f"{self.game} with {duel.agent}. {you} {place}{yours}. Seed {duel.seed}.")
        if self.game.rules:
            self.rules()
        say(f"A move is written like {self.example()}; moves lists them all, and help the other words.")
        self.board()
        while True:
            for made in duel.advance():
                self.tell_move(made)
            if duel.is_over or not self.turn():
                return

    def turn(self) -> bool:
        """Obey the person until a move is made; False if the person resigns or leaves."""
        while True:
            text = self.read()
            if text is None or self.matches(text, *QUIT):
                return False
            if self.matches(text, "resign"):
                self.duel.give_up()
                return False
            if self.matches(text, "undo"):
                if self.undo():
                    return True
            elif text and self.answer(text):
                return True

    def matches(self, text: str, *words: str) -> bool:
        """Whether the text is one of these commands, and no legal move has that name."""
        return text.lower() in words and text not in self.duel.legal

    def read(self) -> str | None:
        """A line without surrounding spaces; None at the end of the input."""
        try:
            text = input("your move> ").strip()
        except EOFError:
            typer.echo()
            return None
        if not sys.stdin.isatty():
            typer.echo(text)  # a recorded dialogue shows both sides
        return text

    def answer(self, text: str) -> bool:
        """Obey a line; True if it was a move."""
        legal = self.duel.legal
        if text not in legal and text.lower() in WORDS:
            words = {"moves": self.list_moves, "hint": self.hint, "board": self.board, "rules": self.rules}
            words.get(text.lower(), self.help)()
            return False
        move = self.move_of(text, legal)
        if move is None:
            self.refuse(text, legal)
            return False
        self.duel.move(move)
        self.moved()
        if self.duel.is_over or self.duel.side == self.duel.person:
            self.board()  # otherwise it is drawn after the answer
        return True

    def move_of(self, text: str, legal: dict[str, int]) -> int | None:
        """The legal move that the text names, in any case of letters or with `b2` for `2b`, if that is unambiguous."""
        from arena.games.core.game import IllegalMove

        try:
            return self.game.parse_move(self.duel.state, text)
        except IllegalMove:
            for meant in (text, turned(text)):
                alike = [move for name, move in legal.items() if name.lower() == meant.lower()]
                if alike:
                    return alike[0] if len(alike) == 1 else None
            return None

    def refuse(self, text: str, legal: dict[str, int]) -> None:
        """Say that the text is neither a move nor a command, and name close ones."""
        close = same_letters(text, legal) or difflib.get_close_matches(text.lower(), [*legal, *WORDS], 3)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        some = " ".join(list(legal)[:FEW]) + (" ..." if len(legal) > FEW else "")
        fault = f"{text!r} is neither a legal move here nor a command.{hint}"
        say(f"{fault} Legal ({len(legal)}): {some}. For help: help")

    def example(self) -> str:
        """The name of a legal move; where chance is to move, of one after an outcome, which is no move of a player."""
        from arena.games.core.game import CHANCE

        state, game = self.duel.state, self.game
        while not game.is_over(state) and int(game.player(state)) == CHANCE:
            state = game.after(state, game.moves(state)[0])
        return next((game.move_name(state, move) for move in game.moves(state)), "")

    def list_moves(self) -> None:
        legal = self.duel.legal
        typer.echo(textwrap.fill(f"{len(legal)} legal moves: {' '.join(legal)}", WIDTH, break_on_hyphens=False))

    def hint(self) -> None:
        from arena.play.referee import Forfeit

        try:
            made = self.duel.hint()
        except Forfeit as error:
            say(f"There is no hint: {error}")
        else:
            say(f"hint: {made.name}{self.thoughts(made)}")

    def help(self) -> None:
        say(HELP)

    def rules(self) -> None:
        say(self.game.rules or f"{self.game.name} tells no rules.")

    def undo(self) -> bool:
        """Take back the last move; False if there is none to take back."""
        taken = self.duel.undo()
        if not taken:
            say("You have made no move yet.")
            return False
        say(f"{taken} moves are taken back." if taken > 1 else "Your move is taken back.")
        self.before = self.drawn = self.game.render(self.duel.state)
        self.board()
        return True

    def moved(self) -> None:
        self.before, self.drawn = self.drawn, self.game.render(self.duel.state)

    def board(self) -> None:
        """Draw the board; in a terminal, what the last move changed is inverse."""
        from rich.console import Console
        from rich.text import Text

        text = Text(printable(f"\n{self.drawn}\n"))
        if len(self.before) == len(self.drawn):
            for place, (old, new) in enumerate(zip(self.before, self.drawn), 1):
                if old != new:
                    text.stylize("reverse", place, place + 1)
        Console(highlight=False).print(text, soft_wrap=True)

    def tell_move(self, made) -> None:
        """Print a move of the agent or of chance, and the board."""
        mover = "chance" if made.record is None else str(self.duel.agent)
        say(f"{mover}: {made.name}{self.thoughts(made)}")
        self.moved()
        self.board()

    def thoughts(self, made) -> str:
        """The agent's remarks on its decision, in brackets."""
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


def turned(text: str) -> str:
    """The text with letters and digits of each square exchanged, `2b3a` of `b2a3`; "" if it is not made of squares."""
    for square in TURNED:
        if re.fullmatch(f"(?:{square.pattern})+", text, re.IGNORECASE):
            return square.sub(r"\2\1", text)
    return ""
