"""The tree of a search on a page, opened node by node."""

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from arena.lab.searcher import Drawn

HIDDEN = ("children", "move", "player", "marked", "frontier", "next", "cut_off", "untried", "hidden")


class TreeView:
    """A tree of a search; `tried` is called with the moves from the game's beginning to a node that is chosen.

    It belongs to a position: it is seen while the game is at one of its nodes.
    """

    def __init__(self, tried: Callable[[Sequence[str]], object]):
        self.tried, self.moves = tried, dict[str, tuple[str, ...]]()
        self.remark = ui.label().classes("text-sm")
        self.box = ui.column().classes("w-full")

    def show(self, drawn: Drawn) -> None:
        """Show a tree, opened to its second ply."""
        self.moves = {}
        where = f"after {' '.join(drawn.position)}" if drawn.position else "at the beginning"
        self.remark.set_text(f"Tree of {drawn.agent} {where}. {drawn.remark}".strip())
        nodes = [self._node(drawn.root, "0", drawn.position)]
        self.box.clear()
        with self.box:
            tree = ui.tree(nodes, on_select=lambda event: self._chosen(event.value))
            tree.expand(["0", *(child["id"] for child in nodes[0]["children"][:1])])
        self.show_at(drawn.position)

    def show_at(self, names: Sequence[str]) -> None:
        """Let the tree be seen where one of its nodes is reached by these moves, and there alone."""
        seen = tuple(names) in self.moves.values()
        self.remark.set_visibility(seen)
        self.box.set_visibility(seen)

    def _node(self, data: dict[str, Any], name: str, line: tuple[str, ...]) -> dict[str, Any]:
        moves = (*line, data["move"]) if data["move"] else line
        self.moves[name] = moves
        children = [self._node(child, f"{name}.{i}", moves) for i, child in enumerate(data["children"])]
        return {"id": name, "label": in_words(data), "children": children}

    def _chosen(self, name: str | None) -> None:
        if name in self.moves:
            self.tried(self.moves[name])


def in_words(data: dict[str, Any]) -> str:
    """A node in a line: its move, who moves there, what the search knows, and what it has left out."""
    known = [
        f"{key} {_short(value)}" for key, value in data.items() if key not in HIDDEN and value not in (None, "", [])
    ]
    cut = f"{len(data['cut_off'])} cut off" if data["cut_off"] else ""
    marks = [word for word, flag in (("best", data["marked"]), ("next", data["next"])) if flag]
    return ", ".join(part for part in (data["move"] or "root", *known, cut, *marks) if part)


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
