"""JSON lines: one object a line each way; docs/engines.md is the specification."""

import json
import math
from typing import Any

from agents.core.agent import Budget
from agents.outside.process import EngineError
from agents.outside.protocol import Answer, Identity, Position, Protocol

VERSION = 1
ONE_LINE = "write one JSON object for each line that is read, and nothing else, and flush it"
SHOWN = 200  # characters of a wrong answer, in messages


class JsonLines(Protocol):
    """Every request is answered by one line; what has no answer is answered by {}."""

    kinds = ("playouts", "nodes", "depth", "seconds")
    _number = 0  # of the last request

    def hello(self, until: float) -> Identity:
        told = self._ask({"type": "hello", "protocol": VERSION, "options": self.options}, until)
        return Identity(_text(told, "name"), _text(told, "version", ""))

    def new_game(self, position: Position, budget: Budget, until: float) -> None:
        self._ask({"type": "new_game", **_described(position), "budget": _spoken(budget)}, until)

    def choose(self, position: Position, budget: Budget, seed: int, until: float) -> Answer:
        asked = {"type": "move", **_described(position), "player": position.side, "legal": [*position.legal]}
        told = self._ask({**asked, "budget": _spoken(budget), "seed": seed}, until)
        low = -1.0 if position.game.players == 2 else -math.inf
        return Answer(
            _text(told, "move"),
            value=_number(told, "value", low, -low),
            playouts=_count(told, "playouts"),
            nodes=_count(told, "nodes"),
            depth=_count(told, "depth"),
            line=_line(told),
        )

    def game_over(self, position: Position, result: float | None, until: float) -> None:
        self._ask({"type": "game_over", **_described(position), "result": result}, until)

    def _ask(self, request: dict[str, Any], until: float) -> dict[str, Any]:
        """The program's answer to a request."""
        if unasked := self.process.unasked():
            raise EngineError(f"wrote {_shown(unasked)} without being asked", ONE_LINE)
        self._number += 1
        self.process.send(json.dumps({"id": self._number, **request}, separators=(",", ":")) + "\n")
        line = self.process.line(until)
        try:
            told = json.loads(line)
        except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
            raise EngineError(f"wrote {_shown(line)}, which is not JSON: {error}", ONE_LINE) from None
        if not isinstance(told, dict):
            raise EngineError(f"wrote {_shown(line)}, which is no JSON object", ONE_LINE)
        if told.get("id", self._number) != self._number:
            raise EngineError(f"answered request {told['id']!r} when asked {self._number}", "repeat the request's id")
        return told


def _described(position: Position) -> dict[str, Any]:
    return {"game": str(position.game), "moves": position.names}


def _spoken(budget: Budget) -> dict[str, Any]:
    """A budget as JSON: of a clock what it shows."""
    clock = {} if budget.clock is None else {"clock": budget.clock._asdict()}
    return budget.given() | clock


def _shown(line: bytes) -> str:
    text = line[: SHOWN + 1].decode(errors="backslashreplace")
    return repr(text if len(line) <= SHOWN else text[:SHOWN] + " ...")


def _wrong(told: dict, key: str, right: str) -> EngineError:
    found = repr(told[key])[:SHOWN] if key in told else "missing"
    return EngineError(f"answered with {key!r} = {found}; it must be {right}", f'write {{"{key}": {right}}}')


def _text(told: dict, key: str, default: str | None = None) -> str:
    value = told.get(key, default)
    if not isinstance(value, str):
        raise _wrong(told, key, "text")
    return value


def _number(told: dict, key: str, low: float, high: float) -> float | None:
    """A number, or None where it is null or left out."""
    value = told.get(key)
    if value is None:
        return None
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, OverflowError):
        number = math.nan
    if not (math.isfinite(number) and low <= number <= high):
        raise _wrong(told, key, f"a number from {low:g} to {high:g}" if math.isfinite(low) else "a number")
    return number


def _count(told: dict, key: str) -> int | None:
    """A whole number, or None where it is null or left out."""
    value = told.get(key)
    if value is not None and not (type(value) is int and 0 <= value < 1 << 63):
        raise _wrong(told, key, "a whole number, 0 or more")
    return value


def _line(told: dict) -> tuple[str, ...]:
    line = told.get("line") or []
    if not isinstance(line, list) or not all(isinstance(name, str) for name in line):
        raise _wrong(told, "line", "a list of names of moves")
    return tuple(line)
