"""The tree of a search on a page: drawn as `arena tree` draws it, and opened node by node."""

import html
from collections.abc import Callable, Sequence
from dataclasses import replace

from nicegui import ui

from arena.agents.core.tree_drawing import as_svg
from arena.agents.core.tree_node import Node
from arena.lab.frame import chosen_in
from arena.lab.searcher import Drawn

IN_SIGHT = """setTimeout(() => document.querySelector('.arena-lab-tree [aria-current]')?.scrollIntoView(
    {block: 'nearest', inline: 'center'}), 50)"""


class TreeView:
    """A tree of a search; `tried` is called with the moves from the game's beginning to a node that is chosen.

    It belongs to a position: it is seen while the game is at one of its nodes.  A node that is chosen opens; the one
    that the game is at closes, when it is chosen again.
    """

    def __init__(self, tried: Callable[[Sequence[str]], object]):
        self.tried = tried
        self.drawn: Drawn | None = None
        self.open = set[tuple[int, ...]]()  # by the numbers of children from the root on
        self.here: tuple[int, ...] | None = None  # where the game is
        self.remark = ui.label().classes("text-sm")
        self.picture = ui.html("", sanitize=False).classes("arena-lab-tree w-full")
        chosen_in(self.picture, "node", self._chosen, keys=True)

    def show(self, drawn: Drawn) -> None:
        """Show a tree, opened to its second ply."""
        self.drawn, self.open = drawn, {(), (0,)}
        where = f"after {' '.join(drawn.position)}" if drawn.position else "at the beginning"
        self.remark.set_text(f"Tree of {drawn.agent} {where}. {drawn.remark}".strip())
        self.show_at(drawn.position)

    def show_at(self, names: Sequence[str]) -> None:
        """Let the tree be seen where one of its nodes is reached by these moves, and there alone."""
        self.here = None if self.drawn is None else self._path(self.drawn, names)
        for part in (self.remark, self.picture):
            part.set_visibility(self.here is not None)
        if self.drawn is not None and self.here is not None:
            picture = as_svg(self._seen(self.drawn.root, ()), "")
            self.picture.set_content(picture.replace('role="img"', 'role="group"', 1))
            ui.run_javascript(IN_SIGHT)

    @staticmethod
    def _path(drawn: Drawn, names: Sequence[str]) -> tuple[int, ...] | None:
        """Where in the tree these moves from the game's beginning lead; None if to no node of it."""
        before = len(drawn.position)
        if tuple(names[:before]) != drawn.position:
            return None
        node, path = drawn.root, tuple[int, ...]()
        for name in names[before:]:
            number = next((i for i, child in enumerate(node.children) if child.move == name), None)
            if number is None:
                return None
            node, path = node.children[number], (*path, number)
        return path

    def _seen(self, node: Node, path: tuple[int, ...]) -> Node:
        """The node with what is opened below it, and what makes it clickable."""
        label = html.escape(f"{node.move or 'the root'}{', shown on the board' if path == self.here else ''}")
        known = f'data-node="{",".join(map(str, path))}" tabindex="0" role="button" aria-label="{label}"'
        known += ' aria-current="true"' * (path == self.here)
        if path in self.open:
            children = [self._seen(child, (*path, i)) for i, child in enumerate(node.children)]
            return replace(node, children=children, attributes=known)
        hidden = len(node.children) + len(node.pruned) + len(node.untried) + node.hidden
        return replace(node, children=[], pruned=[], untried=[], hidden=hidden, attributes=known)

    def _chosen(self, text: str) -> None:
        path = tuple(int(number) for number in text.split(",") if number)
        if self.drawn is None:
            return
        node, moves = self.drawn.root, list(self.drawn.position)
        for number in path:
            node = node.children[number]
            moves.append(node.move)
        self.open ^= {path} if path == self.here else {path} - self.open
        self.tried(moves)
