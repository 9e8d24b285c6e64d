"""Runs that are stored without being played, for tests of what reads them."""

from dataclasses import replace

import numpy as np

from arena.config.loading import from_values
from arena.config.openings import random_opening
from arena.formats.schedule import Schedule
from arena.games.core.random import stream
from arena.play.match import identity
from arena.results.database.record import GameRecord, ImprovementRecord, MoveRecord, Reason
from arena.results.database.store import Store
from arena.workers.machine import describe_run

CONFIG = {
    "game": "connect4(rows=4, columns=5)",
    "games": 6,
    "opening_plies": 2,
    "seed": 5,
    "agents": [
        {"agent": "uct(playouts=10)", "name": "strong"},
        {"agent": "random", "name": "middling"},
        {"agent": "flat(playouts=5)", "name": "weak"},
    ],
}


def store_run(folder, config=CONFIG, void=()):
    """Store a run whose moves are drawn by the games' seeds; agents report values and playouts.  Returns the folder.

    Games whose ids are in `void` count as hangs.
    """
    made = from_values(config)
    resolved, schedule = made.resolved(), Schedule(made.values)
    names = [entry["name"] for entry in resolved["agents"]]
    agents = [{"name": entry["name"], "spec": entry["agent"]} for entry in resolved["agents"]]
    with Store.create(folder, {"config": resolved, "machine": describe_run(made)}, agents) as store:
        while fixture := schedule.next():
            game = made.conditions[fixture.condition].game
            line = random_opening(game, resolved["seed"], fixture.opening, resolved["opening_plies"])
            store.add(_play(game, fixture, line, names, stream(fixture.seed, "moves"), fixture.id in void))
    return folder


def _play(game, fixture, line, names, rng, void):
    state, moves, decisions = game.initial(), [], []
    for move in line:
        moves.append(game.move_name(state, move))
        game.play(state, move)
    room = np.empty(game.max_moves, np.int32)
    while not void and not game.is_over(state):
        move, side, ply = int(game.random_move(state, room, rng)), int(game.player(state)), len(moves)
        moves.append(game.move_name(state, move))
        known = f"40 <i> 20 -0.25 {moves[-1]} 10 nan" if side == 0 else None
        effort = {"playouts": 10 + ply, "depth": ply % 4 + 1, "seconds": 0.01 * (side + 1)}
        if side >= 0:  # not chance
            decisions.append(MoveRecord(ply, side, moves[-1], 0.1 * side, candidates=known, **effort))
        game.play(state, move)
    score = None if void else float(game.score(state))
    return GameRecord(
        **identity(fixture, [names[seat] for seat in fixture.seats]),
        score=score,
        outcome=None if void else 0.5 if score == 0 else float(score > 0),
        reason=Reason.HANG if void else Reason.PLAYED_OUT,
        detail="it hung twice" if void else "",
        opening_moves=" ".join(moves[: len(line)]),
        moves=" ".join(moves[len(line) :]),
        plies=len(moves),
        seconds=0.25,
        decisions=tuple(decisions),
    )


ALONE = {
    "format": "single_player",
    "instances": ["samegame(rows=5, columns=5, colours=3)", "morpion"],
    "games": 2,
    "seed": 3,
    "budget": {"playouts": 10},
    "agents": [{"agent": "nmcs(level=1)", "name": "nested"}, {"agent": "random", "name": "chance"}],
}


def store_runs_alone(folder, config=ALONE):
    """The same for one player: a run's score was improved in steps, and its decisions expect that score."""
    made = from_values(config)
    resolved, schedule = made.resolved(), Schedule(made.values)
    names = [entry["name"] for entry in resolved["agents"]]
    agents = [{"name": entry["name"], "spec": entry["agent"]} for entry in resolved["agents"]]
    with Store.create(folder, {"config": resolved, "machine": describe_run(made)}, agents) as store:
        while fixture := schedule.next():
            game = made.conditions[fixture.condition].game
            record = _play(game, fixture, [], [*names, None], stream(fixture.seed, "moves"), False)
            steps = [ImprovementRecord(playouts, 0.01 * playouts, record.score * playouts / 8) for playouts in (2, 8)]
            store.add(replace(record, second=None, outcome=None, improvements=tuple(steps)))
    return folder
