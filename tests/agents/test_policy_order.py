"""Alpha-beta with a learned policy among what orders its moves."""

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.agent import Budget, Unsuited
from arena.agents.minimax.depthfirst import depth_first_kernel
from arena.agents.minimax.ordering import BY_POLICY, UNGUIDED
from arena.agents.minimax.root_moves import put_root
from arena.agents.minimax.solver import DepthFirstSolver, ExactSolver
from arena.agents.minimax.stack import WIN, restart
from arena.games.core.random import stream
from tests.agents.naive import solve
from tests.agents.positions import random_line, random_position
from tests.agents.test_learning import naive_sum

ALONE = "table=0, scout=false, foresee=false, sound=false, shortest=false"


def by_logits(game, network, state, moves):
    """The moves, those of the greatest logits first, in units of 2^-14; equal ones keep their order."""
    side = 1 if game.player(state) == 0 else -1
    logits = {move: round(side * naive_sum(game, network, game.after(state, move)) * 2**20) >> 6 for move in moves}
    return sorted(moves, key=lambda move: -logits[move])


def naive_search(game, state, depth, alpha, beta, ordered):
    """(value for the player to move, positions visited) of alpha-beta; ordered(state, depth): the moves in turn."""
    best, visited, side = -np.inf, 0, 1 if game.player(state) == 0 else -1
    for move in ordered(state, depth):
        child, visited = game.after(state, move), visited + 1
        if game.is_over(child):
            value = side * game.score(child) * WIN
        elif depth == 1:
            value = side * game.evaluate(child)
        else:
            below, more = naive_search(game, child, depth - 1, -beta, -max(alpha, best), ordered)
            value, visited = -below, visited + more
        best = max(best, value)
        if best >= beta:
            break
    return best, visited


def searched(game, agent, state, depth):
    """(value, positions visited) of the agent's search, whose root's moves come in the game's order before others."""
    player = agents.make(agent).player(game, Budget(depth=depth))
    put_root(game, player.search, state, None)
    restart(player.search, depth)
    depth_first_kernel(game, player.guide, player.search, 10**9)
    return float(player.search.nodes[0]["best"]), int(player.search.counts[0]["nodes"])


@pytest.mark.plain
@pytest.mark.parametrize("least", [pytest.param(1, marks=pytest.mark.slow), 3, 9])
def test_a_search_ordered_by_a_policy_is_what_its_twin_does(policies, least, kernels):
    """The same value, and as many positions; where less depth is left than `policy_depth`, but at the root, moves are
    not ordered."""
    game, counts, whole = games.make("tictactoe"), [], 5 if kernels == "compiled" else 4

    def ordered(state, depth):
        moves = game.moves(state)
        return by_logits(game, policies, state, moves) if depth >= least or depth == whole else moves

    for seed in range(6 if kernels == "compiled" else 4):
        state = random_position(game, seed, 2)
        agent = f"alphabeta(order=['file:a.policy'], policy_depth={least}, {ALONE})"
        found = searched(game, agent, state, whole)
        assert found == naive_search(game, state, whole, -np.inf, np.inf, ordered)
        plain = searched(game, f"alphabeta(order=[], {ALONE})", state, whole)
        assert found[0] == plain[0]
        counts.append((found[1], plain[1]))
    assert len(set(counts)) > 3 and any(ours != plain for ours, plain in counts)


@pytest.mark.slow
@pytest.mark.plain
def test_killers_history_and_the_table_go_with_a_policy(policies):
    """Values do not change, and neither do decisions from the first move of a game to its last."""
    game = games.make("tictactoe")
    for order in ("['table', 'file:a.policy', 'killers', 'history']", "['table', 'own', 'file:b.policy']"):
        for state in random_line(game, 4)[2:]:
            decision = agents.make(f"alphabeta(depth=9, order={order})").choose(game, state, seed=1)
            assert np.sign(decision.value) * (1 if game.player(state) == 0 else -1) == solve(game, state, {})


def test_kernels_are_shared_between_policies(policies):
    game = games.make("tictactoe")
    players = [agents.make(f"alphabeta(depth=2, order={order})").player(game) for order in
               (["file:a.policy"], ["file:b.policy"], ["own"])]  # fmt: skip
    assert [player.guide for player in players] == [BY_POLICY, BY_POLICY, UNGUIDED]
    weights = [len(player.search.policy.learned.weights) for player in players]
    assert weights[0] != weights[1] > weights[2] == 0


@pytest.mark.plain
def test_a_position_is_solved_with_a_policy(policies):
    """By the search that a policy orders, not by null windows."""
    game = games.make("tictactoe")
    for state in random_line(game, 2)[3:5]:
        solver = agents.make("alphabeta(order=['table', 'file:a.policy'])").new_solver(game, Budget())
        side = 1 if game.player(state) == 0 else -1
        assert type(solver) is DepthFirstSolver and side * solver.value(state) == solve(game, state, {})
    assert type(agents.make("alphabeta").new_solver(game, Budget())) is ExactSolver


@pytest.mark.plain
def test_ties_at_the_root_are_drawn(policies):
    """Moves to images of one position have one logit: which comes first is left to chance."""
    game, firsts = games.make("tictactoe"), set()
    player = agents.make("alphabeta(depth=1, order=['file:a.policy'])").player(game)
    for seed in range(20):
        put_root(game, player.search, game.initial(), stream(seed))
        moves = player.search.moves[0, :9].tolist()
        assert by_logits(game, policies, game.initial(), moves) == moves
        firsts.add(moves[0])
    assert 1 < len(firsts) <= 4


def test_a_policy_that_cannot_order(policies, unusable):
    """In one line, when the agent is made or before play."""
    for file, spec, told in unusable:
        agent = agents.make(f"alphabeta(depth=2, order=['table', 'file:{file}'])")
        with pytest.raises(Unsuited, match=told) as error:
            agent.player(games.make(spec))
        assert "order of alphabeta" in str(error.value) and "\n" not in str(error.value)
    for text, told in [
        ("order=['tabel']", "order = 'tabel' is not one of table, own, killers, history, file:PATH"),
        ("order=['file:a.policy', 'file:b.policy']", "has 2 policies; at most one is allowed"),
        ("order=['file:a.policy'], workers=2", "workers = 2 and a policy in order exclude each other"),
        ("policy_depth=0", "policy_depth = 0 is out of range: it can be 1 or more"),
    ]:
        with pytest.raises(ValueError, match=r"^alphabeta: ") as error:
            agents.make(f"alphabeta({text})")
        assert told in str(error.value) and "\n" not in str(error.value)
