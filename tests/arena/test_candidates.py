"""Candidates from a search to the reader: in records, messages, the report and `arena show`."""

import json
from dataclasses import dataclass, replace

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

from arena.agents.core.agent import Agent, Budget, Decision, MoveStatistics, Player
from arena.cli import app
from arena.config import loading
from arena.config.config import Seat
from arena.play.match import play, play_fixture
from arena.report.replay import sample
from arena.results import Store, load
from arena.results.database.candidates import MOST, read
from arena.results.database.record import Reason
from arena.workers.messages import Played, fault_of, messages
from tests.arena.fixtures import round_robin

CONFIG = {
    "game": "tictactoe",
    "games": 2,
    "opening_plies": 1,
    "seed": 3,
    "agents": [{"agent": "uct(playouts=30)", "name": "tree"}, {"agent": "random", "name": "none"}],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of one game, its configuration, fixture and record."""
    made = loading.from_values(CONFIG)
    fixture = round_robin(2, 2, 3)[0]
    record = play_fixture(made, fixture)
    agents = [{"name": entry["name"], "spec": entry["agent"]} for entry in CONFIG["agents"]]
    folder = tmp_path_factory.mktemp("candidates")
    with Store.create(folder, {"config": made.resolved()}, agents) as store:
        store.add(record)
    return folder, made, fixture, record


def test_a_record_has_what_the_search_said(run):
    _, made, _, record = run
    game, names = made.conditions[0].game, [*record.opening_moves.split(), *record.moves.split()]
    assert {decision.side for decision in record.decisions if decision.candidates} == {0}
    for decision in record.decisions:
        if decision.side == 1:
            assert decision.candidates is None
            continue
        state, found = game.read_line(" ".join(names[: decision.ply]))[1], read(decision.candidates)
        legal = [game.move_name(state, move) for move in game.moves(state)]
        assert len(found) == min(MOST, len(legal)) and {one.move for one in found} <= set(legal)
        chosen = next(one for one in found if one.move == decision.move)
        assert chosen.value == pytest.approx(decision.value, abs=1e-5)
        assert found[0].visits == max(one.visits for one in found)


def test_messages_carry_them_and_refuse_what_does_not_read(run):
    _, made, fixture, record = run
    sent = messages.decode(msgspec.msgpack.encode(Played([record], True))).records[0]
    assert sent == record and fault_of(made, fixture, sent) is None
    first = record.decisions[0]
    bad = replace(record, decisions=(replace(first, candidates="<b> 1"), *record.decisions[1:]))
    assert "<b> 1" in fault_of(made, fixture, bad)


def test_the_report_and_show_tell_them(run):
    folder, _, _, record = run
    thoughts = sample(load(folder))["games"][0]["thoughts"]
    thought = next(decision for decision in record.decisions if decision.candidates)
    told = read(thought.candidates)
    shown = thoughts[thought.ply]["candidates"]
    assert shown == [[one.move, one.visits, round(one.share, 4), one.value] for one in told]
    assert all("candidates" not in thought for thought in thoughts if thought and thought["side"] == 1)
    plain, more, as_json = (
        CliRunner().invoke(app, ["show", str(folder), record.id, *options]).output
        for options in ((), ("--candidates",), ("--json",))
    )
    assert more.startswith(plain) and plain.count("share") == 0 and "candidates" not in plain
    rows = [line.split() for line in more[len(plain) :].splitlines()]
    assert sum(row[:2] == [str(thought.ply), "tree"] for row in rows) == len(told)
    played = [decision for decision in record.decisions if decision.candidates]
    assert sum("✓" in row for row in rows) == len(played)
    stored = [decision["candidates"] for decision in json.loads(as_json)["decisions"]]
    assert stored == [decision.candidates for decision in record.decisions]


def test_show_says_where_there_are_none(run, tmp_path):
    folder, _, _, record = run
    with Store.open(folder) as old, Store.create(tmp_path / "bare", old.meta, old.agents) as store:
        store.add(replace(record, decisions=tuple(replace(one, candidates=None) for one in record.decisions)))
    done = CliRunner().invoke(app, ["show", str(tmp_path / "bare"), record.id, "--candidates"])
    assert done.exit_code == 0 and "No candidates are stored" in done.output


@dataclass(frozen=True)
class Told(Agent):
    """Plays the first move and says `moves`, `visits` and `values` of its search."""

    moves: object = None
    visits: object = None
    values: object = None

    def new_player(self, game, budget):
        return TellingPlayer(self, game)


class TellingPlayer(Player):
    def __init__(self, agent, game):
        self.agent, self.game = agent, game

    def choose(self, state, rng):
        agent = self.agent
        return Decision(self.game.moves(state)[0], statistics=MoveStatistics(agent.moves, agent.visits, agent.values))


@pytest.mark.parametrize(
    ("table", "detail"),
    [
        ((np.array([0, 99]), np.array([1, 2]), np.zeros(2)), "the move 99, which is not legal"),
        ((np.array([0.0]), np.array([1]), np.zeros(1)), "the move 0.0, which is not legal"),
        ((np.array([0, 1]), np.array([1]), np.zeros(2)), "statistics of 2 moves have 1 visits"),
        ((np.array([0]), np.array(["x"]), np.zeros(1)), "TypeError"),
        (([0], [1], [0.0]), "AttributeError"),
    ],
)
def test_statistics_that_cannot_be_forfeit(table, detail):
    game = loading.from_values(CONFIG).conditions[0].game
    seats = tuple(Seat(name, Told(*table), Budget()) for name in ("tree", "none"))
    record = play(game, seats, round_robin(2, 2, 3)[0], [])
    assert (record.reason, record.outcome) == (Reason.EXCEPTION, 0.0) and detail in record.detail
