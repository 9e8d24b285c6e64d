"""A process that measures playouts and searches on request, in the version of the project that starts it.

Requests are lines of JSON on standard input, answers lines of JSON on standard output:

{"game": spec, "agent": spec or null, "seconds": time of all its measurements} prepares; the answer is
    {"game", "agent": full names, "unit", "compile_seconds", "signature", "lanes": of the game's playouts, 0 if none},
    {"refused": reason} if the agent does not play the game, or
    {"failure": reason} if something fails, such as the compilation of a kernel
{"chunk": true} measures once what was prepared; the answer is
    {"units": playouts or nodes, "plies": of random playouts, "wall": seconds, "cpu": seconds}

`arena bench` starts it in its own version and the one to compare with, so it uses only what all versions have:
games.make, games.playouts, agents.make, Agent.refuses, Agent.choose, Agent.player and Player.choose.
"""

import json
import os
import sys
import time

CHUNKS = 5  # measurements behind a median speed
SIGNED = 1000  # playouts whose plies are a game's signature
MOST = 200  # characters of a failure's message


class Playouts:
    """Random playouts from the initial position."""

    unit, agent = "playouts", None

    def __init__(self, game):
        self.game = game

    def signature(self) -> int:
        """The plies of the playouts of seed 1."""
        from arena import games

        return int(games.playouts(self.game, SIGNED, seed=1).plies)

    def work(self, n: int) -> tuple[int, int]:
        """Play n playouts: (playouts, plies)."""
        from arena import games

        return n, int(games.playouts(self.game, n, seed=1).plies)


class Searches:
    """Searches of the initial position by one player, with seeds 1, 2, ..."""

    def __init__(self, game, agent):
        self.game, self.agent, self.player = game, agent, agent.player(game)
        self.unit = "playouts" if "playouts" in agent.budgets else "nodes"

    def signature(self) -> int:
        """Nodes, visits of the chosen move, and playouts at each improvement, for one search with seed 1."""
        decision = self.agent.choose(self.game, self.game.initial(), seed=1)
        table = decision.statistics
        visits = 0 if table is None else int(table.playouts[table.moves == decision.move].sum())
        return int((decision.nodes or 0) + visits + sum(one.playouts for one in decision.improvements))

    def work(self, n: int) -> tuple[int, int]:
        """Search n times: (playouts or nodes, 0)."""
        return sum(self._search(seed + 1) for seed in range(n)), 0

    def _search(self, seed: int) -> int:
        from arena.games.core.random import stream

        # a player plays the sequence it has found before it searches again
        player = self.player if self.game.players == 2 else self.agent.player(self.game)
        return getattr(player.choose(self.game.initial(), stream(seed)), self.unit) or 0


class Meter:
    """Measures one subject in chunks of about `seconds` / CHUNKS each."""

    def __init__(self, subject, seconds: float):
        start = time.perf_counter()
        subject.work(1)
        self.compile_seconds = time.perf_counter() - start
        self.subject, self.signature, self.count = subject, subject.signature(), 1
        while True:
            start = time.perf_counter()
            subject.work(self.count)
            took = time.perf_counter() - start
            if took >= seconds / CHUNKS / 2:
                break
            self.count *= 2 if took > seconds / CHUNKS / 16 else 8

    def chunk(self) -> dict:
        """One measurement."""
        start, cpu_start = time.perf_counter(), time.thread_time()
        units, plies = self.subject.work(self.count)
        wall, cpu = time.perf_counter() - start, time.thread_time() - cpu_start
        return {"units": units, "plies": plies, "wall": wall, "cpu": max(cpu, 1e-9)}


def prepared(request: dict) -> tuple[Meter | None, dict]:
    """(meter, answer); no meter if the request's subject cannot be measured."""
    from arena import agents, games

    try:
        game = games.make(request["game"])
        agent = agents.make(request["agent"]) if request["agent"] else None
        if agent is not None and (reason := agent.refuses(game)):
            return None, {"refused": reason}
        meter = Meter(Playouts(game) if agent is None else Searches(game, agent), request["seconds"])
    except Exception as error:  # a row of the table, too
        return None, {"failure": failure_in_words(error)}
    names = {"game": str(game), "agent": None if agent is None else str(agent)}
    return meter, names | {
        "unit": meter.subject.unit,
        "compile_seconds": meter.compile_seconds,
        "signature": meter.signature,
        "lanes": getattr(game, "lanes", 0),
    }


def failure_in_words(error: Exception) -> str:
    """The type of an error and its message, in one short line."""
    lines = [line.strip() for line in str(error).splitlines()]
    message = " ".join(line for line in lines if line and not line.startswith("Failed in nopython mode"))
    return f"{type(error).__name__}: {message[:MOST]}{'...' if len(message) > MOST else ''}"


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # other prints must not mix with the answers
    meter: Meter | None = None
    for line in sys.stdin:
        request = json.loads(line)
        if "chunk" in request:
            answer = meter.chunk() if meter else {"failure": "nothing is prepared"}
        else:
            meter, answer = prepared(request)
        try:
            print(json.dumps(answer), file=answers, flush=True)
        except BrokenPipeError:
            os._exit(0)  # the client has gone; an ordinary exit would write the answer again


if __name__ == "__main__":
    main()
