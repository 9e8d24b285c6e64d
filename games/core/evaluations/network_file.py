"""Files of n-tuple networks, learned evaluations and policies: a line of JSON with the tuples, then packed weights.

See games/core/shared/prepared_file.py."""

import json
import os
import zlib
from dataclasses import replace
from functools import lru_cache

import numpy as np

from arena.games.core.evaluations.network import MOST_ENTRIES, Network, contents_of, new_network
from arena.games.core.shared.prepared_file import PreparedFileError, pack, stamp, unpack, wrong

EVALUATION, POLICY = "learned evaluation", "learned policy"  # what a network computes


def network_bytes(game, network: Network, kind: str = EVALUATION) -> bytes:
    """The contents of a network's file."""
    tuples = json.dumps({"stages": network.stages, "tuples": network.orbits}).encode()
    packed = zlib.compress(network.weights.astype("<i4").tobytes(), 1)
    return pack(kind, game, {"card": network.card}, tuples + b"\n" + packed)


def load_network(path: str | os.PathLike, game, kind: str = EVALUATION) -> Network:
    """The network in a file; PreparedFileError if it cannot be read, is damaged, or of another kind or game.

    Keeps networks in memory until their file changes.
    """
    if not game.has_planes:
        raise PreparedFileError(f"{kind} {str(path)!r}: {game} does not say what its cells hold")
    return _load(kind, game, *stamp(path))


@lru_cache(maxsize=16)
def _load(kind, game, path, changed, size) -> Network:
    header, data = unpack(kind, game, path)
    line, _, packed = data.partition(b"\n")
    try:
        about = json.loads(line)
        orbits, stages, card = _orbits(game, about["tuples"]), about["stages"], header.get("card")
        if not (type(stages) is int and 1 <= stages <= 64 and isinstance(card, dict)):
            raise ValueError("its number of stages")
    except (ValueError, KeyError, TypeError, RecursionError):
        raise wrong(kind, path, f"its tuples are none of {game}") from None
    try:
        empty = new_network(game, orbits, stages)
    except ValueError as error:
        raise wrong(kind, path, str(error)) from None
    try:
        unpacking = zlib.decompressobj()
        weights = np.frombuffer(unpacking.decompress(packed, empty.weights.nbytes + 4), "<i4").astype(np.int32)
    except (zlib.error, ValueError):
        raise wrong(kind, path, "its weights cannot be unpacked") from None
    if len(weights) != len(empty.weights):
        raise wrong(kind, path, f"it has {len(weights):,} weights, of {len(empty.weights):,}")
    return replace(empty, weights=weights, card=card)


def _orbits(game, listed) -> tuple:
    """A file's tuples; ValueError or TypeError if one is not on the board."""
    orbits = tuple(tuple(tuple(cells) for cells in orbit) for orbit in listed)
    grid, contents = game.grid.ravel(), contents_of(game)
    for orbit in orbits:
        for cells in orbit:
            inside = all(type(cell) is int and 0 <= cell < len(grid) and grid[cell] >= 0 for cell in cells)
            right = inside and len(cells) == len(orbit[0]) and len(set(cells)) == len(cells)
            if not right or contents ** len(cells) > MOST_ENTRIES:
                raise ValueError(f"{cells}")
    if not orbits or not all(orbits):
        raise ValueError("no tuples")
    return orbits
