"""Learned evaluations: what a network says, its file, and how it is learned."""

import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest

import arena
from arena import agents, games
from arena.agents.core.agent import Player
from arena.agents.learning import td
from arena.agents.learning.descent import Descending, learn_from_tree, new_trees, search
from arena.agents.learning.learner import registry
from arena.agents.learning.td import TD, SelfPlay, new_room
from arena.agents.learning.trainer import GAMES, POSITIONS, new_trainer
from arena.agents.minimax.ubfm import ROOT, SIZE, UBFMOptions
from arena.games.core.checks.conformance import values_kernel
from arena.games.core.evaluations.network import (
    SCALE,
    STAGES,
    board_of,
    contents_of,
    images,
    make_orbits,
    new_network,
    windows,
)
from arena.games.core.evaluations.network_file import network_bytes
from arena.games.core.jit import kernel
from arena.games.core.random import random_below, random_unit, stream
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.prepared_file import LONGEST_HEADER, PreparedFileError, pack
from arena.study.learning import Learning, begin, match, stored_positions
from tests.agents import naive_proof as naive
from tests.agents.positions import random_line
from tests.typed import call

SHAPES = {
    "tictactoe": "2x2 lines 1x3",
    "connect4(rows=4, columns=5)": "2x3 lines",
    "breakthrough(rows=4, columns=4)": "3x2 lines",
    "othello(size=4)": "2x3",
    "ataxx(size=4)": "2x2",
    "clobber(rows=4, columns=3)": "2x2",
}


def random_network(game, shapes, stages=2, seed=1):
    network = new_network(game, make_orbits(game, shapes), stages)
    rng = np.random.default_rng(seed)
    network.weights[:] = rng.integers(-(2**20), 2**20, len(network.weights))
    return network


def naive_sum(game, network, state):
    """The sum of a position for the first player, by what its cells hold."""
    board, side, contents = board_of(game, state), int(game.player(state)), contents_of(game)
    stones = int(np.count_nonzero((board == 1) | (board == 2)))
    sizes = [contents ** len(orbit[0]) for orbit in network.orbits]
    block = min(stones * network.stages // (board.size + 1), network.stages - 1)
    if game.colour_exchange and side == 1:
        board = np.array([0, 2, 1])[board]
        board = board[::-1] if game.colour_exchange == "turn" else board
    elif side == 1:
        block += network.stages
    weights = network.weights[block * (1 + sum(sizes)) :]
    total, start = 0, 1
    for orbit, size in zip(network.orbits, sizes):
        for cells in orbit:
            total += int(weights[start + sum(int(board.flat[cell]) * contents**i for i, cell in enumerate(cells))])
        start += size
    total += (network.layout[0] - network.tuples) * int(weights[0])
    return total * SCALE * (-1 if game.colour_exchange and side == 1 else 1)


def naive_value(game, network, state):
    """The value of a position."""
    x = naive_sum(game, network, state)
    return x / np.sqrt(1 + x * x)


@pytest.mark.plain
@pytest.mark.parametrize("spec", SHAPES)
def test_a_network_is_the_sum_of_its_tables(spec):
    """In plain Python and compiled; and it does not change with a symmetry of the game."""
    game = games.make(spec)
    network = random_network(game, SHAPES[spec])
    learned = game.with_network(network)
    states = np.array([state for seed in range(3) for state in random_line(game, seed)])
    values = np.zeros(len(states))
    values_kernel(learned, states, values)
    image = np.zeros(game.state_size, game.dtype)
    for state, value in zip(states, values):
        assert value == learned.evaluate(state)
        assert abs(value - naive_value(game, network, state)) < 1e-12
        for symmetry in range(game.symmetries):
            game.transform(state, symmetry, image)
            assert learned.evaluate(image) == value


@pytest.mark.plain
def test_exchanged_players():
    """Where a game says so, a position with the colours exchanged is worth the negative."""
    othello, breakthrough = games.make("othello(size=4)"), games.make("breakthrough(rows=4, columns=4)")
    learned = othello.with_network(random_network(othello, "2x3"))
    for state in random_line(othello, 1):
        other = state[[1, 0, 2, 3]]
        other[3] ^= np.uint64(1)
        assert learned.evaluate(other) == -learned.evaluate(state) != 0
    learned = breakthrough.with_network(random_network(breakthrough, "3x2 lines"))
    for state in random_line(breakthrough, 1):
        rows = [[int(word) >> 4 * row & 15 for row in range(4)] for word in state[:2]]
        turned = [sum(bits << 4 * (3 - row) for row, bits in enumerate(side)) for side in rows]
        other = np.array([turned[1], turned[0], 1 - int(state[2])], np.uint64)
        assert learned.evaluate(other) == -learned.evaluate(state) != 0


def test_a_game_with_other_rules_says_again_that_players_can_be_exchanged():
    class OneSided(type(games.make("breakthrough"))):
        prize = 0.5

    assert OneSided(4, 4).colour_exchange == "" and games.make("misere_breakthrough").colour_exchange == "turn"


def test_tuples():
    game = games.make("connect4")
    assert len(windows("2x4", 6, 7)) == 5 * 4
    lines = windows("lines", 6, 7)
    assert len(lines) == 6 + 7 + 2 * 6 and max(map(len, lines)) == 7  # diagonals of 4 and more
    assert len(windows("lines", 1, 10)) == 3  # of 8 cells
    assert len(images(game)) == 2 and len(images(games.make("othello(size=4)"))) == 8
    orbits = make_orbits(game, "2x4")
    assert sum(len({frozenset(cells) for cells in orbit}) for orbit in orbits) == 20
    for shapes, words in [("8x8", "none of '8x8' fits"), ("3x3", "more than 65536"), ("star", "'star' is neither")]:
        with pytest.raises(ValueError, match=words):
            make_orbits(game, shapes)
    network = random_network(game, "2x2", stages=3)
    assert network.layout[STAGES] == 0 and network.layout[STAGES + 42] == 2 * network.layout[1]


@pytest.mark.plain
def test_an_evaluation_from_a_file(tmp_path, monkeypatch):
    """Agents search with it as with the network in memory; a file for another game, or a damaged one, is refused."""
    monkeypatch.chdir(tmp_path)
    game = games.make("connect4(rows=4, columns=5)")
    network, other = random_network(game, "2x3 lines"), random_network(game, "2x2", seed=2)
    data = network_bytes(game, network)
    (tmp_path / "a.eval").write_bytes(data)
    (tmp_path / "b.eval").write_bytes(network_bytes(game, other))
    (tmp_path / "cut.eval").write_bytes(data[:-9])
    loaded = games.make("connect4(rows=4, columns=5, evaluation='file:a.eval')")
    states = random_line(game, 3)
    assert [loaded.evaluate(s) for s in states] == [game.with_network(network).evaluate(s) for s in states]
    for name in ("alphabeta(depth=2", "ubfm(nodes=50", "expectiminimax(depth=1"):
        values = {}
        for file in ("a", "b"):
            agent = agents.make(f"{name}, evaluation='file:{file}.eval')")
            values[file] = [agent.choose(game, state, seed=1).value for state in states[:4]]
            direct = agents.make(f"{name})").choose(game.with_evaluation(f"file:{file}.eval"), states[2], seed=1)
            assert direct.value == values[file][2]
        assert values["a"] != values["b"]
    for file, words in {"none": "cannot be read: No such file", "cut": "is damaged: its checksum is wrong"}.items():
        agent = agents.make(f"alphabeta(depth=1, evaluation='file:{file}.eval')")
        assert words in agent.refuses(game)
        with pytest.raises(ValueError, match=words):
            games.make(f"connect4(rows=4, columns=5, evaluation='file:{file}.eval')")
    agent = agents.make("alphabeta(depth=1, evaluation='file:a.eval')")
    assert "is for connect4(rows=4, columns=5), not for connect4(rows=6, columns=7)" in agent.refuses(
        games.make("connect4")
    )
    assert "pig does not say what its cells hold" in agents.make("expectimax(depth=1, evaluation='file:a')").refuses(
        games.make("pig")
    )


def test_one_compilation_for_all_files(tmp_path):
    game = games.make("tictactoe")
    types = []
    for seed in (1, 2):
        path = tmp_path / f"{seed}.eval"
        path.write_bytes(network_bytes(game, random_network(game, "2x2", seed, seed)))
        learned = game.with_evaluation(f"file:{path}")
        values_kernel(learned, game.initial()[None], np.zeros(1))
        types.append(values_kernel.nopython_signatures[-1].args[0])
    assert types[0] is types[1]


def test_a_file_that_this_program_did_not_write(tmp_path):
    game, path = games.make("tictactoe"), tmp_path / "x.eval"
    good = network_bytes(game, random_network(game, "2x2", 1)).split(b"\n", 1)[1]
    line, packed = good.split(b"\n", 1)
    for data in (
        b"",
        b"[]\n",
        b'{"stages": 1, "tuples": [[[9]]]}\n',
        b'{"stages": 1, "tuples": [[' + b"[1, 2], " * 5000 + b"[3, 4]]]}\n",
        b'{"stages": 0, "tuples": [[[1]]]}\n',
        b'{"stages": 1, "tuples": [[[1, 1]]]}\n',
        line + b"\n",
        line + b"\n" + packed[:20],
        b"{}\n" + packed,
    ):
        path.write_bytes(pack("learned evaluation", game, {"card": {}}, data))
        with pytest.raises(PreparedFileError, match="cannot be right"):
            game.with_evaluation(f"file:{path}")


# -- Learning ----------------------------------------------------------------------------------------------------------


def learning_by(game, spec="td", seed=3, **changed):
    """A learner at work, with few tuples."""
    return begin(game, replace(registry.make(spec), **{"tuples": "2x2 1x3", **changed}), seed)


class NaiveTrainer:
    """TD by self-play on tic-tac-toe, written down once more: dictionaries of weights by what is looked up."""

    def __init__(self, learner):
        self.game, self.lesson, self.rng = learner.game, learner.learner, learner.trainer.rng.copy()
        self.orbits, self.fill = learner.network.orbits, int(learner.network.layout[0]) - learner.network.tuples
        self.weights, self.errors, self.sizes = Counter(), defaultdict(np.float32), defaultdict(np.float32)

    def looked_up(self, state):
        board, side = board_of(self.game, state).ravel(), int(self.game.player(state))
        found = [
            (side, number, tuple(board[list(cells)].tolist()))
            for number, orbit in enumerate(self.orbits)
            for cells in orbit
        ]
        return found + [(side, "bias", ())] * self.fill

    def value(self, state):
        x = SCALE * sum(self.weights[place] for place in self.looked_up(state))
        return x / np.sqrt(1 + x * x)

    def learn(self, state, target):
        places = self.looked_up(state)
        error = np.float32(target - self.value(state))
        for place in places:
            rate = abs(self.errors[place]) / self.sizes[place] if self.sizes[place] > 0 else np.float32(1)
            self.weights[place] += int(np.rint(self.lesson.step * error / (len(places) * SCALE) * rate))
            self.errors[place] += error
            self.sizes[place] += abs(error)

    def leaf(self, state):
        if self.game.is_over(state):
            return float(self.game.score(state))
        return self.value(state)

    def best(self, state):
        """(value, move): the best move, of equal ones as they are drawn one after the other."""
        side, best, chosen, equal = 1 if self.game.player(state) == 0 else -1, -2, None, 0
        for move in self.game.moves(state):
            value = side * self.leaf(self.game.after(state, move))
            equal = 1 if value > best else equal + (value == best)
            if value > best or (value == best and random_below(self.rng, equal) == 0):
                best, chosen = value, move
        return side * best, chosen

    def play(self):
        state, seen = self.game.initial(), []
        for _ in range(int(random_below(self.rng, self.lesson.opening + 1))):
            if not self.game.is_over(state):
                moves = self.game.moves(state)
                state = self.game.after(state, moves[int(random_below(self.rng, len(moves)))])
        result = None
        while not self.game.is_over(state):
            value, move = self.best(state)
            at_random = random_unit(self.rng) < self.lesson.explore
            seen.append((state, value, at_random))
            if abs(value) == 1:
                result = value
                break
            if at_random:
                moves = self.game.moves(state)
                move = moves[int(random_below(self.rng, len(moves)))]
            state = self.game.after(state, move)
        target = float(self.game.score(state)) if result is None else result
        for state, value, at_random in reversed(seen):
            target = value if at_random else (1 - self.lesson.decay) * value + self.lesson.decay * target
            self.learn(state, target)


@pytest.mark.plain
def test_td_is_what_its_twin_does():
    game = games.make("tictactoe")
    learner = learning_by(game, explore=0.3, opening=2)
    twin = NaiveTrainer(learner)
    learner.kernel(30)
    for _ in range(30):
        twin.play()
    learned = game.with_network(learner.network)
    values = [(learned.evaluate(state), twin.value(state)) for seed in range(5) for state in random_line(game, seed)]
    assert learner.trainer.rng[0] == twin.rng[0]
    assert max(abs(a - b) for a, b in values) < 1e-4 and len({a for a, _ in values}) > 20


@pytest.fixture
def plain_td(monkeypatch):
    """The module of TD, in plain Python."""
    for name, function in list(vars(td).items()):
        if hasattr(function, "py_func"):
            monkeypatch.setattr(td, name, function.py_func)
    with np.errstate(over="ignore"):  # of words
        yield td


@pytest.mark.plain
def test_tdleaf_learns_nothing_of_games_that_are_over(plain_td, monkeypatch):
    """A leaf may be a draw, whose value of 0 is as certain as a win."""
    game = games.make("tictactoe")
    network = random_network(game, "2x2", 1)
    learned, trainer, room = game.with_network(network), new_trainer(network, stream(1)), new_room(game, 2)
    positions, drawn = [], 0
    monkeypatch.setattr(td, "learn", lambda game, trainer, state, target, step: positions.append(state.copy()))
    for _ in range(10):
        room.states[0] = game.initial()
        length, result = td.play_game(learned, trainer, room, SelfPlay(2, 0.5, 0.2, 0, False, True, 1.0))
        td.learn_from_game(learned, trainer, room, SelfPlay(2, 0.5, 0.2, 0, False, True, 1.0), length, result)
        drawn += sum(game.is_over(leaf) and game.score(leaf) == 0 for leaf in room.points[:length])
    assert drawn > 0 and len(positions) > 10 and not any(map(game.is_over, positions))


def naive_values(game, state, plies, foresee):
    """{move: the first player's value of what it leads to}, searched to so many plies without a window."""

    def value(state, plies):
        side = 1 if game.player(state) == 0 else -1
        if game.is_over(state):
            return float(np.sign(game.score(state)))
        if foresee and (end := game.foreseen(state)[0]):
            return float(side * np.sign(end))
        if plies == 0:
            return game.evaluate(state)
        return side * max(side * value(game.after(state, move), plies - 1) for move in game.moves(state))

    return {int(move): value(game.after(state, move), plies - 1) for move in game.moves(state)}


@pytest.mark.plain
@pytest.mark.parametrize("foresee", [False, True])
@pytest.mark.parametrize("plies", [1, 2, 3])
def test_the_search_of_td_is_minimax(plain_td, plies, foresee):
    """Its value, a move that has it, and the leaf that it comes from."""
    game = games.make("connect4(rows=4, columns=4)")
    learned, rng, found = game.with_network(random_network(game, "2x3 lines")), stream(plies), set()
    room, options = new_room(game, plies), SelfPlay(plies, 0.5, 0.0, 0, foresee, True, 1.0)
    for state in random_line(game, 1)[1::2] + random_line(game, 4)[::3]:
        room.states[0] = state
        value, move = td.search(learned, room, options, rng)
        values, side = naive_values(learned, state, plies, foresee), 1 if game.player(state) == 0 else -1
        assert value == side * max(side * other for other in values.values()) == values[int(move)]
        assert value == td.leaf_value(learned, room.leaves[0], foresee)[0]
        found.add(value)
    assert len(found) > 2


@pytest.mark.plain
@pytest.mark.parametrize(
    "spec",
    [
        "td(plies=2)",
        *(
            pytest.param(spec, marks=pytest.mark.slow)
            for spec in ("tdleaf(plies=2)", "descent(descents=3)", "visits(teacher='uct(playouts=20)')")
        ),
    ],
)
def test_learning_goes_on_as_if_nothing_had_happened(spec, tmp_path, kernels):
    """From a checkpoint; and in parts of any size."""
    game = games.make("tictactoe")
    whole, parts, later = (learning_by(game, spec) for _ in range(3))
    until, stops = (60, (1, 7, 25)) if kernels == "compiled" else (9, (1, 4))
    whole.kernel(until)
    assert whole.trainer.counts[GAMES] == until and np.count_nonzero(whole.network.weights) > 50
    for stop in stops:
        parts.kernel(stop)
    (tmp_path / "c").write_bytes(parts.checkpoint())
    later.resume(tmp_path / "c")
    assert later.go_on(until, lambda: True)
    for name in ("weights", "errors", "sizes", "counts", "losses", "rng"):
        assert np.array_equal(getattr(later.trainer, name), getattr(whole.trainer, name)), name
    assert later.card()["weights"] == whole.card()["weights"] != parts.card()["weights"]
    with pytest.raises(UserError, match="was begun with seed = 3, not 4"):
        learning_by(game, spec, seed=4).resume(tmp_path / "c")


@pytest.mark.plain
def test_descent_learns_each_position_of_a_tree_once_with_its_value():
    """On tic-tac-toe, whose trees are small: a resolved position has the exact value."""
    game = games.make("tictactoe")
    learner = learning_by(game, "descent")
    learned, trees, rng = game.with_network(learner.network), new_trees(game, 40), stream(1)
    options = Descending(40, 0.0, 0, 0.0, UBFMOptions(True, True))
    root = random_line(game, 1)[2]
    tree_kernel(learned, learner.trainer, root, trees, options, rng)
    graph = trees.graph
    size = int(graph.counts[SIZE])
    assert learner.trainer.counts[POSITIONS] == np.count_nonzero(graph.total[:size]) > 20
    states = {ROOT: root}
    for node in range(size):  # a position has a greater number than the one that it was first reached from
        for edge in range(graph.first[node], graph.first[node] + graph.total[node]):
            states.setdefault(int(graph.targets[edge]), game.after(states[node], int(graph.moves[edge])))
    for node in np.flatnonzero(graph.resolved[:size]):
        state = states[int(node)]
        value = float(game.score(state)) if game.is_over(state) else naive.exact(game, state)[0] * graph.sides[node]
        assert graph.values[node] == value
    for node in np.flatnonzero(graph.total[:size]):
        children = graph.targets[graph.first[node] : graph.first[node] + graph.total[node]]
        assert graph.values[node] == graph.sides[node] * max(graph.sides[node] * graph.values[children])


@kernel
def tree_kernel(game, trainer, root, trees, options, rng):
    """One tree, learned without changing a weight."""
    search(game, trees, root, options, rng)
    learn_from_tree(game, trainer, trees, root, options)


@pytest.mark.plain
def test_learning_from_a_run(tmp_path):
    """Positions move towards the results of their games; other games are refused."""
    keys = {"game": "tictactoe", "games": 12, "agents": [{"agent": "random", "name": name} for name in "ab"]}
    arena.run(keys, tmp_path / "run", workers=1)
    game = games.make("tictactoe")
    states, targets = stored_positions(game, tmp_path / "run")
    assert set(targets.tolist()) <= {-1.0, 0.0, 1.0} and not any(map(game.is_over, states))
    learner = learning_by(game, f"run({str(tmp_path / 'run')!r})")
    twin = NaiveTrainer(learner)
    learner.kernel(150)
    for _ in range(150):
        i = int(random_below(twin.rng, len(states)))
        twin.learn(states[i], targets[i])
    learned = game.with_network(learner.network)
    values = [learned.evaluate(state) for state in states]
    assert max(abs(value - twin.value(state)) for value, state in zip(values, states)) < 1e-4
    assert np.corrcoef(values, targets)[0, 1] > 0.5
    with pytest.raises(UserError, match="is of tictactoe, not of connect4"):
        learning_by(games.make("connect4"), f"run({str(tmp_path / 'run')!r})")


def test_what_cannot_be_learned():
    for spec in ("pig", "samegame", "kalah"):
        with pytest.raises(UserError, match="must be for two players, without chance, and have `planes`"):
            begin(games.make(spec), TD())
    with pytest.raises(ValueError, match="decay = 2 is out of range: it can be 0 to 1"):
        TD(decay=2)
    with pytest.raises(ValueError, match="step = nan is out of range: it can be 1e-06 to 100"):
        TD(step=float("nan"))
    with pytest.raises(UserError, match="the most are"):
        begin(games.make("connect4"), TD(stages=64))


# -- The command -------------------------------------------------------------------------------------------------------


def learned_weights(path, spec="tictactoe"):
    return games.make(spec).with_evaluation(f"file:{path}").network.weights


@pytest.mark.slow
@pytest.mark.plain
def test_arena_learn(tmp_path):
    """It writes a file that agents load and `evaluate` shows, tells of the matches on the way, and goes on."""
    words = ["learn", "tictactoe", "td(tuples='2x2 1x3')", "--seed", 3]
    once, parts = tmp_path / "once.eval", tmp_path / "parts.eval"
    done = call(*words, "--output", once, "--games", 96, "--match", 4, "--agent", "alphabeta(depth=1)")
    assert done.exit_code == 0 and "96 of 96 games" in done.output and "after 3 games" in done.output
    card = games.make("tictactoe").with_evaluation(f"file:{once}").network.card
    assert card["games"] == 96 and [row["games"] for row in card["curve"]] == [3, 6, 12, 24, 48, 96]
    for more in (["--games", 50], ["--games", 96, "--resume"]):
        assert call(*words, "--output", parts, *more).exit_code == 0
    assert np.array_equal(learned_weights(once), learned_weights(parts))
    shown = call("evaluate", "tictactoe", "--only", f"file:{once}")
    assert shown.exit_code == 0 and f"file:{once}" in shown.output
    for spec, more, message in [
        ("td", [], "exists already; to replace it: --force"),
        ("td(tuples='2x2 1x3', step=2)", ["--resume", "--seed", 3], "was begun with step = 1.0, not 2.0"),
        ("td(decay=2)", ["--force"], "td: decay = 2.0 is out of range"),
        ("td(tuples='9x9')", ["--force"], "none of '9x9' fits on the board of tictactoe"),
    ]:
        done = call("learn", "tictactoe", spec, "--output", once, *more)
        assert done.exit_code == 2 and message in " ".join(done.output.split()), done.output
    (tmp_path / "once.eval.checkpoint").write_bytes(b"{}")
    done = call(*words, "--output", once, "--resume")
    assert done.exit_code == 2 and "is not a file of that kind" in done.output


def test_what_arena_learn_refuses_before_it_learns(tmp_path, monkeypatch):
    """What would otherwise be told once hours of learning are lost, or not at all."""
    monkeypatch.setattr("arena.commands.learn._learn", None)
    monkeypatch.chdir(tmp_path)
    for more, message in {
        "--output no/a.eval": "there is no folder no",
        "--output .": "--output .: cannot be written",
        "--match 2 --agent nosuch": "unknown agent 'nosuch'",
        "--match 2 --agent alphabeta": "alphabeta needs a budget of depth or nodes or seconds",
        "--agent random": "--agent has no meaning without --match",
        "td(step=0)": "td: step = 0.0 is out of range",
        "td(descents=5)": "td has no parameter 'descents'; it is td(plies=1, decay=0.5, foresee=True,",
        "tdd": "unknown learner 'tdd' (did you mean 'td'?); known: descent, run, td, tdleaf, visits",
        "run": "run needs folder: run(folder,",
        "visits(teacher='random')": "teacher = 'random' leaves no visits that its seed reproduces",
        "visits(teacher='uct')": "must be a tree search with a number of playouts, such as uct(playouts=300)",
        "visits(teacher='uct(playouts=9,seconds=1)')": "leaves no visits that its seed reproduces",
        "visits --match 2 --agent random": "random cannot play with a policy: the agent must be uct",
    }.items():
        done = call("learn", "tictactoe", "--output", "a.eval", *more.split())
        assert done.exit_code == 2 and message in " ".join(done.output.split()), done.output
    assert not list(tmp_path.iterdir())


def learning_of(done, monkeypatch):
    """`arena learn` counts games that it does not play."""

    def go_on(self, until, told):
        self.trainer.counts[GAMES] = until
        done.append(until)
        return told()

    monkeypatch.setattr(Learning, "go_on", go_on)


def random_players(game="tictactoe"):
    return [agents.make("random").player(games.make(game)) for _ in range(2)]


class Witness(Player):
    """Plays at random, and notes what it is told."""

    def __init__(self, notes):
        self.notes, self.other = notes, random_players()[0]

    def start(self, game, state, moves):
        self.notes.append(["start", game.initial(), state, list(moves)])

    def played(self, move):
        self.notes.append(["played", move])

    def close(self, result):
        self.notes.append(["close", result])

    def decide(self, state, rng):
        return self.other.decide(state, rng)


def test_players_of_a_match_are_told_of_its_games():
    """Each plays one game: they are told how it began, of all moves, and of the first player's result."""
    game, notes = games.make("tictactoe"), []

    def players():
        notes.append(([], []))
        return [Witness(note) for note in notes[-1]]

    points, found = [], match(game, players, 6, 3)
    for number, (ours, theirs) in enumerate(notes):
        assert [entry[:1] for entry in ours] == [entry[:1] for entry in theirs]
        (_, state, begun, opening), *played, (last, result) = ours
        for move in opening:
            game.play(state, move)
        assert np.array_equal(state, begun) and len(opening) == 4 and last == "close"
        for what, move in played:
            assert what == "played"
            state = game.after(state, move)
        assert game.is_over(state) and result == (1 + np.sign(game.score(state))) / 2
        points.append(result if number % 2 == 0 else 1 - result)
        assert number % 2 == 0 or opening == notes[number - 1][0][0][3]
    assert len(points) == found["match"] == 6 and np.mean(points) == found["score"]


def test_players_of_a_match_that_fails_are_closed():
    notes = ([], [])

    class Failing(Witness):
        def decide(self, state, rng):
            raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        match(games.make("tictactoe"), lambda: [Failing(note) for note in notes], 2, 1)
    assert [note[-1] for note in notes] == [["close", None]] * 2


def test_ctrl_c_during_a_match(tmp_path, monkeypatch):
    """It is heard after a game; what was learned is saved before the match, which is played again with --resume."""
    path, done, saved = tmp_path / "a.eval", [], []
    learning_of(done, monkeypatch)
    words = "learn", "tictactoe", "td(tuples='2x2')", "--games", 64, "--match", 8, "--agent", "random", "--output", path

    def interrupted(*arguments):
        saved.append(games.make("tictactoe").with_evaluation(f"file:{path}").network.card["games"])
        signal.raise_signal(signal.SIGINT)
        return match(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr("arena.study.learning.match", interrupted)
        assert call(*words).exit_code == 130
    assert saved == done == [2]
    again = call(*words, "--resume")
    assert again.exit_code == 0 and "after 2 games" in again.output and "64 of 64 games" in again.output
    fewer = call(*words, "--resume", "--games", 5)
    assert fewer.exit_code == 2 and "has learned from 64 games, and --games 5 is fewer" in " ".join(
        fewer.output.split()
    )
    count = []
    assert match(games.make("tictactoe"), random_players, 8, 1, lambda: bool(count.append(1))) is None
    assert len(count) == 1


def test_what_fails_in_a_match_loses_nothing(tmp_path, monkeypatch):
    path, done = tmp_path / "a.eval", []
    learning_of(done, monkeypatch)

    def fails(*_):
        path.unlink()
        raise UserError("it failed")

    monkeypatch.setattr("arena.study.learning.match", fails)
    assert call("learn", "tictactoe", "--match", 8, "--output", path, "--games", 64).exit_code == 2
    assert games.make("tictactoe").with_evaluation(f"file:{path}").network.card["games"] == done[0] == 2


def test_matches_of_a_game_that_is_over_soon():
    """Openings have fewer plies where four would end the game; none, in the end."""
    game = games.make("clobber(rows=2, columns=2)")
    found = match(game, lambda: random_players("clobber(rows=2, columns=2)"), 4, 1)
    assert game.max_plies < 4 and found["match"] == 4


def test_a_file_says_all_of_a_long_curve_or_is_not_written(tmp_path):
    game, path = games.make("tictactoe"), tmp_path / "a.eval"
    network = replace(random_network(game, "2x2", 1), card={"curve": [{"agent": "x" * 100}] * 200})
    path.write_bytes(network_bytes(game, network))
    assert game.with_evaluation(f"file:{path}").network.card == network.card
    line = len(path.read_bytes().split(b"\n")[0]) + 1
    for more, right in ((LONGEST_HEADER - line, True), (LONGEST_HEADER - line + 1, False)):
        card = {"curve": [*network.card["curve"][1:], {"agent": "x" * (100 + more)}]}
        if right:
            path.write_bytes(network_bytes(game, replace(network, card=card)))
            assert game.with_evaluation(f"file:{path}").network.card == card
        else:
            with pytest.raises(PreparedFileError, match="would have 1,048,577 bytes; the most that is read is 1,048,"):
                network_bytes(game, replace(network, card=card))


def test_arena_learn_from_a_run_counts_positions(tmp_path, monkeypatch):
    learning_of([], monkeypatch)
    keys = {"game": "tictactoe", "games": 2, "agents": [{"agent": "random", "name": name} for name in "ab"]}
    arena.run(keys, tmp_path / "run", workers=1)
    done = call("learn", "tictactoe", f"run({str(tmp_path / 'run')!r})", "--output", tmp_path / "a.eval", "--games", 7)
    assert done.exit_code == 0 and "7 of 7 positions, 0 s of" in done.output


@pytest.mark.slow
def test_learning_that_is_killed_goes_on_as_if_nothing_had_happened(tmp_path):
    """Killed, and interrupted, at five moments each."""
    words = ["learn", "connect4(rows=4, columns=5)", "--seed", "3", "--checkpoint", "0.3"]
    once, parts = tmp_path / "once.eval", tmp_path / "parts.eval"
    arena_program = [sys.executable, "-m", "arena", *words]
    subprocess.run([*arena_program, "--output", once, "--games", "150000"], check=True, capture_output=True)
    for number in [signal.SIGKILL, signal.SIGINT] * 5:
        resume = ["--resume"] if parts.with_name("parts.eval.checkpoint").exists() else []
        program = subprocess.Popen([*arena_program, "--output", parts, "--games", "150000", *resume])
        begun, before = time.monotonic(), parts.stat().st_mtime_ns if parts.exists() else 0
        while program.poll() is None and time.monotonic() < begun + 120:
            time.sleep(0.1)
            if parts.exists() and parts.stat().st_mtime_ns != before:
                break
        program.send_signal(number)
        assert program.wait() in (0, -signal.SIGKILL, 130)
    subprocess.run([*arena_program, "--output", parts, "--games", "150000", "--resume"], check=True)
    assert np.array_equal(learned_weights(once, words[1]), learned_weights(parts, words[1]))
