"""The tree of a Monte-Carlo tree search as data, beside the decision of the same search."""

from xml.etree import ElementTree

import pytest

from arena import agents, games
from arena.agents.core.tree_arrays import new_tree
from arena.agents.montecarlo.grown import MostVisited, grow
from arena.games.core.game import CHANCE

GAME = "tictactoe"
UCT = "uct(playouts=300)"


def all_of(node):
    yield node
    for child in node.children:
        yield from all_of(child)


@pytest.mark.plain
@pytest.mark.parametrize("line", ["2b 1a", "2b"])
def test_it_is_the_tree_of_the_decision(line):
    """With either player to move: values are the first player's."""
    game, agent = games.make(GAME), agents.make(UCT)
    state = game.read_line(line)[1]
    decision, root = agent.choose(game, state, seed=4), grow(agent, game, state, seed=4, nodes=10**6)
    side, table = 1 if game.player(state) == 0 else -1, decision.statistics
    found = {child.move: (child.visits, child.value) for child in root.children}
    for move, playouts, mean in zip(table.moves, table.playouts, table.means):
        visits, value = found[game.move_name(state, move)]
        assert visits == playouts and value == pytest.approx(side * mean)
    assert root.visits == 300 and root.nodes <= decision.nodes and root.player == game.player(state)
    weighted = sum(child.visits * child.value for child in root.children) / sum(c.visits for c in root.children)
    assert root.value == pytest.approx(weighted)
    for node in all_of(root):  # the simulation that made a node a leaf ended there
        if node.children:
            assert node.visits - sum(child.visits for child in node.children) in (0, 1)
            assert {child.player for child in node.children} <= {1 - node.player, None}


@pytest.mark.plain
def test_the_most_visited_nodes_are_shown():
    game, agent = games.make(GAME), agents.make(UCT)
    whole = grow(agent, game, game.initial(), seed=1, nodes=10**6)
    few = grow(agent, game, game.initial(), seed=1, nodes=12)
    visits = sorted((node.visits for node in all_of(whole)), reverse=True)
    assert few.nodes == 12 and sorted((node.visits for node in all_of(few)), reverse=True) == visits[:12]
    assert few.hidden == 9 - len(few.children) and few.children[0].visits == max(c.visits for c in whole.children)
    root = ElementTree.fromstring(few._repr_svg_())
    assert "300 visits: the 12 most visited nodes" in set(root.itertext())


def test_chance_is_a_player_and_its_moves_have_odds():
    """A tree made by hand: hold or roll, and two of the die's outcomes; rewards are those of who moved into a node."""
    game, tree = games.make("pig(target=10, horizon=20)"), new_tree(8)
    state = game.initial()
    rolled = game.after(state, game.parse_move(state, "roll"))
    moves = [-1, *game.moves(state), *game.moves(rolled)[:2]]
    rows = [(10, 6.0, 1, 2), (6, 4.5, 3, 2), (4, 1.0, 0, 0), (4, 1.0, 0, 0), (2, 0.5, 0, 0)]
    for node, (visits, value, first, children) in enumerate(rows):
        tree.visits[node], tree.value[node], tree.move[node] = visits, value, moves[node]
        tree.first_child[node], tree.children[node] = first, children
    tree.size[0] = len(rows)
    root = MostVisited(game, state, tree).shown(5)
    roll, hold = root.children
    assert (root.player, roll.player, hold.player) == (0, CHANCE, 1)
    assert [(one.move, one.odds) for one in roll.children] == [("1", "1/6"), ("2", "1/6")]
    assert (root.value, roll.value, hold.value) == (pytest.approx(0.1), 0.5, -0.5)
    assert [one.value for one in roll.children] == [0.5, 0.5]  # chance counts as the second player does
    assert MostVisited(game, state, tree).foremost(3) == {0, 1, 2}


@pytest.mark.parametrize("spec", ["minimax(depth=2)", "random", "root(playouts=50)"])
def test_others_grow_no_tree(spec):
    game = games.make(GAME)
    with pytest.raises(agents.Unsuited, match="grows no tree on one thread"):
        grow(agents.make(spec), game, game.initial(), seed=1)
    with pytest.raises(agents.Unsuited, match="the game is over"):
        grow(agents.make(spec), game, game.read_line("1a 1b 2a 2b 3a")[1], seed=1)
