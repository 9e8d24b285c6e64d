"""Drawings of the tree of a search: as lines of text, and as an SVG picture."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Protocol

STEP, LEVEL, MARGIN, RADIUS = 46, 92, 40, 15  # pixels: between leaves, between plies, around, of a node
COLOURS = {0: "#1f77b4", 1: "#d62728", None: "#444444"}


class Node(Protocol):
    """What is drawn of a node."""

    @property
    def move(self) -> str:
        """The move that leads to it; of the root ""."""

    @property
    def player(self) -> int | None:
        """Who is to move, 0 is MAX and 1 MIN; None at an end, and for chance."""

    @property
    def label(self) -> str:
        """What stands in it: its value."""

    @property
    def note(self) -> str:
        """What stands beside it."""

    @property
    def wider(self) -> float:
        """The pixels that a leaf needs beside it, for its note, say."""

    @property
    def words(self) -> str:
        """What a line of text says besides."""

    @property
    def again(self) -> bool:
        """Whether it was searched a second time."""

    @property
    def children(self) -> Sequence["Node"]:
        """Those that were tried, in their order."""

    @property
    def pruned(self) -> Sequence[str]:
        """Moves that were not."""


def as_text(node: Node, indent: str = "", below: str = "") -> Iterator[str]:
    """A line for each node: its move, MAX or MIN, its value and its window; and for moves that were cut off."""
    words = [f"{node.move}:" if node.move else "", {0: "MAX", 1: "MIN", None: ""}[node.player], node.label]
    words += [node.note, node.words, "again" if node.again else ""]
    yield indent + " ".join(word for word in words if word)
    rows = len(node.children) + bool(node.pruned)
    for i, child in enumerate(node.children):
        last = i == rows - 1
        yield from as_text(child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))
    if node.pruned:
        yield f"{below}└─ cut off: {' '.join(node.pruned)}"


def as_svg(root: Node, title: str) -> str:
    """A picture: MAX points up, MIN down, ends are squares; dashed branches were cut off."""
    shapes, width = draw(root, MARGIN, MARGIN + 20)[1:]
    height = max(y for y, _ in shapes) + MARGIN + 20
    width = max(width + MARGIN, 8 * len(title) + 2 * MARGIN)
    size = f'width="{width:.0f}" height="{height:.0f}"'
    style = 'font-family="sans-serif" font-size="12" text-anchor="middle"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>',
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="{MARGIN}" y="20" text-anchor="start" font-weight="bold">{escape(title)}</text>',
            *(shape for _, shape in shapes),
            "</svg>\n",
        ]
    )


def draw(node: Node, left: float, y: float) -> tuple[float, list, float]:
    """A node and all below it, from x = left on: (its x, [(y, shape), ...], where the next one can begin)."""
    shapes, places, right = [], [], left
    for child in node.children:
        x, below, right = draw(child, right, y + LEVEL)
        places.append(x)
        shapes += [*branch((x, y + LEVEL), child.move, child.again), *below]
    for move in node.pruned:
        places.append(right + STEP / 2)
        shapes += branch((places[-1], y + LEVEL * 0.6), move, None)
        right += STEP
    x = (places[0] + places[-1]) / 2 if places else left + STEP / 2
    lines = [(at, shape.format(x=x, y=y + RADIUS) if "{x" in shape else shape) for at, shape in shapes]
    return x, [*lines, *symbol(node, x, y)], max(right, left + STEP + node.wider)


def branch(end, move: str, again: bool | None) -> Iterator[tuple[float, str]]:
    """The line to a node from its parent, whose place is not known yet, with the move; `again` None: it was cut off."""
    x, y = end
    style = ' stroke-dasharray="3 4"' if again is None else ' stroke-dasharray="8 3"' if again else ""
    start = 'x1="{x:.1f}" y1="{y:.1f}"'
    yield y, f'<line {start} x2="{x:.1f}" y2="{y - (RADIUS if again is not None else 0):.1f}" stroke="#888888"{style}/>'
    name = escape(move).replace("{", "").replace("}", "")
    yield y, f'<text x="{x + 3:.1f}" y="{y - RADIUS - 12:.1f}" fill="#555555" font-size="10">{name}</text>'
    if again is None:
        yield y, f'<text x="{x:.1f}" y="{y + 4:.1f}" fill="#888888">✕</text>'


def symbol(node: Node, x: float, y: float) -> Iterator[tuple[float, str]]:
    """A triangle or a square, the value in it, the window beside it."""
    r, colour = RADIUS, COLOURS[node.player]
    points = {
        0: [(x, y - r - 4), (x - r - 5, y + r), (x + r + 5, y + r)],
        1: [(x, y + r + 4), (x - r - 5, y - r), (x + r + 5, y - r)],
        None: [(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
    }[node.player]
    corners = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
    yield y, f'<polygon points="{corners}" fill="white" stroke="{colour}" stroke-width="1.5"/>'
    yield y, f'<text x="{x:.1f}" y="{y + 4 + (3 if node.player == 0 else 0):.1f}">{node.label}</text>'
    if node.note:
        place = f'x="{x + r + 6:.1f}" y="{y + 4:.1f}" text-anchor="start"'
        yield y, f'<text {place} fill="#777777" font-size="9">{node.note}</text>'
