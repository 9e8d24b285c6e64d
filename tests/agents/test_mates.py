"""docs/engines/mates.py: mates of random games are found, confirmed by Stockfish, and solved."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "engines" / "mates.py"
STOCKFISH = shutil.which("stockfish", path=f"{os.environ.get('PATH', '')}:/usr/games")
IN_TWO = "rn2r3/1b2pk1p/1pp4n/p4PP1/2p5/P2q2BK/RP1NP1RP/1N3B2 b - - 0 1"
HARD = "4k3/7P/NB6/3B4/8/bp6/1P1N2K1/8 w - - 7 68"  # Stockfish 15.1 sees a mate in four alone
IN_THREE = "1R1r1k2/5n2/5p2/8/P1q5/K7/5bp1/R7 b - - 0 1"


@pytest.fixture(scope="module")
def mates():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("mates", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["mates"] = module  # where its dataclass looks for names
    spec.loader.exec_module(module)
    yield module
    del sys.modules["mates"]


@pytest.mark.slow
def test_mates_are_found_by_seed_and_solved(mates):
    found = mates.find(2, seed=1)
    assert sorted(mate.moves for mate in found) == [2, 3] and found == mates.find(2, seed=1)
    assert found != mates.find(2, seed=2)
    judge = mates.solver_of(mates.agents.make("alphabeta"), mates.CHESS)
    rows = mates.solve("alphabeta", found, judge)
    assert [(row.moves, len(row.nodes)) for row in rows] == [(2, 1), (3, 1)]
    assert mates.table(rows).splitlines()[2].startswith("| `alphabeta` | 2 | 1 |")


@pytest.mark.slow
def test_a_mate_that_is_none_is_told(mates):
    judge = mates.solver_of(mates.agents.make("alphabeta"), mates.CHESS)
    with pytest.raises(mates.Wrong, match="alphabeta finds no mate in 2"):
        mates.solve("alphabeta", [mates.Mate(IN_THREE, 2)], judge)


@pytest.mark.skipif(not STOCKFISH, reason="there is no stockfish here")
def test_stockfish_confirms_or_not(mates):
    judge = mates.solver_of(mates.agents.make("alphabeta"), mates.CHESS)
    with mates.Stockfish(STOCKFISH) as engine:
        for fen, moves in ((IN_TWO, 2), (IN_THREE, 3), (HARD, 3)):
            engine.confirm(mates.Mate(fen, moves), judge)
        with pytest.raises(mates.Wrong, match="mate in 3 by alpha-beta, 2 by Stockfish"):
            engine.confirm(mates.Mate(IN_TWO, 3), judge)
        start = mates.CHESS.fen_of(mates.CHESS.initial())
        assert engine.moves_to_mate(mates.Mate(start, 3), depth=5) == 0
