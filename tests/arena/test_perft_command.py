"""Counts of sequences, games and positions, against published figures and plain Python."""

import json

import numpy as np
import pytest

from arena import games
from arena.games.core.random import stream
from arena.games.core.shared.errors import UserError
from arena.study import counting
from arena.study.counting import by_position, counted, levels
from tests.arena.test_cli import call


def by_hand(game, state, depth, symmetric):
    """(positions, sequences, games) of each depth, from sets of keys; images among children are one."""
    image = state.copy()

    def key(position):
        return int(game.least_key(position, image)[0]) if symmetric else position.tobytes()

    level = {key(state): (state, 1)}
    for _ in range(depth + 1):
        yield len(level), sum(n for _, n in level.values()), sum(n for one, n in level.values() if game.is_over(one))
        after = {}
        for one, ways in level.values():
            children = [game.after(one, move) for move in game.moves(one)]
            for name, child in {key(child): child for child in children}.items():
                times = 1 if symmetric else sum(key(each) == name for each in children)
                after[name] = child, after.get(name, (child, 0))[1] + times * ways
        level = after


@pytest.mark.parametrize(
    "spec, depth", [("tictactoe", 5), ("connect4(rows=3, columns=3)", 7), ("hex(size=3)", 4), ("nim", 3)]
)
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.plain
def test_levels_are_what_sets_of_keys_say(spec, depth, symmetric):
    game = games.make(spec)
    with np.errstate(over="ignore"):
        expected = list(by_hand(game, game.initial(), depth, symmetric))
        assert list(by_position(game, game.initial(), depth, symmetric)) == expected
        if not symmetric:
            plain = counted(game, game.initial(), depth).tolist()
            assert [(row[1], row[2]) for row in expected] == [tuple(row) for row in plain]


def test_tic_tac_toe_in_all():
    """255,168 games, 26,830 up to symmetry; 5,478 positions, 765 up to symmetry: figures of the literature."""
    done = call("perft", "tictactoe", "--depth", "9", "--positions")
    assert done.exit_code == 0 and "* up to symmetry" in done.stdout
    last = " ".join(done.stdout.split("In all: ")[1].split())
    assert last.startswith("549,946 nodes in ")
    assert last.endswith(
        "; 255,168 games, 26,830 up to symmetry; 5,478 positions, counted at each depth, 765 up to symmetry"
    )


def test_the_moves_of_a_position():
    divided = json.loads(call("perft", "tictactoe", "--depth", "2", "--divide", "--json").stdout)
    assert divided["sum"] == 72 and divided["moves"]["2b"] == 8 and len(divided["moves"]) == 9
    after = call("perft", "tictactoe", "--moves", "2b", "--depth", "2", "--divide").stdout
    assert "1a: 7\n" in after and after.endswith("8 moves, 56 sequences of 2 plies\n")


@pytest.mark.slow
def test_chess_and_its_moves():
    found = json.loads(call("perft", "chess", "--depth", "3", "--json").stdout)
    assert [level["sequences"] for level in found["levels"]] == [1, 20, 400, 8902] and found["nodes"] == 9323
    divided = json.loads(call("perft", "chess", "--depth", "2", "--divide", "--json").stdout)
    assert divided["sum"] == 400 and divided["moves"]["Nf3"] == 20 and len(divided["moves"]) == 20
    after = call("perft", "chess", "--moves", "e4", "--depth", "2", "--divide").stdout
    assert "e5: 29\n" in after and after.endswith("20 moves, 600 sequences of 2 plies\n")


def test_what_cannot_be_counted(monkeypatch):
    assert call("perft", "chess", "--depth", "0", "--divide").exit_code == 2
    assert call("perft", "chess", "--moves", "e5").exit_code == 2
    monkeypatch.setattr(counting, "MOST", 100)
    game = games.make("tictactoe")
    with pytest.raises(UserError, match="there are 252 positions, and room for 100"):
        levels(game, game.initial(), 3, True, lambda what: None)


def test_means_of_random_playouts():
    """Tic-tac-toe's is 0.584921 - 0.288095, exactly; the error is that of the mean."""
    found = json.loads(call("evaluate", "tictactoe", "--playouts", "20000", "--json").stdout)["playouts"]
    assert [row["playouts"] for row in found] == [10, 100, 1000, 10_000, 20_000]
    for row in found:
        assert row["error"] == pytest.approx(1.959963985 * row["deviation"] / row["playouts"] ** 0.5)
    assert abs(found[-1]["mean"] - 0.296826) < 2 * found[-1]["error"] < 0.03
    again = call("evaluate", "tictactoe", "--playouts", "20000", "--json", "--seed", "1").stdout
    assert json.loads(again)["playouts"] != found
    lines = call("evaluate", "tictactoe", "--playouts", "100").stdout.splitlines()
    assert lines[-1].split()[0] == "100" and "±" in lines[-1]
    assert "score" not in lines[-1]  # which says no more than the results


def score_of_playouts(game, moves, playouts):
    """What --json has, and the scores of the same playouts in plain Python."""
    made, line = games.make(game), ("evaluate", game, "--moves", moves, "--playouts", playouts)
    state, room, rng = made.read_line(moves)[1], np.empty(made.max_moves, np.int32), stream(0)
    scores = [made.random_playout(state.copy(), room, rng)[0] for _ in range(playouts)]
    return json.loads(call(*line, "--json").stdout), scores, call(*line).stdout.splitlines()[-1]


@pytest.mark.plain
@pytest.mark.parametrize(
    "game, moves, side",
    [("othello(size=4)", "", 1), ("go(size=5, komi=0.5)", "c3", -1), ("samegame(rows=5, columns=5, colours=3)", "", 1)],
)
def test_the_mean_score_of_playouts_is_the_mover_s(game, moves, side):
    found, scores, line = score_of_playouts(game, moves, 20)
    deviation, score = np.std(scores), found["score"]
    assert score["player"] == ("first" if side == 1 else "second")
    assert score["mean"] == pytest.approx(side * np.mean(scores)) and deviation > 1
    assert score["deviation"] == pytest.approx(deviation)
    assert score["error"] == pytest.approx(1.959963985 * deviation / 20**0.5)
    alone = games.make(game).players == 1
    assert found["playouts"][-1]["mean"] == pytest.approx(np.mean(scores if alone else np.sign(scores)))
    assert f"{score['mean']:+.4f}" in line and ("score for the" in line) != alone
