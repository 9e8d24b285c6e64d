"""The tree of a depth-first search has the search's own counts; tests/arena/test_study.py has known trees."""

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.agent import Unsuited
from arena.agents.minimax.trace import TooLarge, explore
from arena.games.core.random import stream

GAME = "breakthrough(rows=5, columns=4)"
ALONE = "table=0, order=[], scout=false, sound=false"


@pytest.mark.plain
@pytest.mark.parametrize("options", [ALONE, "table=1", "scout=false", "quiescence=true"])
def test_the_tree_is_what_the_search_visits(options):
    game = games.make(GAME)
    state = game.initial()
    agent = agents.make(f"alphabeta(depth=3, {options})")
    root, player = explore(agent, game, state, 5000), agent.player(game)
    search = player.begin(state, None)
    while not search.finished:
        search.run(100)
    side = 1 if game.player(state) == 0 else -1
    assert root.nodes == player.search.counts[0]["nodes"] + 1 and root.value == side * search.result()[0]
    assert player.choose(state, stream(1)).value == pytest.approx(np.clip(side * root.value, -1, 1))


@pytest.mark.plain
def test_what_cannot_be_shown():
    game = games.make("tictactoe")
    with pytest.raises(TooLarge, match="the tree has more than 50 nodes: give a smaller depth, or a higher limit"):
        explore(agents.make("minimax(depth=3)"), game, game.initial(), 50)
    with pytest.raises(Unsuited, match="uct is no depth-first search"):
        explore(agents.make("uct"), game, game.initial())
    with pytest.raises(Unsuited, match="the game is over"):
        explore(agents.make("minimax"), game, game.read_line("1a 2a 1b 2b 1c")[1])


@pytest.mark.plain
def test_a_value_that_equals_the_bound_is_one():
    """MAX cuts off at 3, which MIN has already; and MIN at 3, which MAX has."""
    game = games.make("tree(nodes='[[[3, 1], [3, 9]], [[3, 2], [7, 8]]]')")
    agent = agents.make(f"alphabeta(depth=3, scores=true, foresee=false, {ALONE})")
    first, second = explore(agent, game, game.initial()).children
    cut = first.children[1]
    assert (cut.value, cut.exact, cut.at_least, len(cut.pruned)) == (3, False, True, 1)
    assert (second.value, second.exact, second.at_least, len(second.pruned)) == (3, False, False, 1)
    assert (cut.said.label, second.said.label, first.said.label) == ("≥3", "≤3", "3")
