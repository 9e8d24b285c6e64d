"""The moves of a game on a page, numbered, in two columns, with variations; and values along it, as a graph."""

import html
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from nicegui import ui

from arena.lab.frame import chosen_in
from arena.lab.variations import Variations, blunders

WIDE, HIGH, LEFT, BELOW = 320, 130, 26, 18  # units of the graph, and of its margins
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000)  # plies between numbers below it
MOST_NUMBERS = 8

IN_SIGHT = """setTimeout(() => {
    const at = document.querySelector('.arena-lab-line [aria-current]'), list = at?.closest('.arena-lab-line');
    if (at) { list.scrollTop = at.offsetTop - list.clientHeight / 2; } }, 50)"""


class MovesView:
    """A list of moves and a graph; `go` is called with the number of a move that was chosen in either."""

    def __init__(self, go: Callable[[int], Awaitable[None] | None]):
        self.graph = ui.html("", sanitize=False).classes("w-full")
        self.list = ui.html("", sanitize=False).classes("arena-lab-line w-full")
        for part in (self.graph, self.list):
            chosen_in(part, "move", lambda number: go(int(number)))

    def show(self, tried: Variations, players: int, series: Mapping[str, Mapping[int, float]]) -> None:
        """Show what was tried, and the values of searches along the line that the game is on, by ply."""
        whole = tried.whole()
        sides = [tried.sides[number] for number in whole[1:]]
        bad = {whole[ply + 1] for ply in blunders({kind: dict(one) for kind, one in series.items()}, sides)}
        self.list.set_content("".join(_rows(tried, bad, players)))
        ui.run_javascript(IN_SIGHT)
        self.graph.set_content(graph_of(series, whole, len(tried.way(tried.here))))


def _rows(tried: Variations, bad: set[int], players: int) -> Iterator[str]:
    """The main line, a row for each two moves, and below a row the variations of its moves."""
    rows = paired([(number, tried.sides[number]) for number in tried.main(0)], players)
    for count, cells in enumerate(rows, 1):
        moves = "".join(f"<span>{''.join(_move(tried, one, bad) for one in cell)}</span>" for cell in cells)
        yield f'<div class="row"><span class="number">{count}.</span>{moves}</div>'
        for number in (one for cell in cells for one in cell):
            for other in tried.after[tried.before[number]][1:]:
                yield f'<div class="variation">{"".join(_variation(tried, other, bad))}</div>'


def _variation(tried: Variations, number: int, bad: set[int]) -> Iterator[str]:
    """A variation in a line, those within it in brackets."""
    yield f'<span class="number">ply {len(tried.way(number))}:</span>{_move(tried, number, bad)}'
    for one in tried.main(number):
        yield _move(tried, one, bad)
        for other in tried.after[tried.before[one]][1:]:
            yield f"({''.join(_variation(tried, other, bad))})"


def _move(tried: Variations, number: int, bad: set[int]) -> str:
    here = ' aria-current="true"' if number == tried.here else ""
    mark = '<abbr title="its value fell">?</abbr>' if number in bad else ""
    return f'<button data-move="{number}"{here}>{html.escape(tried.names[number])}{mark}</button>'


def paired(moves: Sequence[tuple[int, int]], players: int) -> list[tuple[list[int], list[int]]]:
    """(number, side) of moves in rows: what the first player made, then the second, each with the dice before it.

    Of a game for one player, a move a row.
    """
    rows, dice, at = list[tuple[list[int], list[int]]](), list[int](), 1
    for number, side in moves:
        if side not in (0, 1):
            dice.append(number)
            continue
        if not rows or side < at or players == 1:
            rows.append(([], []))
        at = side
        rows[-1][side].extend([*dice, number])
        dice = []
    if dice:
        rows.append((dice, []))
    return rows


def graph_of(series: Mapping[str, Mapping[int, float]], whole: Sequence[int], here: int) -> str:
    """Values for the first player along a game as SVG, by search, each in its colour; "" if there are none.

    whole: the number of the move that a click on each ply chooses; here: the ply that is shown
    """
    if not any(series.values()):
        return ""
    last = max(len(whole) - 1, 1)
    step = (WIDE - LEFT - 8) / last

    def x(ply: int) -> float:
        return LEFT + step * ply

    def y(value: float) -> float:
        return 6 + (HIGH - BELOW - 12) * (1 - max(-1.0, min(1.0, value))) / 2

    parts = [
        f'<line x1="{LEFT}" y1="{y(value):.1f}" x2="{WIDE - 8}" y2="{y(value):.1f}"/>'
        f'<text x="{LEFT - 4}" y="{y(value) + 4:.1f}" text-anchor="end">{value:+d}</text>'.replace("+0", "0")
        for value in (1, 0, -1)
    ]
    every = next((one for one in STEPS if last / one <= MOST_NUMBERS), STEPS[-1])
    parts += [
        f'<text x="{x(ply):.1f}" y="{HIGH - 4}" text-anchor="middle">{ply}</text>' for ply in range(0, last + 1, every)
    ]
    parts.append(f'<line class="here" x1="{x(here):.1f}" y1="{y(1):.1f}" x2="{x(here):.1f}" y2="{y(-1):.1f}"/>')
    for kind, values in series.items():
        points = [(x(ply), y(value)) for ply, value in sorted(values.items())]
        parts.append(f'<polyline class="{kind}" points="{" ".join(f"{px:.1f},{py:.1f}" for px, py in points)}"/>')
        parts += [f'<circle class="{kind}" cx="{px:.1f}" cy="{py:.1f}" r="2.5"/>' for px, py in points]
    parts += [
        f'<rect data-move="{number}" x="{x(ply) - step / 2:.1f}" y="0" width="{step:.1f}" height="{HIGH}"/>'
        for ply, number in enumerate(whole)
    ]
    title = "Values along the game for the first player, ply by ply"
    return (
        f'<svg class="arena-lab-graph" role="img" aria-label="{title}" viewBox="0 0 {WIDE} {HIGH}">'
        f"{''.join(parts)}</svg>"
    )
