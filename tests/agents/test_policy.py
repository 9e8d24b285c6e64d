"""Learned policies against dictionaries in plain Python: weights of NRPA, PPA and MAST, and the tables of codes."""

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.policy import Settings, coding_for, new_learner, number_of, with_room
from arena.agents.core.tree_arrays import ROOT
from arena.agents.montecarlo.methods.mast import COUNT, MEAN
from arena.agents.nested.incumbent import new_incumbent
from arena.games.core.jit import kernel
from arena.games.core.random import stream
from tests.agents import naive, naive_nested

CASES = [
    ("leftmove", {}),
    pytest.param(  # weights whose exponentials no float can hold: plain Python has no infinity for these
        "leftmove", {"temperature": 0.02}, marks=pytest.mark.slow
    ),
    ("samegame(rows=5, columns=5, colours=3, seed=2)", {"features": True}),  # whose table grows on the way
    ("tsptw(cities=8)", {"bias": 0.1, "temperature": 0.7, "alpha": 0.5}),
]


@kernel
def numbers_kernel(game, policy, codes, numbers):
    """The numbers of codes in a table."""
    for i in range(len(codes)):
        numbers[i] = number_of(policy, codes[i])


def weights_of(game, coding, learner, codes, row=0):
    """The weights of codes."""
    numbers = np.array(codes, np.int64)
    if not coding.direct:
        numbers_kernel(game, learner.policy, np.array(codes, np.int64), numbers)
    return learner.policy.weights[row, numbers]


@pytest.mark.plain
@pytest.mark.parametrize("spec, more", CASES)
def test_nrpa_learns_as_its_twin_to_twelve_digits(spec, more):
    """The first level's policy after each of 60 playouts in chunks, and a whole search of level 2."""
    game = games.make(spec)
    words = ", ".join(f"{key}={value!r}" for key, value in more.items())
    agent = agents.make(f"nrpa(level=1, iterations=1000, {words})")
    search, incumbent, rng = agent.new_search(game), new_incumbent(game, True), stream(4)
    agent.begin(search, game, game.initial())
    twins_rng, weights, best, steps = stream(4), {}, -np.inf, None
    code_of = game.feature_code if more.get("features") else game.move_code
    alpha, temperature, bias = agent.alpha, agent.temperature, agent.bias
    for _ in range(60):
        search, made = agent.run_more(search, game, game.initial(), incumbent, 1, rng)
        assert made == 1
        incumbent.logged[0] = 0
        score, line = naive_nested.playout(game, game.initial(), weights, code_of, twins_rng, temperature, bias)
        if score >= best:
            best, steps = score, line
        weights = naive_nested.adapt(weights, steps, 0, alpha, temperature)
    codes = sorted(weights)
    ours = weights_of(game, agent.coding(game), search.learner, codes)
    np.testing.assert_allclose(ours, [weights[code] for code in codes], rtol=1e-12, atol=1e-12)
    assert incumbent.score[0] == best

    for stabilization in (1, 3):
        spec = f"nrpa(level=2, iterations=8, stabilization={stabilization}, restarts=false, {words})"
        decision = agents.make(spec).choose(game, game.initial(), seed=6)
        numbers = (alpha, temperature, bias, stabilization)
        score, _ = naive_nested.nrpa(game, 2, 8, {}, code_of, stream(6), *numbers)
        assert decision.playouts == 64 * stabilization and decision.value == score
        assert game.score(game.read_line(" ".join(names(game, decision.principal_variation)))[1]) == score


def names(game, moves):
    state = game.initial()
    for move in moves:
        yield game.move_name(state, move)
        state = game.after(state, move)


@pytest.mark.plain
def test_a_table_grows_without_loss():
    """Twenty times as many codes as there was room for: each keeps its number and its weight."""
    game = games.make("samegame(rows=2, columns=2)")
    coding = coding_for(game, True)
    learner = new_learner(game, coding, Settings(1.0, 1.0), policies=1, lines=1)
    codes = np.random.default_rng(1).integers(0, 2**62, 20 * len(learner.policy.steps))
    numbers = np.empty(len(codes), np.int64)
    for i in range(0, len(codes), 4):
        learner = with_room(game, coding, learner)
        numbers_kernel(game, learner.policy, codes[i : i + 4], numbers[i : i + 4])
        learner.policy.weights[0, numbers[i : i + 4]] = codes[i : i + 4]
    assert sorted(numbers) == list(range(len(codes)))
    again = np.empty(len(codes), np.int64)
    numbers_kernel(game, learner.policy, codes, again)
    weights = learner.policy.weights[0, numbers]
    assert again.tolist() == numbers.tolist() and np.array_equal(weights, codes.astype(float))


def simple_rule(weight):
    return weight + (1 if weight == 0 or weight >= 100 else 2 if weight < 10 else 4)


def learnt_by_twin(game, state, agent, simulations):
    """The tree, the weights and the counts of a plain UCT whose playouts learn as the agent's do."""
    weights, counts = {}, {}
    code_of = game.feature_code if agent.features else game.move_code
    rng = stream(9)

    def play_out(leaf, tree_moves):
        nonlocal weights
        steps, walked = [], state.copy()
        score, in_playout = naive_nested.playout(game, leaf, weights, code_of, rng, agent.temperature)
        for move in tree_moves:
            moves, codes, biases = naive_nested.legal(game, walked, code_of, 0.0)
            steps.append((int(game.player(walked)), move, codes, biases, moves.index(move)))
            game.play(walked, move)
        steps += in_playout
        winner = None if score == 0 else int(score < 0)
        if agent.name == "mast":
            for player, _, codes, _, place in steps:
                reward = 0.5 if winner is None else float(player == winner)
                count, mean = counts.get(codes[place], 0) + 1, weights.get(codes[place], 0.0)
                counts[codes[place]], weights[codes[place]] = count, mean + (reward - 1 - mean) / count
        elif agent.rule == "simple":
            for player, _, codes, _, place in steps:
                if player == winner:
                    weights[codes[place]] = simple_rule(weights.get(codes[place], 0))
        else:
            weights = naive_nested.adapt(weights, steps, winner, agent.alpha, agent.temperature)
        return score

    root = naive.search(game, state, simulations, naive.ucb1(agent.exploration), rng, play_out=play_out)
    return root, weights, counts


@pytest.mark.plain
@pytest.mark.parametrize(
    "spec, agent",
    [
        ("tictactoe", "ppa"),
        ("tictactoe", "mast"),
        ("mnk(rows=3, columns=3, k=3)", "ppa(features=true, alpha=0.32)"),
        ("tictactoe", "ppa(rule='simple', temperature=20)"),
    ],
)
def test_playouts_learn_as_the_twins_do(spec, agent):
    game, agent = games.make(spec), agents.make(agent)
    player = agent.player(game, agents.Budget(playouts=150))
    decision = player.choose(game.initial(), stream(9))
    root, weights, counts = learnt_by_twin(game, game.initial(), agent, 150)
    children = {child.move: child.visits for child in root.children}
    assert dict(zip(decision.statistics.moves.tolist(), decision.statistics.playouts.tolist())) == children
    codes, coding = sorted(weights), coding_for(game, agent.features)
    learner = player.memory[0].learner
    ours = weights_of(game, coding, learner, codes, MEAN)
    np.testing.assert_allclose(ours, [weights[code] for code in codes], rtol=1e-9, atol=1e-12)
    if agent.name == "mast":
        assert weights_of(game, coding, learner, codes, COUNT).tolist() == [counts[code] for code in codes]
    assert player.tree.visits[ROOT] == 150


@pytest.mark.plain
def test_memory_keeps_the_policy_from_move_to_move():
    game = games.make("tictactoe")
    for memory in (False, True):
        player = agents.make(f"ppa(playouts=40, memory={memory})").player(game)
        player.choose(game.initial(), stream(1))
        before = np.abs(player.memory[0].learner.policy.weights).sum()
        player.budget = agents.Budget(playouts=1)
        player.choose(game.initial(), stream(2))
        after = np.abs(player.memory[0].learner.policy.weights).sum()
        assert after > before / 2 if memory else after < before / 2


@pytest.mark.parametrize(
    "spec, message",
    [
        ("ppa(alpha=0)", "alpha = 0.0 is out of range: it is more than 0"),
        ("ppa(temperature=-1)", "temperature = -1.0 is out of range"),
        ("ppa(rule='hard')", "rule = 'hard' is not one of softmax, simple"),
        ("ppa(exploration=-1)", "exploration = -1.0 is out of range"),
        ("mast(temperature=0)", "temperature = 0.0 is out of range"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=message):
        agents.make(spec)
