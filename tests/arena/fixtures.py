"""Schedules of made-up agents, for the tests."""

from arena.formats.schedule import Schedule


def every_fixture(schedule):
    """The games that a schedule asks for now, in its order."""
    return list(iter(schedule.next, None))


def resolved(agents, games, seed=0, instances=("game",), budgets=({},), **keys):
    """A resolved configuration of agents a0, a1, ..., as far as a schedule reads it."""
    names = [f"a{i}" for i in range(agents)]
    values = {"agents": [{"name": name} for name in names], "instances": list(instances), "budgets": list(budgets)}
    return values | {"games": games, "seed": seed, "format": "round_robin", "pairings": []} | keys


def round_robin(agents, games, seed=0, **keys):
    """Its games."""
    return every_fixture(Schedule(resolved(agents, games, seed, **keys)))


def single_player(agents, instances, runs, seed):
    """The games of a run in which every agent plays alone."""
    names = [f"g{i}" for i in range(instances)]
    return every_fixture(Schedule(resolved(agents, runs, seed, names, format="single_player")))
