"""The protocol of xboard and WinBoard, version 2 (T. Mann & H. G. Muller, "Chess engine communication protocol", 2009),
for chess alone.

A program is kept from playing by itself (`force`): it is sent every move, and `go` when it is to make one.  One of
version 1, which declares no features within two seconds, is spoken to in the same way.
"""

import math
import re
import time

from arena.agents.core.agent import Budget, Resigned
from arena.agents.outside.process import EngineError, Silent
from arena.agents.outside.protocol import Answer, Identity, Protocol, whole
from arena.agents.outside.uci import value_of_score
from arena.games.core.game import Game
from arena.games.core.interface.rules import IllegalMove
from arena.games.core.play.in_progress import GameInProgress

PATIENCE = 2.0  # seconds in which the protocol has features declared
FEATURE = re.compile(r'(\w+)=("[^"]*"|\S+)')
MOVE = re.compile(r"(?:move|My move is ?:|\d+\. ?\.\.\.) ?(\S+)")
THOUGHT = re.compile(r"\s*(\d+)[.&+]?\s+(-?\d+)\s+-?\d+\s+(-?\d+)\s+(.*)")  # depth, score, time, nodes, line
LOSSES = "0-1", "1-0"  # of White and of Black
WORDS = re.compile(r"[a-hO0KQRBN][-a-hO0KQRBNx1-8=+#qrbn]+$")  # that a line of moves has, besides numbers


class Xboard(Protocol):
    """The program keeps the board, and is sent every move."""

    kinds = ("depth", "seconds")
    needs_budget = True
    least_seconds = 1.0
    farewell = "quit\n"
    _sent = 0  # moves on the program's board
    _pings = 0

    @classmethod
    def refuses(cls, game: Game) -> str | None:
        if game.name != "chess" or getattr(game, "is_chess960", False):
            return f"xboard's protocol has words for chess alone, not for {game}: use protocol='json' or 'uci'"
        return None

    def hello(self, until: float) -> Identity:
        self.process.send("xboard\nprotover 2\n")
        self._features: dict[str, str] = {}
        soon = time.monotonic() + PATIENCE
        while self._features.get("done") != "1":
            try:
                line = self._line(until if self._features.get("done") == "0" else min(until, soon))
            except Silent:
                if time.monotonic() >= until:
                    raise
                break
            if line.startswith("feature"):
                self._take_features(line)
        for name, value in self.options.items():
            self.process.send(f"{name} {value}".strip() + "\n")
        return Identity(self._features.get("myname", ""))

    def new_game(self, position: GameInProgress, budget: Budget, until: float) -> None:
        start = position.game.uci_start
        self.process.send("new\nforce\neasy\npost\n")
        if start != "startpos":
            if self._features.get("setboard") != "1":
                raise EngineError(
                    f"cannot be given {start}", "declare `feature setboard=1`, or play from the beginning"
                )
            self.process.send(f"setboard {start.partition(' ')[2]}\n")
        self.process.send(_limits(budget))
        self._sent = 0
        self._wait_until_ready(until)
        self.tell(position, until)

    def tell(self, position: GameInProgress, until: float) -> None:
        game, state = position.game, position.game.initial()
        for place, move in enumerate(position.moves):
            if place >= self._sent:
                self.process.send(
                    f"{'usermove ' * (self._features.get('usermove') == '1')}{game.uci_name(state, move)}\n"
                )
            game.play(state, move)
        self._sent = len(position.moves)

    def choose(self, position: GameInProgress, budget: Budget, seed: int, until: float) -> Answer:
        self.process.unasked()  # remarks are allowed, and some programs tell a move twice
        self._wait_until_ready(until)
        if clock := budget.clock:
            other = clock.left if clock.opponent is None else clock.opponent
            self.process.send(f"time {_centiseconds(clock.left)}\notim {_centiseconds(other)}\n")
        self.process.send("go\n")
        found: dict = {}
        while (move := MOVE.match(line := self._line(until))) is None:
            if line.startswith(("resign", LOSSES[position.side])):
                raise Resigned("resigned")
            if line.startswith("Illegal move"):
                raise EngineError(f"wrote {line[:200]!r}", "make every move that the rules allow")
            if thought := THOUGHT.match(line):
                found = _read(thought)
        self.process.send("force\n")
        self._sent += 1
        try:
            name = position.game.move_name(position.state, position.game.parse_move(position.state, move[1]))
        except IllegalMove:
            return Answer(move[1])
        words = found.pop("words", [])
        first, *rest = words or [""]
        return Answer(name, **found, line=(name, *rest) if _is_move(position, first, name) else ())

    def game_over(self, position: GameInProgress, result: float | None, until: float) -> None:
        words = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}
        self.process.send(f"result {words.get(-1.0 if result is None else result, '*')} {{}}\n")

    def _take_features(self, line: str) -> None:
        found = {name: value.strip('"') for name, value in FEATURE.findall(line)}
        self._features |= found
        self.process.send("".join(f"accepted {name}\n" for name in found if name != "done"))

    def _wait_until_ready(self, until: float) -> None:
        if self._features.get("ping") == "1":
            self._pings += 1
            self.process.send(f"ping {self._pings}\n")
            while self._line(until) != f"pong {self._pings}":
                pass


def _limits(budget: Budget) -> str:
    """The commands that limit every search of a game."""
    words = [] if budget.depth is None else [f"sd {budget.depth}"]
    if clock := budget.clock:
        minutes, seconds = divmod(math.floor(clock.left), 60)
        words.append(f"level 0 {minutes}:{seconds:02d} {math.floor(clock.increment)}")
    elif budget.seconds is not None:
        words.append(f"st {max(1, math.floor(budget.seconds))}")
    return "".join(f"{word}\n" for word in words)


def _centiseconds(seconds: float) -> int:
    return max(1, math.floor(100 * seconds))


def _read(thought: re.Match) -> dict:
    """depth, value, nodes and words of a line of thinking."""
    depth, score, nodes, line = thought.groups()
    words = [word for word in line.split() if WORDS.match(word)]
    return {"depth": whole(depth), "nodes": whole(nodes), "value": value_of_score("cp", score), "words": words}


def _is_move(position: GameInProgress, word: str, name: str) -> bool:
    """Whether a word of the line is the move with that name."""
    try:
        return position.legal[name] == position.game.parse_move(position.state, word)
    except IllegalMove:
        return False
