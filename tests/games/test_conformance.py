"""Every registered game, at its default size and some others, against the conformance suite.

By default some games are compiled.  The others are checked with kernels as plain Python, on boards that it plays in a
while; other sizes, and all compiled, are for the long tests.
"""

import pytest

from arena import games
from arena.games.core.checks import conformance as suite
from arena.games.core.checks.conformance import check_compiled, check_foreseen, check_lanes, checks_of
from arena.games.core.play import observed
from tests.games.chosen import COMPILED, LATER
from tests.shipped import GAMES

# other words of a board, rules and ends: a size that takes other ways through the code than the usual one
OTHER_SIZES = {
    "connect4": ["connect4(rows=5, columns=10)"],
    "breakthrough": ["breakthrough(rows=4, columns=16)"],
    "knightthrough": ["knightthrough(rows=5, columns=12)"],
    "hex": ["hex(size=8)", "hex(size=14, swap=true)"],
    "y": ["y(size=6, swap=true)"],
    "mnk": ["mnk(rows=2, columns=9, k=5)"],
    "othello": ["othello(size=6)"],
    "nim": ["nim(heaps=[9, 64, 1], misere=true)"],
    "matches": ["matches(count=10, take=4, misere=true)"],
    "grundy": ["grundy(heaps=[9, 8, 8, 20])"],
    "pig": ["pig(target=20, horizon=30)"],
    "coin": ["coin(stake=3, penalty=0.5)"],
    "tree": ["tree(nodes=\"[[1, 2], {'probabilities': ['1/3', '2/3'], 'moves': {'H': [-1, 1], 'T': 0.5}}]\")"],
    "samegame": ["samegame(rows=5, columns=16, colours=2)"],
    "morpion": ["morpion(variant='4T')"],
    "leftmove": ["leftmove(depth=130)"],
    "weakschur": ["weakschur(parts=5)"],
    "tsptw": ["tsptw(cities=30, seed=1)"],
    "domineering": ["domineering(rows=4, columns=16)"],
    "clobber": ["clobber(rows=7, columns=7)"],
    "amazons": ["amazons(rows=5, columns=8)"],
    "ataxx": ["ataxx(size=4, horizon=60)"],
    "kalah": ["kalah(houses=1, seeds=1)"],
    "loa": ["loa(size=5, horizon=60)"],
    "pentalath": ["pentalath(size=3, length=4, swap=true)"],
    "go": ["go(size=5, komi=0.5)"],
    "nogo": ["nogo(rows=3, columns=6)"],
}
# sizes that take the same ways once more, for the long tests alone
MORE_SIZES = {
    "connect4": ["connect4(rows=4, columns=5)", "connect4(rows=3, columns=2)"],
    "breakthrough": ["breakthrough(rows=6, columns=4)", "breakthrough(rows=32, columns=2)"],
    "misere_breakthrough": ["misere_breakthrough(rows=6, columns=4)"],
    "knightthrough": ["knightthrough(rows=16, columns=4)"],
    "misere_knightthrough": ["misere_knightthrough(rows=6, columns=5)"],
    "hex": ["hex(size=3)", "hex(size=3, swap=true)", "hex(size=13)"],
    "y": ["y(size=3)", "y(size=14)"],
    "mnk": ["mnk(rows=3, columns=3, k=3)", "mnk(rows=6, columns=4, k=3)"],
    "othello": ["othello(size=4)"],
    "nim": ["nim(heaps=[4])"],
    "matches": ["matches(count=2, take=5)"],
    "grundy": ["grundy(heaps=[3, 1, 2])"],
    "backgammon": ["backgammon(horizon=20)"],
    "samegame": ["samegame(rows=15, columns=6, colours=9, seed=1)"],
    "morpion": ["morpion(variant='5T')", "morpion(variant='4D')"],
    "leftmove": ["leftmove(depth=1)"],
    "weakschur": ["weakschur(parts=1)"],
    "tsptw": ["tsptw(cities=2)"],
    "domineering": ["domineering(rows=32, columns=2)"],
    "misere_domineering": ["misere_domineering(rows=5, columns=6)"],
    "clobber": ["clobber(rows=5, columns=6)", "clobber(rows=1, columns=12)"],
    "amazons": ["amazons(size=6)", "amazons(size=7)"],
    "ataxx": ["ataxx(size=8)"],
    "kalah": ["kalah(houses=2, seeds=9)"],
    "checkers": ["checkers(quiet=5)"],
    "loa": ["loa(size=7)"],
    "pentalath": ["pentalath(size=2, length=3, horizon=30)"],
    "go": ["go(size=6)"],
    "atarigo": ["atarigo(size=2)", "atarigo(size=5)"],
    "nogo": ["nogo(size=2)", "nogo(size=5)"],
    "misere_nogo": ["misere_nogo(size=4)"],
}
# what plain Python plays in the place of usual sizes that take it long; "" for nothing
SMALL = {
    "amazons": "",  # by test_amazons.py, against boards of squares
    "atarigo": "atarigo(size=3)",
    "ataxx": "ataxx(size=5)",
    "clobber": "clobber(rows=4, columns=5)",
    "domineering": "domineering(rows=5, columns=5)",
    "go": "go(size=3)",
    "hex": "hex(size=4)",
    "knightthrough": "knightthrough(rows=5, columns=4)",
    "loa": "loa(size=6)",
    "misere_breakthrough": "misere_breakthrough(rows=5, columns=4)",
    "misere_domineering": "misere_domineering(rows=5, columns=5)",
    "misere_knightthrough": "misere_knightthrough(rows=5, columns=4)",
    "misere_nogo": "misere_nogo(size=3)",
    "mnk": "mnk(rows=5, columns=5, k=4)",
    "morpion": "morpion(variant='4D')",
    "nogo": "nogo(size=3)",
    "othello": "othello(size=4)",
    "pentalath": "pentalath(size=2, length=3)",
    "samegame": "samegame(rows=5, columns=5, colours=3)",
    "tsptw": "tsptw(cities=8)",
    "weakschur": "weakschur(parts=2)",
    "y": "y(size=4)",
}
LANES = ("connect4",)  # whose lanes are compiled by default: they take as long as all else of a game
PLAIN_PLAYOUTS, PLAIN_SAMPLE = 100, 15  # that plain Python compares, and the states of a line that it looks at
SEEDS = {"compiled": 1, "plain": 2}  # the games that are looked at are kept: those of one are not for the other


def sizes_of(name):
    """The usual and the other sizes of a game."""
    return [name, *OTHER_SIZES.get(name, [])]


def cases():
    """(spec, check, how kernels run): compiled, every game at every size; in plain Python those that are slow so."""
    found = []
    for name in GAMES:
        for spec in sizes_of(name) + MORE_SIZES.get(name, []):
            for check in checks_of(games.make(spec)):
                marks = [pytest.mark.compiled] if spec in COMPILED and (check != check_lanes or spec in LANES) else []
                found.append(pytest.param(spec, check, "compiled", id=f"{spec}-{check.__name__}", marks=marks))
        spec = SMALL.get(name, name) if name not in COMPILED else ""
        found += [
            pytest.param(spec, check, "plain", id=f"{spec}-{check.__name__}-plain")
            for check in (checks_of(games.make(spec)) if spec else ())
            if check not in (check_compiled, check_foreseen)  # test_foreseen.py has the second of them
        ]
    wide = [spec for spec in COMPILED if check_lanes in checks_of(games.make(spec)) and spec not in LANES]
    return [*found, *(pytest.param(spec, check_lanes, "plain", id=f"{spec}-check_lanes-plain") for spec in wide)]


@pytest.mark.parametrize("spec, check, kernels", cases(), indirect=["kernels"])
def test_conforms(spec, check, kernels, monkeypatch):
    if kernels == "plain":
        monkeypatch.setattr(suite, "PLAYOUTS", PLAIN_PLAYOUTS)
        monkeypatch.setattr(observed, "SAMPLE", PLAIN_SAMPLE)
    check(games.make(spec), seed=SEEDS[kernels])


@pytest.mark.parametrize("spec", [spec for name in GAMES for spec in sizes_of(name) + MORE_SIZES.get(name, [])])
def test_spec_round_trip(spec):
    game = games.make(spec)
    assert games.make(str(game)) == game


def test_other_sizes_are_of_registered_games():
    assert set(OTHER_SIZES) | set(MORE_SIZES) | LATER <= set(GAMES)
    assert set(SMALL) <= set(GAMES) - set(COMPILED) and set(LANES) <= set(COMPILED)
