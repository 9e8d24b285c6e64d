"""Tests a program: asks for moves, plays a game with it, and reports faults and how to fix them."""

import time
from collections.abc import Iterator
from typing import NamedTuple

from arena.agents.core.agent import IllegalAnswer, OutOfTime, Resigned, closing
from arena.agents.outside.external import Engines, External
from arena.agents.outside.process import EngineError
from arena.games.core.game import CHANCE, Game
from arena.games.core.play.in_progress import GameInProgress
from arena.games.core.random import random_below, stream

PATIENT = 10.0  # seconds for a program to end by itself, however busy the machine is
MENDS = {
    IllegalAnswer: {
        "json": "answer with one of `legal`, letter by letter",
        "gtp": "keep its board by boardsize, clear_board and play, and see how the game names its vertices",
        "uci": "play `position startpos moves ...` from the beginning, and answer with the game's name of a move",
    },
    OutOfTime: {
        "json": "stop before `seconds` of `budget` are over, and flush the answer",
        "gtp": "know time_settings, or be started with a quicker level",
        "uci": "stop after movetime milliseconds, and flush the answer",
    },
}


class Finding(NamedTuple):
    """The result of one test."""

    test: str
    sound: bool
    text: str
    mend: str = ""


def check_engine(agent: External, game: Game, seed: int = 1) -> Iterator[Finding]:
    """The findings, one after another; the program is restarted after each failure.

    agent: with a budget that its protocol can express; game: one that the agent does not refuse
    """
    greeting = ProgramTest(agent, "hello").finding(lambda: _greeted(agent))
    yield greeting
    if greeting.sound:
        for name, position in positions(game, seed).items():
            yield ProgramTest(agent, name).finding(lambda position=position: _moved(agent, position))
        yield ProgramTest(agent, "a game").finding(lambda: _played(agent, game, seed))
        yield ProgramTest(agent, "good-bye").finding(lambda: _ended(agent))
    Engines.close()


class ProgramTest(NamedTuple):
    """One test of a program."""

    agent: External
    name: str

    def finding(self, action) -> Finding:
        try:
            return Finding(self.name, True, action())
        except EngineError as error:
            return Finding(self.name, False, str(error), error.mend)
        except Resigned:
            return Finding(self.name, True, "resigned, which costs the game")
        except (IllegalAnswer, OutOfTime) as error:
            return Finding(self.name, False, str(error), MENDS[type(error)].get(self.agent.protocol, ""))


def positions(game: Game, seed: int) -> dict[str, GameInProgress]:
    """The first position with a player to move, one half way through a random game, and its last one."""
    position, rng, decisions = GameInProgress(game), stream(seed, "positions"), list[int]()
    while position.legal:
        if position.side != CHANCE:
            decisions.append(len(position.moves))
        moves = list(position.legal.values())
        position.push(moves[int(random_below(rng, len(moves)))])
    chosen = sorted({decisions[0], decisions[len(decisions) // 2], decisions[-1]})
    began = {ply: GameInProgress(game, position.moves[:ply]) for ply in chosen}
    return {f"after {ply} moves" if ply else "the beginning": one for ply, one in began.items()}


def _greeted(agent) -> str:
    start = time.perf_counter()
    engine = Engines.take(agent)
    Engines.give_back(agent, engine)
    return f"{' '.join(engine.identity).strip() or 'no name'}, in {1000 * (time.perf_counter() - start):.1f} ms"


def _moved(agent, position) -> str:
    with closing(agent.player(position.game)) as player:
        player.start(position.game, position.state, position.moves)
        start = time.perf_counter()
        decision = player.choose(position.state.copy(), stream(0))
        seconds = time.perf_counter() - start
        player.played(decision.move)
    numbers = {kind: getattr(decision, kind) for kind in ("value", "playouts", "nodes", "depth")}
    words = "".join(f", {kind} {number}" for kind, number in numbers.items() if number is not None)
    limit = agent.budget().seconds
    late = f": late, it has {limit:g} s, and lives by its margin" if limit is not None and seconds > limit else ""
    name = position.game.move_name(position.state, decision.move)
    return f"{name}{words}, in {1000 * seconds:.1f} ms{late}"


def _played(agent, game, seed) -> str:
    """The program makes every other decision; all else is random."""
    position, rng, decisions = GameInProgress(game), stream(seed, "game"), 0
    with closing(agent.player(game)) as player:
        player.start(game, position.state, [])
        while position.legal:
            moves = list(position.legal.values())
            move = moves[int(random_below(rng, len(moves)))]
            if position.side != CHANCE:
                decisions += 1
                if decisions % 2:
                    move = player.choose(position.state.copy(), rng).move
            position.push(move)
            player.played(move)
    return f"{len(position.moves)} moves"


def _ended(agent) -> str:
    engine = Engines.take(agent)
    start = time.perf_counter()
    engine.close(PATIENT)
    seconds = time.perf_counter() - start
    if seconds > PATIENT:
        raise EngineError(
            f"has not ended after {seconds:.1f} s, and was killed", "end at `quit`, or at the end of its input"
        )
    return f"in {1000 * seconds:.1f} ms"
