"""Open addressing against a dictionary."""

import numpy as np
import pytest

from arena.agents.core.probing import find_slot
from arena.games.core.jit import helper
from arena.games.core.random import mix


@helper
def put_all(keys, marks, words):
    """Put each word into the table, with 1 + its place in `words` as its mark, unless it is there."""
    for i in range(len(words)):
        slot = find_slot(keys, marks, 0, words[i], mix(words[i]))
        if marks[slot] == 0:
            keys[slot], marks[slot] = words[i], i + 1


@pytest.mark.parametrize("slots", [64, 61])
def test_keys_are_found_where_they_were_put(slots):
    """Compiled and in plain Python: the first of equal words is kept, and a word that is absent has an empty slot."""
    words = np.random.default_rng(1).integers(0, 90, 200).astype(np.uint64)[: slots - 1]
    first = {}
    for i, word in enumerate(words.tolist()):
        first.setdefault(word, i)
    for put in (put_all, put_all.py_func):
        keys, marks = np.zeros(slots, np.uint64), np.zeros(slots, np.int32)
        put(keys, marks, words)
        assert np.count_nonzero(marks) == len(first) > 40
        for word in range(90):
            slot = find_slot.py_func(keys, marks, 0, np.uint64(word), mix(np.uint64(word)))
            assert marks[slot] == first.get(word, -1) + 1
            assert word not in first or keys[slot] == word
