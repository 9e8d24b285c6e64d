"""Games in step with OpenSpiel's, which is an optional dependency: `pip install open_spiel`, or the extra `interop`.

At every ply of random games: the same player, the same legal moves, the same end and the same result.
"""

import numpy as np
import pytest

from arena import games

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install open_spiel")

from arena.interop.counterparts import COUNTERPARTS, Mirror, NoCounterpart, counterpart_of, from_openspiel

GAMES_PLAYED = 100
LONG = {
    "chess": 1,
    "checkers": 10,
    "loa(horizon=1000)": 2,
    "amazons(size=10)": 1,
    "amazons(size=6)": 4,
    "go(size=9, komi=7.5)": 4,
    "hex(size=11)": 10,
    "mnk(rows=15, columns=15, k=5)": 10,
}
SPECS = [
    "tictactoe",
    "connect4",
    "connect4(rows=5, columns=4)",
    "breakthrough",
    "breakthrough(rows=6, columns=4)",
    "othello",
    "mnk(rows=15, columns=15, k=5)",
    "mnk(rows=4, columns=6, k=4)",
    "hex(size=5)",
    "hex(size=5, swap=true)",
    "hex(size=11)",
    "go(size=9, komi=7.5)",
    "nim(heaps=[1, 3, 5, 7], misere=true)",
    "nim(heaps=[4, 9, 2])",
    "clobber(rows=5, columns=6)",
    "amazons(size=10)",
    "amazons(size=6)",
    "pig(target=100)",
    "pig(target=30, horizon=12)",
    "chess",
    "y(size=5)",
    "kalah",
    "checkers",
    "loa(horizon=1000)",
]


def checkers_end_otherwise(states):
    """There a game is a draw after 40 moves without a capture."""
    pieces = [int(state[0] | state[1]).bit_count() for state in states[-41:]]
    return len(pieces) == 41 and pieces[0] == pieces[-1]


def loa_ends_otherwise(states):
    """Here a capture that joins all pieces of both is a draw, there a win; and there a board for the second time is a
    draw, whoever is to move."""
    boards = [state[:2].tobytes() for state in states]
    return states[-1][3] == 3 or boards[-1] in boards[:-1]


# by the name of a game: (our states so far) -> whether it may now end otherwise there
ENDS_OTHERWISE = {"checkers": checkers_end_otherwise, "loa": loa_ends_otherwise}


def superko(theirs, action):
    """Whether OpenSpiel's Go ends with this action, which repeats a position; here it is not legal."""
    after = theirs.clone()
    after.apply_action(action)
    return after.is_terminal()


def check_actions(mirror, chosen):
    """The actions that begin our legal moves are theirs, all along the path of the one that is chosen."""
    game, theirs, label = mirror.game, mirror.theirs.clone(), mirror.counterpart.label
    paths = {mirror.counterpart.path(game, mirror.state, move): move for move in game.moves(mirror.state)}
    (chosen,) = [path for path, move in paths.items() if move == chosen]
    for depth, taken in enumerate(chosen):
        ours = {path[depth] for path in paths if path[:depth] == chosen[:depth]}
        actions = {label(theirs, action): action for action in theirs.legal_actions()}
        if game.name == "go":
            actions = {key: a for key, a in actions.items() if key in ours or not superko(theirs, a)}
        assert set(actions) == ours, theirs
        theirs.apply_action(actions[taken])


def play_in_step(game, random):
    """Play a random game on both boards, to the end here, or to one there that is none here."""
    mirror = Mirror(game)
    otherwise, states = ENDS_OTHERWISE.get(game.name, lambda states: False), [mirror.state]
    while not game.is_over(mirror.state):
        theirs = mirror.theirs
        if theirs.is_terminal():
            assert otherwise(states), theirs
            return mirror
        assert mirror.side(theirs.current_player()) == int(game.player(mirror.state))
        move = int(random.choice(game.moves(mirror.state)))
        check_actions(mirror, move)
        mirror.push(move)
        states.append(mirror.state)
    if not otherwise(states):
        assert mirror.theirs.is_terminal()
        assert np.sign(game.score(mirror.state)) == np.sign(mirror.theirs.returns()[mirror.side(0)])
    return mirror


@pytest.mark.parametrize("spec", SPECS)
def test_in_step(spec):
    game, random = games.make(spec), np.random.default_rng(11)
    for _ in range(LONG.get(spec, GAMES_PLAYED)):
        mirror = play_in_step(game, random)
    moves, state = from_openspiel(game, mirror.theirs)  # the last game, by its actions
    assert np.array_equal(state, mirror.state) and Mirror(game, moves).theirs.history() == mirror.theirs.history()


def test_every_counterpart_is_played():
    assert {spec.partition("(")[0] for spec in SPECS} == COUNTERPARTS.keys() - {"openspiel"}


@pytest.mark.parametrize(
    "spec", ["domineering", "othello(size=6)", "chess(setup=0)", "misere_breakthrough", "breakthrough(rows=5)"]
)
def test_games_without_a_counterpart(spec):
    with pytest.raises(NoCounterpart, match=r"OpenSpiel has no .*; it has tictactoe, connect4"):
        counterpart_of(games.make(spec))
