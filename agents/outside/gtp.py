"""Go Text Protocol 2 (Farnebaeck, draft of 2002)."""

import math
from dataclasses import dataclass, field

from arena.agents.core.agent import Budget, Resigned
from arena.agents.outside.process import EngineError
from arena.agents.outside.protocol import Answer, Identity, Protocol
from arena.games.core.game import Game
from arena.games.core.play.in_progress import GameInProgress

FORM = "answer each command with '= ' and the answer, or '? ' and why not, and an empty line, and flush it"
COLOURS = "bw"  # of the first player and the second


@dataclass(frozen=True)
class Speech:
    """A game's first commands, and the vertices whose names differ from our moves."""

    settings: tuple[str, ...] = ("boardsize {size}", "clear_board")
    vertices: dict[str, str] = field(default_factory=dict)

    def vertex(self, name: str) -> str:
        """The vertex of a move."""
        return self.vertices.get(name, name.upper())

    def name(self, vertex: str) -> str:
        """The move to a vertex, as a program writes it."""
        text = vertex.strip().lower()
        return next((name for name, other in self.vertices.items() if other == text), text)


SPEECHES = {
    "go": Speech(("boardsize {size}", "komi {komi}", "clear_board")),
    "atarigo": Speech(),
    "nogo": Speech(),
    "misere_nogo": Speech(),
    "hex": Speech(vertices={"swap": "swap-pieces"}),
    "othello": Speech(),
}


class Gtp(Protocol):
    """The program keeps the board, and is sent every move."""

    kinds = ("seconds",)
    least_seconds = 1.0
    farewell = "quit\n"
    _commands: frozenset[str] = frozenset()
    _sent = 0  # moves on the program's board

    @classmethod
    def refuses(cls, game: Game) -> str | None:
        if game.name not in SPEECHES:
            return f"GTP has words for {', '.join(SPEECHES)}, not for {game.name}: use protocol='json' or 'uci'"
        rows, columns = (getattr(game, name, 0) for name in ("rows", "columns"))
        if rows != columns:
            return f"GTP has words for square boards alone, and {game} is none: use protocol='json' or 'uci'"
        return None

    def hello(self, until: float) -> Identity:
        spoken = self._ask("protocol_version", until, greets=True)
        if spoken != "2":
            raise EngineError(f"speaks version {spoken!r} of GTP, not 2", "answer protocol_version with '= 2'")
        identity = Identity(self._ask("name", until), self._ask("version", until))
        self._commands = frozenset(self._ask("list_commands", until).split())
        for name, value in self.options.items():
            self._ask(f"{name} {value}".strip(), until)
        return identity

    def new_game(self, position: GameInProgress, budget: Budget, until: float) -> None:
        game, seconds = position.game, budget.seconds
        values = vars(game) | {"size": getattr(game, "rows", 0) or vars(game)["size"]}
        for command in SPEECHES[game.name].settings:
            self._ask(command.format(**values), until)
        if seconds is not None and "time_settings" in self._commands:
            time = f"{math.floor(budget.clock.left)} 0 0" if budget.clock else f"0 {self._whole(seconds)} 1"
            self._ask(f"time_settings {time}", until)
        self._sent = 0
        self.tell(position, until)

    def tell(self, position: GameInProgress, until: float) -> None:
        speech, sent = SPEECHES[position.game.name], self._sent
        for side, name in zip(position.sides[sent:], position.names[sent:]):
            self._ask(f"play {COLOURS[side]} {speech.vertex(name)}", until)
            self._sent += 1

    def choose(self, position: GameInProgress, budget: Budget, seed: int, until: float) -> Answer:
        colour = COLOURS[position.side]
        if "time_left" in self._commands:
            self._tell_time_left(position.side, budget, until)
        vertex = self._ask(f"genmove {colour}", until)
        if vertex.lower() == "resign":
            raise Resigned("resigned")
        self._sent += 1
        return Answer(SPEECHES[position.game.name].name(vertex))

    def _tell_time_left(self, side: int, budget: Budget, until: float) -> None:
        """Send the clocks' readings in whole seconds, rounded down, or the time for this stone."""
        left = {} if budget.seconds is None else {side: f"{self._whole(budget.seconds)} 1"}
        if clock := budget.clock:
            shown = {side: clock.left} | ({} if clock.opponent is None else {1 - side: clock.opponent})
            left = {of: f"{max(0, math.floor(seconds))} 0" for of, seconds in shown.items()}
        for of, time in left.items():
            self._ask(f"time_left {COLOURS[of]} {time}", until)

    def _ask(self, command: str, until: float, greets: bool = False) -> str:
        """The answer; a program that greets may write other lines before it."""
        if not greets and (unasked := self.process.unasked().strip()):
            raise EngineError(f"wrote {unasked[:200]!r} without being asked", FORM)
        self.process.send(command + "\n")
        first = self._line(until)
        while not first or (greets and first[0] not in "=?"):
            first = self._line(until)
        if first[0] not in "=?":
            raise EngineError(f"answered {command!r} with {first[:200]!r}", FORM)
        lines, line = [first[1:].strip()], self._line(until)
        while line:
            lines.append(line)
            line = self._line(until)
        if first[0] == "?":
            raise EngineError(f"refused {command!r}: {' '.join(lines)[:200]}", f"let it know {command.split()[0]}")
        return "\n".join(lines)

    def _whole(self, seconds: float) -> int:
        return round(max(self.least_seconds, seconds))
