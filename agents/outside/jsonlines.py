"""JSON lines: one object per line in each direction; docs/engines.md is the specification."""

import json
from math import isfinite, nan
from typing import Any

from arena.agents.core.agent import Budget
from arena.agents.outside.process import EngineError
from arena.agents.outside.protocol import MOST, Answer, Identity, Protocol, whole
from arena.games.core.play.in_progress import GameInProgress
from arena.games.core.shared.registry import spell

VERSION = 1
ONE_LINE = "write one JSON object for each line read, and nothing else, and flush it"
SHOWN = 200  # characters


class JsonLines(Protocol):
    """Every request is answered by one line; {} if there is nothing to say."""

    kinds = ("playouts", "nodes", "depth", "seconds")
    _number = 0  # of the last request

    def hello(self, until: float) -> Identity:
        answer = self._ask({"type": "hello", "protocol": VERSION, "options": self.options}, until)
        return Identity(_text(answer, "name"), _text(answer, "version", ""))

    def new_game(self, position: GameInProgress, budget: Budget, until: float) -> None:
        self._ask({"type": "new_game", **_described(position), "budget": _spoken(budget)}, until)

    def choose(self, position: GameInProgress, budget: Budget, seed: int, until: float) -> Answer:
        asked = {"type": "move", **_described(position), "player": position.side, "legal": [*position.legal]}
        answer = self._ask({**asked, "budget": _spoken(budget), "seed": seed}, until)
        low = -1.0 if position.game.players == 2 else -MOST
        counts = {kind: whole(answer.get(kind)) for kind in ("playouts", "nodes", "depth")}
        return Answer(_text(answer, "move"), _value(answer, low, -low), **counts, line=_line(answer))

    def game_over(self, position: GameInProgress, result: float | None, until: float) -> None:
        self._ask({"type": "game_over", **_described(position), "result": result}, until)

    def _ask(self, request: dict[str, Any], until: float) -> dict[str, Any]:
        if unasked := self.process.unasked():
            raise EngineError(f"wrote {_shown(unasked)} without being asked", ONE_LINE)
        self._number += 1
        self.process.send(json.dumps({"id": self._number, **request}, separators=(",", ":")) + "\n")
        line = self.process.line(until)
        try:
            answer = json.loads(line, parse_int=lambda text: whole(text, -MOST))
        except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
            raise EngineError(f"wrote {_shown(line)}, which is not JSON: {error}", ONE_LINE) from None
        if not isinstance(answer, dict):
            raise EngineError(f"wrote {_shown(line)}, which is no JSON object", ONE_LINE)
        if answer.get("id", self._number) != self._number:
            raise EngineError(f"answered request {answer['id']!r} when asked {self._number}", "repeat the request's id")
        return answer


def _described(position: GameInProgress) -> dict[str, Any]:
    return {"game": spell(position.game), "moves": position.names}


def _spoken(budget: Budget) -> dict[str, Any]:
    if (clock := budget.clock) is None:
        return budget.given()
    return budget.given() | {"clock": {name: getattr(clock, name) for name in ("left", "increment", "opponent")}}


def _shown(line: bytes) -> str:
    text = line[: SHOWN + 1].decode(errors="backslashreplace")
    return repr(text if len(line) <= SHOWN else text[:SHOWN] + " ...")


def _text(answer: dict, key: str, default: str | None = None) -> str:
    value = answer.get(key, default)
    if not isinstance(value, str):
        found = repr(value)[:SHOWN] if key in answer else "missing"
        raise EngineError(f"answered with {key!r} = {found}; it must be text", f'write {{"{key}": text}}')
    return value


def _value(answer: dict, low: float, high: float) -> float | None:
    """The value that it tells; None if that is no number from `low` to `high`."""
    value = answer.get("value")
    number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else nan
    if not (isfinite(number) and low <= number <= high):
        return None
    return number


def _line(answer: dict) -> tuple[str, ...]:
    line = answer.get("line")
    return tuple(line) if isinstance(line, list) and all(isinstance(name, str) for name in line) else ()
