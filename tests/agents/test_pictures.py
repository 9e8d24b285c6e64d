"""Pictures of searches beside the searches: what is shown is what they do; tests/test_figures.py has known trees."""

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.tree_node import uncompiled
from arena.agents.minimax.chances import explore_chances
from arena.agents.minimax.expanded import Expansion
from arena.agents.minimax.expectiminimax import LARGEST, value_kernel
from arena.agents.minimax.trace import TooLarge, explore
from arena.agents.minimax.ubfm import ROOT
from arena.agents.pictures import View, show
from arena.agents.proof.numbers import INFINITE, combine
from arena.agents.proof.proving import Proof
from arena.games.core.game import CHANCE
from arena.games.core.random import stream
from tests.agents.test_expectiminimax import TREE

BOARD = "tictactoe"


def shown(agent, spec, line="", **view):
    game = games.make(spec)
    return show(agents.make(agent), game, game.read_line(line)[1], View(**view)).root


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["coin", TREE, BOARD])
@pytest.mark.parametrize("pruning", ["true", "false"])
def test_chance_is_searched_as_by_the_kernel(spec, pruning):
    game = games.make(spec)
    state = game.read_line("2b 1a" if spec == BOARD else "")[1]
    options = "depth=4" if spec == BOARD else "depth=30, scores=true"
    agent = agents.make(f"expectiminimax({options}, pruning={pruning})")
    player = agent.player(game)
    for bounds in [(-9.0, 9.0), (-np.inf, np.inf)]:
        if pruning == "false" and bounds[1] == 9.0:
            with pytest.raises(agents.Unsuited, match="cuts no moves off"):
                explore_chances(agent, game, state, bounds=bounds)
            continue
        root = explore_chances(agent, game, state, 10_000, bounds=bounds)
        low, high = np.clip(bounds, -LARGEST, LARGEST)
        kernel = player.options(0)._replace(least=low, most=high) if bounds[1] == 9.0 else player.options(0)
        player.line.states[0], player.line.counts[:] = state, 0
        value = value_kernel(game, player.line, player.depth, 0, low, high, kernel)
        assert root.value == pytest.approx(value) and root.nodes == player.line.counts[0]
        assert all(node.exact for node in root.all()) or pruning == "true"
    assert bool(root.cut_off) == (pruning == "true" and spec != TREE)


def test_bounds_of_star1_cut_off():
    """A coin's first side is worth 1, and values are 2 at most: 1.5 at most in all, and 2 are certain."""
    nodes = "[2, {'probabilities': [0.5, 0.5], 'moves': [1, 2]}]"
    agent = agents.make("expectiminimax(depth=9, scores=true)")
    game = games.make(f'tree(nodes="{nodes}")')
    assert explore_chances(agent, game, game.initial()).cut_off == 0
    root = explore_chances(agent, game, game.initial(), bounds=(-2.0, 3.0))
    chance = root.children[1]
    assert (chance.player, chance.pruned, chance.said.label) == (CHANCE, ["2"], "≤2") and chance.children[
        0
    ].odds == "1/2"
    with pytest.raises(TooLarge, match="more than 2 nodes"):
        explore_chances(agent, game, game.initial(), 2)


@pytest.mark.plain
def test_proof_numbers_follow_from_the_children():
    """And are those of the search that is asked for as many nodes; the most-proving node has the least numbers."""
    game = games.make(BOARD)
    state = game.read_line("1a 2a 1b")[1]
    search = Proof(agents.make("pns(mobility=false, graph=false)"), game, state)
    for iterations in range(40):
        search.iterate(iterations, 0)
        root = search.shown(10_000)
        assert (root.proof, root.disproof) == search.search.numbers() and search.done == iterations
        assert root.nodes == search.search.tree.size[0]
        for node in root.all():
            if node.children:
                numbers = [
                    np.array([getattr(child, name) for child in node.children]) for name in ("proof", "disproof")
                ]
                both = uncompiled(combine)(*numbers, 0, len(node.children), node.player == 0, False)
                assert (node.proof, node.disproof) == both
            assert node.frontier == (not node.children and node.said.state == "")
        leaf = [node for node in root.all() if node.next]
        assert len(leaf) == (not root.said.state) and all(not node.children and node.frontier for node in leaf)
        if root.said.state:
            break
    assert root.said.state == "proved" and 10 < iterations < 39  # MIN cannot stop the row: MAX does not lose
    few = search.shown(5)
    assert few.nodes == 5 and few.hidden == len(root.children) - 4


@pytest.mark.plain
def test_a_graph_shows_a_position_once():
    """Joined nodes have no children, and the numbers of those that hold their positions, of which all others follow."""
    game = games.make(BOARD)
    search = Proof(agents.make("pns(mobility=false)"), game, game.initial(), 0)
    search.iterate(60, 0)
    root, rows = search.shown(10_000), search.search.tree.positions.first
    joined = [node for node in root.all() if node.joined]
    assert root.nodes == search.search.tree.size[0] and not any(node.children for node in joined)
    assert len(joined) == sum(rows[row] != row for row in range(root.nodes)) > 20
    (leaf,) = [node for node in root.all() if node.next]
    assert leaf.frontier and not leaf.joined and search.way()[-1] in range(root.nodes)
    for node in root.all():
        if node.children:
            proof, disproof = zip(*((child.proof, child.disproof) for child in node.children))
            numbers = uncompiled(combine)(np.array(proof), np.array(disproof), 0, len(proof), node.player == 0, False)
            assert (node.proof, node.disproof) == numbers
    with pytest.raises(agents.Unsuited, match="boards that are turned"):
        Proof(agents.make("pns(symmetries=true)"), game, game.initial())


@pytest.mark.plain
def test_a_second_level_counts_expansions_of_the_first_tree():
    game = games.make(BOARD)
    search = Proof(agents.make("pn2(mobility=false, graph=false)"), game, game.initial(), 0)
    search.iterate(3, 0)
    root = search.shown(100)
    assert sum(bool(node.children) for node in root.all()) == 3 == search.done and INFINITE > root.proof > 0
    assert search.statement() == "MAX does not lose"


@pytest.mark.plain
def test_best_first_minimax_is_the_decision_of_the_agent():
    """The search with the nodes that so many expansions took keeps the same positions."""
    game, agent = games.make(BOARD), agents.make("ubfm")
    search = Expansion(agent, game, game.initial(), 3)
    search.expand(6, 0)
    root, kept = search.shown(1000), search.graph
    nodes = int(kept.counts[2])
    player = agents.make(f"ubfm(nodes={nodes})").player(game)
    decision = player.choose(game.initial(), stream(3))
    assert decision.nodes == nodes and np.array_equal(player.graph.values[:nodes], kept.values[:nodes])
    assert root.value == kept.values[ROOT] and root.descents == 6 and len(root.children) == 9
    assert sum(bool(node.children) for node in root.all()) == 6
    for node in root.all():
        if node.children:
            best = max if node.player == 0 else min
            assert node.value == best(child.value for child in node.children)
    (leaf,) = [node for node in root.all() if node.next]
    assert leaf.frontier and leaf.value == root.value and leaf.marked
    few = search.shown(4)
    assert few.nodes <= 4 + 3 and any(node.hidden for node in few.all())


@pytest.mark.plain
def test_a_depth_first_search_that_is_stopped_shows_what_is_known_so_far():
    game = games.make("tree")
    agent = agents.make("alphabeta(scores=true, table=0, order=[], scout=false, sound=false)")
    whole = explore(agent, game, game.initial())
    for iterations in range(1, whole.nodes):
        root = explore(agent, game, game.initial(), iterations=iterations)
        assert root.nodes == iterations + 1 and root.under_way == (iterations < whole.nodes - 1)
    after = explore(agent, game, game.initial(), iterations=2)  # as the notes have it: MIN has 3 at most, so beta is 3
    node = after.children[0]
    assert (node.value, node.alpha, node.beta, node.untried) == (3, -np.inf, 3, ["2", "3"])
    assert (after.said.label, after.said.note, after.untried) == ("-∞", "(-∞, ∞)", ["2", "3"])


@pytest.mark.plain
def test_playouts_are_iterations():
    few, more = (shown("uct", BOARD, iterations=n, seed=2) for n in (50, 100))
    assert (few.visits, more.visits) == (50, 100) and few.nodes == more.nodes == 30
    assert shown("uct(playouts=100)", BOARD, seed=2).said.data == more.said.data
    line = [node for node in more.all() if node.marked]
    assert line and more.children[0].marked and sum(child.marked for child in more.children) == 1


@pytest.mark.plain
@pytest.mark.parametrize("agent", ["uct", "ubfm"])
def test_seed_0_is_a_seed_of_its_own(agent):
    roots = [shown(agent, BOARD, iterations=20, seed=seed) for seed in (0, 1, None)]
    zero, one, usual = ([node.said.data for node in root.all()] for root in roots)
    assert zero != one == usual


def test_what_a_kind_of_search_cannot_be_told():
    for agent, view, message in [
        ("ubfm", {"goal": 0}, "goal means nothing to ubfm, which takes iterations and seed"),
        ("expectiminimax", {"iterations": 3}, "iterations means nothing to expectiminimax, which takes bounds"),
        ("dfpn", {}, "dfpn has no tree that can be drawn; these have: alphabeta, minimax"),
    ]:
        with pytest.raises(agents.Unsuited, match=message):
            shown(agent, BOARD, **view)
