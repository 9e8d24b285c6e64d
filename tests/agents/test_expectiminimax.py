"""Expectiminimax and expectimax against exhaustive search in plain Python; Star1 changes no value and saves nodes."""

import numpy as np
import pytest

from arena import agents, games
from arena.agents.minimax.chances import explore_chances
from arena.games.core.game import CHANCE
from tests.games.exact import exact_value

EVEN = "{'probabilities': ['1/2', '1/2'], 'moves': [[3, 9], [-4, 7]]}"
UNEVEN = "{'probabilities': [0.2, 0.8], 'moves': [-9, 4]}"
TREE = f'tree(nodes="[{EVEN}, [[1, 2], 5], {UNEVEN}]")'
GAMES = {"coin": "scores=true", "pig(target=6, horizon=5)": "", "tictactoe": "", TREE: "scores=true"}


def root_value(spec, game, state=None):
    """The first player's value of a position, by the values of its moves, and the nodes visited."""
    state = game.initial() if state is None else state
    player = agents.make(spec).player(game)
    values = player.values(state)
    return (max if game.player(state) == 0 else min)(values.values()), int(player.line.counts[0])


def after_chance(game, seed):
    """The initial position, or one after random outcomes, where a player is to move."""
    random, state = np.random.default_rng(seed), game.initial()
    for _ in range(seed % 3):
        moves = game.moves(state)
        after = game.after(state, moves[random.integers(len(moves))])
        state = state if game.is_over(after) else after
    while not game.is_over(state) and game.player(state) == CHANCE:
        moves = game.moves(state)
        state = game.after(state, moves[random.integers(len(moves))])
    return game.initial() if game.is_over(state) else state


@pytest.mark.plain
@pytest.mark.parametrize(
    "spec", [pytest.param(spec, marks=[pytest.mark.slow] if spec == "tictactoe" else []) for spec in GAMES]
)
def test_expectiminimax_equals_exhaustive_search(spec):
    game, known = games.make(spec), {}
    for seed in range(3 if spec == "tictactoe" else 12):
        state = after_chance(game, seed)
        exact, visited = exact_value(game, state, known), []
        for pruning in ("true", "false"):
            value, nodes = root_value(f"expectiminimax(depth=30, pruning={pruning}, {GAMES[spec]})", game, state)
            assert value == pytest.approx(exact, abs=1e-12)
            visited.append(nodes)
        assert visited[0] <= visited[1]


@pytest.mark.plain
def test_star1_prunes_at_chance():
    """After a move that wins, a chance node whose first half is a loss needs no second half."""
    nodes = "[8, {'probabilities': [0.5, 0.5], 'moves': [[-1, 1], [0, 1]]}]"
    game = games.make(f'tree(nodes="{nodes}")')
    decision = agents.make("expectiminimax(depth=9)").choose(game, game.initial(), seed=1)
    assert decision.value == 1 and decision.counts["cutoffs"] > 0
    plain = agents.make("expectiminimax(depth=9, pruning=false)").choose(game, game.initial(), seed=1)
    assert plain.value == 1 and decision.nodes < plain.nodes


@pytest.mark.plain
@pytest.mark.parametrize("sign, player", [(1, "max"), (-1, "min")])
def test_no_bound_passes_for_better_than_the_best_move(sign, player):
    """A is worth -0.2 and B -0.5 to its player; the bound of B is -0.2, and rounding would lift it above A."""
    nodes = [{"probabilities": ["1/5", "1/2", "3/10"], "moves": [0, -sign, last]} for last in (sign, 0)]
    tree = {"player": player, "moves": dict(zip("AB", nodes))}
    game = games.make(f'tree(nodes="{tree}")')
    agent = agents.make("expectiminimax(depth=2)")
    decision = agent.choose(game, game.initial(), seed=1)
    assert game.move_name(game.initial(), decision.move) == "A" and decision.value == pytest.approx(-0.2)
    root = explore_chances(agent, game, game.initial())
    assert root.children[1].pruned and sign * root.children[1].value <= sign * root.children[0].value == decision.value


@pytest.mark.plain
def test_star1_saves_nodes_in_pig():
    game = games.make("pig(target=15)")
    counts = []
    for pruning in ("true", "false"):
        value, nodes = root_value(f"expectiminimax(depth=9, pruning={pruning})", game)
        counts.append((pytest.approx(value, abs=1e-12), nodes))
    assert counts[0][0] == counts[1][0].expected and counts[0][1] < counts[1][1] / 2


@pytest.mark.plain
def test_the_coin_game_of_the_notes():
    """Stop at heads, which is worth 2; go on at tails, for -1: MIN then pays 1 or keeps less."""
    game = games.make("coin")
    for name, move, value in (("heads", "stop", 2), ("tails", "go", -1)):
        state = game.after(game.initial(), game.parse_move(game.initial(), name))
        decision = agents.make("expectiminimax(depth=4, scores=true)").choose(game, state, seed=1)
        assert game.move_name(state, decision.move) == move
        assert root_value("expectiminimax(depth=4, scores=true)", game, state)[0] == value


@pytest.mark.plain
def test_expectimax_takes_the_other_player_for_random():
    """Against MIN the first move is worth 1, against a random player the second is worth 10."""
    game = games.make("tree(nodes='[[1, 2], [0, 20]]')")
    state = game.initial()
    values = {
        name: agents.make(f"{name}(depth=2, scores=true, pruning=false)").player(game).values(state)
        for name in ("expectiminimax", "expectimax")
    }
    assert list(values["expectiminimax"].values()) == [1, 0] and list(values["expectimax"].values()) == [1.5, 10]


@pytest.mark.plain
def test_expectimax_plays_puzzles():
    game = games.make("leftmove(depth=8)")
    decision = agents.make("expectimax(depth=8, scores=true)").choose(game, game.initial(), seed=1)
    best = max(value_of_puzzle(game, game.after(game.initial(), move)) for move in game.moves(game.initial()))
    assert decision.value == best > 1 and value_of_puzzle(game, game.after(game.initial(), decision.move)) == best
    with pytest.raises(agents.Unsuited, match=r"is played for its score: say expectimax.scores=true."):
        agents.make("expectimax(depth=8)").player(game)


def value_of_puzzle(game, state):
    """The best score there is."""
    if game.is_over(state):
        return game.score(state)
    return max(value_of_puzzle(game, game.after(state, move)) for move in game.moves(state))


@pytest.mark.plain
def test_expectiminimax_holds_and_rolls_rightly():
    """At 4 points with 5 in hand, where the other needs 2, by an exhaustive search of the game's 12 decisions."""
    game = games.make("pig(target=10, horizon=12)")
    state = game.initial()
    state[0], state[1], state[2] = 4, 8, 5
    known = {}
    exact = {move: exact_value(game, game.after(state, move), known) for move in game.moves(state)}
    decision = agents.make("expectiminimax(depth=24)").choose(game, state, seed=1)
    assert decision.move == max(exact, key=exact.get) and decision.value == pytest.approx(max(exact.values()), abs=1e-9)
