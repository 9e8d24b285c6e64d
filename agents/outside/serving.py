"""The other side: our agents answer GTP, UCI or JSON lines, for other people's arenas and boards.

    serve(agents.make("uct(seconds=1)"), games.make("go(size=9)"), "gtp", sys.stdin, sys.stdout.write)

By JSON lines and GTP requests are answered one after another: an agent that thinks reads on when it has moved.  By UCI
it listens while it thinks.
"""

import functools
import json
from collections.abc import Callable, Iterable

from arena.agents.core.agent import Agent, Budget, Decision
from arena.agents.core.clock import Clock
from arena.agents.outside.gtp_server import GtpServer
from arena.agents.outside.server import Quit, Server, Wrong
from arena.agents.outside.uci_server import UciServer
from arena.games.core.game import Game
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.registry import describes


def serve(
    agent: Agent,
    game: Game,
    protocol: str,
    lines: Iterable[str],
    write: Callable[[str], object],
    seed: int = 0,
    prepare: Callable[[Agent, Game], object] | None = None,
) -> None:
    """Answer every line until one says quit, or there are no more; Unsuited if the agent cannot play the game.

    prepare: called with agent and game before the first search
    """
    server = SERVERS[protocol](agent, game, seed)
    server.prepare = prepare
    try:
        for line in lines:
            server.hear(line.strip(), lambda answer: write(answer + "\n"))
        server.end()
    except Quit:
        pass
    finally:
        server.close()


class JsonServer(Server):
    """JSON lines, as docs/engines.md specifies them."""

    def answers(self, line):
        try:
            request = json.loads(line)
            if not isinstance(request, dict):
                raise Wrong("a request is a JSON object")
            answer = self._answer(request)
            yield json.dumps({"id": request["id"], **answer} if "id" in request else answer)
        except KeyError as error:
            yield json.dumps({"error": f"the request lacks {error}"})
        except (UserError, TypeError, ValueError, RecursionError) as error:
            yield json.dumps({"error": str(error)})

    def _answer(self, request) -> dict:
        kind = request["type"]
        if kind == "hello":
            return {"name": str(self.agent), "version": self.version}
        if kind not in ("new_game", "move"):
            return {}
        self.check_game(str(request["game"]))
        if kind == "new_game":
            self.begin()
        table = request["budget"]
        clock = {"clock": Clock(**table["clock"])} if "clock" in table else {}
        self.limited(Budget(**table | clock))
        self.follow(request["moves"])
        return _described(self.decide(request.get("seed")), self.names_of) if kind == "move" else {}

    @functools.cache  # noqa: B019  # a server lives as long as its process
    def check_game(self, spec: str) -> None:
        if not describes(spec, self.game):
            raise Wrong(f"{spec!r} is to be played, and {str(self.game)!r} is served")


def _described(decision: Decision, names_of) -> dict:
    numbers = {kind: getattr(decision, kind) for kind in ("value", "playouts", "nodes", "depth")}
    given = {kind: number if kind == "value" else int(number) for kind, number in numbers.items() if number is not None}
    move = int(decision.move)
    line = names_of(decision.principal_variation or (move,))
    return {"move": names_of([move])[0], **given, "line": line}


SERVERS: dict[str, type[Server]] = {"json": JsonServer, "gtp": GtpServer, "uci": UciServer}
