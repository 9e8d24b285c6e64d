"""What games foresee, against exhaustive search; `check_foreseen` of the conformance suite does the same."""

import numpy as np
import pytest

from arena import games
from arena.games.breakthrough import Breakthrough, Knightthrough
from arena.games.connect4 import Connect4
from arena.games.core.checks.conformance import NotInherited, contradicted, not_inherited, wins_within
from arena.games.core.game import CONCLUSIONS, REPETITIONS, Game
from arena.games.core.play.observed import call, foreseen_kernel, random_line
from arena.games.core.random import stream
from arena.games.core.shared.seeds import derive_seed
from arena.games.domineering import Domineering, MisereDomineering

COMPILED = ["connect4(rows=4, columns=5)", "breakthrough(rows=5, columns=4)"]
SMALL = [
    *COMPILED, "hex(size=4)", "othello(size=4)", "domineering(rows=4, columns=5)",
    "atarigo(size=4)", "clobber(rows=4, columns=4)",
    "knightthrough(rows=5, columns=4)",
]  # fmt: skip
MORE = [
    "connect4", "connect4(rows=5, columns=4)", "breakthrough(rows=4, columns=4)", "breakthrough(rows=7, columns=2)",
    "breakthrough(rows=7, columns=3)", "breakthrough(rows=6, columns=5)",
    "knightthrough(rows=7, columns=4)", "domineering(rows=3, columns=7)", "domineering(rows=6, columns=6)",
    "hex(size=3)", "hex(size=5, swap=true)", "hex(size=9)", "atarigo(size=5)", "atarigo(size=9)", "othello(size=6)",
    "othello", "clobber(rows=3, columns=7)", "clobber(rows=6, columns=6)",
]  # fmt: skip

FEWER = {"othello": 250, "othello(size=6)": 500, "clobber(rows=6, columns=6)": 600}  # claims: of the last squares alone


def claims_found(spec, positions, limit):
    """How many claims were tested along random games with so many positions; all of them hold."""
    game, met, claims, number = games.make(spec), 0, 0, 0
    while met < positions:
        for state in random_line(game, derive_seed(7, number)).states[:-1]:
            plies, exact, _ = call(foreseen_kernel, game, state)
            wrong = contradicted(game, state, plies, exact, limit)
            assert not wrong, f"{game.render(state)}\n{plies, exact}: {wrong}"
            met += 1
            claims += plies != 0 and wrong is not None
        number += 1
    return claims


@pytest.mark.parametrize(
    "spec, kernels",
    [pytest.param(spec, "compiled", marks=[pytest.mark.compiled] if spec in COMPILED else []) for spec in SMALL]
    + [(spec, "plain") for spec in SMALL if spec not in COMPILED],
    indirect=["kernels"],
)
def test_what_is_foreseen_comes_true(spec, kernels):
    """In plain Python, for the games that are not compiled by default, at fewer positions."""
    positions, limit = (400, 20_000) if kernels == "compiled" else (80, 500)
    assert claims_found(spec, positions, limit) > 25 * positions / 400


@pytest.mark.plain
@pytest.mark.parametrize("name", ["misere_breakthrough", "misere_knightthrough"])
def test_how_soon_misere_games_can_end_is_all_they_foresee(name):
    assert claims_found(f"{name}(rows=5, columns=4)", 80, 500) == 0


@pytest.mark.slow
@pytest.mark.parametrize("spec", SMALL + MORE)
def test_what_is_foreseen_comes_true_thousands_of_times(spec):
    assert claims_found(spec, 10_000, 1_000_000) > FEWER.get(spec, 1000)


@pytest.mark.parametrize(
    "rows, line, plies",
    [
        (5, "", 0),
        (5, "2c3b 4b3c 3b4c 4a3b", 1),
        (5, "2c3d 4a3b 1b2c 3b2a", -2),  # a2 cannot be taken
        (5, "2b3a 4c3b 1b2b", 3),  # nobody guards a2
        (5, "2a3a 4b3c 2b3c 5a4b", 5),  # one takes on a4 or d4, and is taken
        (7, "2c3c 6a5a 2b3b 6b5c 1b2c 5a4b 3c4c 7c6b 2a3a 4b3a 1a2b 6c5b 2b3c 7b6a", -4),  # a runner on a3
    ],
)
def test_patterns_of_breakthrough(rows, line, plies):
    game = games.make(f"breakthrough(rows={rows}, columns={4 if rows == 5 else 3})")
    assert game.foreseen(game.read_line(line)[1])[0] == plies


@pytest.mark.parametrize(
    "line, plies",
    [
        ("b4 a1", 0),
        ("b4 a1 c2 a2 d1 a3", 3),  # bridges from b4 to the edge and to c2, and X to move
        ("b4 a1 c2 a2 d1", -4),
        ("b4 a1 c2 a2 d1 c3", 3),  # one of them is entered
        ("b4 a1 c2 c3 d1", 0),
        ("c3 b2 d1 b4 b3", 0),
    ],
)
def test_bridges_of_hex(line, plies):
    game = games.make("hex(size=5)")
    assert game.foreseen(game.read_line(line)[1])[0] == plies


@pytest.mark.parametrize("size", [6, 8])
def test_stable_discs_are_never_turned_over(size):
    """And on a board that is full, all are stable."""
    game, found = games.make(f"othello({size})"), 0
    for number in range(6):
        states, kept = random_line(game, derive_seed(5, number)).states, [0, 0]
        for state in states:
            for side in range(2):
                assert kept[side] & ~int(state[side]) == 0
                stable = int(game.stable(state[side], game.board & ~(state[0] | state[1])))
                assert stable & ~int(state[side]) == 0 == kept[side] & ~stable
                kept[side] = stable
        found += kept[0].bit_count() + kept[1].bit_count()
        assert int(states[-1][0] | states[-1][1]) != int(game.board) or kept[0] | kept[1] == int(game.board)
    assert found > 5 * size * size


def test_a_false_claim_is_found():
    """Whether a player wins within a few plies of Connect 4's start, where nobody does."""
    game = games.make("connect4(rows=4, columns=5)")
    assert contradicted(game, game.initial(), 0, True) == ""
    assert contradicted(game, game.initial(), 3, False) == "player 0 does not win within 3 plies"
    assert contradicted(game, game.initial(), -2, True) == "player 1 does not win within 2 plies"
    lost = game.read_line("3 1 3 1 3")[1]  # the first player threatens a fourth stone in column 3
    assert contradicted(game, lost, 0, True) == ""
    won = game.read_line("3 1 3 1 3 2")[1]
    assert contradicted(game, won, 1, True) == ""
    assert contradicted(game, won, 0, True) == "player 0 wins within 2 plies"
    assert contradicted(game, won, 3, True) == "player 0 wins within 2 plies"


def test_exhaustive_search_stops_at_its_limit():
    game = games.make("connect4")
    assert wins_within(game, game.initial(), 0, 8, limit=100) is None
    assert wins_within(game, game.read_line("4 1 4 1 4 2")[1], 0, 1) is True
    assert wins_within(game, game.read_line("4 1 4 1 4 2")[1], 1, 2) is False


def inherited(cls, names):
    """Which of these a class has from elsewhere than the interface."""
    return {name for name in names if getattr(cls, name) is not getattr(Game, name)}


def test_a_game_with_other_rules_foresees_nothing_by_those_of_its_base():
    """Who takes a pawn to the last row loses: nobody is told that it wins, and the searches are right."""

    class Loses(Breakthrough):
        prize = -1.0

    class Backwards(Connect4):
        def score(self, state):
            return -Connect4.score(self, state)

    assert inherited(Loses, CONCLUSIONS) == inherited(Backwards, CONCLUSIONS) == set()
    game = Loses(rows=5, columns=4)
    near = game.read_line("2c3b 4b3c 3b4c 4a3b")[1]
    assert game.foreseen(near) == (0, True) and games.make("breakthrough(rows=5, columns=4)").foreseen(near)[0] == 1
    assert len(game.moves(near)) > 1
    assert sorted(game.moves(near)) == sorted(sound(game, near))
    assert contradicted(game, near, 0, True) == ""


def test_the_check_of_a_game_warns_of_what_it_does_not_inherit(monkeypatch):
    """Of what the class lost itself, not of what its base lost, or of what it defines again."""

    class Late(Breakthrough):
        def score(self, state):
            return Breakthrough.score(self, state)

    class Derived(Late):
        pass

    again = {name: getattr(Breakthrough, name) for name in Late.forgotten}
    Kept = type("Kept", (Breakthrough,), {"score": Late.score, **again})
    assert not_inherited(Breakthrough) == not_inherited(Kept) == not_inherited(Derived) == []
    assert len(lines := not_inherited(Late)) == len(Late.forgotten) >= 5 and Kept(rows=5, columns=4).lanes > 0
    assert lines[0] == (
        "Late replaces score, and so does not inherit random_move of Breakthrough: define random_move for these rules, "
        "or write `random_move = Breakthrough.random_move` in the class if it holds for them, too"
    )
    monkeypatch.setattr(games.core.checks.conformance, "CHECKS", ())
    with pytest.warns(NotInherited) as seen:
        games.check(Late(rows=5, columns=4), seed=1)
    assert [str(each.message) for each in seen] == lines


def sound(game, state):
    """The moves that a search may look at alone."""
    moves = np.zeros(game.max_moves, np.int32)
    return moves[: game.sound_moves(state, moves)].tolist()


def test_a_game_with_other_rules_does_not_play_by_those_of_its_base():
    """Moves straight ahead are left out, and random play makes none."""

    class Diagonal(Breakthrough):
        def legal_moves(self, state, moves):
            count, kept = Breakthrough.legal_moves(self, state, moves), 0
            for i in range(count):
                if (moves[i] >> 6) % self.columns != (moves[i] & 63) % self.columns:
                    moves[kept] = moves[i]
                    kept += 1
            return kept

    game = Diagonal(rows=5, columns=4)
    assert inherited(Diagonal, (*CONCLUSIONS, *REPETITIONS)) == {"lane_step"} and game.lanes == 0 == game.lane_bits
    state, rng, room = game.initial(), stream(1), np.zeros(game.max_moves, np.int32)
    assert all(game.random_move(state, room, rng) in game.moves(state) for _ in range(30))


def test_a_game_with_more_words_does_not_know_its_states_by_those_of_its_base():
    """Domineering's key is its one word; here the second counts, too."""

    class Counts(Domineering):
        state_size = 2

    game = Counts(rows=2, columns=2)
    assert game.key(np.array([3, 0], np.uint64)) != game.key(np.array([3, 1], np.uint64))
    assert Domineering.key is not Game.key and Counts.key is Game.key


def test_a_game_with_the_rules_of_its_base_keeps_what_they_imply():
    """Names, drawings, evaluations, parameters and their defaults are no rules; and what is said again stays."""

    class Small(Breakthrough):
        rows: int = 5
        sizes = "small"

        def evaluate(self, state):
            return 0.0

        def evaluate_material(self, state):
            return 0.0

        def render(self, state):
            return ""

    class Again(Breakthrough):
        prize = -1.0
        sound_moves = Breakthrough.sound_moves

    class Later(Again):
        sizes = "one"

    everything = (*CONCLUSIONS, *REPETITIONS)
    assert inherited(Small, everything) == inherited(Breakthrough, everything) == inherited(Knightthrough, everything)
    assert Small(columns=4).lanes == games.make("breakthrough(rows=5, columns=4)").lanes > 0
    assert inherited(Again, CONCLUSIONS) == inherited(Later, CONCLUSIONS) == {"sound_moves"}
    assert inherited(Domineering, CONCLUSIONS) == {"foreseen", "plies_left", "symmetries"}
    assert inherited(MisereDomineering, CONCLUSIONS) == {"plies_left", "symmetries"}
