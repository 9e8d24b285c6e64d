"""Certificates: a winning strategy, written down so that the rules alone can check it.

A certificate has a position, its winner, and the winner's move in each position that the other player can reach, in the
order of a search in breadth that tries all moves of the other player in the game's order and leaves out positions met
before.  Wins within the `horizon` in plies are left to trying all moves.

A file is a line of JSON, and the moves as little-endian 32-bit integers, compressed with zlib.
"""

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec
import numpy as np

from arena.games.core.game import Game
from arena.games.core.jit import kernel
from arena.games.core.play.lookahead import WON, new_lookahead, wins_within
from arena.games.core.play.playout import copy_state
from arena.games.core.random import GAMMA
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.files import read_bounded

Format = Literal["search-arena certificate 2"]
FORMAT = get_args(Format)[0]
MOST_BYTES = 1 << 30  # of a file, and of its moves
NO_LIMIT = 1 << 62  # positions
MOST_HORIZON = 9  # plies; more take longer than solving the position
FIRST_SPACE, GROWTH = 1 << 16, 4  # room for positions, and its growth
HOLDS, TOO_FEW, ILLEGAL, NOT_WON, TOO_MANY = range(5)  # of a verification


class Head(msgspec.Struct, frozen=True):
    """The first line of a file."""

    format: Format
    game: str
    line: str
    winner: Annotated[int, msgspec.Meta(ge=0, le=1)]
    positions: Annotated[int, msgspec.Meta(gt=0, le=MOST_BYTES)]
    moves: int
    horizon: Annotated[int, msgspec.Meta(ge=0, le=MOST_HORIZON)]


@dataclass(frozen=True)
class Certificate:
    """A strategy that wins."""

    game: str  # as it spells itself
    line: str  # moves to the position
    winner: int  # 0 or 1
    positions: int  # different ones that are met, without ends of games
    moves: np.ndarray  # int32, the winner's
    horizon: int = 0  # plies within which the winner's wins are left out

    def packed(self) -> bytes:
        head = Head(FORMAT, self.game, self.line, self.winner, self.positions, len(self.moves), self.horizon)
        return msgspec.json.encode(head) + b"\n" + zlib.compress(self.moves.astype("<i4").tobytes(), 9)


def read(path: Path) -> Certificate:
    """The certificate in a file; UserError if there is none."""
    head, _, packed = read_bounded(path, MOST_BYTES).partition(b"\n")
    try:
        given = msgspec.json.decode(head, type=Head)
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(packed, MOST_BYTES)
        if not unpacker.eof or unpacker.unused_data or len(raw) != 4 * given.moves:
            raise ValueError(f"it does not have the {given.moves} moves that it tells of")
        return Certificate(
            given.game, given.line, given.winner, given.positions, np.frombuffer(raw, "<i4"), given.horizon
        )
    except (ValueError, RecursionError, zlib.error) as error:
        text = "does not hold a certificate that `arena solve --proof` wrote"
        raise UserError(f"{path} {text}: {error!s:.200}") from None


def verify(game: Game, certificate: Certificate) -> int:
    """Follow a certificate; UserError if it does not win.

    Returns how many wins are met: ends of games, and positions with a win within the horizon.
    """
    _, root = game.read_line(certificate.line)
    if game.is_over(root):
        raise UserError(f"the game is over after {certificate.line!r}: there is nothing to prove")
    space = min(FIRST_SPACE, certificate.positions)
    found, state, ends, met = _followed(game, root, certificate, space)
    while met == space < certificate.positions:
        space = min(GROWTH * space, certificate.positions)
        found, state, ends, met = _followed(game, root, certificate, space)
    place = f"in\n{game.render(state)}"
    if found == TOO_FEW:
        raise UserError(f"the {len(certificate.moves)} moves are not enough: there is none {place}")
    if found == ILLEGAL:
        raise UserError(f"a move is not legal {place}")
    if found == NOT_WON:
        raise UserError(f"player {certificate.winner} does not win after every move {place}")
    if found == TOO_MANY or met != certificate.positions:
        raise UserError(f"it says that {certificate.positions} positions are met, and there are others {place}")
    return ends


def _followed(game, root, certificate, space) -> tuple:
    states = np.zeros((space + 1, game.state_size), game.dtype)
    slots = np.zeros(1 << (space + space // 4).bit_length(), np.int32)
    states[0], room = root, np.zeros(game.max_moves, np.int32)
    ahead = new_lookahead(game, certificate.horizon)
    found, at, ends, met = verify_kernel(game, states, slots, certificate.moves, certificate.winner, room, ahead)
    return found, states[at], ends, met


@kernel
def verify_kernel(game, states, slots, moves, winner, room, ahead):
    """(result, the index of the last position, wins, positions) of the strategy from states[0].

    states: dtype[positions + 1, state_size], to be filled; the last row is scratch space
    slots: int32[a power of two], a hash table of places of states, counted from 1; 0 is empty
    """
    after, size, used, ends = states[len(states) - 1], 1, 0, 0
    slots[slot_of(game, states, slots, states[0])] = 1
    at = 0
    while at < size:
        state = states[at]
        count = game.legal_moves(state, room)
        if game.player(state) == winner:
            if used == len(moves):
                return TOO_FEW, at, ends, size
            legal = False
            for i in range(count):
                legal |= room[i] == moves[used]
            if not legal:
                return ILLEGAL, at, ends, size
            room[0], count = moves[used], 1
            used += 1
        for i in range(count):
            game.play_into(state, np.int64(room[i]), after)
            if game.is_over(after):
                ends += 1
                score = game.score(after)
                if not (score > 0.0 if winner == 0 else score < 0.0):
                    return NOT_WON, at, ends, size
                continue
            slot = slot_of(game, states, slots, after)
            if slots[slot] == 0:
                if is_in_sight(game, ahead, after, winner):
                    ends += 1
                    continue
                if size == len(states) - 1:
                    return TOO_MANY, at, ends, size
                copy_state(game, after, states[size])
                size += 1
                slots[slot] = size
        at += 1
    return HOLDS if used == len(moves) else TOO_MANY, size - 1, ends, size


@kernel
def is_in_sight(game, ahead, state, winner):
    """Whether the winner is to move, and wins within the horizon."""
    if len(ahead.line) == 1 or game.player(state) != winner:
        return False
    return wins_within(game, ahead, state, winner, NO_LIMIT) == WON


@kernel
def slot_of(game, states, slots, state):
    """The slot with the place of a state, or the empty one where it belongs; states are compared word by word."""
    mask = np.uint64(len(slots) - 1)
    slot = (game.key(state) * GAMMA >> np.uint64(20)) & mask
    while slots[slot] > 0:
        other, same = states[slots[slot] - 1], True
        for i in range(game.state_size):
            same &= other[i] == state[i]
        if same:
            break
        slot = (slot + np.uint64(1)) & mask
    return np.int64(slot)
