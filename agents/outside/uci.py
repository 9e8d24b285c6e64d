"""Universal Chess Interface (Huber & Meyer-Kahlen, 2000); games other than chess use our names of moves."""

import math

from arena.agents.core.agent import Budget
from arena.agents.outside.process import EngineError
from arena.agents.outside.protocol import MOST, Answer, Identity, Protocol, whole
from arena.games.core.game import Game
from arena.games.core.play.in_progress import GameInProgress

VARIANT = "UCI_Variant"  # names the game
NUMBERS = ("depth", "nodes")
COLOURS = "wb"  # of the first player and the second
SCALE = 400  # centipawns for odds of winning of ten to one, as in Elo's formula


class Uci(Protocol):
    """Every search gets the whole position; the last `info` with a score or a line counts."""

    kinds = ("nodes", "depth", "seconds")
    needs_budget = True
    farewell = "quit\n"
    _options: frozenset[str] = frozenset()  # the program's, in small letters

    def hello(self, until: float) -> Identity:
        name, options = "", []
        self.process.send("uci\n")
        while (words := self._words(until)) != ["uciok"]:
            if words[:2] == ["id", "name"]:
                name = " ".join(words[2:])
            elif words[:2] == ["option", "name"]:
                options.append(" ".join(words[2 : words.index("type") if "type" in words else None]))
        self._options = frozenset(map(str.lower, options))
        for option, value in self.options.items():
            if option.lower() not in self._options:
                known = ", ".join(options) or "none"
                raise EngineError(f"has no option {option!r}; it has {known}", "declare it, as `option name ...`")
            self._set(option, value)
        self._wait_until_ready(until)
        return Identity(name)

    def new_game(self, position: GameInProgress, budget: Budget, until: float) -> None:
        own = {option.lower() for option in self.options}
        for option, value in {VARIANT: str(position.game), **position.game.uci_options}.items():
            if option.lower() in self._options - own:
                self._set(option, value)
        self.process.send("ucinewgame\n")
        self._wait_until_ready(until)

    def choose(self, position: GameInProgress, budget: Budget, seed: int, until: float) -> Answer:
        self.process.unasked()  # remarks are allowed
        names, legal = spoken(position)
        moves = f" moves {' '.join(names)}" if names else ""
        self.process.send(f"position {position.game.uci_start}{moves}\ngo {_limits(budget, position.side)}\n")
        found: dict = {}
        while (words := self._words(until))[:1] != ["bestmove"]:
            if words[:1] == ["info"]:
                found |= read_info(words[1:])
        if len(words) < 2:
            raise EngineError("wrote bestmove without a move", "write `bestmove` and the name of the move")
        line, move = found.pop("line", ()), legal.get(words[1], words[1])
        return Answer(move, **found, line=(move, *line[1:]) if line[:1] == (words[1],) else ())

    def _set(self, option: str, value: str) -> None:
        self.process.send(f"setoption name {option}{f' value {value}' if value else ''}\n")

    def _wait_until_ready(self, until: float) -> None:
        self.process.send("isready\n")
        while self._words(until) != ["readyok"]:
            pass

    def _words(self, until: float) -> list[str]:
        return self._line(until).split()


def spoken(position: GameInProgress) -> tuple[list[str], dict[str, str]]:
    """The game's moves as UCI names them, and UCI's names of the legal moves -> ours, where these differ."""
    game, state, names = position.game, position.game.initial(), []
    if type(game).uci_name is Game.uci_name:
        return position.names, {}
    for move in position.moves:
        names.append(game.uci_name(state, move))
        game.play(state, move)
    return names, {game.uci_name(state, move): name for name, move in position.legal.items()}


def _limits(budget: Budget, side: int) -> str:
    """The words after `go`; `side` is to move, and has the clock."""
    limits = {"nodes": budget.nodes, "depth": budget.depth}
    if clock := budget.clock:
        own, other = COLOURS[side], COLOURS[1 - side]
        # a run has one time control
        limits |= {f"{own}time": _milliseconds(clock.left)}
        limits |= {} if clock.opponent is None else {f"{other}time": _milliseconds(clock.opponent)}
        limits |= {f"{of[0]}inc": round(1000 * clock.increment) for of in limits if of.endswith("time")}
    elif budget.seconds is not None:
        limits["movetime"] = _milliseconds(budget.seconds)
    return " ".join(f"{kind} {limit}" for kind, limit in limits.items() if limit is not None)


def _milliseconds(seconds: float) -> int:
    return max(1, round(1000 * seconds))


def read_info(words: list[str]) -> dict:
    """depth, nodes, value and line of an `info`, as far as given; {} for a line that is not the best."""
    found: dict = {}
    for place, word in enumerate(words):
        after = words[place + 1 : place + 3]
        if word == "string" or (word == "multipv" and after[:1] != ["1"]):
            return {} if word == "multipv" else found
        if word == "pv":
            return found | {"line": tuple(words[place + 1 :])}
        if word in NUMBERS and after and (number := whole(after[0])) is not None:
            found[word] = number
        elif word == "score" and len(after) == 2 and (value := value_of_score(*after)) is not None:
            found["value"] = value
    return found


def value_of_score(kind: str, text: str) -> float | None:
    """`cp 100` or `mate -3` as an expected result, -1 to 1; None for anything else."""
    if (number := whole(text, -MOST)) is None:
        return None
    if kind == "mate":
        return 1.0 if number > 0 else -1.0
    return math.tanh(max(-1e6, min(1e6, number)) * math.log(10) / (2 * SCALE)) if kind == "cp" else None


def score_of_value(value: float) -> int:
    """The centipawns of an expected result; certain results are worth 100 pawns."""
    bounded = max(-1.0, min(1.0, value))
    return round(2 * SCALE / math.log(10) * math.atanh(bounded)) if abs(bounded) < 1 else round(10_000 * bounded)
