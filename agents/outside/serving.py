"""The other side: our agents answer GTP, UCI or JSON lines, for other people's arenas and boards.

    serve(agents.make("uct(seconds=1)"), games.make("go(size=9)"), "gtp", sys.stdin, sys.stdout.write)

Requests are answered one after another: an agent that thinks reads on when it has moved.
"""

import importlib.metadata
import json
import logging
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

from arena.agents.core.agent import Agent, Budget, Decision, Player
from arena.agents.core.clock import OVERHEAD, Clock
from arena.agents.outside import uci
from arena.agents.outside.gtp import COLOURS, SPEECHES, Gtp
from arena.agents.outside.protocol import Position
from arena.agents.outside.uci import COLOURS as UCI_COLOURS
from arena.agents.outside.uci import score_of_value
from arena.games.core.errors import UserError, listed
from arena.games.core.game import Game
from arena.games.core.random import stream

log = logging.getLogger("agents.serving")


def serve(agent: Agent, game: Game, protocol: str, lines: Iterable[str], write: Callable[[str], object], seed=0):
    """Answer every line until one says quit; Unsuited if the agent cannot play the game."""
    server = SERVERS[protocol](agent, game, seed)
    try:
        for line in lines:
            for answer in server.answers(line.strip()):
                write(answer + "\n")
    except Quit:
        pass
    finally:
        server.leave()


class Quit(Exception):
    """The other side has ended the conversation."""


class Wrong(UserError):
    """A request cannot be answered; the message says why."""


class Over(Wrong):
    """A move is requested after the end of the game."""


class Server:
    """One game after another, of one agent."""

    def __init__(self, agent: Agent, game: Game, seed: int):
        self.agent, self.game, self.seed = agent, game, seed
        self.own = bool(agent.own_budget().given()) or not agent.budgets
        self.limit = Budget()
        self.player: Player | None = None  # once a decision is asked for
        if reason := agent.refuses(game):
            raise Wrong(reason)
        self.version = _version()
        self.begin()

    def answers(self, line: str) -> Iterator[str]:
        """The answers to a line."""
        raise NotImplementedError

    def begin(self, names: Iterable[str] = ()) -> None:
        """Go to a position from the beginning; the next player knows nothing of earlier games."""
        self.leave()
        self.position = Position(self.game)
        for name in names:
            self.make(name)

    def leave(self) -> None:
        if self.player:
            player, self.player = self.player, None
            player.close(None)

    def make(self, name: str) -> None:
        """Make the move with that name; Wrong if there is none."""
        legal = self.legal()
        if name not in legal:
            raise Wrong(f"{name!r} is not a legal move; legal: {listed(legal)}")
        self.position.push(legal[name])
        if self.player:
            self.player.played(self.position.moves[-1])

    def follow(self, names: list[str]) -> None:
        """Go to the position after these moves; the player goes on if they continue its game."""
        made = self.made()
        known = len(made)
        if names[:known] == made:
            for name in names[known:]:
                self.make(name)
        else:
            self.begin(names)

    def limited(self, budget: Budget) -> None:
        """Set the budget of the next decisions, unless the agent has its own."""
        if self.own or budget == self.limit:
            return
        if self.player and self.limit.clock and budget.clock:
            self.player.allot(self.agent.budget(budget))
        else:
            self.leave()
        self.limit = budget

    def decide(self, seed: int | None = None) -> Decision:
        """The agent's decision; without a seed, the same game gives the same decisions."""
        if self.game.is_over(self.position.state):
            raise Over("the game is over")
        try:
            if self.player is None:
                self.player = self.agent.player(self.game, self.limit)
                self.player.start(self.game, self.position.state.copy(), self.position.moves)
            rng = stream(self.seed, len(self.position.moves)) if seed is None else stream(seed)
            return self.player.choose(self.position.state.copy(), rng)
        except UserError:
            raise
        except Exception as error:  # not the request's fault
            self.player = None
            log.exception("%s failed", self.agent)
            raise Wrong(f"{self.agent} failed: {type(error).__name__}: {error}") from error

    def made(self) -> list[str]:
        """The moves so far, by the protocol's names."""
        return self.position.names

    def legal(self) -> dict[str, int]:
        return self.position.legal

    def name_of(self, state, move: int) -> str:
        return self.game.move_name(state, move)

    def names_of(self, moves: Iterable[int]) -> list[str]:
        """The names of moves from the position on, up to the first illegal one."""
        state, names = self.position.state.copy(), []
        for move in map(int, moves):
            if move not in self.game.moves(state):
                break
            names.append(self.name_of(state, move))
            self.game.play(state, move)
        return names


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
        if request["game"] != str(self.game):
            raise Wrong(f"{request['game']!r} is to be played, and {str(self.game)!r} is served")
        if kind == "new_game":
            self.begin()
        table = request["budget"]
        clock = {"clock": Clock(**table["clock"])} if "clock" in table else {}
        self.limited(Budget(**table | clock))
        self.follow(request["moves"])
        return _described(self.decide(request.get("seed")), self.names_of) if kind == "move" else {}


def _described(decision: Decision, names_of) -> dict:
    numbers = {kind: getattr(decision, kind) for kind in ("value", "playouts", "nodes", "depth")}
    given = {kind: number if kind == "value" else int(number) for kind, number in numbers.items() if number is not None}
    move = int(decision.move)
    line = names_of(decision.principal_variation or (move,))
    return {"move": names_of([move])[0], **given, "line": line}


OVERHEAD_OPTION = "Move Overhead"


class UciServer(Server):
    """UCI with our names of moves; an agent without its own budget takes nodes, depth and times of `go`."""

    def __init__(self, agent, game, seed):
        self.served, self.overhead = game, OVERHEAD
        super().__init__(agent, game, seed)

    def made(self):
        return uci.spoken(self.position)[0]

    def legal(self):
        state = self.position.state
        return {self.name_of(state, move): move for move in self.game.moves(state)}

    def name_of(self, state, move):
        return self.game.uci_name(state, move)

    def answers(self, line):
        try:
            yield from self._answers(*line.partition(" ")[::2])
        except (UserError, ValueError) as error:
            yield f"info string error: {' '.join(str(error).split())}"

    def _answers(self, word, rest):
        if word == "quit":
            raise Quit
        if word == "uci":
            yield from (f"id name {self.agent}", "id author search-arena")
            yield from (f"option name {OVERHEAD_OPTION} type spin default {1000 * OVERHEAD:g} min 0 max 10000", "uciok")
        elif word == "setoption":
            self._set_option(rest)
        elif word == "isready":
            yield "readyok"
        elif word == "ucinewgame":
            self.begin()
        elif word == "position":
            start, _, moves = rest.partition("moves")
            if (game := self._game_from(" ".join(start.split()))) != self.game:
                self.game = game
                self.begin()
            self.follow(moves.split())
        elif word == "go":
            self.limited(_limit(rest.split(), self.agent, self.position.side, self.overhead))
            yield from self._moved()

    def _set_option(self, rest: str) -> None:
        name, _, value = rest.removeprefix("name ").partition(" value ")
        if name.strip().lower() != OVERHEAD_OPTION.lower():
            raise Wrong(f"there is no option {name.strip()!r}")
        if not value.strip().isdecimal() or int(value) > 10_000:
            raise Wrong(f"{OVERHEAD_OPTION} = {value.strip()!r}: it can be 0 to 10000 milliseconds")
        self.overhead = int(value) / 1000

    def _moved(self):
        try:
            decision = self.decide()
        except Over as over:
            yield from (f"info string {over}", "bestmove 0000")  # every search must end with one
            return
        info = [f"{kind} {getattr(decision, kind)}" for kind in ("depth", "nodes") if getattr(decision, kind)]
        if decision.value is not None:
            info.append(f"score cp {score_of_value(float(decision.value))}")
        if line := self.names_of(decision.principal_variation):
            info.append(f"pv {' '.join(line)}")
        if info:
            yield f"info {' '.join(info)}"
        yield f"bestmove {self.names_of([decision.move])[0]}"

    def _game_from(self, start: str) -> Game:
        if start in ("startpos", self.served.uci_start):
            return self.served
        kind, _, fen = start.partition(" ")
        game = self.served.from_pgn_tags({"FEN": fen} if kind == "fen" else {})
        if game == self.served:
            raise Wrong(f"position {start!r}: only startpos is known")
        return game


def _limit(words: list[str], agent: Agent, side: int, overhead: float = OVERHEAD) -> Budget:
    """The budget of `go`; nodes are playouts for an agent that counts these.  `side` is to move."""
    given = dict(pairwise(words))  # words such as `ponder` have no number
    limits: dict[str, int | float | Clock] = {}
    own, other = (f"{UCI_COLOURS[one]}time" for one in (side, 1 - side))
    with suppress(ValueError):
        for word, kind in (("nodes", "nodes"), ("depth", "depth"), ("movetime", "seconds")):
            if word in given:
                limits[kind] = int(given[word]) / 1000 if word == "movetime" else int(given[word])
    with suppress(ValueError):
        if own in given and "seconds" not in limits:
            opponent = int(given[other]) / 1000 if other in given else None
            increment = max(0, int(given.get(f"{own[0]}inc", 0))) / 1000
            moves = int(given["movestogo"]) if "movestogo" in given else None
            limits["clock"] = Clock(int(given[own]) / 1000, increment, opponent, moves, overhead)
    if "nodes" in limits and "nodes" not in agent.budgets:
        limits["playouts"] = limits.pop("nodes")
    return Budget(**limits)  # type: ignore[arg-type]  # playouts, nodes and depth are whole


class GtpServer(Server):
    """GTP 2 for games with vertices; size and komi can be set if the game has them."""

    def __init__(self, agent, game, seed):
        if reason := Gtp.refuses(game):
            raise Wrong(reason)
        agent.budget()  # the protocol cannot give one
        self.speech = SPEECHES[game.name]
        super().__init__(agent, game, seed)

    def answers(self, line):
        words = line.partition("#")[0].split()
        if not words:
            return
        number = words.pop(0) if words[0].isdecimal() else ""
        command, arguments = (words[0], words[1:]) if words else ("", [])
        try:
            if command not in self.commands():
                raise Wrong("unknown command")
            answer = self.commands()[command](*arguments)
            yield f"={number} {answer or ''}\n"
        except TypeError:
            yield f"?{number} syntax error\n"
        except (UserError, ValueError) as error:
            yield f"?{number} {' '.join(str(error).split())}\n"
        if command == "quit":
            raise Quit

    def commands(self) -> dict[str, Callable]:
        return {name.removeprefix("gtp_"): getattr(self, name) for name in dir(self) if name.startswith("gtp_")}

    def gtp_protocol_version(self):
        return "2"

    def gtp_name(self):
        return str(self.agent)

    def gtp_version(self):
        return self.version

    def gtp_known_command(self, command):
        return str(command in self.commands()).lower()

    def gtp_list_commands(self):
        return "\n".join(self.commands())

    def gtp_boardsize(self, size, *_):
        of_a_rectangle = vars(self.game).keys() & {"rows", "columns"}  # they would override the size
        self._become(size=int(size), **dict.fromkeys(of_a_rectangle, 0))

    def gtp_komi(self, komi):
        if not math.isfinite(points := float(komi)):
            raise Wrong(f"komi = {komi}: it must be a finite number")
        self._become(komi=points)

    def gtp_clear_board(self):
        self.begin()

    def gtp_play(self, colour, vertex):
        self._check_turn(colour)
        self.make(self.speech.name(vertex))

    def gtp_genmove(self, colour):
        self._check_turn(colour)
        (name,) = self.names_of([self.decide().move])
        self.make(name)
        return self.speech.vertex(name)

    def gtp_undo(self):
        if not self.position.names:
            raise Wrong("cannot undo")
        self.begin(self.position.names[:-1])

    def gtp_showboard(self):
        return "\n" + self.game.render(self.position.state)

    def gtp_final_score(self):
        score = float(self.game.score(self.position.state))
        return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"

    def gtp_quit(self, *_):
        """Nothing: also for times, since the agent's own budget counts."""

    gtp_time_settings = gtp_time_left = gtp_quit

    def _become(self, **parameters):
        try:
            self.game = replace(self.game, **parameters)
        except TypeError:
            raise Wrong(f"{self.game} has no {' '.join(parameters)}") from None
        self.begin()

    def _check_turn(self, colour):
        if self.position.legal and colour[:1].lower() != COLOURS[self.position.side]:
            raise Wrong(f"it is not the turn of {colour}")


SERVERS = {"json": JsonServer, "gtp": GtpServer, "uci": UciServer}


def _version() -> str:
    try:
        return f"search-arena {importlib.metadata.version('search-arena')}"
    except importlib.metadata.PackageNotFoundError:
        return "search-arena"
