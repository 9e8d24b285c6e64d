"""Pictures of search trees as SVG, which load nothing and follow the reader's choice of light or dark."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING

from arena.games.core.boards.drawing import UNWRITABLE

if TYPE_CHECKING:
    from arena.agents.core.tree_node import Node

LEVEL, MARGIN, RADIUS, GAP = 92.0, 24.0, 15.0, 16.0  # pixels: between plies, around, of a node, between nodes
LETTER, SMALL = 7.0, 5.6  # pixels of a letter, in a node and beside it
LINE = 17.0  # pixels, in the heading
NARROWEST, ROW = 360.0, 960.0  # pixels: the narrowest picture, and a row of steps

STYLE = """
.arena-tree { color-scheme: light dark; }
.arena-tree text { font: 12px system-ui, sans-serif; fill: #1c2127; text-anchor: middle; }
.arena-tree .paper { fill: #ffffff; }
.arena-tree text.title { font-weight: bold; text-anchor: start; }
.arena-tree text.legend { font-size: 11px; fill: #525c66; text-anchor: start; }
.arena-tree text.name { font-size: 10px; fill: #414a53; stroke: #ffffff; stroke-width: 4; paint-order: stroke; }
.arena-tree text.note { font-size: 10px; fill: #525c66; text-anchor: start; }
.arena-tree text.two { font-size: 11px; }
.arena-tree text.cross { font-size: 13px; fill: #b3372f; }
.arena-tree line { stroke: #8a949e; stroke-width: 1.2; }
.arena-tree line.cut { stroke-dasharray: 3 4; }
.arena-tree line.again { stroke-dasharray: 8 3; }
.arena-tree line.marked { stroke: #e0601f; stroke-width: 2.8; }
.arena-tree .node { fill: #ffffff; stroke: #525c66; stroke-width: 1.6; }
.arena-tree .max, .arena-tree .or { stroke: #1f6fb4; }
.arena-tree .min, .arena-tree .and { stroke: #c5342c; }
.arena-tree .chance { stroke: #2c8a57; }
.arena-tree .proved { fill: #cfebd6; }
.arena-tree .disproved { fill: #f5d2cf; }
.arena-tree .joined { fill: #dfe3e7; }
.arena-tree .frontier { stroke-dasharray: 4 3; }
.arena-tree .next { stroke: #e0601f; stroke-width: 3; stroke-dasharray: none; }
.arena-tree .stub { fill: #d3d8dd; }
@media (prefers-color-scheme: dark) {
.arena-tree text { fill: #e3e8ed; }
.arena-tree .paper { fill: #14181d; }
.arena-tree text.legend, .arena-tree text.note { fill: #a9b4bf; }
.arena-tree text.name { fill: #bac4cd; stroke: #14181d; }
.arena-tree text.cross { fill: #f08a80; }
.arena-tree line { stroke: #75808b; }
.arena-tree line.marked { stroke: #ff9149; }
.arena-tree .node { fill: #14181d; stroke: #a9b4bf; }
.arena-tree .max, .arena-tree .or { stroke: #6db3f2; }
.arena-tree .min, .arena-tree .and { stroke: #f2867d; }
.arena-tree .chance { stroke: #6cc794; }
.arena-tree .proved { fill: #1f4a2e; }
.arena-tree .disproved { fill: #5a2723; }
.arena-tree .joined { fill: #343c45; }
.arena-tree .next { stroke: #ff9149; }
.arena-tree .stub { fill: #414a53; }
}
""".strip()


@dataclass
class Placed:
    """A node, or a move without one, and its position."""

    node: "Node | None"
    move: str
    x: float
    y: float
    cut: bool = False  # whether a move without a node was cut off
    below: list["Placed"] = field(default_factory=list)

    def shift(self, distance: float) -> None:
        self.x += distance
        for one in self.below:
            one.shift(distance)

    def lowest(self) -> float:
        return max([self.y, *(one.lowest() for one in self.below)])


def as_svg(root: "Node", title: str) -> str:
    """A picture of a tree: MAX points up, MIN down, chance is round, ends are square; OR is square, AND round."""
    return as_strip([("", root)], title)


def as_strip(steps: Sequence[tuple[str, "Node"]], title: str) -> str:
    """A picture of several steps' trees, each with a caption, side by side and in rows."""
    trees, width = rows_of(steps)
    shapes, top = [], MARGIN
    for text, kind in [(title, "title"), (steps[0][1].legend, "legend")]:
        for line in wrap(text, max(int((width - 2 * MARGIN) / (SMALL + 1)), 20), break_on_hyphens=False):
            shapes.append(written(MARGIN, top, line, kind))
            top += LINE
    for row in trees:
        top += LINE / 2
        for left, caption, _ in row:
            shapes.append(written(left, top, caption, "title"))
        top += LINE if any(caption for _, caption, _ in row) else 0.0
        for _, _, placed in row:
            shapes += drawn(placed, top + RADIUS)
        top += RADIUS + max(placed.lowest() for _, _, placed in row) + RADIUS + MARGIN
    size = f'width="{width:.0f}" height="{top:.0f}" viewBox="0 0 {width:.0f} {top:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="arena-tree" role="img" aria-label="{clean(title)}" {size}>'
    paper = '<rect class="paper" width="100%" height="100%"/>'
    return "\n".join([head, f"<style>\n{STYLE}\n</style>", paper, *filter(None, shapes), "</svg>\n"])


def rows_of(steps: Sequence[tuple[str, "Node"]]) -> tuple[list[list[tuple[float, str, Placed]]], float]:
    """Rows of (left, caption, tree), and the width of the widest."""
    rows: list[list[tuple[float, str, Placed]]] = [[]]
    left, widest = MARGIN, NARROWEST
    for caption, root in steps:
        placed, right = place(root, 0.0, 0.0)
        wide = max(right, (SMALL + 1.5) * len(caption))
        if rows[-1] and left + wide + MARGIN > ROW:
            rows.append([])
            left = MARGIN
        placed.shift(left)
        rows[-1].append((left, caption, placed))
        left += wide + MARGIN
        widest = max(widest, left)
    return rows, widest


def half_width(node: "Node") -> float:
    """Half the width of a node's shape, which fits its text; triangles are wider."""
    letters = max(map(len, node.said.inside))
    if node.look in ("max", "min"):
        return max(RADIUS + 5, 0.85 * letters * LETTER + 4)
    return max(RADIUS, letters * LETTER / 2 + 3)


def place(node: "Node", left: float, y: float) -> tuple[Placed, float]:
    """A node and everything below it, from x = left on, and the x at which the next one can begin."""
    below, right = list[Placed](), left
    for child in node.children:
        one, right = place(child, right, y + LEVEL)
        below.append(one)
    for i, move in enumerate([*node.pruned, *node.untried]):
        room = max(2 * RADIUS + GAP, SMALL * len(move) + GAP / 2)
        below.append(Placed(None, move, right + room / 2, y + LEVEL, i < len(node.pruned)))
        right += room
    before = max(half_width(node) + GAP / 2, SMALL * len(named(node)) / 2 + GAP / 4)
    note = node.said.note
    after = max(before, half_width(node) + GAP + SMALL * len(note) if note else 0.0)
    x = (below[0].x + below[-1].x) / 2 if below else left + before
    missing = max(left + before - x, 0.0)
    for one in below:
        one.shift(missing)
    return Placed(node, node.move, x + missing, y, below=below), max(right + missing, x + missing + after)


def named(node: "Node") -> str:
    """The move to a node, with the probability of a move of chance."""
    return f"{node.move} {node.odds}".strip()


def drawn(placed: Placed, top: float) -> Iterator[str]:
    """A node and its subtree; branches lie below the nodes."""
    x, y, node = placed.x, placed.y + top, placed.node
    for one in placed.below:
        yield from branch(x, y, one, top)
    for one in placed.below:
        yield from drawn(one, top)
    if node is None:
        yield f'<rect class="stub" x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10"/>'
        return
    yield shape(node, x, y)
    low = 7.0 if node.look == "max" else 1.0 if node.look == "min" else 4.0
    lines, note = node.said.inside, node.said.note
    for line, dy in zip(lines, (low,) if len(lines) == 1 else (-2.5, 11.5)):
        yield written(x, y + dy, line, "two" if len(lines) > 1 else "")
    if len(lines) > 1:
        half = half_width(node) - 4
        yield f'<line x1="{x - half:.1f}" y1="{y:.1f}" x2="{x + half:.1f}" y2="{y:.1f}"/>'
    if note:
        yield written(x + half_width(node) + 5, y + 4, note, "note")
    if node.hidden:
        yield written(x, y + RADIUS + (20 if node.look == "min" else 16), f"+ {node.hidden:,}", "name")


def branch(x: float, y: float, end: Placed, top: float) -> Iterator[str]:
    """The line from a node to one below it, with the move's name; a cross if it was cut off."""
    node, low = end.node, end.y + top - (RADIUS if end.node is not None else 5.0)
    kind = "cut" if node is None else "marked" if node.marked else "again" if node.again else "tried"
    start = y + RADIUS
    yield f'<line class="{kind}" x1="{x:.1f}" y1="{start:.1f}" x2="{end.x:.1f}" y2="{low:.1f}"/>'
    yield written(end.x, end.y + top - RADIUS - 10, end.move if node is None else named(node), "name")
    if end.cut:
        yield written((x + end.x) / 2, (start + low) / 2 + 4, "✕", "cross")


def shape(node: "Node", x: float, y: float) -> str:
    """The outline of a node."""
    r, half = RADIUS, half_width(node)
    kinds = ["node", node.look, node.said.state, "frontier" if node.frontier else "", "next" if node.next else ""]
    kind = f'class="{" ".join(one for one in kinds if one)}"{" " * bool(node.attributes)}{node.attributes}'
    if node.look in ("and", "chance"):
        box = f'x="{x - half:.1f}" y="{y - r - 2:.1f}" width="{2 * half:.1f}" height="{2 * r + 4:.1f}"'
        return f'<rect {kind} {box} rx="{r + 2:.1f}"/>'
    points = {
        "max": [(x, y - r - 4), (x - half, y + r), (x + half, y + r)],
        "min": [(x, y + r + 4), (x - half, y - r), (x + half, y - r)],
    }.get(node.look, [(x - half, y - r), (x + half, y - r), (x + half, y + r), (x - half, y + r)])
    return f'<polygon {kind} points="{" ".join(f"{px:.1f},{py:.1f}" for px, py in points)}"/>'


def written(x: float, y: float, text: str, kind: str) -> str:
    """A line of text, or ""."""
    if not text:
        return ""
    named_kind = f' class="{kind}"' if kind else ""
    return f'<text{named_kind} x="{x:.1f}" y="{y:.1f}">{clean(text)}</text>'


def clean(text: str) -> str:
    """The text without XML's special and forbidden characters."""
    return escape(UNWRITABLE.sub("", text))
