"""The methods of uct: node for node against naive twins, and by what must hold in the trees that they leave."""

import importlib
import re
from collections import Counter
from dataclasses import fields
from math import log
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from arena import agents, games
from arena.agents.core.agent import Unsuited
from arena.agents.core.probing import LEAST
from arena.agents.core.tree_arrays import ROOT, begin_walk, new_walk, proven_result
from arena.agents.montecarlo.method import Method, methods_of, registry
from arena.agents.montecarlo.methods import bandit
from arena.agents.montecarlo.methods.grave import Grave
from arena.agents.montecarlo.methods.ppa import IN_TREE, PLAYOUT
from arena.agents.montecarlo.search import Search
from arena.games.core.random import next_word, stream
from arena.games.core.shared.registry import SpecError
from tests.agents import naive_methods as naive
from tests.agents.naive import solve
from tests.agents.naive_nested import adapt, steps_of
from tests.agents.positions import random_position
from tests.agents.test_montecarlo import assert_same_tree

GAME = "breakthrough(rows=5, columns=4)"
TWINS = [
    pytest.param(
        "implicit(alpha=0.3) + bias(weight=0.7) + history(weight=2) + nst(length=2) + halving"
        " + widening(first=3, step=5, growth=1.2)",
        lambda budget: [
            naive.Widening(3, 5, 1.2),
            naive.Implicit(0.3),
            naive.Bias(0.7),
            naive.History(2.0),
            naive.NST(2, 0.2, 7),
            naive.Halving(budget),
        ],
        id="six",
    ),
    pytest.param(
        "puct(c=0.8) + reply + anytime",
        lambda budget: [naive.PUCT(0.8, 0.5, 0.5), naive.Reply(), naive.Anytime()],
        id="three",
    ),
    pytest.param(
        "score(weight=0.3) + cutoff(plies=6)", lambda budget: [naive.Score(0.3, 10.0), naive.Cutoff(6)], id="two"
    ),
    pytest.param("implicit", lambda budget: [naive.Implicit(0.2)], id="implicit"),
    pytest.param("bias", lambda budget: [naive.Bias(1.0)], id="bias"),
    pytest.param("history", lambda budget: [naive.History(5.0)], id="history"),
    pytest.param("heavy", lambda budget: [naive.Heavy(0.5, 0.0)], id="heavy"),
    pytest.param("nst", lambda budget: [naive.NST(3, 0.2, 7)], id="nst"),
    pytest.param("informed(epsilon=0.2, depth=2, width=5)", lambda budget: [naive.Informed(0.2, 2, 5)], id="replies"),
    pytest.param("informed", lambda budget: [naive.Informed(0.1)], id="informed"),
    pytest.param("decisive + nst", lambda budget: [naive.Decisive(), naive.NST(3, 0.2, 7)], id="decisive"),
    pytest.param("halving", lambda budget: [naive.Halving(budget)], id="halving"),
    pytest.param("halving(below=2)", lambda budget: [naive.Halving(budget, 2)], id="below"),
    pytest.param("halving(below=1)", lambda budget: [naive.Halving(budget, 1)], id="shot"),
    pytest.param("shuss(weight=4)", lambda budget: [naive.SHUSS(budget, 4.0)], id="shuss"),
    pytest.param(
        "grave(ref=5, bias=0.001) + halving + implicit",
        lambda budget: [naive.AMAF(5, 0.001), naive.Halving(budget), naive.Implicit(0.2)],
        id="grave",
    ),
    pytest.param(
        "grave(ref=20) + decisive + nst(length=2)",
        lambda budget: [naive.AMAF(20, 1e-5), naive.Decisive(), naive.NST(2, 0.2, 7)],
        id="grave and playouts",
    ),
    pytest.param("ppa(alpha=0.5) + implicit", lambda budget: [naive.PPA(0.5), naive.Implicit(0.2)], id="ppa"),
    pytest.param(
        "ppa(temperature=0.7) + decisive + halving",
        lambda budget: [naive.PPA(1.0, 0.7), naive.Decisive(), naive.Halving(budget)],
        id="ppa and amended playouts",
    ),
    pytest.param("widening", lambda budget: [naive.Widening(5, 40, 1.4)], id="widening"),
]


def searched(spec, methods, playouts, state, seed=9, more=""):
    """The player that has made one decision, and the decision."""
    game = games.make(spec)
    player = agents.make(f"uct(methods={methods!r}, playouts={playouts}{more})").player(game)
    return player, player.choose(state, stream(seed))


@pytest.mark.plain
@pytest.mark.parametrize("bound", bandit.BOUNDS)
def test_bandits_equal_their_twins(bound, kernels):
    game, playouts = games.make(GAME), 300 if kernels == "compiled" else 60
    for seed in range(2):
        state, rng = random_position(game, seed, 6), stream(seed)
        twin = naive.Bandit(bound, np.array([next_word(rng)]))
        root = naive.composed(game, state, playouts, [twin], 0.4, rng)
        assert_same_tree(searched(GAME, f"bandit(bound={bound!r})", playouts, state, seed)[0].tree, root)


@pytest.mark.parametrize("a, b", [(1, 1), (1.5, 4), (30, 2), (200, 300.5)])
def test_draws_have_the_beta_distribution(a, b):
    rng = stream(1, a, b)
    draws = [bandit.beta(a, b, rng) for _ in range(4000)]
    assert stats.kstest(draws, stats.beta(a, b).cdf).pvalue > 0.001


@pytest.mark.plain
@pytest.mark.parametrize("bound", bandit.BOUNDS)
def test_a_bandit_knows_the_squares_of_its_rewards(bound):
    """Evaluations are rewards, too: their squares lie between the mean's square and the mean; those of a win are 1."""
    game = "breakthrough(rows=5, columns=4)"
    for methods, spread in ((f"bandit(bound={bound!r})", False), (f"cutoff(plies=2) + bandit(bound={bound!r})", True)):
        player, _ = searched(game, methods, 150, games.make(game).initial())
        tree, squares = player.tree, player.memory[-1].squares
        for node in range(1, tree.size[0]):
            assert tree.value[node] ** 2 <= squares[node] * tree.visits[node] + 1e-9
            assert squares[node] <= tree.value[node] + 1e-9
        assert spread == (np.abs(squares[1 : tree.size[0]] * 4 % 1) > 1e-9).any()


@pytest.mark.plain
@pytest.mark.parametrize("methods, twins", TWINS)
def test_methods_equal_their_twins(methods, twins, kernels):
    game, playouts = games.make(GAME), 300 if kernels == "compiled" else 100
    for seed in range(2):
        state = random_position(game, seed, 6)
        twin = naive.composed(game, state, playouts, twins(playouts), 0.4, stream(seed))
        assert_same_tree(searched(GAME, methods, playouts, state, seed)[0].tree, twin)


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["othello(size=4)", "go(size=5, komi=0.5)"])
def test_rewards_by_score_equal_their_twin_where_scores_differ(spec):
    """Alone, where a playout is one call, and with a method that acts on each move."""
    game = games.make(spec)
    for methods, playouts, twins in (
        ("score(weight=1, scale=3)", 30, lambda rng: [naive.ScoreAlone(1.0, 3.0, rng)]),
        ("score(weight=0.5) + nst", 8, lambda rng: [naive.Score(0.5, 10.0), naive.NST(3, 0.2, 7)]),
    ):
        rng = stream(9)
        twin = naive.composed(game, game.initial(), playouts, twins(rng), 0.4, rng)
        player, decision = searched(spec, methods, playouts, game.initial())
        assert_same_tree(player.tree, twin)
        assert any(2 * child.value % 1 for child in twin.children)  # neither wins nor draws alone
        assert -1 <= decision.value <= 1


@pytest.mark.plain
@pytest.mark.parametrize(
    "agent, methods, more",
    [
        ("grave(ref=9, solver=true", "grave(ref=9)", ", solver=true"),
        ("grave(lanes=4, bias=0.1", "grave(lanes=4, bias=0.1)", ""),
        ("ppa(alpha=0.5, keep_tree=true", "ppa(alpha=0.5)", ", keep_tree=true"),
        ("mast(exploration=0.8, memory=false", "mast(memory=false)", ", exploration=0.8"),
    ],
)
def test_an_agent_is_uct_with_the_method_of_its_name(agent, methods, more):
    game = games.make("tictactoe")
    state = random_position(game, 1, 2)
    player, expected = searched("tictactoe", methods, 100, state, more=more)
    other = agents.make(f"{agent}, playouts=100)").player(game)
    decision = other.choose(state, stream(9))
    assert (decision.move, decision.value) == (expected.move, expected.value)
    for name in ("visits", "value", "proven"):
        assert np.array_equal(*(getattr(one.tree, name)[: one.tree.size[0]] for one in (player, other)))


@pytest.mark.plain
def test_the_solver_proves_what_adapted_playouts_and_minimax_values_meet():
    game = games.make("tictactoe")
    for methods in ("ppa + implicit + decisive", "grave + pn", "mast + halving"):
        state = game.read_line("2b 1b")[1]
        player, _ = searched("tictactoe", methods, 900, state, more=", solver=true")
        proven = [node for node in range(player.tree.size[0]) if player.tree.proven[node]]
        assert len(proven) > 10
        positions, known = positions_of(game, player.tree, state), {}
        assert all(proven_result(player.tree.proven[node]) == solve(game, positions[node], known) for node in proven)


@pytest.mark.plain
def test_halving_divides_a_budget_as_it_says():
    """600 simulations, 9 moves: rounds of 9, 5, 3 and 2 with 16, 30, 50 and 75 more for each, and 6 are left."""
    decision = searched("tictactoe", "halving", 600, games.make("tictactoe").initial())[1]
    assert sorted(decision.statistics.playouts) == [16, 16, 16, 16, 46, 46, 96, 171, 177]


@pytest.mark.plain
def test_a_halving_search_plays_the_move_that_is_left():
    decision = searched("tictactoe", "halving", 600, games.make("tictactoe").initial())[1]
    assert decision.statistics.playouts[list(decision.statistics.moves).index(decision.move)] == 177


@pytest.mark.plain
def test_halving_counts_the_round_that_the_budget_ends_in():
    """Of two moves, 50 visits each, the better one is played; of the first round's, one that has been visited."""
    game = games.make("tictactoe")
    state = game.read_line("2b 1a 1b 3b 2a 2c 1c")[1]
    for seed in range(8):
        assert game.move_name(state, searched("tictactoe", "halving", 100, state, seed)[1].move) == "3a"
    state = game.read_line("1a 1b 2a 2b")[1]
    for seed in range(8):
        decision = searched("tictactoe", "halving", 4, state, seed)[1]
        seen = decision.statistics.playouts > 0
        assert seen.sum() == 4 and decision.value == decision.statistics.means[seen].max()


def nodes_of(tree):
    """Every expanded node with its children."""
    waiting = [ROOT]
    while waiting:
        node = waiting.pop()
        children = list(range(tree.first_child[node], tree.first_child[node] + tree.children[node]))
        if children:
            yield node, children
        waiting += children


def positions_of(game, tree, state):
    """The position of each node."""
    found = {ROOT: state}
    for node, children in nodes_of(tree):
        found |= {child: game.after(found[node], int(tree.move[child])) for child in children}
    return found


@pytest.mark.plain
def test_proof_numbers_and_bounds_follow_from_those_of_the_children():
    game = games.make("tictactoe")
    state, known, proven = game.read_line("2b 1a")[1], {}, 0
    player, _ = searched("tictactoe", "pn + bounds", 250, state)
    tree, (numbers, bounds) = player.tree, player.memory
    positions = positions_of(game, tree, state)
    for node, children in nodes_of(tree):
        if tree.proven[node]:
            proven += 1
            assert proven_result(tree.proven[node]) == solve(game, positions[node], known)
            continue
        mover = game.player(positions[node])
        assert numbers.pn[node, mover] == min(numbers.pn[child, mover] for child in children)
        assert numbers.pn[node, 1 - mover] == sum(numbers.pn[child, 1 - mover] for child in children)
        best = max if mover == 0 else min
        assert bounds.pess[node] == best(bounds.pess[child] for child in children)
        assert bounds.opti[node] == best(bounds.opti[child] for child in children)
        own = [numbers.pn[child, mover] for child in children]
        ranks = [1 - (1 + sum(other < number for other in own)) / len(own) for number in own]
        assert np.allclose([numbers.term[child] for child in children], ranks)
        assert bounds.pess[node] <= 0.5 + solve(game, positions[node], known) / 2 <= bounds.opti[node]
    assert proven > 10
    for leaf in set(positions) - {node for node, _ in nodes_of(tree)}:
        if game.is_over(positions[leaf]):
            result = game.score(positions[leaf])
            assert numbers.pn[leaf].tolist() == [0.0 if side * result > 0 else np.inf for side in (1, -1)]


@pytest.mark.plain
@pytest.mark.parametrize("term", ["max", "sum"])
def test_terms_of_proof_numbers(term):
    game = games.make(GAME)
    player, _ = searched(GAME, f"pn(term={term!r}, solver=false)", 300, game.initial())
    tree, numbers, positions = player.tree, player.memory[0], positions_of(game, player.tree, game.initial())
    for node, children in nodes_of(tree):
        own = [float(numbers.pn[child, game.player(positions[node])]) for child in children]
        finite = [number for number in own if number < np.inf] or [0.0]
        least, largest, total = min(finite), max(finite), sum(finite)
        for child, number in zip(children, own):
            known = number / (1 + total) if term == "sum" else (number - least) / (1 + largest - least)
            assert numbers.term[child] == pytest.approx(0.0 if number == np.inf else 1 - known, abs=1e-6)


@pytest.mark.plain
def test_transpositions_share_what_lies_below(kernels):
    game = games.make("tictactoe")
    player, _ = searched("tictactoe", "graph", 2000 if kernels == "compiled" else 800, game.initial())
    tree, memory = player.tree, player.memory[0]
    blocks, through = {}, Counter()
    for node, children in nodes_of_graph(tree):
        through[children[0]] += tree.visits[node] - (memory.own_visits[node] if node != ROOT else 0)
    states = {(ROOT, 0): game.initial()}
    waiting = [(ROOT, 0)]
    while waiting:
        node, depth = waiting.pop()
        if tree.children[node]:
            key = (int(game.key(states[node, depth])), depth)
            assert blocks.setdefault(key, int(tree.first_child[node])) == tree.first_child[node]
            for child in range(tree.first_child[node], tree.first_child[node] + tree.children[node]):
                states[child, depth + 1] = game.after(states[node, depth], int(tree.move[child]))
                waiting.append((child, depth + 1))
    assert len(set(blocks.values())) == len(blocks) < sum(1 for _ in nodes_of_graph(tree))
    assert all(memory.visits[first] == visits for first, visits in through.items())


def nodes_of_graph(tree):
    """As nodes_of, but each node once."""
    return [
        (node, list(range(tree.first_child[node], tree.first_child[node] + tree.children[node])))
        for node in range(tree.size[0])
        if tree.children[node]
    ]


@pytest.mark.plain
def test_decisive_moves_are_made_and_kept_from_the_opponent():
    game = games.make("tictactoe")
    won, lost = (game.read_line(line)[1] for line in ("1a 1b 2a 2b", "2b 1a 2a"))
    assert game.move_name(won, searched("tictactoe", "decisive", 30, won)[1].move) == "3a"
    decision = searched("tictactoe", "decisive", 60, lost)[1]
    assert game.move_name(lost, decision.move) == "2c" and max(decision.statistics.playouts) >= 60 - 6


@pytest.mark.parametrize("kernels", ["plain"], indirect=True)
@pytest.mark.parametrize("value, result", [(0.25, 1.0), (0.0, 0.0), (-0.25, -1.0)])
def test_a_sharp_cutoff_counts_the_sign_of_an_evaluation(value, result, monkeypatch, kernels):
    game, method = games.make("tictactoe"), methods_of("cutoff(sharp=true)")[0]
    monkeypatch.setattr(type(game), "evaluate", lambda game, state: value)
    walk = new_walk(game, game.initial())
    assert method.estimate(game, None, walk) == result


@pytest.mark.plain
def test_a_solver_proves_what_decisive_moves_decide():
    """Every move is answered by one that wins: as soon as each has been, the root is lost."""
    game = games.make("tictactoe")
    decision = searched("tictactoe", "decisive", 1000, game.read_line("1a 1b 1c 2a 2b")[1], more=", solver=true")[1]
    assert decision.value == -1.0 and decision.playouts <= 12


@pytest.mark.plain
def test_a_solver_looks_beyond_lost_moves_at_those_that_do_not_take_part_yet():
    """Every move loses, and a single one takes part at first: the root is lost when all have been searched."""
    state = games.make("tictactoe").read_line("1a 1b 1c 2a 2b")[1]
    decision = searched("tictactoe", "widening(first=1, step=1e9)", 300, state, more=", solver=true")[1]
    assert decision.value == -1.0 and min(decision.statistics.playouts) > 0


@pytest.mark.plain
@pytest.mark.parametrize(
    "methods, more", [("decisive(anti=false) + graph", ""), ("decisive(anti=false)", ", keep_tree=true")]
)
def test_a_node_knows_the_move_that_wins_at_once(methods, more):
    """Where it shares its moves with other nodes, and where the tree has been kept."""
    game = games.make("tictactoe")
    state = game.read_line("2b 1a")[1]
    player, decision = searched("tictactoe", methods, 1000, state, more=more)
    if more:
        player.played(decision.move)
        state = game.after(state, decision.move)
    memory, positions, told = player.memory[0], {ROOT: state}, 0
    waiting = [ROOT]
    while waiting:
        node = waiting.pop()
        first, count = int(player.tree.first_child[node]), int(player.tree.children[node])
        mover, wins = game.player(positions[node]), []
        for child in range(first, first + count):
            positions[child] = game.after(positions[node], int(player.tree.move[child]))
            score = game.score(positions[child]) if game.is_over(positions[child]) else 0
            wins += [child - first] if score == (1 if mover == 0 else -1) else []
            waiting.append(child)
        assert not count or memory.wins[first] == (wins[0] if wins else -1)
        told += len(wins) > 0
    assert told > 10


@pytest.mark.plain
def test_gumbel_considers_the_moves_that_it_draws():
    game = games.make("tictactoe")
    decision = searched("tictactoe", "gumbel(considered=4, warmup=0.0)", 400, game.initial())[1]
    assert sorted(decision.statistics.playouts) == [0, 0, 0, 0, 0, 50, 50, 150, 150]


def weights_of(player):
    """The weights of the adapted policy of the last method, by code."""
    return player.memory[-1].extra.taught.learner.policy.weights[0]


def as_row(weights, game):
    """The weights of a twin."""
    return [weights.get(code, 0.0) for code in range(game.code_limit)]


@pytest.mark.plain
@pytest.mark.parametrize(
    "methods, others, numbers",
    [
        (
            "decisive(anti=false) + gumbel(considered=4, logits='ppa', alpha=0.5, temperature=0.7, noise=1)",
            [naive.Decisive(anti=False)],
            {"considered": 4, "alpha": 0.5, "temperature": 0.7},
        ),
        pytest.param("gumbel(logits='ppa', noise=1)", [], {"considered": 16}),
    ],
)
def test_gumbel_by_an_adapted_policy_is_what_its_twin_does(methods, others, numbers):
    """The tree, the weights and the move; moves of playouts are drawn, or decided by another method."""
    game = games.make("tictactoe")
    for seed in range(3):
        state, rng = random_position(game, seed, 2), stream(seed)
        gumbel = naive.AdaptedGumbel(200, game=game, state=state, rng=rng, **numbers)
        root = naive.composed(game, state, 200, [*others, gumbel], 0.4, rng)
        player, decision = searched("tictactoe", methods, 200, state, seed)
        assert_same_tree(player.tree, root)
        np.testing.assert_allclose(weights_of(player), as_row(gumbel.weights, game), rtol=1e-9, atol=1e-12)
        gumbel.draw_again(root)
        assert decision.move == max(gumbel.left[root], key=gumbel.rank).move


@pytest.mark.plain
def test_a_policy_adapts_to_the_winner_among_chance():
    """A simulation whose line is one of the game; nothing is learnt of the die, nor of a draw."""
    spec = "pig(target=8, horizon=10)"
    game, results = games.make(spec), set()
    for seed in range(12):
        player, _ = searched(spec, "gumbel(logits='ppa')", 1, game.initial(), seed)
        lines = player.memory[0].extra.taught.learner.lines
        state, line = game.initial(), []
        for move in [move for part in (IN_TREE, PLAYOUT) for move in lines.moves[part, : lines.length[part]].tolist()]:
            assert move in game.moves(state)
            line.append((int(game.player(state)), int(game.move_code(state, move))))
            state = game.after(state, move)
        assert game.is_over(state)
        result = np.sign(game.score(state))
        results.add(result)
        steps = steps_of(game, game.initial(), line, game.move_code)
        weights = adapt({}, steps, int(result < 0), 1.0) if result else {}
        assert weights_of(player) == pytest.approx(as_row(weights, game))
    assert results == {-1, 0, 1}


def test_a_policy_for_too_many_move_codes():
    """Its weights are a row with a place for each."""
    game = games.make("tictactoe")
    wide = type("Wide", (), {"code_limit": 1 << 23})()
    gumbel, other = methods_of("gumbel(logits='ppa')")[0], methods_of("gumbel")[0]
    assert gumbel.misfit(game) is None and other.misfit(wide) is None
    assert "logits = 'ppa': a policy has room for 4194304 move codes" in gumbel.misfit(wide)


@pytest.mark.slow
@pytest.mark.parametrize("methods", ["implicit + bias + puct", "pn + bounds + decisive"])
def test_methods_keep_a_tree(methods):
    """What a kept tree knows of its nodes is what it knew before."""
    player, decision = searched(GAME, methods, 400, games.make(GAME).initial(), more=", keep_tree=true")
    parts = list(zip(player.agent.chosen, player.memory))
    before = {(one, name): getattr(part, name).copy() for one, part in parts for name in one.per_node}
    tree, chosen = player.tree, 1 + list(player.tree.move[1:50]).index(decision.move)
    player.played(decision.move)
    pairs = [(chosen, ROOT)]
    for old, new in pairs:
        for one, part in list(zip(player.agent.chosen, player.memory)):
            for name in one.per_node:
                assert np.array_equal(getattr(part, name)[new], before[one, name][old])
        pairs += [(tree.first_child[old] + i, player.tree.first_child[new] + i) for i in range(tree.children[old])]
    assert len(pairs) > 20


@pytest.mark.parametrize(
    "methods, told",
    [
        ("implict", "unknown method 'implict' (did you mean 'implicit'?)"),
        ("implicit + implicit", "implicit is there twice"),
        ("implicit(alpha=2)", "implicit: alpha = 2.0 is out of range: it can be 0 to 1"),
        ("implicit(", "it can be methods joined by +"),
        ("halving + anytime", "both divide the root's simulations; only one method can"),
        ("nst + reply", "both draw the moves of playouts; only one method can"),
        ("informed + nst", "both draw the moves of playouts; only one method can"),
        ("gumbel(logits='ppa') + nst", "both draw the moves of playouts; only one method can"),
        ("gumbel(logits='ppa', alpha=0)", "gumbel: alpha = 0.0 is out of range: it can be 0.001 to 1000"),
        ("gumbel(alpha=2)", "gumbel: alpha = 2.0 needs logits = 'ppa', not 'mast'"),
        ("informed(depth=3)", "informed: depth = 3 is out of range: it can be 1 to 2"),
        ("pn + graph", "pn and graph exclude each other"),
        ("puct + graph", "both replace the exploration term"),
        ("halving(below=1) + graph", "halving and graph exclude each other"),
        ("implicit(alpha=" + 900 * "-" + "1)", "it can be methods joined by +"),
        ("implicit(beta=1)", "implicit has no parameter 'beta'"),
        ("ppa + mast", "both draw the moves of playouts; only one method can"),
        ("ppa(alpha=0)", "ppa: alpha = 0.0 is out of range: it is more than 0"),
        ("grave + puct", "both replace the exploration term; only one method can"),
        ("cutoff + grave", "cutoff and grave exclude each other"),
        ("score + grave", "score and grave exclude each other"),
        ("grave(lanes=4) + halving", "grave with lanes above 1 goes with no other method"),
        ("3", "is not of the form name or name(parameter=value, ...)"),
    ],
)
def test_what_is_wrong_is_one_line(methods, told):
    with pytest.raises(SpecError) as error:
        agents.make(f"uct(methods={methods!r})")
    assert told in str(error.value) and "\n" not in str(error.value) and len(str(error.value)) < 500


def test_what_methods_cannot_go_with():
    for text in (
        "uct(methods='implicit', lanes=8)",
        "uct(methods='halving', keep_tree=true)",
        "uct(methods='grave', keep_tree=true)",
        "grave(keep_tree=true)",
    ):
        with pytest.raises(SpecError, match="exclude each other"):
            agents.make(text)
    for budget in ("seconds=1", "playouts=100, seconds=1"):
        with pytest.raises(Unsuited, match="needs a budget of playouts alone"):
            agents.make(f"uct(methods='halving', {budget})").player(games.make("tictactoe"))
    with pytest.raises(Unsuited, match=r"method implicit of .* plays games without chance"):
        agents.make("uct(methods='implicit', playouts=10)").player(games.make("backgammon"))
    with pytest.raises(Unsuited, match=r"^uct.* plays games for two players"):
        agents.make("uct(methods='implicit', playouts=10)").player(games.make("leftmove"))


def test_what_a_graph_goes_with():
    assert len(agents.make("uct(methods='halving + graph')").chosen) == 2
    assert len(agents.make("uct(methods='puct + graph(d2=0)')").chosen) == 2


def test_gumbel_leaves_playouts_to_other_methods_unless_its_policy_draws_them():
    assert len(agents.make("uct(methods='gumbel + nst')").chosen) == 2
    assert len(agents.make("uct(methods='gumbel(logits=\"evaluation\") + reply')").chosen) == 2


def test_methods_have_room_for_what_the_budget_can_make():
    player = agents.make("uct(methods='pn', playouts=20, max_nodes=2147483647)").player(games.make("tictactoe"))
    assert len(player.memory[0].pn) == len(player.tree.visits) < 1000


@pytest.mark.parametrize("name", ["history", "nst"])
@pytest.mark.parametrize("memory", [False, True])
def test_averages_are_kept_from_move_to_move_only_with_memory(name, memory):
    agent = agents.make(f"uct(methods='{name}(memory={memory})', playouts=20, max_nodes=1000, keep_tree=true)")
    player = agent.player(games.make("tictactoe"))
    averages = player.memory[0] if name == "history" else player.memory[0].averages
    averages.keys[5], averages.used[0] = 7, 1
    agent.begin_search(player.game, player.memory, player.budget, stream(1))
    assert averages.used[0] == averages.keys.any() == memory


@pytest.mark.plain
def test_a_shared_position_explores_by_all_its_visits():
    """A node with one visit of its own, through whose position 10 went, and its child with one."""
    game = games.make("tictactoe")
    player = agents.make("uct(methods='graph', playouts=20)").player(game)
    search, walk = Search(player.tree, player.memory[0], ()), new_walk(game, game.initial())
    begin_walk(game, walk)
    search.tree.first_child[ROOT] = 1
    search.tree.visits[:2] = 1
    search.memory.visits[1] = 10
    assert player.agent.chosen[0].explore(game, search, walk, 1, 0.0, 0.4) == pytest.approx(
        0.4 * log(10) ** 0.5, rel=0.01
    )


def test_a_field_cannot_have_the_name_of_a_function():
    with pytest.raises(TypeError, match="'draws', which is a function"):
        type("Wrong", (Method,), {"__annotations__": {"draws": bool}, "draws": True})


@pytest.mark.parametrize("name", list(registry.classes()))
def test_every_method_says_what_it_is(name):
    from arena.games.core.shared.describe import about, parameters

    cls = registry.classes()[name]
    assert len(about(cls)) > 20 and cls.part
    assert all(one.meaning for one in parameters(cls))


def test_every_method_has_a_row_with_its_defaults():
    page = (Path(__file__).parents[2] / "docs/agents.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (?:`(.*?)`)? ?\| .*\|$", page.split("### Methods of uct")[1], re.MULTILINE)
    told = dict(rows[: len(registry.classes())])
    assert sorted(told) == sorted(registry.classes())
    for name, numbers in told.items():
        assert registry.make(f"{name}({numbers})") == registry.make(name)
        written = re.findall(r"(\w+)=", numbers)
        assert sorted(written) == sorted(
            field.name for field in fields(registry.classes()[name]) if field.metadata.get("listed", True)
        )


@pytest.mark.plain
def test_the_method_of_the_page_works(tmp_path, monkeypatch):
    page = (Path(__file__).parents[2] / "docs/architecture.md").read_text()
    block = next(block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "class Fade" in block)
    (tmp_path / "fade_of_the_page.py").write_text(block)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("fade_of_the_page")
    try:
        game = games.make(GAME)
        visits = [
            searched(GAME, f"fade(weight={weight})", 300, game.initial())[1].statistics.playouts for weight in (0, 2)
        ]
        assert visits[0].sum() == visits[1].sum() == 300
        assert not np.array_equal(visits[0], visits[1])
        assert np.array_equal(visits[0], searched(GAME, "bias(weight=0)", 300, game.initial())[1].statistics.playouts)
    finally:
        del registry._classes["fade"]


@pytest.mark.plain
@pytest.mark.parametrize("lanes", [1, 4])
def test_a_table_for_the_playouts_counts_what_a_large_one_does(lanes, monkeypatch):
    """A search's table takes all that its playouts can write, and is no larger than needed for that."""
    methods = f"grave(ref=3, bias=0.001, lanes={lanes})"
    for playouts in (1, 7, 60):
        state = random_position(games.make(GAME), playouts, 6)
        player, decision = searched(GAME, methods, playouts, state)
        with monkeypatch.context() as patch:
            patch.delattr(Grave, "fitted")
            other, expected = searched(GAME, methods, playouts, state)
        (small,), (large,) = player.memory, other.memory
        size = player.tree.size[0]
        assert np.array_equal(player.tree.visits[:size], other.tree.visits[: other.tree.size[0]])
        assert decision.move == expected.move and small.used[0] == large.used[0] > 0
        assert len(small.keys) < len(large.keys) == Grave().entries
        assert len(small.keys) <= max(LEAST, 8 / 3 * (playouts + 1) * player.game.code_limit)
