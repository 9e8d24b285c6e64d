"""SPDF-PN: values beside df-pn's, a plain twin, virtual time, and processes that are killed."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.pool import FREE
from arena.agents.core.solve import Goal, solve, solver_of
from arena.agents.knowledge.tablebase import no_endgames
from arena.agents.proof.numbers import INFINITE, NODES, new_counts
from arena.agents.proof.spdfpn_processes import ProcessSearch, Team
from arena.agents.proof.top import EMPTY, VIRTUAL
from tests.agents import naive_proof as naive
from tests.agents.positions import random_position

FIRST_WINS = Goal(1.0)
# games, with the plies after which random positions are small
SMALL = {"tictactoe": 2, "connect4(rows=4, columns=5)": 8, "breakthrough(rows=5, columns=4)": 12}
SIMULATED = [
    "workers=1, job=30",
    "workers=7, job=20, virtual='both'",
    "workers=1000, job=5",
    "workers=40, job=10, table=0.001",
    "workers=40, job=10, table=0.001, virtual='both', weak=true, scheme='new'",
    "workers=40, job=50, symmetries=true, scheme='collect'",
]


def value(spec, game, state):
    return solve(solver_of(agents.make(spec), game), state, moves="none").value


def search_of(spec, game, state, goal=FIRST_WINS):
    """A search that has not begun."""
    agent, counts = agents.make(spec), new_counts(None)
    return agent.new_search(game, agent.new_memory(game), state, agent.task(goal, no_endgames()), counts)


@pytest.mark.plain
@pytest.mark.parametrize(
    "spec", ["tictactoe", *(pytest.param(name, marks=pytest.mark.slow) for name in SMALL if name != "tictactoe")]
)
def test_values_are_those_of_df_pn(spec, kernels):
    """In plain Python, of fewer and later positions."""
    game, values = games.make(spec), set()
    count, more = (12, 0) if kernels == "compiled" else (4, 1)
    for seed in range(count):
        state = random_position(game, seed, SMALL[spec] + more)
        expected = value("dfpn", game, state)
        for options in SIMULATED:
            assert value(f"spdfpn(simulated=true, {options})", game, state) == expected, (options, seed)
        values.add(expected)
    assert len(values) > 1


@pytest.mark.plain
@pytest.mark.parametrize(
    "spec, plies",
    [
        ("tictactoe", 2),
        *(
            pytest.param(spec, plies, marks=pytest.mark.slow)
            for spec, plies in (("tictactoe", 1), ("connect4(rows=4, columns=5)", 7))
        ),
    ],
)
@pytest.mark.parametrize("epsilon, job", [(0.0, 1), (0.25, 30), (0.25, 200)])
def test_one_worker_equals_its_twin(spec, plies, epsilon, job):
    game, jobs = games.make(spec), 0
    for seed in range(3):
        state = random_position(game, seed, plies)
        search = search_of(f"spdfpn(workers=1, epsilon={epsilon}, job={job})", game, state)
        finish, done = search.finish, []
        search.finish = lambda *given, finish=finish, done=done: (done.append(given), finish(*given))
        while search.run(1):
            pass
        twin = naive.Jobs(game, FIRST_WINS, epsilon, job)
        numbers = tuple(INFINITE if number == naive.INFINITE else number for number in twin.solve(state))
        assert (search.numbers(), search.counts[NODES], len(done)) == (numbers, twin.nodes, twin.jobs)
        jobs += len(done)
    assert jobs > 3


@pytest.mark.plain
@pytest.mark.parametrize("options", ["workers=5", pytest.param("workers=300, virtual='both'", marks=pytest.mark.slow)])
def test_virtual_time_is_a_function_of_options(options, kernels):
    game = games.make("tictactoe")
    state = game.initial() if kernels == "compiled" else random_position(game, 1, 2)
    spec = f"spdfpn(simulated=true, job=20, {options})"
    first, second = (solve(solver_of(agents.make(spec), game), state, moves="one") for _ in range(2))
    assert (first.nodes, first.virtual_time, first.best) == (second.nodes, second.virtual_time, second.best)
    assert first.nodes / 300 < first.virtual_time < first.nodes


@pytest.mark.slow
@pytest.mark.plain
def test_one_simulated_worker_takes_as_long_as_its_nodes():
    game = games.make("tictactoe")
    solver = solver_of(agents.make("spdfpn(workers=1, job=20, simulated=true)"), game)
    found = solve(solver, game.initial(), moves="none")
    assert found.virtual_time == found.nodes > 1000
    assert solve(solver_of(agents.make("dfpn"), game), game.initial(), moves="none").virtual_time is None


@pytest.mark.plain
@pytest.mark.parametrize("virtual", ["likelier", "both"])
def test_nothing_virtual_is_taken_for_real(virtual):
    """While workers are at work, real numbers are those that the children's real numbers give, and when all have given
    back their jobs, nobody is anywhere."""
    game = games.make("connect4(rows=4, columns=5)")
    search = search_of(f"spdfpn(simulated=true, workers=30, job=20, virtual='{virtual}')", game, game.initial())
    for _ in range(20):
        search.run(50)
        assert 0 not in search.numbers() and max(search.numbers()) < INFINITE
        top = search.top
        busy = top.workers > 0
        assert top.workers.max() == len(search.jobs) > 2  # at the root
        settled = (top.numbers[busy, VIRTUAL] == 0).any(axis=1)
        assert settled.sum() >= len(
            {int(search.workers[i].search.line.key[ply]) for i, (ply, _) in search.jobs.items()}
        )
    for number in list(search.jobs):
        search.finish(number, (1, 1), 0)
    assert not search.top.workers.any() and (search.top.work != EMPTY).sum() == search.top.used[0]
    assert search.own[2] == new_counts(None)[2] - sum_of_jobs(search)


def sum_of_jobs(search):
    """The nodes of all jobs that have ended."""
    return int(search.counts[NODES] - search.own[NODES]) - sum_of_lost(search)


def sum_of_lost(search):
    """The nodes of jobs that were given back before they ended."""
    return sum(int(search.stages[i].search.counts[NODES]) for i in search.stages if i not in search.idle)


@pytest.mark.plain
@pytest.mark.parametrize("nodes", [1, 20, 500])
def test_a_budget_of_nodes_is_kept(nodes):
    game = games.make("connect4(rows=4, columns=5)")
    found = solve(solver_of(agents.make(f"spdfpn(simulated=true, workers=9, nodes={nodes})"), game), game.initial())
    assert found.value is None and found.nodes <= nodes and f"the budget of {nodes} nodes is spent" in found.unsolved


@pytest.mark.parametrize(
    "spec, message",
    [
        ("spdfpn(workers=0)", "workers = 0 is out of range: it can be 1 to 64"),
        ("spdfpn(workers=65)", "workers = 65 is out of range: it can be 1 to 64"),
        ("spdfpn(workers=1025, simulated=true)", "workers = 1025 is out of range: it can be 1 to 1024"),
        ("spdfpn(job=-1)", "job = -1 is out of range"),
        ("spdfpn(virtual='lost')", "virtual = 'lost' is not one of likelier, both"),
        ("spdfpn(scheme='collect')", "scheme = 'collect' goes with workers = 1, not 2"),
        ("spdfpn(simulated=true, seconds=1)", "seconds have no meaning for simulated workers"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=re.escape(message)):
        agents.make(spec)


# -- Processes ---------------------------------------------------------------------------------------------------------

GAME = games.make("connect4(rows=4, columns=5)")
STATE = random_position(GAME, 2, 4)
SPEC = "spdfpn(workers=2, job=40, table=0.1)"


def shared_files(pid):
    """The names that memory shared by a process has, which multiprocessing begins in this way."""
    return list(Path("/dev/shm").glob(f"pym-{pid}-*"))


@pytest.mark.slow
@pytest.mark.parametrize("kills", [3, 10])
def test_processes_that_are_killed_cost_their_jobs_alone(kills):
    """Some are killed, at random times of one solve; the value stays, and nothing is left."""
    rng = np.random.default_rng(5)
    solver = solver_of(agents.make(SPEC), GAME)
    team = solver.memory.team
    wait, dead, pids = team.wait, set(), set()

    def waiting():
        running = {number: one.process.pid for number, one in enumerate(team.team)}
        pids.update(running.values())
        alive = sorted({pid for number, pid in running.items() if number not in team.starting} - dead)
        if len(dead) < kills and alive and rng.random() < 0.3:
            pid = int(rng.choice(alive))
            dead.add(pid)
            os.kill(pid, signal.SIGKILL)
        return wait()

    expected = value("dfpn", GAME, STATE)
    team.wait = waiting
    found = solve(solver, STATE, moves="none")
    del team.wait
    assert (found.value, len(dead), found.unsolved) == (expected, kills, "")
    assert dead < pids
    team.close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    again = solve(solver, STATE, goal="win")  # with new processes
    assert again.goals["win"] == (expected == 1)
    team.close()
    assert not shared_files(os.getpid())


def test_a_process_that_has_nothing_to_do_comes_first():
    """Though the free line of the one that is busy has the lower number."""
    search = object.__new__(ProcessSearch)
    search.team, search.idle = SimpleNamespace(given=[["a job"], []]), [0, 1, 3]
    assert [search.next_idle() for _ in range(3)] == [1, 3, 0] and search.idle == []


@pytest.mark.slow
def test_processes_are_kept_for_the_next_solver():
    solver = solver_of(agents.make(SPEC), GAME)
    team = solver.memory.team
    assert solve(solver, STATE, moves="none").value == value("dfpn", GAME, STATE)
    del solver
    again = solver_of(agents.make(SPEC), GAME)
    assert again.memory.team is team and team.table.taken[0] == 0
    limited = solver_of(agents.make(SPEC.replace("job", "nodes=300, job")), GAME)
    assert limited.memory.team is not team
    found = solve(limited, GAME.initial())
    assert found.nodes <= 300 and "the budget of 300 nodes is spent" in found.unsolved
    team.close()
    limited.memory.team.close()


@pytest.mark.slow
def test_one_size_after_another_leaves_one_team_with_one_table():
    """Ten sizes left twenty processes and ten tables."""

    def tables():
        lines = Path("/proc/self/maps").read_text().split("\n")
        spans = [line.split()[0].split("-") for line in lines if f"pym-{os.getpid()}-" in line]
        return sum(int(end, 16) - int(start, 16) >= 5 << 20 for start, end in spans)

    processes, mapped = set(multiprocessing.active_children()), tables()
    for heap in range(2, 12):
        game = games.make(f"nim(heaps=[1, 2, {heap}])")
        solver = solver_of(agents.make("spdfpn(workers=2, job=40, table=5)"), game)
        solver.settle(game.initial(), FIRST_WINS)
        del solver
    assert len(set(multiprocessing.active_children()) - processes) == 2 and tables() == mapped + 1
    FREE[os.getpid(), Team].pop().close()


SOLVING = """
from arena import agents, games
from arena.agents.core.solve import solve, solver_of
if __name__ == "__main__":
    game = games.make("connect4(rows=4, columns=5)")
    solver = solver_of(agents.make("spdfpn(workers=2, job=1000000, table=1)"), game)
    print(*(one.process.pid for one in solver.memory.team.team), flush=True)
    while True:
        solver.begin()
        solve(solver, game.initial())
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_their_parent(how, tmp_path):
    script = tmp_path / "solving.py"
    script.write_text(SOLVING)
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path.cwd(),
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    ) as solving:  # fmt: skip
        pids = [int(word) for word in solving.stdout.readline().split()]
        assert len(pids) == 2
        time.sleep(0.3)
        solving.send_signal(how)
        try:
            _, errors = solving.communicate(timeout=300)
        finally:
            solving.kill()
        assert solving.returncode != 0 and (how == signal.SIGKILL or "KeyboardInterrupt" in errors)
    until = time.monotonic() + 100
    while any(map(runs, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(runs, pids))
    assert not shared_files(solving.pid)


def runs(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
