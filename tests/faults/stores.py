"""Synthetic stores: as many games of tic-tac-toe as are asked for, of agents that never thought.

python -m tests.faults.stores FOLDER GAMES
"""

import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from arena import games
from arena.config.loading import from_values
from arena.formats.schedule import Schedule
from arena.play.match import identity
from arena.results.database.record import GameRecord, Reason
from arena.results.database.store import Store

AGENTS = 4
PAIRS = AGENTS * (AGENTS - 1) // 2
LINES = 2000  # different games, which come again and again


def configuration(each: int) -> dict:
    """A resolved configuration of a round robin with `each` games for each pair."""
    agents = [{"agent": "random", "name": f"random {i}"} for i in range(AGENTS)]
    return from_values({"game": "tictactoe", "games": each, "seed": 1, "agents": agents}).resolved()


def played(fixture, names, line) -> GameRecord:
    """The record of a fixture that went so."""
    moves, outcome, score = line
    return GameRecord(
        **identity(fixture, [names[seat] for seat in fixture.seats]),
        outcome=outcome,
        score=score,
        reason=Reason.PLAYED_OUT,
        detail="",
        opening_moves=" ".join(moves[:2]),
        moves=" ".join(moves[2:]),
        plies=len(moves),
        seconds=0.001,
    )


def thinking(record: GameRecord, decisions, improvements) -> GameRecord:
    """The same game, of agents that thought."""
    return replace(record, decisions=decisions, improvements=improvements)


def random_lines(count: int) -> list[tuple[list[str], float, float]]:
    """(names of moves, outcome, score) of random games."""
    chance, game, lines = random.Random(1), games.make("tictactoe"), []
    for _ in range(count):
        state, moves = game.initial(), []
        while not game.is_over(state):
            move = chance.choice(game.moves(state))
            moves.append(game.move_name(state, move))
            game.play(state, move)
        score = float(game.score(state))
        lines.append((moves, (score + 1) / 2, score))
    return lines


def records(resolved: dict) -> Iterator[GameRecord]:
    """All games of a configuration."""
    chance, lines, schedule = random.Random(2), random_lines(LINES), Schedule(resolved)
    names = [entry["name"] for entry in resolved["agents"]]
    while fixture := schedule.next():
        yield played(fixture, names, chance.choice(lines))


def write(folder: Path, games: int) -> None:
    """A store of at least so many games."""
    resolved = configuration(2 * -(-games // (2 * PAIRS)))
    agents = [{"name": entry["name"], "spec": entry["agent"]} for entry in resolved["agents"]]
    machine = {"source_digest": "synthetic"}
    with Store.create(folder, {"config": resolved, "machine": machine}, agents) as store:
        store.add_all(records(resolved))


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
