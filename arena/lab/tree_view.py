"""The tree of a search on a page, opened node by node."""

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

HIDDEN = ("children", "move", "player", "marked", "frontier", "next", "cut_off", "untried", "hidden")


class TreeView:
    """A tree of `tree_node.as_data`; `tried` is called with the moves that lead to a node that is chosen."""

    def __init__(self, tried: Callable[[Sequence[str]], object]):
        self.tried, self.moves = tried, dict[str, list[str]]()
        self.remark = ui.label().classes("text-sm")
        self.box = ui.column().classes("w-full")

    def show(self, root: dict[str, Any], remark: str) -> None:
        """Show a tree, opened to its second ply."""
        self.remark.set_text(remark)
        self.moves = {}
        nodes = [self._node(root, "0", [])]
        self.box.clear()
        with self.box:
            tree = ui.tree(nodes, on_select=lambda event: self._chosen(event.value))
            tree.expand(["0", *(child["id"] for child in nodes[0]["children"][:1])])

    def _node(self, data: dict[str, Any], name: str, line: list[str]) -> dict[str, Any]:
        moves = line + ([data["move"]] if data["move"] else [])
        self.moves[name] = moves
        children = [self._node(child, f"{name}.{i}", moves) for i, child in enumerate(data["children"])]
        return {"id": name, "label": in_words(data), "children": children}

    def _chosen(self, name: str | None) -> None:
        if name and self.moves.get(name):
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
