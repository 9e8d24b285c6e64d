"""Policies that are learned from visits: their gradient, their file, and what methods of uct make of them."""

from dataclasses import replace
from math import log

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.agent import MoveStatistics, Unsuited
from arena.agents.core.learned import load_policy
from arena.agents.learning.trainer import GAMES, POSITIONS, new_trainer
from arena.agents.learning.visits import LOGITS, Teaching, learn_kernel, play_game, visits_of
from arena.agents.montecarlo.method import methods_of
from arena.games.core.evaluations.network_file import POLICY, network_bytes
from arena.games.core.random import stream
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.prepared_file import PreparedFileError
from tests.agents import naive_methods as naive
from tests.agents.naive_methods import softmax
from tests.agents.positions import random_line, random_position
from tests.agents.test_learning import NaiveTrainer, learning_by, naive_sum, random_network
from tests.agents.test_methods import searched
from tests.agents.test_montecarlo import assert_same_tree
from tests.typed import call

TEACHER = "uct(playouts=100)"


def logits_of(game, network, state, moves):
    """The logits of moves, by what the cells hold after them."""
    side = 1 if game.player(state) == 0 else -1
    return [side * naive_sum(game, network, game.after(state, move)) for move in moves]


def naive_policy(game, network, state, moves):
    """The probabilities of moves."""
    return softmax(logits_of(game, network, state, moves))


def cross_entropy(game, network, visits):
    """The mean over the positions of visits."""
    total = 0.0
    for i, state in enumerate(visits.states):
        part = slice(visits.ends[i], visits.ends[i + 1])
        chances = naive_policy(game, network, state, visits.moves[part].tolist())
        total -= sum(share * log(p) for share, p in zip(visits.shares[part], chances))
    return total / len(visits.states)


def games_of(game, count, seed, **changed):
    """The visits of so many games of the teacher."""
    teaching, rng = Teaching(agents.make(TEACHER), 0.1, 2, 1.0)._replace(**changed), stream(seed)
    with np.errstate(over="ignore"):
        return [play_game(game, teaching, rng)[0] for _ in range(count)]


def position_of(visits, i):
    """Visits of one position alone."""
    part = slice(visits.ends[i], visits.ends[i + 1])
    changed = {"states": visits.states[i : i + 1], "moves": visits.moves[part], "shares": visits.shares[part]}
    return visits._replace(ends=np.array([0, len(visits.moves[part])]), **changed)


@pytest.mark.plain
@pytest.mark.parametrize("spec, shapes", [("tictactoe", "2x2 1x3"), ("breakthrough(rows=4, columns=4)", "2x3")])
def test_the_gradient_is_that_of_the_cross_entropy(spec, shapes):
    """What a position adds to the errors of the weights, against finite differences, for each player to move."""
    game = games.make(spec)
    network, rng = random_network(game, shapes), np.random.default_rng(1)
    for state in random_line(game, 3)[1:3]:
        moves = game.moves(state)
        shares = rng.dirichlet(np.ones(len(moves)))
        found = MoveStatistics(np.array(moves, np.int32), shares, shares)
        visits, trainer = visits_of(game, [(state, found)]), new_trainer(network, stream(1))
        trainer = trainer._replace(weights=network.weights.copy())
        learn_kernel(game, trainer, visits, 0.0, 1.0)
        changed = np.flatnonzero(trainer.errors)
        assert len(changed) > 5
        for place in rng.choice(changed, 6, replace=False).tolist():
            losses = []
            for by in (-1, 1):
                weights = network.weights.copy()
                weights[place] += by << 10
                losses.append(cross_entropy(game, replace(network, weights=weights), visits))
            slope = (losses[1] - losses[0]) / (2 * (1 << 10) * 2.0**-20)
            assert slope == pytest.approx(-trainer.errors[place], abs=1e-5)


class NaiveVisits(NaiveTrainer):
    """Learning from visits on tic-tac-toe, with dictionaries of weights by what is looked up."""

    def learn_visits(self, state, moves, shares):
        side = 1 if self.game.player(state) == 0 else -1
        after = [self.looked_up(self.game.after(state, move)) for move in moves]
        chances = softmax([side * sum(self.weights[place] for place in places) * 2.0**-20 for places in after])
        for places, share, chance in zip(after, shares, chances):
            error = np.float32(side * (share - chance))
            for place in places:
                rate = abs(self.errors[place]) / self.sizes[place] if self.sizes[place] > 0 else np.float32(1)
                change = self.lesson.step * LOGITS * error / (len(places) * 2.0**-20) * rate
                self.weights[place] += int(np.rint(change))
                self.errors[place] += error
                self.sizes[place] += abs(error)


@pytest.mark.plain
def test_learning_from_visits_is_what_its_twin_does():
    game = games.make("tictactoe")
    learner = learning_by(game, "visits", teacher=TEACHER)
    twin, count = NaiveVisits(learner), 0
    for visits in games_of(game, 8, 1):
        learn_kernel(game, learner.trainer, visits, 0.0, 1.0)
        for i in range(len(visits.states)):
            one = position_of(visits, i)
            if len(one.moves) > 1:
                twin.learn_visits(one.states[0], one.moves.tolist(), one.shares.tolist())
                count += 1
    assert learner.trainer.counts[POSITIONS] == count > 20 and learner.trainer.counts[GAMES] == 8
    for state in random_line(game, 3)[1:]:
        ours = naive_sum(game, learner.network, state)
        assert ours == pytest.approx(2.0**-20 * sum(twin.weights[place] for place in twin.looked_up(state)), abs=1e-4)
        assert ours != 0.0


@pytest.mark.slow
def test_learning_lowers_the_cross_entropy_of_positions_that_were_not_learned():
    """And what is told of the last positions agrees."""
    game = games.make("tictactoe")
    held_out = games_of(game, 20, 99)
    learner = learning_by(game, "visits", teacher=TEACHER)
    losses = []
    for until in (0, 20, 200):
        learner.kernel(until)
        losses.append(np.mean([cross_entropy(game, learner.network, visits) for visits in held_out]))
    assert losses[0] > losses[1] > losses[2] and losses[0] - losses[2] > 0.2
    told = learner.losses()
    assert told["least"] < told["loss"] < told["uniform"]
    assert learner.card()["loss"] == told["loss"] and learner.card()["teacher"] == TEACHER


@pytest.mark.plain
def test_positions_without_visits_teach_nothing():
    """A search whose root was proven before it began, a move from a book, and the only move."""
    game = games.make("tictactoe")
    state, moves = game.initial(), np.arange(9, dtype=np.int32)
    nothing, only = (MoveStatistics(moves[:n], np.full(n, n % 9), np.zeros(n)) for n in (9, 1))
    visits = visits_of(game, [(state, nothing), (state, None), (state, only)])
    learner = learning_by(game, "visits")
    learn_kernel(game, learner.trainer, visits, 0.0, 1.0)
    assert len(visits.states) == 1 and learner.losses() == {}
    assert learner.trainer.counts.tolist() == [1, 0, 0, 1] and not learner.network.weights.any()


# -- Its file, and what uses it ----------------------------------------------------------------------------------------


class NaivePUCT(naive.PUCT):
    """With the probabilities of a network."""

    def __init__(self, network):
        super().__init__(1.0, 0.5, 0.5)
        self.network = network

    def expanded(self, game, node, state):
        chances = naive_policy(game, self.network, state, [child.move for child in node.children])
        odds = [chance ** (1 / self.temperature) for chance in chances]
        for child, chance, each in zip(node.children, chances, odds):
            child.prior, child.bias = each / sum(odds), chance


class NaiveBias(naive.Bias):
    """The same; they are there already."""

    def expanded(self, game, node, state):
        alone = len(node.children) == 1  # the one move there is has probability 1
        assert all(0.0 < child.bias < 1.0 or alone for child in node.children)


@pytest.mark.plain
@pytest.mark.parametrize(
    "methods, twins",
    [
        ("puct(prior='file:a.policy')", lambda network: [NaivePUCT(network)]),
        pytest.param(
            "puct(prior='file:a.policy') + bias(weight=0.5, prior='file:a.policy')",
            lambda network: [NaivePUCT(network), NaiveBias(0.5)],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_search_with_a_policy_is_what_its_twin_does(policies, methods, twins):
    game = games.make("tictactoe")
    for seed in range(3):
        state = random_position(game, seed, 2)
        twin = naive.composed(game, state, 200, twins(policies), 0.4, stream(seed))
        assert_same_tree(searched("tictactoe", methods, 200, state, seed)[0].tree, twin)


def naive_heavy(network, temperature=0.5, epsilon=0.0):
    return naive.Heavy(temperature, epsilon, lambda game, state, moves: logits_of(game, network, state, moves))


def naive_gumbel(network, considered, temperature, rng, noise=1.0):
    """On tic-tac-toe, with 200 playouts."""

    def logits(game, state, moves):
        return [logit / temperature for logit in logits_of(game, network, state, moves)]

    return naive.Gumbel(200, considered, logits, games.make("tictactoe"), rng, noise)


@pytest.mark.plain
@pytest.mark.parametrize(
    "methods, twins",
    [
        (
            "heavy(epsilon=0.1, prior='file:a.policy') + gumbel(considered=4, logits='file:a.policy', noise=1)",
            lambda network, rng: [naive_heavy(network, 0.5, 0.1), naive_gumbel(network, 4, 1.0, rng)],
        ),
        pytest.param("heavy(temperature=1, prior='file:a.policy')", lambda network, rng: [naive_heavy(network, 1.0)]),
        pytest.param(
            "gumbel(temperature=0.5, logits='file:a.policy', noise=1)",
            lambda network, rng: [naive_gumbel(network, 16, 0.5, rng)],
        ),
        (
            "gumbel(considered=4, logits='file:a.policy')",
            lambda network, rng: [naive_gumbel(network, 4, 1.0, rng, noise=0.0)],
        ),
    ],
)
def test_playouts_and_roots_with_a_policy_are_what_their_twins_do(policies, methods, twins, kernels):
    game = games.make("tictactoe")
    for seed in range(3 if kernels == "compiled" else 1):
        state, rng = random_position(game, seed, 2), stream(seed)
        twin = naive.composed(game, state, 200, twins(policies, rng), 0.4, rng)
        assert_same_tree(searched("tictactoe", methods, 200, state, seed)[0].tree, twin)


def test_what_gumbel_takes_by_its_logits(policies):
    """MAST and PPA learn in playouts, and have plain UCT before it; a policy does not, nor is it warmed up unless told
    to."""
    file = "'file:a.policy'"
    mast, ppa, policy, told = (
        methods_of(f"gumbel({text})")[0]
        for text in ("", "logits='ppa'", f"logits={file}", f"logits={file}, temperature=0.3, warmup=0.2")
    )
    numbers = [(one.options().temperature, one.options().warmup, one.steps) for one in (mast, ppa, policy, told)]
    assert numbers == [(0.1, 0.1, True), (1.0, 0.1, True), (1.0, 0.0, False), (0.3, 0.2, False)]
    assert mast.options()[2:4] == policy.options()[2:4] == (50.0, 1.0)


def test_a_policy_is_shared_by_the_symmetries(policies):
    game, image = games.make("tictactoe"), np.zeros(2, np.uint64)
    state, moves = random_line(game, 1)[2], game.moves(random_line(game, 1)[2])
    chances = naive_policy(game, policies, state, moves)
    for symmetry in range(game.symmetries):
        game.transform(state, symmetry, image)
        moved = [int(game.transform_move(move, symmetry)) for move in moves]
        assert naive_policy(game, policies, image, moved) == pytest.approx(chances)


def test_one_compilation_for_all_policies(policies):
    """The rule, which is part of the kernel's type, is the same for all files; another prior's is not."""
    game = games.make("tictactoe")
    made = [
        agents.make(f"uct(methods=\"puct(prior='{name}')\")") for name in ("file:a.policy", "file:b.policy", "order")
    ]
    rules = [agent.search_rule(game) for agent in made]
    assert rules[0] == rules[1] != rules[2]
    weights = [agent.new_memory(game, 10)[0].learned.weights for agent in made]
    assert len(weights[0]) != len(weights[1]) > len(weights[2]) == 0


def test_a_policy_that_cannot_be_used(policies, unusable):
    """In one line, before play, for each method that reads one."""
    game = games.make("tictactoe")
    for file, spec, told in unusable:
        for method, name in (("puct", "prior"), ("bias", "prior"), ("heavy", "prior"), ("gumbel", "logits")):
            agent = agents.make(f"uct(playouts=10, methods=\"{method}({name}='file:{file}')\")")
            with pytest.raises(Unsuited, match=told) as error:
                agent.player(games.make(spec))
            assert f"method {method} of" in str(error.value) and "\n" not in str(error.value)
    with pytest.raises(PreparedFileError, match="holds something else: learned policy"):
        game.with_evaluation("file:a.policy")
    with pytest.raises(ValueError, match="prior = 'odrer' is not one of order, evaluation, file:PATH"):
        agents.make("uct(methods=\"puct(prior='odrer')\")")
    with pytest.raises(ValueError, match="logits = 'order' is not one of mast, ppa, evaluation, file:PATH"):
        agents.make("uct(methods=\"gumbel(logits='order')\")")
    other = game.with_evaluation("file:a.eval")
    assert load_policy("a.policy", other).card == load_policy("a.policy", game).card


def test_a_teacher_whose_policy_has_changed_is_not_gone_on_with(policies, tmp_path):
    """One line names the file; a policy that was learned again counts as the same, whatever its card says."""
    game, path = games.make("tictactoe"), tmp_path / "c"
    teacher = "uct(playouts=20, methods=\"puct(prior='file:a.policy')\")"
    begun = learning_by(game, "visits", teacher=teacher)
    assert list(begun.card()["files"]) == ["a.policy"]
    path.write_bytes(begun.checkpoint())
    again = replace(policies, card={"seconds": 7})
    (tmp_path / "a.policy").write_bytes(network_bytes(game, again, POLICY))
    learning_by(game, "visits", teacher=teacher).resume(path)
    (tmp_path / "a.policy").write_bytes((tmp_path / "b.policy").read_bytes())
    with pytest.raises(UserError, match=r"cannot be gone on with: the file 'a\.policy' has changed") as error:
        learning_by(game, "visits", teacher=teacher).resume(path)
    assert "\n" not in str(error.value)


# -- The command -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_arena_learn_a_policy(tmp_path):
    """It tells of its losses and its matches, writes what agents load, and goes on."""
    words = ["learn", "tictactoe", f"visits({TEACHER!r}, tuples='2x2 1x3')"]
    once, parts = tmp_path / "once.policy", tmp_path / "it's.policy"
    more = ["--match", 2, "--agent", "uct(playouts=30)"]
    done = call(*words, "--output", once, "--games", 32, *more)
    assert done.exit_code == 0, done.output
    assert "32 of 32 games" in done.output and "cross-entropy" in done.output and "after 2 games" in done.output
    for count in (["--games", 9], ["--games", 32, "--resume"]):
        assert call(*words, "--output", parts, *count, *more).exit_code == 0
    learned = [load_policy(path, games.make("tictactoe")) for path in (once, parts)]
    assert np.array_equal(learned[0].weights, learned[1].weights)
    assert [row["games"] for row in learned[0].card["curve"]] == [1, 2, 4, 8, 16, 32]
    done = call(*words[:2], "visits('uct(playouts=7)', tuples='2x2 1x3')", "--output", once, "--resume")
    assert done.exit_code == 2 and "was begun with teacher = 'uct(playouts=100)', not" in " ".join(done.output.split())
