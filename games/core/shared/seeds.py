"""Seeds derived from a seed and a key, in plain Python, so that planning games loads no Numba."""

import hashlib
import operator


def derive_seed(seed: int, *key) -> int:
    """An unsigned 64-bit seed that depends on `seed` and every part of `key` (integers and strings) alone."""
    digest = hashlib.blake2b(repr((operator.index(seed), *key)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")
