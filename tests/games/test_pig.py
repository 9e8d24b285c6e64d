"""Pig: the published values, by a value iteration that is itself compared with the game's rules."""

import numpy as np
import pytest
from numba import njit

from arena import agents, games
from arena.games.pig import DECISIONS, HOLD, ROLL, SIDE, TURN


@njit
def improve(wins, hold_at):
    """One sweep over wins[own, other, turn], the chance of the player to move, who holds at `hold_at` or, if that is 0,
    does what is best; returns the largest change."""
    target, change = len(wins), 0.0
    for own in range(target - 1, -1, -1):
        for other in range(target - 1, -1, -1):
            for turn in range(target - own - 1, -1, -1):
                hold, roll = 1.0 - wins[other, own + turn, 0], 1.0 - wins[other, own, 0]
                for face in range(2, 7):
                    roll += wins[own, other, turn + face] if own + turn + face < target else 1.0
                roll /= 6.0
                value = max(hold, roll) if hold_at == 0 else (hold if turn >= hold_at else roll)
                change = max(change, abs(value - wins[own, other, turn]))
                wins[own, other, turn] = value
    return change


def chances(target, hold_at=0):
    wins = np.full((target, target, target), 0.5)
    while improve(wins, hold_at) > 1e-11:
        pass
    return wins


@pytest.mark.parametrize(("hold_at", "published"), [(0, 0.5305927), (20, 0.5346983)])
def test_first_player_of_pig_to_100(hold_at, published):
    """Neller & Presser 2004 for two optimal players; both holding at 20."""
    assert chances(100, hold_at)[0, 0, 0] == pytest.approx(published, abs=5e-8)


def state_of(game, own, other, turn):
    state = game.initial()
    state[0], state[1], state[TURN] = own, other, turn
    return state


def values_by_rules(game, wins):
    """For each state at the first player's turn: what roll and hold are worth, by the game's own moves and chances."""
    moves, probabilities = np.empty(6, np.int32), np.empty(6)

    def value(state):
        if game.is_over(state):
            return (1 + game.score(state)) / 2
        turn = state[TURN]
        if state[state[SIDE]] + turn >= game.target:
            return value(game.after(state, HOLD))
        return wins[state[0], state[1], turn] if state[SIDE] == 0 else 1 - wins[state[1], state[0], turn]

    for own, other in np.ndindex(game.target, game.target):
        for turn in range(game.target - own):
            state = state_of(game, own, other, turn)
            rolling = game.after(state, ROLL)
            count = game.chance(rolling, moves, probabilities)
            roll = sum(p * value(game.after(rolling, int(m))) for m, p in zip(moves[:count], probabilities))
            yield state, roll, value(game.after(state, HOLD))


def test_the_iteration_is_of_this_game():
    """The better of roll and hold, by the game's rules, is the value of every state that the iteration found."""
    game, wins = games.make("pig(target=8)"), chances(8)
    for state, roll, hold in values_by_rules(game, wins):
        assert max(roll, hold) == pytest.approx(wins[state[0], state[1], state[TURN]], abs=1e-9)


@pytest.mark.parametrize("agent", [pytest.param("uct(playouts=4000)", marks=pytest.mark.slow), "flat(playouts=4000)"])
def test_searches_play_it(agent):
    """Flat plays with 4 of 5 right among decisions of importance, UCT all."""
    game, agent = games.make("pig(target=12)"), agents.make(agent)
    important = [(s, ROLL if r > h else HOLD) for s, r, h in values_by_rules(game, chances(12)) if abs(r - h) > 0.15]
    right = [agent.choose(game, state, seed=4).move == best for state, best in important[::15]]
    assert len(right) > 15 and np.mean(right) >= (1 if agent.name == "uct" else 0.8)


def naive_game(target, random):
    """A game in a few lines: the moves' names, and the points at the end."""
    points, side, turn, names = [0, 0], 0, 0, []
    while max(points) < target:
        if points[side] + turn < target and random.random() < 0.6:
            face = int(random.integers(1, 7))
            names += ["roll", str(face)]
            turn += face
            if face > 1:
                continue
            turn = 0
        else:
            names.append("hold")
        points[side] += turn
        side, turn = 1 - side, 0
    return names, points


def test_games_are_those_of_a_naive_player():
    game, random = games.make("pig(target=30)"), np.random.default_rng(3)
    for _ in range(40):
        names, points = naive_game(30, random)
        state = game.read_line(" ".join(names))[1]
        assert game.is_over(state) and state[:2].tolist() == points
        assert game.score(state) == (1 if points[0] >= 30 else -1)
        assert state[DECISIONS] == names.count("roll") + names.count("hold")


def test_horizon():
    game = games.make("pig(target=100, horizon=3)")
    state = game.read_line("roll 5 hold")[1]
    assert not game.is_over(state)
    for name in ("roll", "hold"):
        end = game.after(state, game.parse_move(state, name))
        assert game.is_over(end) and game.score(end) == 0


def test_names_evaluation_and_drawing():
    game = games.make("pig(target=10)")
    state = game.read_line("roll 6")[1]
    assert game.render(state) == "A 0 + 6\nB 0" and game.evaluate(state) == 6 / 16
    assert game.render(game.read_line("hold roll", state)[1]) == "A 6\nB 0 + 0, rolling"
    assert game.evaluate(game.read_line("hold roll 4", state)[1]) == (6 - 4) / 12
    state = game.read_line("roll 4", state)[1]
    assert [game.move_name(state, move) for move in game.moves(state)] == ["hold"]
    with pytest.raises(games.IllegalMove, match="'roll' is not a legal move"):
        game.parse_move(state, "roll")


@pytest.mark.parametrize(
    ("spec", "message"),
    [("pig(target=1)", "target = 1 is out of range"), ("pig(horizon=0)", "horizon = 0 is out of range")],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=message):
        games.make(spec)
