"""Draws the rooms of the code, and what imports what, from the imports: `python docs/rooms.py` writes docs/rooms.svg.

A room stands above all that it imports.  A line that others imply is left out.
"""

import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.test_imports import MODULES, between_rooms, imported  # noqa: E402 - found by the line above

WIDTH, HEIGHT, ROW, COLUMN = 118, 22, 46, 130
COLOURS = {"games": "#cfe3d4", "agents": "#cfdcec", "results": "#efe0c4", "arena": "#ecd0d0"}


def draw(path: Path) -> None:
    """Write the picture."""
    imports = between_rooms({name: imported(file) for name, file in MODULES.items()})

    @cache
    def below(room: str) -> frozenset[str]:
        return frozenset(imports[room].union(*map(below, imports[room])))

    @cache
    def height(room: str) -> int:
        return 1 + max(map(height, imports[room]), default=-1)

    rows = [sorted(room for room in imports if height(room) == i) for i in range(max(map(height, imports)) + 1)]
    widest, place = max(map(len, rows)), dict[str, tuple[float, float]]()
    for i, row in enumerate(rows):  # beside what they stand on
        row.sort(key=lambda room: (_mean([place[other][0] for other in imports[room] if other in place]), room))
        for k, room in enumerate(row):
            place[room] = (widest - len(row)) / 2 * COLUMN + k * COLUMN + 5, (len(rows) - 1 - i) * ROW + 5
    lines, boxes = [], []
    for room, (x, y) in place.items():
        for other in sorted(imports[room]):
            if not any(other in below(between) for between in imports[room]):
                lines.append(_line(x, y, *place[other]))
        boxes.append(_box(room, x, y))
    width, high = widest * COLUMN, len(rows) * ROW
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {high}" font-family="sans-serif">'
    title = "<title>The rooms of the code; each stands above what it imports</title>"
    path.write_text("\n".join([head, title, *lines, *boxes, "</svg>"]) + "\n")


def _mean(values):
    return sum(values) / max(1, len(values))


def _line(x, y, x2, y2):
    middle = WIDTH / 2
    return (
        f'<path d="M{x + middle:g} {y + HEIGHT:g} C{x + middle:g} {y + ROW:g} {x2 + middle:g} {y2 - ROW / 2:g} '
        f'{x2 + middle:g} {y2:g}" fill="none" stroke="#8a8a8a"/>'
    )


def _box(room, x, y):
    inside = room.removeprefix("arena.")
    package = inside.partition(".")[0] if inside.partition(".")[0] in COLOURS else "arena"
    name = inside.replace("games.core.", "games/core/").replace(".", "/").replace("games/core/", "core/")
    name = "arena/" + name if package == "arena" and name != "arena" else name
    name = name.replace("agents/montecarlo/parallel", "…/parallel")
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="{COLOURS[package]}"/>'
        f'<text x="{x + WIDTH / 2:g}" y="{y + 15:g}" font-size="12" text-anchor="middle">{name}</text>'
    )


if __name__ == "__main__":
    draw(ROOT / "docs/rooms.svg")
