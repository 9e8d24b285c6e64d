"""Job-level proof-number search: its answers, its policies beside a naive twin, and processes that die."""

import contextlib
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.pool import FREE, WorkerError
from arena.agents.core.solve import Goal, solve, solver_of
from arena.agents.knowledge.tablebase import no_endgames
from arena.agents.proof.bestfirst import LEAF
from arena.agents.proof.joblevel import number_kernel
from arena.agents.proof.jobs import Job, ProcessWorkers, Workplace
from arena.agents.proof.numbers import new_counts
from tests.agents import naive_proof as naive
from tests.agents.positions import random_position

SMALL = [  # to compile them all takes a minute
    "tictactoe",
    *(
        pytest.param(spec, marks=pytest.mark.slow)
        for spec in (
            "connect4(rows=4, columns=4)",
            "breakthrough(rows=4, columns=4)",
            "domineering(rows=3, columns=4)",
            "nogo(rows=3, columns=3)",
        )
    ),
]
POLICIES = [
    "policy='equivalence'", "policy='win'", "policy='loss'", "policy='win', flagging=false",
    "policy='loss', flagging=false", "policy='equivalence', postponed=true",
    "policy='loss', flagging=false, postponed=true",
]  # fmt: skip
GAME = games.make("tictactoe")


@pytest.fixture(autouse=True)
def forgotten():
    """No process that waits for work outlives a test."""
    yield
    for free in FREE.values():
        while free:
            free.pop().close()


def solver(spec, game=GAME):
    return solver_of(agents.make(spec), game)


@pytest.mark.plain
@pytest.mark.parametrize("spec", SMALL)
def test_they_find_what_serial_search_finds(spec, kernels):
    """Every policy, in positions of five games; what another policy has is compiled already."""
    game = games.make(spec)
    serial = solver("pns", game)
    seeds = range(12 if kernels == "compiled" else 4)
    states = [state for seed in seeds if not game.is_over(state := random_position(game, seed, 2 + seed % 4))]
    values = [solve(serial, state, moves="none").value for state in states]
    for name in ("jlpns(job='pns', workers=5", "ppn2(report=7, workers=6, latency=3"):
        for policy in POLICIES:
            jobs = solver(f"{name}, simulated=true, job_nodes=20, {policy})", game)
            assert [solve(jobs, state, moves="none").value for state in states] == values, (name, policy)


@pytest.mark.plain
@pytest.mark.parametrize(
    "agent",
    [
        "jlpns(job='alphabeta(table=1)', job_nodes=30, workers=3, simulated=true)",
        "ppn2(workers=300, simulated=true, symmetries=true, weak=true)",
        *(
            pytest.param(agent, marks=pytest.mark.slow)  # on processes, which compile what they search with
            for agent in ("jlpns", "ppn2(job='dfpn(table=1)')", "ppn2(workers=2, job_nodes=200, graph=false)")
        ),
    ],
)
def test_whole_answers(agent):
    """Value, fewest plies, best moves: with other jobs, in a tree, on processes."""
    jobs = solver(agent)
    for seed in (3, 4):
        state = random_position(GAME, seed, 4)
        value, plies = naive.exact(GAME, state)
        found = solve(jobs, state, shortest=True)
        assert (found.value, found.plies) == (value, plies if value else None)
        assert list(found.best) == naive.best_moves(GAME, state, value, plies)
        assert (found.virtual_time is None) == ("simulated" not in agent)


def test_simulated_jobs_are_short():
    """Processes need longer ones, since a message takes as long as some thousand nodes."""
    for name in ("jlpns", "ppn2", "spdfpn"):
        real, simulated = (agents.make(f"{name}(simulated={each}, workers=2)") for each in ("false", "true"))
        assert (real.nodes_of_job, simulated.nodes_of_job) == (50_000, 1000)
    assert [agents.make(f"ppn2(job_nodes={nodes})").every for nodes in (0, 1, 400)] == [12_500, 1, 100]


def test_trees_have_room_for_a_job():
    """With the default nodes too: 50,000, and those that the last one may exceed them by."""
    for nodes, room in ((0, 50_018), (400, 1000), (4000, 4018)):
        place = agents.make(f"jlpns(job='pns', job_nodes={nodes})").workplace(GAME)
        assert place.agent.max_nodes == room


def search_of(spec, state, goal):
    """A search, its executor and its counts; the leaves that it gives out are listed in `order`."""
    agent, counts = agents.make(spec), new_counts(None)
    workers = agent.new_memory(GAME)
    search = agent.new_search(GAME, workers, state, agent.task(goal, no_endgames()), counts)
    search.order, begin = [], workers.begin
    workers.begin = lambda job: (search.order.append(job.state.tobytes()), begin(job))
    return search, workers, counts


@pytest.mark.plain
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("workers", [1, 2, 7])
@pytest.mark.parametrize("goal", [Goal(1.0), Goal(0.5, 6, True)])
def test_every_policy_equals_its_twin(policy, workers, goal):
    """Leaf for leaf, in the same virtual time."""
    chosen = eval(f"dict({policy.replace('true', 'True').replace('false', 'False')})")
    for seed in range(3):
        state = random_position(GAME, seed, seed + 2)
        twin = naive.JobLevel(GAME, goal, state, workers, 12, **chosen).run()
        spec = f"jlpns(job='pns(graph=false)', graph=false, workers={workers}, simulated=true, job_nodes=12, {policy})"
        search, executor, _ = search_of(spec, state, goal)
        while search.run(1 << 40):
            pass
        assert search.order == twin.order
        assert executor.clock == twin.time
        assert (search.numbers()[0] == 0) == (twin.root.numbers[0] == 0)


@pytest.mark.plain
def test_one_worker_keeps_the_serial_order_whatever_the_policy():
    """Nothing is in flight when it descends."""
    state = random_position(GAME, 1, 1)
    orders = set()
    for policy in POLICIES:
        search, _, _ = search_of(f"jlpns(job='pns', simulated=true, job_nodes=15, {policy})", state, Goal(1.0))
        while search.run(1 << 40):
            pass
        orders.add(tuple(search.order))
    assert len(orders) == 1 and len(orders.pop()) > 10


@pytest.mark.slow
def test_simulated_runs_are_the_same_and_more_workers_take_less_time():
    found = {}
    for workers in (1, 8, 64):
        spec = f"ppn2(workers={workers}, simulated=true, job_nodes=50, report=10)"
        runs = [solve(solver(spec), GAME.initial(), moves="none") for _ in range(2)]
        assert (runs[0].nodes, runs[0].virtual_time) == (runs[1].nodes, runs[1].virtual_time)
        found[workers] = runs[0]
    assert found[1].nodes == found[1].virtual_time  # one worker is never idle
    assert found[8].virtual_time < found[1].virtual_time / 3
    assert found[64].virtual_time < found[8].virtual_time


@pytest.mark.plain
def test_virtual_numbers_and_flags_are_undone():
    """After a search of several goals nothing is taken for something that it is not: virtual numbers are the real."""
    for policy in POLICIES:
        spec = f"ppn2(workers=9, simulated=true, job_nodes=20, report=6, {policy})"
        search, _, _ = search_of(spec, GAME.initial(), Goal(1.0))
        for _ in range(12):
            search.run(60)
        for flight in search.in_flight.values():
            assert search.server.flagged[flight.leaf]
        assert len(search.in_flight) > 0 and 0 not in search.numbers()
        search.close()
        used = slice(0, int(search.tree.size[0]))
        for leaf in np.flatnonzero(search.server.flagged[used] & (search.tree.children[used] == LEAF)):
            numbers = int(search.tree.proof[leaf]), int(search.tree.disproof[leaf])
            number_kernel(GAME, search.server, leaf, *numbers, False)
        assert np.array_equal(search.server.proof[used], search.tree.proof[used])
        assert np.array_equal(search.server.disproof[used], search.tree.disproof[used])
        open_ones = (search.tree.proof[used] > 0) & (search.tree.disproof[used] > 0)
        assert not (search.server.flagged[used] & open_ones).any()


@pytest.mark.slow
def test_a_job_of_no_importance_is_cancelled():
    """Not every report is of a job that is done, and fewer nodes are visited than without."""
    found = [
        solve(solver(f"{name}, workers=12, simulated=true, job_nodes=60)"), GAME.initial(), moves="none")
        for name in ("jlpns(job='pns'", "ppn2(report=5")
    ]
    assert found[0].value == found[1].value == 0
    search, executor, _ = search_of(
        "ppn2(workers=12, simulated=true, job_nodes=60, report=5)", GAME.initial(), Goal(1.0)
    )
    cancelled, cancel = [], executor.cancel
    executor.cancel = lambda number: (cancelled.append(number), cancel(number))[1]
    while search.run(1 << 40):
        pass
    assert len(cancelled) > 5 and not search.in_flight


@pytest.mark.plain
def test_a_budget_is_kept_to():
    for nodes in (30, 200, 1000):
        for spec in ("jlpns(workers=4, simulated=true, job_nodes=50)", "jlpns(job='alphabeta(table=1)', job_nodes=50)"):
            found = solve(solver_of(agents.make(spec), GAME, agents.Budget(nodes=nodes)), GAME.initial())
            assert found.value is None and nodes - 60 <= found.nodes <= nodes and "budget" in found.unsolved


def children() -> set[int]:
    """The searching processes that this one has started, and that still run."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = path.read_text().rsplit(")", 1)[1].split()[:2]
            searches = b"spawn_main" in path.with_name("cmdline").read_bytes()
            if int(parent) == os.getpid() and state != "Z" and searches:
                found.add(int(path.parent.name))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kills", [3, 10])
def test_processes_that_are_killed_cost_only_their_jobs(kills):
    """So many in one search, some at work, some as soon as they are started."""
    agent = agents.make("jlpns(workers=2, job='pns', job_nodes=40)")
    serial = solve(solver("pns"), GAME.initial(), moves="none").value
    before, jobs, killed, rng = children(), solver_of(agent, GAME), [], random.Random(3)
    pool = jobs.memory.pool
    wait, start = pool.wait, pool.start

    def kill(process):
        if len(killed) < kills and process.pid not in killed:  # it may be a while until its death is noticed
            os.kill(process.pid, signal.SIGKILL)
            killed.append(process.pid)

    def wait_and_kill():
        found = wait()
        kill(rng.choice(pool.team).process)
        return found

    def start_and_kill(number):
        new = start(number)
        if rng.random() < 0.75:
            kill(new.process)
        return new

    pool.wait, pool.start = wait_and_kill, start_and_kill
    assert solve(jobs, GAME.initial(), moves="none").value == serial
    assert len(set(killed)) == kills
    jobs.memory.close()
    assert children() == before


@pytest.mark.slow
def test_a_process_that_fails_by_itself_is_an_error():
    workers = ProcessWorkers(Workplace.sized(GAME, agents.make("pns"), 10), 1)
    state = GAME.initial()
    workers.begin(Job(1, state, Goal(1.0), 100, 10, 10))
    workers.wait()
    workers.pool.send(0, Job(2, state[:0], Goal(1.0), 100, 10, 10))  # no position
    with pytest.raises(WorkerError, match="in a process of the job-level search"):
        workers.wait()
    workers.close()


PROGRAM = """
from arena import agents, games
from arena.agents.core.solve import solve, solver_of
if __name__ == "__main__":
    game = games.make("tictactoe")
    jobs = solver_of(agents.make("jlpns(workers=2, job='pns', job_nodes=5)"), game)
    while True:
        jobs.begin()
        solve(jobs, game.initial())
        print(*(one.process.pid for one in jobs.memory.pool.team), flush=True)
"""


@pytest.mark.slow
def test_ctrl_c_leaves_no_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    started = subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    pids = [int(pid) for pid in started.stdout.readline().split()]
    assert len(pids) == 2
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does
    _, errors = started.communicate(timeout=300)
    assert started.returncode != 0 and errors.count("KeyboardInterrupt") == 1
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.mark.parametrize(
    "spec, message",
    [
        ("jlpns(policy='draw')", "policy = 'draw'"),
        ("jlpns(flagging=false)", "flagging = false goes with policy = 'win' or 'loss'"),
        ("jlpns(latency=3)", "latency = 3 goes with simulated = true"),
        ("jlpns(workers=65)", "workers = 65 is out of range: it can be 1 to 64"),
        ("jlpns(workers=1025, simulated=true)", "workers = 1025 is out of range: it can be 1 to 1024"),
        ("jlpns(job_nodes=-1)", "job_nodes = -1 is out of range"),
        ("jlpns(job='uct')", "job = 'uct' is no agent that solves in one piece"),
        ("jlpns(job='ppn2')", "job = 'ppn2' is no agent that solves in one piece"),
        ("jlpns(job='dfpn(nodes=5)')", "has a budget of its own; job_nodes says"),
        ("ppn2(job='alphabeta')", "job = 'alphabeta' tells no proof and disproof numbers"),
        ("ppn2(report=-1)", "report = -1 is out of range"),
    ],
)
def test_mistakes(spec, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        solver(spec)
