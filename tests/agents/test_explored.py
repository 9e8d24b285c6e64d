"""The explored tree of a depth-first search: the lecture notes' figures, and the search's own counts."""

import numpy as np
import pytest

import agents
import games
from agents.core.agent import Unsuited
from agents.minimax.explored import TooLarge, explore
from games.core.random import stream

ALONE = "table=0, order=[], scout=false, sound=false, scores=true"


def explored(nodes, agent=f"alphabeta({ALONE})"):
    game = games.make(f'tree(nodes="{nodes}")')
    return explore(agents.make(agent), game, game.initial())


def test_the_first_figure_of_the_notes():
    """(3, 12, 8 / 2, x, y / 14, 5, 2) is worth 3 to MAX, and x and y are not visited."""
    root = explored([[3, 12, 8], [2, 4, 6], [14, 5, 2]])
    first, second, third = root.children
    assert (root.value, root.exact, root.player) == (3, True, 0)
    assert [child.value for child in first.children] == [3, 12, 8] and (first.value, first.exact) == (3, True)
    assert (second.alpha, second.beta) == (3, np.inf) and [child.value for child in second.children] == [2]
    assert second.pruned == ["2", "3"] and (second.exact, second.at_least, second.value) == (False, False, 2)
    assert [child.value for child in third.children] == [14, 5, 2] and (third.value, third.exact) == (2, True)


def test_better_order_prunes_more():
    """With the third node's ends in the order 2, 5, 14 its last two are not visited either."""
    third = explored([[3, 12, 8], [2, 4, 6], [2, 5, 14]]).children[2]
    assert third.pruned == ["2", "3"] and len(third.children) == 1


def test_min_at_the_root_and_a_bound_from_below():
    root = explored("{'player': 'min', 'moves': [[3, 1], [5, 4], [2, 1]]}")
    assert root.value == 2 and root.player == 1
    assert [child.pruned for child in root.children] == [[], ["2"], []]
    assert root.children[1].at_least and not root.children[1].exact and root.children[1].beta == 3


def test_minimax_cuts_nothing_off():
    root = explored([[3, 12, 8], [2, 4, 6], [14, 5, 2]], "minimax(scores=true)")
    assert root.nodes == 13 and root.value == 3 and not any(child.pruned for child in root.children)


def test_scouting_searches_again():
    """A second move that is better than the first is asked for with a window of no width, then with an open one."""
    root = explored([[3, 12], [5, 6], [1, 9]], f"alphabeta({ALONE.replace('scout=false', 'scout=true')})")
    assert [(child.move, child.again) for child in root.children] == [("1", False), ("2", False), ("2", True), ("3", False)]
    assert root.value == 5 and root.children[1].at_least and root.children[1].alpha < root.children[1].beta < 3.1


@pytest.mark.parametrize("options", [ALONE, "table=1", "scout=false", "quiescence=true"])
def test_the_tree_is_what_the_search_visits(options):
    game = games.make("breakthrough(rows=5, columns=4)")
    state = game.initial()
    agent = agents.make(f"alphabeta(depth=3, {options})")
    root, player = explore(agent, game, state, 5000), agent.player(game)
    search = player.search(state, None)
    while not search.finished:
        search.run(100)
    side = 1 if game.player(state) == 0 else -1
    assert root.nodes == player.stack.counts[1] + 1 and root.value == side * search.result()[0]
    assert player.choose(state, stream(1)).value == pytest.approx(np.clip(side * root.value, -1, 1))


def test_what_cannot_be_shown():
    game = games.make("tictactoe")
    with pytest.raises(TooLarge, match="the tree has more than 50 nodes: give a smaller depth, or a higher limit"):
        explore(agents.make("minimax(depth=3)"), game, game.initial(), 50)
    with pytest.raises(Unsuited, match="uct is no depth-first search"):
        explore(agents.make("uct"), game, game.initial())
    with pytest.raises(Unsuited, match="the game is over"):
        explore(agents.make("minimax"), game, game.after_all("1a 2a 1b 2b 1c"))
