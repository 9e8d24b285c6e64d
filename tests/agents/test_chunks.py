"""What a search with a counted budget finds must not depend on how fast the machine is: its chunks do."""

import pytest

from arena import agents, games
from arena.agents.core import chunks
from arena.games.core.random import stream
from tests.agents.positions import random_position
from tests.shipped import AGENTS

BUDGETS = (100, 131, 152)  # of playouts or nodes: some end within an expansion
COUNTED = ("playouts", "nodes")
GAME = "tictactoe"


def decisions(monkeypatch, name, first, long):
    """Some decisions, and the state of the generator after them, with chunks of these sizes."""
    monkeypatch.setattr(chunks, "FIRST", first)
    monkeypatch.setattr(chunks, "LONG", long)
    game, agent, rng = games.make(GAME), agents.make(name), stream(3)
    kind, found = next(kind for kind in agent.budgets if kind in COUNTED), []
    for budget, plies in zip(BUDGETS, (1, 3, 2)):
        player = agent.player(game, agents.Budget(**{kind: budget}))
        decision = player.choose(random_position(game, 5, plies), rng)
        found.append((decision.move, decision.value, decision.playouts, decision.nodes, decision.depth))
    return found, rng.tolist()


# Short jobs, and without processes: these would compile what they search with.
IN_PLAIN_PYTHON = {"jlpns": "jlpns(job_nodes=20)", "ppn2": "ppn2(job_nodes=20)", "spdfpn": "spdfpn(workers=1, job=20)"}
FAMILIES = ("flat", "uct", "grave", "tree", "root", "alphabeta", "ubfm", "pns", "dfpn", "jlpns", "nmcs", "nrpa")
SEARCHES = [name for name in AGENTS if name != "external" and set(agents.make(name).budgets) & set(COUNTED)]


@pytest.mark.plain
@pytest.mark.parametrize("name", SEARCHES)
def test_a_decision_does_not_depend_on_its_chunks(name, monkeypatch):
    agent, game = agents.make(name), games.make(GAME)
    if agent.cores > 1 or agent.refuses(game):
        pytest.skip("threads meet in no order" if agent.cores > 1 else agent.refuses(game))
    one_by_one = decisions(monkeypatch, name, 1, 0.0)
    assert one_by_one == decisions(monkeypatch, name, 10**9, 1.0)


def test_a_search_with_a_time_limit_looks_at_the_clock_after_one_iteration():
    for seconds, chunk in ((60.0, 1), (None, chunks.FIRST)):
        asked = []
        chunks.run_chunks(lambda n, asked=asked: asked.append(n) or (n if len(asked) < 2 else 0), None, seconds)
        assert asked[0] == chunk and len(asked) == 2


def test_first_is_read_when_a_search_begins(monkeypatch):
    asked = []
    monkeypatch.setattr(chunks, "FIRST", 3)
    chunks.run_chunks(lambda n: asked.append(n) or n, 3, None)
    assert asked == [3]


def test_a_short_budget_is_kept_though_the_first_iteration_was_cheap(monkeypatch):
    """By a clock that only iterations move: the first takes a microsecond, each other one 0.2 ms."""
    clock = [0.0]
    monkeypatch.setattr(chunks.time, "perf_counter", lambda: clock[0])

    def run(n):
        clock[0] += 0.0002 * (n if clock[0] else n - 1) + 0.000001
        return n

    chunks.run_chunks(run, None, 0.004)
    assert 0.004 <= clock[0] < 0.0055


@pytest.mark.plain
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in FAMILIES else pytest.mark.slow)
        for name in SEARCHES
        if "seconds" in agents.make(name).budgets
    ],
)
def test_another_thread_ends_a_search_that_has_no_end(name, kernels, monkeypatch):
    """Whatever the budget says: each search looks at `control` and then decides."""
    if kernels == "plain":
        name = IN_PLAIN_PYTHON.get(name, name)
    agent, game = agents.make(name), games.make("breakthrough(rows=6, columns=5)")
    if agent.refuses(game):
        game = games.make("leftmove")
    if agent.refuses(game) or name == "distributed":
        pytest.skip(agent.refuses(game) or "its processes look at no control of this one")
    control = chunks.control
    for name_of, value in ("until", float("inf")), ("longest", 0.01):
        monkeypatch.setattr(control, name_of, value)
    calls = []

    def heard():
        calls.append(None)
        if len(calls) == 8:
            control.until = 0.0

    monkeypatch.setattr(control, "heard", heard)
    decision = agent.player(game, agents.Budget(seconds=0.001)).choose(game.initial(), stream(1))
    assert decision.move in game.moves(game.initial())
    assert len(calls) >= 8
