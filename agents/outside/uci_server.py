"""Our agents as UCI programs that listen while they think: `stop`, `isready` and `ponderhit` are heard at once."""

import ast
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise, takewhile
from typing import NamedTuple

import numpy as np

from arena.agents.core.agent import Agent, Budget, Decision, registry
from arena.agents.core.clock import OVERHEAD, Clock
from arena.agents.core.threads import Threaded
from arena.agents.outside import uci
from arena.agents.outside.among import Among
from arena.agents.outside.server import Over, Quit, Server, Wrong
from arena.agents.outside.thinking import Reporter, Thinking
from arena.agents.outside.uci import COLOURS, score_of_value
from arena.games.core.game import Game
from arena.games.core.shared.errors import UserError, listed
from arena.games.core.shared.parameters import parameters_of
from arena.games.core.shared.registry import WORDS, parse_spec, spell

Write = Callable[[str], object]

MOVE_OVERHEAD, CHESS960, MULTI_PV = "Move Overhead", "UCI_Chess960", "MultiPV"
THREADS = "Threads"
STANDARD = {"Hash": "table", THREADS: "workers"}  # names in UCI of parameters
MOST_LINES, MOST_SPIN, MOST_LIMIT = 256, 65536, 1 << 62
OF_GO = ("ponder", "wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime", "infinite")
ENDLESS = 1.0  # seconds of a budget that `control` makes endless


class Go(NamedTuple):
    """A request for a search."""

    budget: Budget
    endless: bool  # until `stop` or `ponderhit`, before which there is no `bestmove`
    moves: tuple[int, ...] = ()  # to search; empty: all


class UciServer(Server):
    """UCI with our names of moves; an agent without its own budget takes nodes, depth and times of `go`.

    It is prepared at `isready` or the first `go`, and again when an option has changed the agent.
    """

    def __init__(self, agent, game, seed):
        self.served, self.overhead, self.chess960, self.lines = game, OVERHEAD, False, 1
        self.fault = ""  # of the last `position`
        self.asked = Budget()  # of the last `go`, which its search may not have come to yet
        self.thinking, self.writing, self.prepared = Thinking(), threading.Lock(), False
        super().__init__(agent, game, seed)

    # -- While a search may be under way -------------------------------------------------------------------------

    def hear(self, line, write):
        def send(answer: str) -> None:
            with self.writing:
                write(answer)

        word, rest = _parted(line)
        if self.thinking.busy and self._heard_meanwhile(word, send):
            return
        self.thinking.join()
        if word == "go":
            self._start(rest, send)
            return
        for answer in self.answers(line):
            send(answer)

    def end(self):
        """Let a search end by itself, unless it has no end."""
        if not self.thinking.released.is_set():
            self.thinking.stop()
        self.thinking.join()

    def close(self):
        self.thinking.close()
        super().close()

    def _heard_meanwhile(self, word: str, send: Write) -> bool:
        """Whether nothing is left to do for a line that came during a search; others end it."""
        if word == "isready":
            send("readyok")
        elif word == "uci":
            for answer in self.answers(word):
                send(answer)
        elif word == "ponderhit":
            self.thinking.limit(None if self.own else self.asked.seconds)
        elif word in ("stop", "quit", "go", "position", "ucinewgame", "setoption"):
            self.thinking.stop()
            return word == "stop"
        return True

    def _start(self, rest: str, send: Write) -> None:
        try:
            go = self.request(rest)
        except (UserError, ValueError) as error:
            send(remark(error))
            send("bestmove 0000")
            return

        self.asked = go.budget

        def report(decision: Decision, seconds: float) -> None:
            for line in self.info_lines(decision, seconds):
                send(line)

        def work() -> None:
            for answer in self.searched(go):
                if answer.startswith("bestmove"):
                    self.thinking.released.wait()
                send(answer)

        self.thinking.start(work, go.endless, Reporter(lambda: self.player, report).look)

    # -- Lines that are answered at once ---------------------------------------------------------------------------

    def answers(self, line):
        try:
            yield from self._answers(*_parted(line))
        except (UserError, ValueError) as error:
            yield remark(error)

    def _answers(self, word, rest) -> Iterator[str]:
        if word == "quit":
            raise Quit
        if word == "uci":
            yield from (f"id name {self.agent}", "id author search-arena", *self._declared(), "uciok")
        elif word == "setoption":
            self._set_option(rest)
        elif word == "isready":
            self._prepare()
            yield "readyok"
        elif word == "ucinewgame":
            self.begin()
        elif word == "position":
            self._go_to(rest)
        elif word == "go":
            yield from self.searched(self.request(rest))

    def _go_to(self, rest: str) -> None:
        """The position of `position`; if that fails, there is none until the next one."""
        self.fault = f"the last position was refused: {' '.join(rest.split())[:200]}"
        start, _, moves = rest.partition("moves")
        if (game := self._game_from(" ".join(start.split()))) != self.game:
            self.game = game
            self.begin()
        self.follow(moves.split())
        self.fault = ""

    def _game_from(self, start: str) -> Game:
        if start in ("startpos", self.served.uci_start):
            return self.served
        kind, _, fen = start.partition(" ")
        game = self.served.from_pgn_tags({"FEN": fen} if kind == "fen" else {})
        if game == self.served:
            raise Wrong(f"position {start!r}: only startpos is known")
        return game

    def _prepare(self) -> None:
        """Compile, once for an agent; a failure shows in its search."""
        if self.prepare and not self.prepared:
            self.prepare(self.agent, self.game)
        self.prepared = True

    # -- Searches ---------------------------------------------------------------------------------------------------

    def request(self, rest: str) -> Go:
        """What the words after `go` ask for."""
        words = rest.split()
        side = int(self.position.side == 1)  # of dice, or after the end, nobody's clock is told
        budget = limit_of(words, self.agent, side, self.overhead)
        endless = "infinite" in words or "ponder" in words
        if not self.own and (not budget.given() or "infinite" in words) and "seconds" in self.agent.budgets:
            budget, endless = Budget(seconds=ENDLESS), True
        return Go(budget, endless, self._moves_of(words))

    def _moves_of(self, words: list[str]) -> tuple[int, ...]:
        """The moves after `searchmoves`, up to the next word of `go`."""
        if "searchmoves" not in words:
            return ()
        given, legal = words[words.index("searchmoves") + 1 :], self.legal()
        names = list(takewhile(lambda word: word not in OF_GO, given))
        if strange := [name for name in names if name not in legal]:
            raise Wrong(f"searchmoves {strange[0]!r}: is not a legal move; legal: {listed(legal)}")
        return tuple(dict.fromkeys(legal[name] for name in names))

    def searched(self, go: Go) -> Iterator[str]:
        """The lines about a search, which always end with one `bestmove`."""
        start = time.perf_counter()
        try:
            if self.fault:
                raise Wrong(self.fault)
            self._prepare()
            self.limited(go.budget)
            if go.moves:
                self._search_among(go.moves)
            decision = self.decide()
            yield from self.info_lines(decision, time.perf_counter() - start)
        except Over as over:
            yield from (f"info string {over}", "bestmove 0000")
            return
        except (UserError, ValueError) as error:
            yield from (remark(error), "bestmove 0000")
            return
        finally:
            if go.moves:
                self.leave()
        line = self.names_of(decision.principal_variation)
        reply = f" ponder {line[1]}" if len(line) > 1 else ""
        yield f"bestmove {self.names_of([decision.move])[0]}{reply}"

    def _search_among(self, moves: tuple[int, ...]) -> None:
        """The next decision is among these moves."""
        self.leave()
        self.player = Among(self.agent, self.game, self.agent.budget(self.limit), self.position.moves, moves)

    def info_lines(self, decision: Decision, seconds: float) -> Iterator[str]:
        """`info` of a decision: a line for each of the best moves, if several are wanted and known."""
        effort = [f"{kind} {getattr(decision, kind)}" for kind in ("depth", "nodes") if getattr(decision, kind)]
        if seconds > 0 and decision.nodes:
            effort += [f"nps {int(decision.nodes / seconds)}", f"time {int(1000 * seconds)}"]
        lines = self._best_lines(decision)
        for place, (value, moves) in enumerate(lines, 1):
            words = [*effort[:1], *([f"multipv {place}"] if self.lines > 1 else []), *effort[1:]]
            words += [] if value is None else [f"score {self._score(value, moves)}"]
            words += [f"pv {' '.join(names)}"] if (names := self.names_of(moves)) else []
            if words:
                yield f"info {' '.join(words)}"

    def _best_lines(self, decision: Decision) -> list[tuple[float | None, tuple[int, ...]]]:
        """(value, line) of the decision, then of the other moves with most playouts, or in the table's order."""
        value = None if decision.value is None else float(decision.value)
        lines = [(value, decision.principal_variation)]
        if self.lines > 1 and (known := decision.statistics) is not None:
            by_playouts = np.argsort(-known.playouts, kind="stable")
            ranked = range(len(known.moves)) if isinstance(self.player, Among) else by_playouts.tolist()
            others = [i for i in ranked if known.moves[i] != decision.move]
            lines += [(float(known.means[i]), (int(known.moves[i]),)) for i in others[: self.lines - 1]]
        return lines  # type: ignore[return-value]  # a mean is a value

    def _score(self, value: float, line: tuple[int, ...]) -> str:
        """`mate 2`, in moves of the mover, where the line ends the game as the value says; else centipawns."""
        game, state = self.game, self.position.state.copy()
        side = 1 if game.player(state) == 0 else -1
        for move in line:
            if not game.is_over(state):
                game.play(state, move)
        if abs(value) == 1 and game.is_over(state) and np.sign(game.score(state)) == side * value:
            return f"mate {(len(line) + 1) // 2 if value > 0 else -(len(line) // 2)}"
        return f"cp {score_of_value(value)}"

    # -- Names ------------------------------------------------------------------------------------------------------

    def made(self):
        return uci.spoken(self.position)[0]

    def legal(self):
        state = self.position.state
        return {self.name_of(state, move): move for move in self.game.moves(state)} | self._other_names()

    def _other_names(self) -> dict[str, int]:
        """Other names that are understood with UCI_Chess960: castling by the squares of the king."""
        state = self.position.state
        return {self.game.uci_name(state, move): move for move in self.game.moves(state)} if self.chess960 else {}

    def name_of(self, state, move):
        if self.chess960:
            from arena.games.chess import engine_name, position_of

            return engine_name(position_of(state), move, True)
        return self.game.uci_name(state, move)

    # -- Options ----------------------------------------------------------------------------------------------------

    def _declared(self) -> Iterator[str]:
        yield f"option name {MOVE_OVERHEAD} type spin default {1000 * OVERHEAD:g} min 0 max 10000"
        yield "option name Ponder type check default false"
        if self.agent.has_statistics():
            yield f"option name {MULTI_PV} type spin default 1 min 1 max {MOST_LINES}"
        if self.served.name == "chess":
            yield f"option name {CHESS960} type check default false"
        for name, parameter in self._parameters().items():
            value = getattr(self.agent, parameter)
            if name in STANDARD:
                yield f"option name {name} type spin default {max(1, int(value))} min 1 max {self._most(name)}"
            elif isinstance(value, bool):
                yield f"option name {name} type check default {str(value).lower()}"
            else:
                yield f"option name {name} type string default {_spelled(value)}"

    def _parameters(self) -> dict[str, str]:
        """The agent's parameters by the names of options; threads that serve solving alone are no Threads of UCI."""
        standard = {parameter: name for name, parameter in STANDARD.items()}
        if not isinstance(self.agent, Threaded):
            del standard[STANDARD[THREADS]]
        return {standard.get(field.name, field.name): field.name for field in parameters_of(type(self.agent))}

    def _most(self, name: str) -> int:
        return self.agent.most_workers if name == THREADS and isinstance(self.agent, Threaded) else MOST_SPIN

    def _set_option(self, rest: str) -> None:
        name, value = _parted(rest, r"(?:^|\s+)value(?:\s+|$)")
        name = " ".join(name.split()).removeprefix("name ")
        known = {option.lower(): parameter for option, parameter in self._parameters().items()}
        match name.lower():
            case "move overhead":
                self.overhead = _number(name, value, 0, 10_000) / 1000
            case "multipv" if self.agent.has_statistics():
                self.lines = _number(name, value, 1, MOST_LINES)
            case "uci_chess960" if self.served.name == "chess":
                self.chess960 = value.lower() == "true"
            case "ponder":
                pass
            case option if option in known:
                spin = next((one for one in STANDARD if one.lower() == option), None)
                self._change(known[option], str(_number(name, value, 1, self._most(spin))) if spin else value)
            case _:
                raise Wrong(f"there is no option {name!r}")

    def _change(self, parameter: str, text: str) -> None:
        """Another agent: the same with another parameter."""
        given = parse_spec(spell(self.agent))[2] | {parameter: _read(text)}
        agent = registry.make(f"{self.agent.name}({', '.join(f'{key}={value!r}' for key, value in given.items())})")
        if reason := agent.refuses(self.game):
            raise Wrong(reason)
        self.leave()
        self.agent, self.prepared = agent, False
        self.own = bool(agent.own_budget().given()) or not agent.budgets


def _parted(text: str, by: str = r"\s+") -> tuple[str, str]:
    """What is before the first blanks, or another pattern, and what is after them; "" if there is nothing."""
    before, after = [*re.split(by, text.strip(), maxsplit=1), ""][:2]
    return before, after


def remark(error: Exception) -> str:
    """An error as UCI can say it."""
    return f"info string error: {' '.join(str(error).split())}"


def _spelled(value) -> str:
    words = {None: "none", "": "<empty>"}
    return words[value] if value in (None, "") else str(value)


def _read(text: str):
    """A parameter's value, typed without quotes."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval(text)
    return "" if text == "<empty>" else text


def _number(name: str, text: str, low: int, high: int) -> int:
    if not text.isdecimal() or not low <= int(text) <= high:
        raise Wrong(f"{name} = {text!r}: it can be {low} to {high}")
    return int(text)


def _bounded(told: str | int, least: int = 0) -> int:
    """A limit of `go`; what is too little is the least that there is."""
    return max(least, min(MOST_LIMIT, int(told)))


def limit_of(words: list[str], agent: Agent, side: int, overhead: float = OVERHEAD) -> Budget:
    """The budget of `go`; nodes are playouts for an agent that counts these.  `side` is to move."""
    given = dict(pairwise(words))  # words such as `ponder` have no number
    limits: dict[str, int | float | Clock] = {}
    own, other = (f"{COLOURS[one]}time" for one in (side, 1 - side))
    for word, kind in (("nodes", "nodes"), ("depth", "depth"), ("movetime", "seconds")):
        with suppress(ValueError):
            if word in given:
                limits[kind] = _bounded(given[word], 1) / 1000 if word == "movetime" else _bounded(given[word], 1)
    with suppress(ValueError):
        if "mate" in given and "depth" in agent.budgets:
            limits["depth"] = _bounded(2 * int(given["mate"]) - 1, 1)
    with suppress(ValueError):
        if own in given and "seconds" not in limits:
            opponent = _bounded(given[other]) / 1000 if other in given else None
            increment = _bounded(given.get(f"{own[0]}inc", "0")) / 1000
            moves = _bounded(given["movestogo"]) if "movestogo" in given else None
            limits["clock"] = Clock(_bounded(given[own]) / 1000, increment, opponent, moves, overhead)
    if "nodes" in limits and "nodes" not in agent.budgets:
        limits["playouts"] = limits.pop("nodes")
    return Budget(**limits)  # type: ignore[arg-type]  # playouts, nodes and depth are whole
