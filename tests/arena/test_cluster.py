"""Games on a cluster: the same ones as on processes, whatever becomes of its workers.

Here the workers of Dask are threads of this process, and their stations processes; where they are processes and are
killed, see `tests/faults/test_cluster_faults.py`.
"""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import arena
from arena import agents
from arena import games as games_of_ours
from arena.agents.core.pool import WorkerError
from arena.agents.core.solve import solve, solver_of
from arena.cluster import describing, post
from arena.cluster.host import Host, Needs, Phase
from arena.cluster.link import ClusterError, connected
from arena.cluster.post import Post
from arena.cluster.proof_jobs import jobs_on
from arena.games.core.shared.errors import UserError
from arena.results.database.record import Reason
from arena.results.database.store import Store
from arena.study import positions_on_cluster
from arena.study.positions import Known, check_positions
from arena.study.positions_on_cluster import check_positions_on
from arena.workers import batches
from arena.workers.batches import Lengths
from arena.workers.waiting import Job
from tests.arena.conftest import values
from tests.arena.fixtures import round_robin
from tests.arena.test_tournament import games

LONG = "test_nim(heap=40)"  # in which everybody decides more often than before play


def needs_dask():
    """The package `distributed`; without it, the test is skipped."""
    return pytest.importorskip("distributed", reason="playing on a cluster needs the extra `cluster`")


@pytest.fixture(scope="module")
def cluster():
    """Two workers of one core each, in this process."""
    distributed = needs_dask()
    options = {"dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, **options) as made:
        yield made


class Told(arena.Events):
    """What a run tells of trouble, and of its cluster."""

    def __init__(self):
        self.troubles, self.cluster = [], None

    def trouble(self, text):
        self.troubles.append(text)

    def connected(self, cluster, dashboard):
        self.cluster = cluster


@pytest.mark.slow
def test_games_are_those_of_processes_and_bad_agents_pay_for_themselves(cluster, tmp_path):
    agents = "random", ("raises", "test_odd(how='raise', odds=0.3)"), ("exits", "test_odd(how='exit', at=4)")
    keys = values(*agents, ("says", "test_odd(how='log')"), game=LONG, games=4)
    told = Told()
    arena.run(keys, tmp_path / "cluster", cluster=cluster, events=told)
    arena.run(keys, tmp_path / "processes", workers=2)
    assert games(tmp_path / "cluster") == games(tmp_path / "processes")
    assert {row[9] for row in games(tmp_path / "cluster")[0]} == {Reason.PLAYED_OUT, Reason.EXCEPTION, Reason.DIED}
    assert told.troubles == [] and told.cluster.startswith("inproc://")
    text = (tmp_path / "cluster" / "log.txt").read_text()
    assert "ValueError: on purpose" in text and "a record of the plugin, formatted" in text
    assert "python " in text and "sources " in text
    with Store.open(tmp_path / "cluster") as store:
        assert [kind["python"] for kind in store.meta["cluster"]] == [store.meta["machine"]["python"]]
    assert stations() == []


def stations():
    """The process ids of the stations that are alive."""
    listed = subprocess.run(["ps", "-wweo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    fields = [line.split(maxsplit=2) for line in listed.splitlines() if "arena.cluster.station" in line]
    return [int(pid) for pid, parent, _ in fields if int(parent) == os.getpid()]


@pytest.mark.slow
def test_a_killed_station_costs_no_game_and_a_stopped_run_resumes_on_processes(cluster, tmp_path):
    keys = values(("a", "test_odd(pause=0.004)"), "random", game=LONG, games=40, seed=7)
    stored, killed = [], []

    class Killer(Told):
        def finished(self, record):
            stored.append(record.id)
            if len(stored) == 4:
                killed.append(stations()[0])
                os.kill(killed[-1], signal.SIGKILL)
            if len(stored) == 12:
                signal.raise_signal(signal.SIGINT)

    with pytest.raises(arena.Interrupted):
        arena.run(keys, tmp_path / "cluster", cluster=cluster, events=Killer())
    assert len(killed) == 1 and 12 <= len(stored) < 40 and stations() == []
    arena.run(keys, tmp_path / "cluster", resume=True, workers=2)
    arena.run(keys, tmp_path / "processes", workers=2)
    assert games(tmp_path / "cluster") == games(tmp_path / "processes")


@pytest.mark.slow
def test_a_station_that_is_stopped_is_ended_and_costs_no_game(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(post, "SILENT", 2.0)
    monkeypatch.setattr(post, "FAREWELL", 1.0)
    # long enough that a station is found silent even if the other one plays all games
    keys, stopped = values(("a", "test_odd(pause=0.004)"), "random", game=LONG, games=150, seed=7), []

    class Stopper(Told):
        def finished(self, record):
            if not stopped:
                stopped.append(stations()[0])
                os.kill(stopped[0], signal.SIGSTOP)

    arena.run(keys, tmp_path / "cluster", cluster=cluster, events=Stopper())
    arena.run(keys, tmp_path / "processes", workers=2)
    assert len(stopped) == 1 and stations() == []
    assert games(tmp_path / "cluster") == games(tmp_path / "processes")
    assert "its station ended with exit code -9" in (tmp_path / "cluster" / "log.txt").read_text()


@pytest.mark.slow
def test_ctrl_c_is_not_for_the_workers_of_a_local_cluster():
    """A terminal sends it to them, too, and they would die with the games that are being played."""
    needs_dask()
    from arena.cluster.link import _local

    with _local("local:1", 1) as local, local.get_client() as client:
        assert list(client.run(signal.getsignal, signal.SIGINT).values()) == [signal.SIG_IGN]


@pytest.mark.slow
def test_workers_without_a_plug_in_are_refused(cluster, tmp_path, monkeypatch):
    from arena.cluster import tasks

    def without(values, cores):
        return Post(values.replace("tests.arena.oddities", "no_such_module"), cores)

    monkeypatch.setattr(tasks, "starter", without)
    with pytest.raises(ClusterError, match=r"all workers .* are refused; .*: it cannot import .*'no_such_module'"):
        arena.run(values("random", ("b", "random")), tmp_path / "run", cluster=cluster)
    assert stations() == []


@pytest.mark.slow
def test_positions_of_a_file_are_shared_out(cluster, monkeypatch):
    monkeypatch.setattr(positions_on_cluster, "LOT", 3)
    game, path = games_of_ours.make("connect4(rows=4, columns=5)"), Path("positions.txt")
    lines = ("3321221323455", "1445521524524", "3554312534511", "4522413522155")
    known, told = [Known(number, moves, 0) for number, moves in enumerate(lines, 1)], []
    checked = check_positions_on(cluster, str(game), "dfpn(table=1)", known, path, told.append)
    assert [one.known for one in checked] == known and {one.known.line for one in told} == {1, 2, 3, 4}
    solvers = [solver_of(agents.make("dfpn(table=1)"), game) for _ in range(2)]
    apart = [
        *check_positions(solvers[0], known[:3], path, told.append),
        *check_positions(solvers[1], known[3:], path, told.append),
    ]
    assert [(one.found, one.nodes) for one in checked] == [(one.found, one.nodes) for one in apart]
    with pytest.raises(UserError, match=r"positions\.txt:7: '9' is not a legal move"):
        check_positions_on(cluster, str(game), "dfpn", [Known(7, "9", 0)], path, told.append)


@pytest.mark.slow
@pytest.mark.parametrize("job", ["dfpn(table=1)", "alphabeta(table=1)"])
def test_jobs_are_done_by_a_cluster(cluster, job):
    game = games_of_ours.make("tictactoe")
    agent = agents.make(f"jlpns(workers=2, job={job!r}, job_nodes=30)")
    state = game.read_line("2b 1a 3c")[1]
    on_cluster = solver_of(agent, game)
    with jobs_on(cluster, on_cluster):
        found = solve(on_cluster, state, shortest=True)
    expected = solve(solver_of(agents.make("pns"), game), state, shortest=True)
    assert (found.value, found.plies, set(found.best)) == (expected.value, expected.plies, set(expected.best))
    assert found.nodes > 0


@pytest.mark.slow
def test_what_is_wrong_with_a_job_on_a_cluster_is_told(cluster, monkeypatch):
    solver = solver_of(agents.make("jlpns(workers=2)"), games_of_ours.make("tictactoe"))
    monkeypatch.setattr("arena.cluster.proof_jobs.Workplace.begin", lambda *_: 1 / 0)
    with jobs_on(cluster, solver), pytest.raises(WorkerError, match="ZeroDivisionError in a worker"):
        solve(solver, solver.game.initial())
    assert solver.memory.free == 2


# -- Without a cluster ------------------------------------------------------------------------------------------------


def test_batches_are_sized_by_measured_lengths():
    lengths, (fixture, other) = Lengths(), round_robin(2, 2)[:2]
    assert lengths.of(fixture) is None
    lengths.add(fixture, SimpleNamespace(seconds=0.25))
    lengths.add(replace(fixture, seats=fixture.seats[::-1]), SimpleNamespace(seconds=0.35))
    assert lengths.of(other) == pytest.approx(0.3 + batches.UNCOUNTED)
    assert batches.target(2) == batches.SECONDS and batches.target(1000) == 10
    assert [batches.most(left, 2) for left in (100_000, 100, 9, 4, 1, 0)] == [batches.MOST, 25, 3, 1, 1, 1]


@pytest.mark.parametrize(
    ("cores", "names", "fits"),
    [(1, ["a", "b"], True), (2, ["a", "b"], True), (4, ["a", "b"], False), (1, ["gnu", "b"], False)],
)
def test_games_go_where_their_agents_can_play(cores, names, fits):
    host, needs = Host("tcp://one", 2, phase=Phase.PLAYING), Needs(8, frozenset({"gnu", "cores"}))
    job = Job(round_robin(2, 2)[0], cores)
    assert host.fits(job, names, needs) == fits and host.asks(job, names) == {}
    declared = Host("tcp://two", 8, {"gnu": 1.0, "cores": 8.0}, phase=Phase.PLAYING)
    assert declared.fits(job, names, needs)
    wanted = ({"gnu": 1.0} if "gnu" in names else {}) | ({"cores": float(cores)} if cores > 1 else {})
    assert declared.asks(job, names) == wanted
    declared.unfit.add(1)
    assert not declared.fits(job, names, needs)


def test_workers_of_other_sources_are_refused():
    ours = {
        "runner_digest": "a",
        "plugins": "mine 1.0 (sources 12ab)",
        "python": "3.11",
        "programs": {"gnu": "GNU Go 3.8"},
        "files": {"a.policy": "1234"},
    }
    assert describing.refused(ours, ours) == describing.version_differences(ours, ours) == ""
    other = ours | {"runner_digest": "c", "python": "3.12", "programs": {"gnu": "a program that fails: no such file"}}
    assert describing.refused(ours, other) == "its code of this package is another (digest 'c', and here 'a')"
    assert describing.version_differences(ours, other) == "python 3.12 and here 3.11"
    assert [name for name, _ in describing.misfits(ours, other)] == ["gnu"]
    for plugins, python, told in [
        ("mine 1.0 (sources 34cd)", "3.11.2", True),
        ("mine 1.0 (sources 34cd)", "3.12", False),
        ("mine 1.1", "3.12", True),
    ]:  # bytecode is another with another Python, which is reported and accepted
        found = describing.refused(ours, ours | {"plugins": plugins, "python": python})
        assert found.startswith("its code of plug-ins is another (digest 'mine") == told == bool(found)
    before = {key: value for key, value in ours.items() if key != "files"}  # a station of an older version
    assert describing.refused(ours, before) == "it has no file 'a.policy'"
    assert describing.refused(ours | {"files": {}}, before) == ""
    for sums, told in ({"a.policy": "5678"}, "its file 'a.policy' is another one"), ({}, "it has no file 'a.policy'"):
        assert describing.refused(ours, ours | {"files": sums}) == told


@pytest.mark.parametrize("cluster", ["local:", "local:0", "local:many", "tcp://127.0.0.1:1", "nothing.json"])
def test_what_is_no_cluster_is_told_in_a_line(cluster, tmp_path, monkeypatch):
    needs_dask()
    monkeypatch.setattr("arena.cluster.link.PATIENCE", 0.5)
    with pytest.raises(ClusterError) as raised:
        arena.run(values("random", ("b", "random")), tmp_path / "run", cluster=cluster)
    assert str(raised.value).startswith(f"cluster {cluster}") and "\n" not in str(raised.value)
    assert not (tmp_path / "run").exists()


def test_without_the_packages_it_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r'pip install "search-arena\[cluster\]"'), connected("local:2"):
        pass
