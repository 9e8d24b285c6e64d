"""GTP 2 for games with vertices, with clocks, handicaps, and analysis for boards such as Sabaki and Lizzie."""

import inspect
import math
import time
from collections.abc import Callable
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np

from arena.agents.core.agent import Budget, Decision
from arena.agents.core.clock import Clock
from arena.agents.outside.gtp import COLOURS, SPEECHES, Gtp
from arena.agents.outside.server import Quit, Server, Wrong
from arena.agents.outside.thinking import Reporter, Thinking
from arena.games.core.boards.drawing import read_board
from arena.games.core.game import Game
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.files import read_bounded

PASS = "pass"
LETTERS = "abcdefghjklmnopqrstuvwxyz"
ENDLESS = 1.0  # seconds of a budget that `control` makes endless
EVERY = 1.0  # seconds between lines of an analysis
ANALYSE = "lz-analyze"
# Hoshi points by (column, row): 0 low, 1 middle, 2 high, in the order in which handicap stones are placed
HOSHI = ((0, 0), (2, 2), (0, 2), (2, 0), (0, 1), (2, 1), (1, 0), (1, 2))


class Times(NamedTuple):
    """The times of `time_settings`: a main time, then periods of some moves."""

    main: float
    period: float
    moves: int  # in a period; 0: none

    def at_first(self) -> tuple[float, int]:
        """(seconds, moves to make in them), 0 for all that are left."""
        return (self.main, 0) if self.main > 0 else (self.period, self.moves)


class GtpServer(Server):
    """Size and komi can be set if the game has them; the agent's own budget counts, or else the clock's time.

    A player who moves twice lets the other one pass, where that is a move.
    """

    def __init__(self, agent, game, seed):
        if reason := Gtp.refuses(game):
            raise Wrong(reason)
        if "seconds" not in agent.budgets:
            agent.budget()  # the protocol has times alone
        self.speech, self.thinking = SPEECHES[game.name], Thinking()
        self.let: list[int] = []  # plies at which a player was let pass
        self.times: Times | None = None
        self.left: dict[int, tuple[float, int]] = {}  # by player: seconds, and the moves to make in them
        super().__init__(agent, game, seed)

    # -- Lines ------------------------------------------------------------------------------------------------------

    def hear(self, line, write):
        if self.thinking.thread is not None:  # any line ends an analysis
            self.thinking.stop()
            self.thinking.join()
            write("")
        words = line.partition("#")[0].split()
        number = words.pop(0) if words[:1] and words[0].isdecimal() else ""
        if words[:1] == [ANALYSE] and self.can_analyse():
            self._analyse(words, number, write)
            return
        super().hear(line, write)

    def begin(self, names=()):
        """Passes that are taken back, whatever for, are nobody's any more."""
        names = list(names)
        self.let = [ply for ply in self.let if ply < len(names)]
        super().begin(names)

    def end(self):
        self.thinking.close()

    def close(self):
        self.thinking.close()
        super().close()

    def answers(self, line):
        words = line.partition("#")[0].split()
        if not words:
            return
        number = words.pop(0) if words[0].isdecimal() else ""
        command, arguments = (words[0], words[1:]) if words else ("", [])
        before = self.game, list(self.position.names), self.let
        try:
            if command not in self.commands():
                raise Wrong("unknown command")
            called = self.commands()[command]
            if not _takes(called, arguments):
                raise Wrong("syntax error")
            yield f"={number} {called(*arguments) or ''}\n"
        except (UserError, ValueError) as error:
            self._restore(*before)
            yield f"?{number} {' '.join(str(error).split())}\n"
        if command == "quit":
            raise Quit

    def _restore(self, game: Game, names: list[str], let: list[int]) -> None:
        """A command that is refused changes nothing."""
        if (self.game, self.position.names) != (game, names):
            self.game = game
            self.begin(names)
        self.let = let

    def commands(self) -> dict[str, Callable]:
        known = {name.removeprefix("gtp_"): getattr(self, name) for name in dir(self) if name.startswith("gtp_")}
        return known | ({ANALYSE: self.gtp_quit} if self.can_analyse() else {})

    # -- About the program ------------------------------------------------------------------------------------------

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

    def gtp_quit(self, *_):
        """Nothing."""

    # -- The board --------------------------------------------------------------------------------------------------

    def gtp_boardsize(self, size, *_):
        of_a_rectangle = vars(self.game).keys() & {"rows", "columns"}  # they would override the size
        self._become(size=int(size), **dict.fromkeys(of_a_rectangle, 0))

    def gtp_komi(self, komi):
        if not math.isfinite(points := float(komi)):
            raise Wrong(f"komi = {komi}: it must be a finite number")
        self._become(komi=points)

    def gtp_clear_board(self):
        self.begin()
        if self.times:
            self.left = dict.fromkeys((0, 1), self.times.at_first())

    def gtp_play(self, colour, vertex):
        self._let_pass(colour)
        self.make(self.speech.name(vertex))

    def gtp_undo(self):
        if not self.position.names:
            raise Wrong("cannot undo")
        left = self.position.names[:-1]
        if len(left) - 1 in self.let:
            left.pop()  # nobody but the server had made it
        self.begin(left)

    def gtp_loadsgf(self, file, move="0"):
        """The position before a move of a file's first game, with its size and komi, or at its end."""
        from arena.results.files.decoding import declared
        from arena.results.files.sgf import first_game

        try:
            self.game, start, names = first_game(declared(read_bounded(file)), self.game)
        except (OSError, ValueError) as error:
            raise Wrong(f"cannot load file: {error}") from None
        self.begin([*start, *(names[: int(move) - 1] if int(move) > 0 else names)])

    def gtp_showboard(self):
        return "\n" + self.game.render(self.position.state)

    def gtp_final_score(self):
        score = float(self.game.score(self.position.state))
        return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"

    def gtp_final_status_list(self, status):
        """All stones count as alive, here as in the score."""
        if status not in ("alive", "dead", "seki"):
            raise Wrong(f"{status}: it can be alive, dead or seki")
        return self._stones() if status == "alive" else ""

    def gtp_fixed_handicap(self, stones):
        points = self._handicap_points(int(stones))
        self._place(points)
        return " ".join(points)

    gtp_place_free_handicap = gtp_fixed_handicap

    def gtp_set_free_handicap(self, *vertices):
        if len(vertices) < 2:
            raise Wrong("a handicap is of two stones or more")
        if PASS in map(self.speech.name, vertices):
            raise Wrong("bad vertex list: a pass is no stone")
        self._place(vertices)

    def _place(self, vertices) -> None:
        """The first player's stones, between which the second passes."""
        if self.position.names:
            raise Wrong("board not empty")
        for vertex in vertices:
            self.gtp_play(COLOURS[0], vertex)

    def _handicap_points(self, stones: int) -> list[str]:
        """The points of a fixed handicap, by GTP's rule for each size; Wrong if there are fewer."""
        size = int(vars(self.game)["size"])
        edge = 3 if size >= 13 else 2
        lines = (edge, size // 2, size - 1 - edge)
        most = 0 if size < 7 else 4 if size % 2 == 0 or size == 7 else 9
        if not 2 <= stones <= most:
            raise Wrong(
                f"{stones} stones: on {size}x{size} a handicap has 2 to {most}" if most else "the board is small"
            )
        corners, sides = HOSHI[:4], HOSHI[4:]
        chosen = [*corners[:stones], *sides[: 2 * ((stones - 4) // 2)]] if stones > 4 else [*corners[:stones]]
        chosen += [(1, 1)] if stones > 4 and stones % 2 else []
        return [f"{LETTERS[lines[column]].upper()}{lines[row] + 1}" for column, row in chosen]

    def _stones(self) -> str:
        """The vertices of all stones, as the board is written."""
        board = read_board(self.game.render(self.position.state))
        if board is None:
            return ""
        cells = (
            (row, *cell) for row, line in zip(board.row_names, board.rows) for cell in zip(board.column_names, line)
        )
        return " ".join(f"{column}{row}" for row, column, cell in cells if cell.isalpha()).upper()

    # -- Moves ------------------------------------------------------------------------------------------------------

    def gtp_genmove(self, colour):
        self._let_pass(colour)
        (name,) = self.names_of([self._timed().move])
        self.make(name)
        return self.speech.vertex(name)

    def gtp_reg_genmove(self, colour):
        """A move that is not played."""
        before = list(self.position.names)
        self._let_pass(colour)
        try:
            (name,) = self.names_of([self._timed().move])
            return self.speech.vertex(name)
        finally:
            self.follow(before)

    def gtp_time_settings(self, main, period, moves):
        times = Times(float(main), float(period), int(moves))
        if min(times) < 0 or not all(map(math.isfinite, times)):
            raise Wrong("times are 0 or more")
        endless = (times.period > 0 and times.moves == 0) or times.main + times.period == 0
        self.times = None if endless else times
        self.left = dict.fromkeys((0, 1), times.at_first()) if self.times else {}

    def gtp_time_left(self, colour, seconds, moves):
        if not math.isfinite(left := float(seconds)) or int(moves) < 0:
            raise Wrong(f"{seconds} {moves}: seconds are finite, and moves 0 or more")
        self.left[self._side(colour)] = (left, int(moves))

    def _timed(self) -> Decision:
        """A decision within the time left, which it is charged for."""
        side = self.position.side
        if not self.own and side in self.left:
            seconds, moves = self.left[side]
            self.limited(Budget(clock=Clock(max(seconds, 0.0), moves=moves or None)))
        elif not self.own:
            self.limited(Budget())
        start = time.perf_counter()
        decision = self.decide()
        if side in self.left:
            self._charge(side, time.perf_counter() - start)
        return decision

    def _charge(self, side: int, seconds: float) -> None:
        left, moves = self.left[side]
        if (left := left - seconds) < 0 and not moves and self.times and self.times.moves:
            left, moves = left + self.times.period, self.times.moves  # the first period begins
        if moves:
            moves -= 1
            if not moves and self.times:
                left, moves = self.times.period, self.times.moves
        self.left[side] = (left, moves)

    # -- Analysis ---------------------------------------------------------------------------------------------------

    def can_analyse(self) -> bool:
        return "seconds" in self.agent.budgets

    def _analyse(self, words: list[str], number: str, write) -> None:
        """Think until the next line, and tell the best moves as Leela Zero does."""
        write(f"={number}")
        arguments = [word for word in words[1:] if word.lower() not in ("b", "w", "black", "white")]
        every = int(arguments[0]) / 100 if arguments[:1] and arguments[0].isdecimal() else EVERY
        if not self.own:
            self.limited(Budget(seconds=ENDLESS))

        def report(decision: Decision, _: float) -> None:
            write(" ".join(self._described(decision)))

        def work() -> None:
            try:
                report(self.decide(), 0.0)
            except UserError as error:
                write(f"# {error}")

        self.thinking.start(work, True, Reporter(lambda: self.player, report, max(0.05, every)).look)

    def _described(self, decision: Decision):
        """Words on each move that has playouts, the most first; of a search without playouts, on its best line."""
        rows = [(int(decision.move), decision.nodes or 0, decision.value or 0.0, decision.principal_variation)]
        if (known := decision.statistics) is not None:
            order = [i for i in np.argsort(-known.playouts, kind="stable") if known.playouts[i] > 0]
            rows = [(int(known.moves[i]), int(known.playouts[i]), float(known.means[i]), ()) for i in order] or rows
        for place, (move, visits, value, line) in enumerate(rows):
            names = self.names_of(line if line[:1] == (move,) else (move,))
            if move == decision.move and decision.principal_variation[:1] == (move,):
                names = self.names_of(decision.principal_variation)
            vertices = " ".join(map(self.speech.vertex, names))
            rate = round(10_000 * (value + 1) / 2)
            yield f"info move {vertices.split()[0]} visits {visits} winrate {rate} order {place} pv {vertices}"

    # -- Whose turn it is -------------------------------------------------------------------------------------------

    def _side(self, colour: str) -> int:
        side = COLOURS.find(colour[:1].lower()) if colour else -1
        if side < 0:
            raise Wrong(f"{colour}: a colour is b, black, w or white")
        return side

    def _let_pass(self, colour: str) -> bool:
        """Let the other player pass if it is not this one's turn; Wrong if that is no move, or ends the game."""
        if not self.position.legal or self._side(colour) == self.position.side:
            return False
        if PASS not in self.position.legal or self.position.names[-1:] == [PASS] or self.game.name == "othello":
            raise Wrong(f"it is not the turn of {colour}")
        self.let = [*self.let, len(self.position.names)]
        self.make(PASS)
        return True

    def _become(self, **parameters):
        if parameters.keys() - {field.name for field in fields(self.game)}:
            raise Wrong(f"{self.game} has no {' '.join(parameters)}")
        self.game = replace(self.game, **parameters)
        self.begin()


def _takes(command: Callable, arguments: list[str]) -> bool:
    """Whether a command has so many arguments."""
    try:
        inspect.signature(command).bind(*arguments)
    except TypeError:
        return False
    return True
