"""Pictures of searches: the tree that an agent searches in a position, for each kind of search with a tree.

    alphabeta, minimax              the nodes visited by the depth-first search, with windows and cut-offs
    expectiminimax, expectimax      the same with chance
    ubfm                            the positions expanded by best-first minimax
    uct, grave, ppa, mast           the most visited nodes, with their means
    pns, pn2                        proof and disproof numbers

agents/core/tree_drawing.py draws the nodes that `show` returns; agents/core/tree_node.py writes them as text.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from arena.agents.core.agent import Agent, Unsuited
from arena.agents.core.tree_node import Node, counted
from arena.agents.minimax.chances import explore_chances
from arena.agents.minimax.deepening import DepthFirstMinimax
from arena.agents.minimax.expanded import Expansion
from arena.agents.minimax.expectiminimax import Expectiminimax
from arena.agents.minimax.trace import UNBOUNDED, TooLarge, explore
from arena.agents.minimax.ubfm import UBFM
from arena.agents.montecarlo.grown import grow
from arena.agents.montecarlo.method_search import TreeSearch
from arena.agents.proof.pns import PNS
from arena.agents.proof.proving import Proof
from arena.games.core.game import Game

NODES, FEW = 1000, 30  # nodes shown by default; FEW of playouts' trees
DEEPEST = 150  # plies shown
TOO_DEEP = f"the tree is over {DEEPEST} plies deep, too deep to be drawn: give a smaller depth, or fewer iterations"


@dataclass(frozen=True)
class View:
    """What to show of a search; None leaves the choice to the search.

    iterations: when to stop: positions visited by a depth-first search, else expansions or playouts
    bounds: the least and the greatest possible value for MAX, if known
    goal: the least result that a proof shows for the player to move: 1 a win, 0 a draw
    seed: of everything random
    limit: the most nodes to show
    """

    iterations: int | None = None
    bounds: tuple[float, float] | None = None
    goal: int | None = None
    seed: int | None = None
    limit: int | None = None


class Shown(NamedTuple):
    """The root of a tree, a sentence about it, and the iterations done, fewer if the search ended."""

    root: Node
    remark: str
    iterations: int


def show(agent: Agent, game: Game, state: np.ndarray, view: View = View()) -> Shown:
    """The tree that `agent` searches from `state`.

    Unsuited if the agent has no tree to draw, refuses the game, or cannot use a field of the view; TooLarge if the tree
    is too deep, or is shown whole and has more nodes than the limit.
    """
    kind = next((kind for kind in KINDS if isinstance(agent, kind.agents)), None)
    if kind is None:
        raise Unsuited(f"{agent.name} has no tree that can be drawn; these have: {', '.join(DRAWN)}")
    given = [field.name for field in fields(view) if getattr(view, field.name) is not None]
    if unknown := [name for name in given if name not in (*kind.takes, "limit")]:
        raise Unsuited(f"{unknown[0]} means nothing to {agent.name}, which takes {' and '.join(kind.takes)}")
    try:
        shown = kind.show(agent, game, state, view)
    except RecursionError:
        raise TooLarge(TOO_DEEP) from None
    level, depth = [shown.root], 0
    while level := [child for node in level for child in node.children]:
        depth += 1
    if depth > DEEPEST:
        raise TooLarge(TOO_DEEP)
    return shown


def show_visited(agent: Any, game: Game, state: np.ndarray, view: View) -> Shown:
    """Depth-first searches, of chance too."""
    search = explore_chances if isinstance(agent, Expectiminimax) else partial(explore, iterations=view.iterations)
    root = search(agent, game, state, view.limit or NODES, bounds=view.bounds or UNBOUNDED)
    stopped = "; the search is under way" if root.under_way else ""
    remark = f"{counted(root.nodes, 'node')}; {counted(root.cut_off, 'move')} cut off{stopped}"
    return Shown(root, remark, root.nodes - 1)


def show_best_first(agent: Any, game: Game, state: np.ndarray, view: View) -> Shown:
    """Unbounded best-first minimax."""
    search, limit = Expansion(agent, game, state, seed_of(view)), view.limit or NODES
    search.expand(view.iterations, limit)
    root = search.shown(limit)
    return Shown(root, f"{counted(search.done, 'expansion')}; {hidden(root)}", search.done)


def show_playouts(agent: Any, game: Game, state: np.ndarray, view: View) -> Shown:
    """Monte-Carlo tree search."""
    if view.iterations is not None:
        agent = replace(agent, playouts=view.iterations, seconds=None)
    elif not agent.own_budget().given():
        raise Unsuited(f"{agent.name} has no end of its own: say how many iterations, or playouts, it makes")
    root = grow(agent, game, state, seed=seed_of(view), nodes=view.limit or FEW)
    return Shown(root, f"{counted(root.visits, 'playout')}; {hidden(root)}", root.visits)


def show_proof(agent: Any, game: Game, state: np.ndarray, view: View) -> Shown:
    """Proof-number search."""
    search, limit = Proof(agent, game, state, 1 if view.goal is None else view.goal), view.limit or NODES
    search.iterate(view.iterations, limit)
    root = search.shown(limit)
    stand = f"{counted(search.done, 'iteration')}: {root.said.state or 'not settled'}"
    return Shown(root, f"to prove: {search.statement()}; {stand}; {hidden(root)}", search.done)


def seed_of(view: View) -> int:
    """The view's seed, by default 1."""
    return 1 if view.seed is None else view.seed


def hidden(root: Node) -> str:
    """How many nodes are shown, and whether there are more."""
    others = any(node.hidden for node in root.all())
    return counted(root.nodes, "node") + (" shown of a larger tree" if others else "")


class Kind(NamedTuple):
    """A kind of search: its agents, the fields of `View` besides `limit` that it takes, and its function."""

    agents: type
    takes: tuple[str, ...]
    show: Callable[[Any, Game, np.ndarray, View], Shown]


KINDS = (
    Kind(DepthFirstMinimax, ("iterations", "bounds"), show_visited),
    Kind(Expectiminimax, ("bounds",), show_visited),
    Kind(UBFM, ("iterations", "seed"), show_best_first),
    Kind(TreeSearch, ("iterations", "seed"), show_playouts),
    Kind(PNS, ("iterations", "goal"), show_proof),
)
DRAWN = ("alphabeta", "minimax", "expectiminimax", "expectimax", "ubfm", "uct", "grave", "ppa", "mast", "pns", "pn2")
