"""The nodes of a search's tree in a picture, the walk over the tree that makes them, and their text and plain data.

Each kind of search says what it knows of a node; agents/core/tree_drawing.py draws them.
"""

import heapq
from collections.abc import Hashable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from arena.agents.core.agent import Agent, Unsuited
from arena.games.core.game import CHANCE, Game
from arena.games.core.jit import uncompiled as uncompiled

ROLES = {0: "MAX", 1: "MIN", CHANCE: "chance", None: ""}

Item = TypeVar("Item", bound=Hashable)


class Said(NamedTuple):
    """What is said of a node."""

    label: str
    data: dict[str, Any]  # what the search knows, as plain values by name
    note: str = ""  # beside it in a picture
    spoken: str | None = None  # the note in a line of text, if it differs
    words: str = ""  # the end of a line of text
    state: str = ""  # another class of its shape: `proved`, `disproved` or `joined`
    lines: tuple[str, ...] = ()  # the label in a picture, if it differs

    @property
    def inside(self) -> tuple[str, ...]:
        return self.lines or (self.label,)


@dataclass
class Node:
    """A node of the tree in a picture."""

    move: str  # to it; "" of the root
    player: int | None  # to move: 0 is MAX and 1 MIN; CHANCE; None at an end
    _: KW_ONLY
    odds: str = ""  # of a move of chance
    children: list[Any] = field(default_factory=list)  # the shown ones
    pruned: list[str] = field(default_factory=list)  # moves that were cut off
    untried: list[str] = field(default_factory=list)  # moves that may yet be tried
    hidden: int = 0  # children that are not shown
    again: bool = False  # searched a second time
    marked: bool = False  # the highlighted line leads here
    frontier: bool = False  # may yet be expanded
    next: bool = False  # is expanded next
    attributes: str = ""  # more of its shape's, where a page lets it be clicked

    @property
    def legend(self) -> str:
        """How to read the picture, at the root."""
        raise NotImplementedError

    @property
    def said(self) -> Said:
        raise NotImplementedError

    @property
    def role(self) -> str:
        return ROLES[self.player]

    @property
    def look(self) -> str:
        """The class of its shape."""
        return self.role.lower() or "end"

    @property
    def nodes(self) -> int:
        """How many nodes are shown from here down."""
        return sum(1 for _ in self.all())

    def all(self) -> Iterator[Any]:
        """This node and those shown below it."""
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.children

    def _repr_svg_(self) -> str:
        from arena.agents.core.tree_drawing import as_svg

        return as_svg(self, self.title())

    def title(self) -> str:
        return f"{self.nodes} nodes"


def as_text(node: Node, indent: str = "", below: str = "") -> Iterator[str]:
    """A line for each node, and for moves without a node."""
    move = f"{node.move} ({node.odds}):" if node.odds else f"{node.move}:" if node.move else ""
    said = node.said
    note = said.note if said.spoken is None else said.spoken
    words = [move, node.role, said.label, note, said.words, "again" if node.again else ""]
    yield indent + " ".join(word for word in words if word)
    others = [f"cut off: {' '.join(node.pruned)}"] if node.pruned else []
    others += [f"to come: {' '.join(node.untried)}"] if node.untried else []
    others += [f"and {node.hidden:,} more"] if node.hidden else []
    rows = len(node.children) + len(others)
    for i, child in enumerate(node.children):
        last = i == rows - 1
        yield from as_text(child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))
    for i, line in enumerate(others, len(node.children)):
        yield below + ("└─ " if i == rows - 1 else "├─ ") + line


def as_data(node: Node) -> dict[str, Any]:
    """The tree as plain values for JSON."""
    found: dict[str, Any] = {"move": node.move or None, "player": node.role.lower() or None}
    found |= {"probability": node.odds or None, **node.said.data}
    found |= {"marked": node.marked, "frontier": node.frontier, "next": node.next}
    found["children"] = [as_data(child) for child in node.children]
    return found | {"cut_off": node.pruned, "untried": node.untried, "hidden": node.hidden}


def check_searchable(agent: Agent, game: Game, state: np.ndarray) -> None:
    """Unsuited if the game is over or the agent refuses it."""
    if game.is_over(state):
        raise Unsuited("the game is over: there is no tree to search")
    if reason := agent.refuses(game):
        raise Unsuited(reason)


def after(game: Game, state: np.ndarray, move: int) -> np.ndarray:
    """The position after a move, which is not checked as in `Game.after`."""
    child = state.copy()
    with np.errstate(over="ignore"):  # words wrap, as they do in kernels
        game.play(child, move)
    return child


def odds_of(game: Game, state: np.ndarray) -> dict[int, str]:
    """The probabilities of chance's moves, as `fraction` writes them."""
    moves, probabilities = np.empty(game.max_moves, np.int32), np.empty(game.max_moves)
    count = game.chance(state, moves, probabilities)
    return dict(zip(moves[:count].tolist(), map(fraction, probabilities[:count].tolist())))


def fraction(value: float) -> str:
    """A small fraction, or four digits."""
    exact = Fraction(value).limit_denominator(100)
    return str(exact) if abs(exact - Fraction(value)) < 1e-12 else f"{value:.4g}"


def number(value: float) -> str:
    """Four digits of a value, or ∞."""
    return {float("inf"): "∞", -float("inf"): "-∞"}.get(value, f"{value:.4g}")


def hundredths(value: float) -> str:
    """Two digits of a value of at most 1: `.25`."""
    return f"{value:.2f}".replace("0.", ".").replace("-.00", ".00")


def counted(count: int, what: str) -> str:
    """`1 visit`, `2,000 visits`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def finite(value: float) -> float | None:
    """None, for JSON, in place of infinity."""
    return None if value in (float("inf"), -float("inf")) else float(value)


class Searched(Generic[Item]):
    """A search's tree, of which a picture shows a part; items are its nodes, or paths to them."""

    game: Game
    state: np.ndarray
    root: Item
    by_move = False  # children are in the order of moves, not of ranks

    def below(self, item: Item) -> Iterator[tuple[float, int, Item]]:
        """(rank, move, child) of an item's children; those of least rank are shown."""
        raise NotImplementedError

    def node(self, item: Item, player: int | None) -> Node:
        """What is known of an item."""
        raise NotImplementedError

    def way(self) -> list[Item]:
        """The items to what is expanded next, if anything is."""
        return []

    def shown(self, limit: int) -> Any:
        """The root, with about `limit` nodes: the foremost, and the way."""
        way = self.way()
        return self.walk(self.root, self.state, self.foremost(limit).union(way), way)

    def foremost(self, count: int) -> set[Item]:
        """The `count` items of least rank, after their parents."""
        found, waiting, met = set[Item](), [(0.0, 0, self.root)], 1
        while waiting and len(found) < count:
            item = heapq.heappop(waiting)[2]
            found.add(item)
            for rank, _, child in self.below(item):
                heapq.heappush(waiting, (rank, met, child))
                met += 1
        return found

    def walk(self, item: Item, state: np.ndarray, chosen: set[Item], way: list[Item]) -> Node:
        """The node of an item in the position `state`, with the chosen ones below."""
        player = None if self.game.is_over(state) else int(self.game.player(state))
        node = self.node(item, player)
        node.marked, node.next = item in way and item != self.root, item in way[-1:]
        odds = odds_of(self.game, state) if player == CHANCE else {}
        for _, move, child in sorted(self.below(item), key=itemgetter(1 if self.by_move else 0)):
            if child not in chosen:
                node.hidden += 1
                continue
            below = self.walk(child, after(self.game, state, move), chosen, way)
            below.move, below.odds = self.game.move_name(state, move), odds.get(move, "")
            node.children.append(below)
        return node
