"""Certificates of who wins: made by null windows, checked by the rules."""

import dataclasses
import functools
import json
import re
import resource
import zlib

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.solve import solver_of
from arena.agents.minimax.strategy import certificate
from arena.games.core.checks.certificate import FORMAT, is_in_sight, read, verify
from arena.games.core.play.lookahead import new_lookahead
from arena.games.core.shared.errors import UserError
from tests.typed import as_json, call

pytestmark = pytest.mark.plain
GAME = games.make("breakthrough(rows=4, columns=4)")


@functools.cache
def sound_certificate(kernels):
    return certificate(solver_of(agents.make("alphabeta"), GAME), "")


@pytest.fixture
def sound(kernels):
    return sound_certificate(kernels)


def wins(game, state, winner, plies):
    """Whether the winner wins from a position within so many plies, by playing all moves."""
    if game.is_over(state):
        return (game.score(state) > 0) == (winner == 0)
    won = (wins(game, game.after(state, move), winner, plies - 1) for move in game.moves(state))
    return plies > 0 and (any(won) if game.player(state) == winner else all(won))


def ends_won(game, certificate):
    """The wins of a certificate, followed in plain Python: ends of games, and those within the horizon."""
    _, root = game.read_line(certificate.line)
    waiting, seen, moves, ends = [root], {root.tobytes()}, iter(certificate.moves.tolist()), 0
    winner, horizon = certificate.winner, certificate.horizon
    for state in waiting:
        for move in [next(moves)] if game.player(state) == winner else game.moves(state):
            after = game.after(state, move)
            if game.is_over(after):
                assert (game.score(after) > 0) == (winner == 0)
                ends += 1
            elif after.tobytes() in seen:
                continue
            elif game.player(after) == winner and wins(game, after, winner, horizon):
                ends += 1
            else:
                seen.add(after.tobytes())
                waiting.append(after)
    assert next(moves, None) is None and len(waiting) == certificate.positions
    return ends


@pytest.mark.parametrize("horizon", [0, *(pytest.param(plies, marks=pytest.mark.slow) for plies in (1, 2, 3))])
def test_a_certificate_wins_every_game(horizon):
    """And a farther horizon leaves more out; two plies see no more wins of who is to move than one."""
    made, *others = (
        certificate(solver_of(agents.make("alphabeta"), GAME), "", h) for h in range(horizon, max(-1, horizon - 2), -1)
    )
    nearer = others[0] if others else made
    assert made.winner == 1 and verify(GAME, made) == ends_won(GAME, made) > 100
    assert (made.positions < nearer.positions) == (horizon in (1, 3))
    if horizon:
        with pytest.raises(UserError):
            verify(GAME, dataclasses.replace(made, horizon=0))


def test_wins_are_seen_that_far_and_no_farther():
    """Beside plain Python, along a random game, for either player and all horizons."""
    rng, met = np.random.default_rng(1), 0
    for game in (GAME, games.make("tictactoe")):
        state = game.initial()
        while not game.is_over(state):
            for winner in range(2):
                for plies in range(6):
                    seen = is_in_sight(game, new_lookahead(game, plies), state, winner)
                    assert seen == (game.player(state) == winner and wins(game, state, winner, plies))
                    met += seen
            state = game.after(state, rng.choice(game.moves(state)))
    assert met > 5


@pytest.mark.parametrize("key, bad", [
    ("horizon", b'"horizon":99'),
    ("horizon", b'"horizon":null'),
    ("horizon", b'"h":0'),
    ("winner", b'"winner":1.0'),
    ("winner", b'"winner":true'),
    ("winner", b'"winner":2'),
    ("moves", b'"moves":-1'),
    ("positions", b'"positions":"7"'),
    ("format", b'"format":"of another"'),
])  # fmt: skip
def test_a_certificate_needs_keys_of_their_type_in_range(tmp_path, sound, key, bad):
    path = tmp_path / "bad.proof"
    head, _, moves = sound.packed().partition(b"\n")
    path.write_bytes(re.sub(rb'"%s":("[^"]*"|\d+)' % key.encode(), bad, head) + b"\n" + moves)
    assert path.read_bytes() != sound.packed()
    with pytest.raises(UserError, match=r"does not hold a certificate.*: ."):
        read(path)


def test_a_certificate_with_blanks_between_its_keys_is_read(tmp_path, sound):
    """As older versions wrote them."""
    path = tmp_path / "old.proof"
    head, _, moves = sound.packed().partition(b"\n")
    path.write_bytes(json.dumps(json.loads(head)).encode() + b"\n" + moves)
    assert b": " in path.read_bytes() and read(path).packed() == sound.packed()


def test_what_proves_nothing_is_refused(sound):
    moves = sound.moves
    bad = {
        "are not enough": moves[:-1],
        "there are others": np.append(moves, moves[-1]),
        "a move is not legal": np.append(moves[:5], 0).astype(np.int32),
    }
    for message, altered in bad.items():
        with pytest.raises(UserError, match=message):
            verify(GAME, dataclasses.replace(sound, moves=altered))
    with pytest.raises(UserError, match=r"player 0 does not win|not legal|are not enough"):
        verify(GAME, dataclasses.replace(sound, winner=0))
    with pytest.raises(UserError, match="there are others"):
        verify(GAME, dataclasses.replace(sound, positions=sound.positions - 1))


def test_a_worse_move_is_noticed(sound):
    """Every move of the winner's first positions put in the place of the certificate's: none is taken for it unseen."""
    _, root = GAME.read_line("")
    first = GAME.after(root, GAME.moves(root)[0])
    for move in GAME.moves(first):
        if move != sound.moves[0]:
            with pytest.raises(UserError):
                verify(GAME, dataclasses.replace(sound, moves=np.concatenate([[np.int32(move)], sound.moves[1:]])))


def test_commands_write_and_verify(tmp_path):
    path = tmp_path / "b44.proof"
    made = call("solve", str(GAME), "--agent", "alphabeta", "--one", "--proof", path)
    assert made.exit_code == 0 and "certificate" in made.stdout
    told = call("verify", path)
    assert told.exit_code == 0 and "the second player wins" in told.stdout and "wins within 3 plies" in told.stdout
    found = as_json("verify", path)
    assert (found["winner"], found["horizon"], found["wins"]) == ("second", 3, verify(GAME, read(path)))
    assert call("solve", str(GAME), "--agent", "alphabeta", "--proof", path).exit_code != 0  # it is there
    whole = path.read_bytes()
    assert verify(GAME, read(path)) > 100
    for damaged in (whole[:-3], whole + b"x", whole.replace(b"certificate 2", b"certificate 9"), b"", b"{}\n"):
        path.write_bytes(damaged)
        refused = call("verify", path)
        assert refused.exit_code == 2 and "does not hold a certificate" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("sharing", ["lazy", "abdada"])
def test_threads_certify_too(sharing):
    solver = solver_of(agents.make(f"alphabeta(workers=2, sharing='{sharing}')"), GAME)
    assert verify(GAME, certificate(solver, "")) > 100
    assert solver.value(GAME.initial()) == -1  # by its threads again


@pytest.mark.parametrize("positions", ["Infinity", "1e999", pytest.param("[" * 100_000, id="deep")])
def test_a_file_with_a_number_that_is_none_is_refused(tmp_path, positions):
    path = tmp_path / "bad.proof"
    head = f'{{"format": "{FORMAT}", "winner": 0, "moves": 0, "horizon": 0, "positions": {positions}}}'
    path.write_bytes(head.encode() + b"\n" + zlib.compress(b""))
    with pytest.raises(UserError, match="does not hold a certificate"):
        read(path)


@pytest.mark.slow
def test_a_long_certificate_is_followed_with_growing_room(sound, monkeypatch):
    monkeypatch.setattr("arena.games.core.checks.certificate.FIRST_SPACE", 3)
    assert verify(GAME, sound) == ends_won(GAME, sound)
    with pytest.raises(UserError, match="there are others"):
        verify(GAME, dataclasses.replace(sound, positions=sound.positions - 1))


def test_a_file_that_tells_of_too_many_positions_takes_no_memory(sound):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UserError, match="there are others"):
        verify(GAME, dataclasses.replace(sound, positions=1 << 28))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + (256 << 10)  # KiB


def test_only_who_wins_is_certified():
    with pytest.raises(agents.Unsuited, match="a draw"):
        drawn = solver_of(agents.make("alphabeta"), GAME)
        drawn.value = lambda state: 0
        certificate(drawn, "")
    with pytest.raises(agents.Unsuited, match="made by alphabeta"):
        certificate(solver_of(agents.make("dfpn"), GAME), "")
