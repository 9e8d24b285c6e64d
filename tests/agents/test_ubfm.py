"""Unbounded best-first minimax against its twin in plain Python, and where it resolves the root against minimax."""

import numpy as np
import pytest

from arena import agents, games
from arena.agents.minimax.ubfm import ROOT
from arena.games.core.random import random_below, stream
from tests.agents.positions import GAMES, random_position, small_positions

KORF = "completion=false, safe=false, to_root=false"


class Twin:
    """The table as a dictionary from a state to [value, result, resolved, moves, states after them]."""

    def __init__(self, game, completion, to_root, rng):
        self.game, self.completion, self.to_root, self.rng = game, completion, to_root, rng
        self.known, self.nodes = {}, 0

    def add(self, state):
        over = bool(self.game.is_over(state))
        value = float(np.sign(self.game.score(state))) if over else float(self.game.evaluate(state))
        return self.known.setdefault(state.tobytes(), [value, int(value) if over else 0, over, [], []])

    def search(self, root, limit):
        self.add(root)
        while self.descend(root, limit):
            pass
        return self.known[root.tobytes()]

    def descend(self, root, limit):
        """One descent; whether another one may follow."""
        path = [root]
        while (node := self.known[path[-1].tobytes()])[3] and not (self.completion and node[2]):
            side = 1 if self.game.player(path[-1]) == 0 else -1
            after = [s for s in node[4] if not (self.completion and self.known[s.tobytes()][2])]
            if not after:
                self.back_up(path)
                return True
            path.append(max(after, key=lambda s: side * self.known[s.tobytes()][0]))
        moves = self.game.moves(path[-1])
        if node[2] or self.nodes + len(moves) > limit:
            return False
        for i in range(len(moves) - 1, 0, -1):
            j = int(random_below(self.rng, i + 1))
            moves[i], moves[j] = moves[j], moves[i]
        node[3], node[4] = moves, [self.game.after(path[-1], move) for move in moves]
        for state in node[4]:
            self.add(state)
        self.nodes += len(moves)
        self.back_up(path)
        return True

    def back_up(self, path):
        for state in reversed(path):
            if not self.update(state) and not self.to_root:
                break

    def update(self, state):
        node, side = self.known[state.tobytes()], 1 if self.game.player(state) == 0 else -1
        below, before = [self.known[s.tobytes()] for s in node[4]], node[:3]
        if self.completion:
            result, value = max((side * child[1], side * child[0]) for child in below)
            node[:3] = [side * value, side * result, result == 1 or all(child[2] for child in below)]
        else:
            node[0] = side * max(side * child[0] for child in below)
        return node[:3] != before


@pytest.mark.plain
@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("options", ["", KORF])
def test_ubfm_equals_its_twin(spec, options):
    game = games.make(spec)
    for seed in range(4):
        state = random_position(game, seed, 2 * seed)
        player = agents.make(f"ubfm(nodes=700, {options})").player(game)
        decision, graph = player.choose(state, stream(seed)), player.graph
        twin = Twin(game, not options, not options, stream(seed))
        root = twin.search(state, 700)
        assert decision.nodes == twin.nodes and decision.counts["positions"] == len(twin.known)
        assert [graph.values[ROOT], graph.results[ROOT], graph.resolved[ROOT]] == root[:3]
        assert decision.statistics.moves.tolist() == root[3]
        side = 1 if game.player(state) == 0 else -1
        assert decision.statistics.means.tolist() == [side * twin.known[s.tobytes()][0] for s in root[4]]


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["tictactoe", pytest.param("breakthrough(rows=5, columns=4)", marks=pytest.mark.slow)])
def test_a_resolved_root_has_the_value_of_plain_minimax(spec, kernels):
    game = games.make(spec)
    searcher = agents.make(f"minimax(depth={game.max_plies})").player(game)
    player = agents.make("ubfm(nodes=200000)").player(game)
    for seed, state in enumerate(small_positions(searcher, *((60,) if kernels == "compiled" else (6, 300)))):
        expected = searcher.choose(state, stream(seed)).value
        decision = player.choose(state, stream(seed))
        assert player.graph.resolved[ROOT] and decision.value == expected
        after = game.after(state, decision.move)
        if not game.is_over(after):
            turn = 1 if game.player(after) == game.player(state) else -1
            assert turn * searcher.choose(after, stream(seed)).value == expected


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["tictactoe"])
def test_tictactoe_is_a_draw(spec):
    game = games.make(spec)
    player = agents.make("ubfm(nodes=100000)").player(game)
    decision = player.choose(game.initial(), stream(1))
    assert decision.value == 0 and player.graph.resolved[ROOT] and decision.counts["positions"] <= 5478


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["breakthrough(rows=5, columns=4)"])
def test_safe_plays_the_move_of_most_descents(spec):
    game = games.make(spec)
    safe = agents.make("ubfm(nodes=3000)").choose(game, game.initial(), seed=2)
    bold = agents.make("ubfm(nodes=3000, safe=false)").choose(game, game.initial(), seed=2)
    assert safe.move == safe.statistics.moves[np.argmax(safe.statistics.playouts)]
    assert bold.move == bold.statistics.moves[np.argmax(bold.statistics.means)]
    assert safe.statistics.playouts.tolist() == bold.statistics.playouts.tolist()


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["breakthrough(rows=5, columns=4)"])
def test_a_budget_below_one_expansion_and_a_full_table(spec):
    game = games.make(spec)
    assert agents.make("ubfm(nodes=3)").choose(game, game.initial(), seed=1).nodes == 0
    decision = agents.make("ubfm(seconds=200, max_nodes=1000)").choose(game, game.initial(), seed=1)
    assert decision.counts["positions"] <= 1000 and decision.seconds < 100


@pytest.mark.plain
def test_a_budget_may_be_spent_to_its_last_position():
    game = games.make("tictactoe")
    assert agents.make("ubfm(nodes=9)").choose(game, game.initial(), seed=1).nodes == 9
    assert agents.make("ubfm(nodes=17)").choose(game, game.initial(), seed=1).nodes == 17


@pytest.mark.parametrize(
    ("spec", "game", "message"),
    [
        ("ubfm(nodes=9)", "pig", "ubfm plays games without chance"),
        ("ubfm(nodes=9, evaluation='x')", "nim", "plays games with evaluation = 'x', and nim.* has only its default"),
        ("ubfm", "nim", "ubfm needs a budget of nodes or seconds"),
    ],
)
def test_games_refused(spec, game, message):
    with pytest.raises(agents.Unsuited, match=message):
        agents.make(spec).player(games.make(game))
