"""A small tournament whose tables can be worked out by hand."""

import pytest

from arena.results.database.record import Reason
from arena.results.database.store import Store
from tests.results.sample import AGENTS, META, make_game


@pytest.fixture
def games():
    """ann-bob: two whole pairs (WW, WD for ann) and half of one; ann-cy: void and a forfeit; bob-cy: WL."""
    ann, bob, cy = (agent["name"] for agent in AGENTS)
    void = dict(reason=Reason.CRASH, detail="the worker died twice")
    return [
        make_game("0-0-a", 0, ann, bob, 1.0),
        make_game("0-0-b", 1, bob, ann, 0.0),
        make_game("1-0-a", 2, ann, cy, None, **void),
        make_game("1-0-b", 3, cy, ann, 0.0, reason=Reason.TIME, detail="cy took 3 s"),
        make_game("2-0-a", 4, bob, cy, 1.0),
        make_game("2-0-b", 5, cy, bob, 1.0),
        make_game("0-1-a", 6, ann, bob, 0.5, opening=1),
        make_game("0-1-b", 7, bob, ann, 0.0, opening=1),
        make_game("0-2-a", 8, ann, bob, 0.0, opening=2),
    ]


@pytest.fixture
def folder(tmp_path, games):
    """The games stored, in an order that is not the schedule's."""
    with Store.create(tmp_path / "run", META, AGENTS) as store:
        for record in reversed(games):
            store.add(record)
    return tmp_path / "run"
