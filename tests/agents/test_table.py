"""The transposition table against its description in plain Python."""

import numpy as np
import pytest

from arena import games
from arena.agents.core.transposition_table import (
    HITS,
    PROBES,
    REPLACED,
    SCHEMES,
    STORES,
    clear,
    filled,
    new_generation,
    new_table,
    probe,
    store,
)
from arena.games.core.random import mix, random_below, stream

WORD = np.uint64


class Twin:
    """A dictionary from bucket to a list of (key, work, payload), the heavier place first."""

    def __init__(self, table, scheme):
        self.scheme, self.places, self.buckets = scheme, {}, len(table.words) // (2 if scheme == "two_big" else 1)

    def bucket(self, key):
        return ((key * 0x9E3779B97F4A7C15 % 2**64 >> 32) * self.buckets) >> 32

    def get(self, key):
        return next((payload for known, _, payload in self.places.get(self.bucket(key), []) if known == key), None)

    def put(self, key, work, payload):
        places, new = self.places.setdefault(self.bucket(key), []), (key, work, payload)
        known = [place[0] for place in places]
        if key in known[:1]:
            places[0] = new
        elif self.scheme == "two_big" and (not places or work >= places[0][1]):
            places[:] = [new, *places[:1]]
        elif self.scheme == "two_big":
            places[1:] = [new]
        elif not places or self.scheme == "new" or work >= places[0][1]:
            places[:] = [new]


@pytest.mark.plain
@pytest.mark.parametrize("scheme", SCHEMES)
def test_table_equals_its_twin(scheme):
    table, rng = new_table(32 * 64 / 2**20, scheme), stream(3)
    twin, found = Twin(table, scheme), 0
    for step in range(5000):
        key, work = int(mix(random_below(rng, 150))), int(random_below(rng, 1000))
        if step % 2:
            payload = (int(random_below(rng, 2**31)) - 2**30, -step)
            store(table, WORD(key), *payload, work)
            twin.put(key, work, payload)
        else:
            held, first, second = probe(table, WORD(key))
            assert (first, second) == twin.get(key) if held else twin.get(key) is None
            found += held
    assert table.counts[PROBES] == table.counts[STORES] == 2500 and table.counts[HITS] == found > 300
    assert filled(table) == sum(map(len, twin.places.values())) <= 64
    assert table.counts[REPLACED] > 300


@pytest.mark.plain
@pytest.mark.parametrize("scheme, kept", [("new", {3}), ("big", {2}), ("two_big", {2, 3})])
def test_of_positions_of_equal_work_the_newer_one_is_kept(scheme, kept):
    """In the only places of a table: the third position took less work than the two before."""
    table = new_table(64 / 2**20, scheme)
    table = table._replace(words=table.words[:1]) if scheme != "two_big" else table
    for key, work in ((1, 5), (2, 5), (3, 1)):
        store(table, WORD(key), key, key, work)
    assert {key for key in (1, 2, 3) if probe(table, WORD(key))[0]} == kept


@pytest.mark.plain
@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_older_generation_gives_way(scheme):
    table = new_table(64 / 2**20, scheme)  # two places
    store(table, WORD(1), 10, 11, 10**15)
    new_generation(table)
    for key in (2, 3):
        store(table, WORD(key), key, key, 0)
    assert probe(table, WORD(3)) == (True, 3, 3)
    assert not probe(table, WORD(1))[0] or scheme != "two_big"
    clear(table)
    assert filled(table) == 0 and not probe(table, WORD(0))[0]


@pytest.mark.plain
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_place_that_two_wrote_at_once_belongs_to_no_key(scheme):
    table = new_table(64 / 2**20, scheme)
    store(table, WORD(7), 1, 2, 3)
    table.words[:, 2] ^= 5
    assert not probe(table, WORD(7))[0]


@pytest.mark.parametrize(
    "size, scheme, message",
    [
        (0.0, "new", "table = 0 MiB is out of range: it can be 0.001 to"),
        (131_000, "new", "table = 131000 MiB is more than the memory of this machine, [0-9]+ MiB"),
        (1, "old", "scheme = 'old' is not one of new, big, two_big"),
    ],
)
def test_tables_that_cannot_be(size, scheme, message):
    with pytest.raises(ValueError, match=message):
        new_table(size, scheme)


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["tictactoe", "connect4(rows=4, columns=5)", "mnk(rows=3, columns=4, k=3)", "nim"])
@np.errstate(over="ignore")
def test_least_key_is_the_same_for_all_images(spec):
    game, rng = games.make(spec), stream(5)
    state, image, room = game.initial(), game.initial(), game.initial()
    while not game.is_over(state):
        key, symmetry = game.least_key(state, room)
        game.transform(state, symmetry, image)
        with np.errstate(over="ignore"):  # unsigned words wrap
            assert game.key(image) == key
        for i in range(game.symmetries):
            game.transform(state, i, image)
            assert game.least_key(image, room)[0] == key
        moves = game.moves(state)
        state = game.after(state, moves[int(random_below(rng, len(moves)))])


class Collecting:
    """The twin of the scheme collect: a dictionary from bucket to its places, [key, work, payload] or None."""

    def __init__(self, table):
        self.buckets = len(table.words) // 8
        self.places = {bucket: [None] * 8 for bucket in range(self.buckets)}

    def bucket(self, key):
        return self.places[((key * 0x9E3779B97F4A7C15 % 2**64 >> 32) * self.buckets) >> 32]

    def get(self, key):
        return next((place[2] for place in self.bucket(key) if place and place[0] == key), None)

    def put(self, key, work, payload):
        bucket = self.bucket(key)
        known = [i for i in range(8) if bucket[i] and bucket[i][0] == key]
        chosen = known[0] if known else min(range(8), key=lambda i: bucket[i][1] if bucket[i] else -1)
        bucket[chosen] = [key, work, payload]
        taken = [(i, bucket) for bucket in self.places.values() for i in range(8) if bucket[i]]
        if 8 * (8 * self.buckets - len(taken)) <= 8 * self.buckets:
            taken.sort(key=lambda place: max(1, place[1][place[0]][1].bit_length()))
            for i, bucket in taken[: len(taken) // 2]:
                bucket[i] = None


@pytest.mark.plain
def test_garbage_is_collected_as_by_the_twin():
    table, rng = new_table(32 * 256 / 2**20, "collect"), stream(7)
    twin, found, collections = Collecting(table), 0, 0
    for step in range(8000):
        key, work = int(mix(random_below(rng, 1500))), int(random_below(rng, 300)) ** 2 // 500
        before = filled(table)
        if step % 2:
            store(table, WORD(key), step, -step, work)
            twin.put(key, work, (step, -step))
            collections += filled(table) < before
        else:
            held, first, second = probe(table, WORD(key))
            assert (first, second) == twin.get(key) if held else twin.get(key) is None
            found += held
    assert collections > 10 and found > 200
    assert filled(table) == sum(place is not None for bucket in twin.places.values() for place in bucket)


@pytest.mark.plain
def test_garbage_of_an_older_generation_is_collected_first():
    table = new_table(32 * 64 / 2**20, "collect")
    for key in range(30):
        store(table, mix(WORD(key)), key, key, 10**9)
    old = filled(table)
    new_generation(table)
    key = 30
    while filled(table) >= old:  # until garbage is collected
        store(table, mix(WORD(key)), key, key, 0)
        key += 1
    assert not any(probe(table, mix(WORD(known)))[0] for known in range(30)) and filled(table) > 20
