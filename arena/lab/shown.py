"""What a search has found, on a page: candidates, counts, the line it expects, and values along a game."""

import html
import math
from collections.abc import Callable, Sequence

from nicegui import ui

from arena.games.core.game import CHANCE, Game
from arena.lab.frame import button
from arena.lab.line import Line
from arena.lab.searcher import MOST, Found, Solved, whose
from arena.results.shown.column_forms import count


def columns_of(first: str, *others: str) -> list[dict]:
    """The columns of a table, numbers to the right."""
    names = (first, *others)
    return [{"name": one, "label": one, "field": one, "align": "left" if one == first else "right"} for one in names]


VALUE = whose(2)
EVALUATED = columns_of("what", "first", "second", VALUE)


class FoundView:
    """Candidates, counts and the expected line of a search; `tried` is called with the moves from the game's beginning
    to a step along that line; `most` is of the candidates shown.
    """

    def __init__(self, tried: Callable[[Sequence[str]], object] | None = None, most: int = MOST):
        self.tried, self.most = tried, most
        self.words = ui.label().classes("text-sm").props("aria-live=off")
        self.table = (
            ui.table(columns=columns_of("move", "playouts", "value"), rows=[], row_key="move")
            .props("dense flat")
            .classes("w-full arena-lab-wrap")
        )
        self.line = ui.row().classes("gap-0 flex-wrap")
        self.shown: tuple[str, ...] = ()
        self.show(None)

    def show(self, found: Found | None) -> None:
        """Show what was found, or nothing."""
        self.words.set_text("" if found is None else in_words(found))
        candidates = found.candidates[: self.most] if found else ()
        if found is not None:
            self.table.columns[-1]["label"] = whose(found.players)
        self.table.set_visibility(bool(candidates))
        self.table.rows = [
            {"move": one.move, "playouts": count(one.playouts), "value": value_of(one.value)} for one in candidates
        ]
        self.table.update()
        before, line = (found.position, found.line) if found else ((), ())
        if (*before, *line) != self.shown:
            self.shown = *before, *line
            self.line.clear()
            with self.line:
                for number, name in enumerate(line):
                    self._step(name, (*before, *line[: number + 1]))

    def _step(self, name: str, moves: Sequence[str]) -> None:
        if self.tried is None:
            ui.label(name).classes("px-1")
            return
        tried = self.tried
        button(name, lambda: tried(moves), "flat")


def rules_of(game: Game) -> None:
    """The rules of a game, folded up."""
    if game.rules:
        with ui.expansion("Rules").classes("w-full").props("dense"):
            ui.label(game.rules)


def solved_in_words(solved: Solved) -> str:
    """An exact value in a line."""
    if solved.value is None:
        return f"not solved: {solved.unsolved}"
    word = {1: "a win", 0: "a draw", -1: "a loss"}[solved.value]
    best = f"; best: {' '.join(solved.best)}" if solved.best else ""
    return f"exact: {word} for the player to move{best}; {count(solved.nodes)} nodes, {solved.seconds:.1f} s"


def evaluations_of(line: Line) -> list[dict[str, str]]:
    """The game's evaluations of a position, and the terms of those that add up, as rows of a table."""
    game, rows = line.game, list[dict[str, str]]()
    if line.is_over or line.side == CHANCE or game.players != 2:
        return rows
    for name in dict.fromkeys([game.evaluation, *game.evaluations()]):
        one = game.with_evaluation(name)
        value = f"{float(one.evaluate(line.state)):+.3f}"
        rows.append({"what": one.evaluation or "default evaluation", "first": "", "second": "", VALUE: value})
        for term, first, second, weight in one.terms(line.state):
            points = f"{weight * (first - second) + 0.0:+.3g}"
            rows.append({"what": f"... {term}", "first": f"{first:g}", "second": f"{second:g}", VALUE: points})
    return rows


def in_words(found: Found) -> str:
    """A decision in a line: value, depth, nodes, nodes a second."""
    parts = [f"{found.move}"]
    parts += [] if found.value is None else [f"{whose(found.players)} {found.value:+.3f}"]
    parts += [] if found.depth is None else [f"depth {found.depth}"]
    for kind, number in (("nodes", found.nodes), ("playouts", found.playouts)):
        if number is not None:
            each = f" ({count(number / found.seconds)} a second)" if found.seconds > 0.05 else ""
            parts.append(f"{count(number)} {kind}{each}")
    return ", ".join([*parts, f"{found.seconds:.1f} s"])


def value_of(value: float) -> str:
    """A mean result, -1 to 1, as people read it."""
    return "-" if math.isnan(value) else f"{value:+.3f}"


def shares(found: Found | None) -> dict[str, float]:
    """By move: its share of the most visited one's playouts."""
    most = max((one.playouts for one in found.candidates), default=0) if found else 0
    return {one.move: one.playouts / most for one in found.candidates if one.playouts} if found and most else {}


class ValueBar:
    """A bar beside a board: the first player's chances from below, by a value of -1 to 1."""

    def __init__(self) -> None:
        self.html = ui.html("", sanitize=False).classes("arena-lab-bar")

    def show(self, value: float | None, by: str = "") -> None:
        """Show a value for the first player, and whose search has found it; None: nothing."""
        known = value is not None and math.isfinite(value)
        self.html.set_visibility(known)
        if known:
            share = 50 + 50 * max(-1.0, min(1.0, value or 0.0))
            text = html.escape(f"{whose(2)} {value:+.2f}{f', by {by}' if by else ''}")
            self.html.set_content(
                f'<div role="img" aria-label="{text}" title="{text}"><i style="height: {share:.0f}%"></i></div>'
            )
