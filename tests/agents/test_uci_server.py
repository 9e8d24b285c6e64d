"""A UCI program that listens while it thinks: what is heard at once, and that each search ends with one `bestmove`."""

import queue
import random
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import agents, games
from arena.agents.core.agent import Budget
from arena.agents.core.chunks import Control, control
from arena.agents.outside.among import Among
from arena.agents.outside.serving import serve
from arena.agents.outside.uci_server import OF_GO, limit_of
from arena.games.core.random import stream
from tests.agents.naive import solve
from tests.shipped import AGENTS

PATIENCE = 60.0  # seconds; whoever waits longer has found a fault


class Dialogue:
    """A served agent, and another program's view of it."""

    def __init__(self, agent, game, prepare=None):
        self.asked, self.told = queue.Queue[str](), queue.Queue[str]()
        lines = iter(lambda: self.asked.get(), "")
        arguments = agents.make(agent), games.make(game), "uci", lines, lambda text: self.told.put(text.strip()), 0
        self.thread = threading.Thread(target=serve, args=(*arguments, prepare))
        self.thread.start()

    def say(self, *lines):
        for line in lines:
            self.asked.put(line)

    def until(self, begin):
        """The lines up to the first one that begins so."""
        found = [self.told.get(timeout=PATIENCE)]
        while not found[-1].startswith(begin):
            found.append(self.told.get(timeout=PATIENCE))
        return found

    def rest(self):
        """All other lines, once it has ended."""
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        return list(self.told.queue)


@contextmanager
def talking(agent="alphabeta", game="connect4", prepare=None):
    dialogue = Dialogue(agent, game, prepare)
    try:
        yield dialogue
    finally:
        dialogue.say("quit")
        dialogue.thread.join(PATIENCE)
        assert not dialogue.thread.is_alive()
        assert control == Control()  # the next search of this process is as free as ever


FAMILIES = ("random", "flat", "uct", "alphabeta", "dfpn", "tree")
SERVED = [
    pytest.param(name, marks=() if name in FAMILIES else pytest.mark.slow)
    for name in AGENTS
    if name != "external" and 2 in agents.make(name).needs.players
]
SEARCHERS = [
    "alphabeta",
    "uct",
    "tree(workers=2)",
    "alphabeta(depth=2)",
    "uct(seconds=0.001)",
    "ubfm",
    "root(workers=2)",
]


@pytest.mark.parametrize("agent", SEARCHERS)
def test_it_listens_during_a_search_without_an_end(agent):
    with talking(agent) as program:
        program.say("position startpos moves 4", "go infinite", "isready")
        assert not any(line.startswith("bestmove") for line in program.until("readyok"))
        program.say("isready", "stop")
        assert not any(line.startswith("bestmove") for line in program.until("readyok"))
        assert program.until("bestmove")[-1].split()[1] in "1234567"
        program.say("stop", "isready")
        assert program.until("readyok") == ["readyok"]  # nothing is said twice


@pytest.mark.parametrize("limits", ["nodes 0", "depth 0", "movetime 0", "wtime 0 btime 0", "nodes -5", "mate 0"])
@pytest.mark.parametrize("agent", ["alphabeta", "uct"])
def test_a_limit_of_nothing_is_the_smallest(agent, limits):
    if agent == "uct" and limits.startswith(("depth", "mate")):
        limits += " nodes 0 movetime 0"  # it has no depth
    with talking(agent) as program:
        program.say("position startpos moves 4", f"go {limits}")
        assert program.until("bestmove")[-1].split()[1] in "1234567"


@given(st.dictionaries(st.sampled_from(OF_GO), st.integers() | st.sampled_from(["9" * 400, "9" * 5000, "x", "nan"])))
def test_whatever_the_limits_are_they_can_be_kept(given_limits):
    words = [str(word) for pair in given_limits.items() for word in pair]
    for agent in ("alphabeta", "uct"):
        budget = limit_of(words, agents.make(agent), 0)
        assert all(0 < limit < 1 << 63 for kind, limit in budget.given().items() if kind != "clock")
        for word, kind in (("nodes", "nodes" if agent == "alphabeta" else "playouts"), ("movetime", "seconds")):
            assert isinstance(given_limits.get(word), str | None) or getattr(budget, kind) is not None


def test_thoughts_are_told_as_they_come():
    """Each deeper search, with score, nodes, speed and line."""
    with talking("alphabeta", "tictactoe") as program:
        program.say("go infinite")
        told = program.until("info depth")
        program.say("stop")
        told += program.until("bestmove")
    infos = [line.split() for line in told if line.startswith("info depth")]
    assert all(line[3:5:2] for line in infos) and {"score", "nodes", "nps", "time", "pv"} <= set(infos[-1])
    assert told[-1].split()[1] == infos[-1][infos[-1].index("pv") + 1]


@pytest.mark.parametrize(
    "moves, score", [("1 2 1 2 1 2", "mate 1"), ("4 1 5 1", "mate 2"), ("4 1 5 1 3", "mate -1"), ("4", "cp ")]
)
def test_wins_that_the_line_shows_are_told_in_moves(moves, score):
    with talking("alphabeta(foresee=false, table=0)") as program:
        program.say(f"position startpos moves {moves}", "go depth 5")
        told = [line for line in program.until("bestmove") if " score " in line]
    assert f" score {score}" in told[-1]


@pytest.mark.parametrize("agent", ["uct", "alphabeta", "uct(playouts=10)"])
def test_pondering_ends_by_the_clock_once_the_move_was_made(agent):
    with talking(agent) as program:
        program.say("position startpos moves 4 4", "go ponder wtime 300 btime 300", "isready")
        assert not any(line.startswith("bestmove") for line in program.until("readyok"))
        program.say("ponderhit")
        assert program.until("bestmove")
        program.say("position startpos moves 4 4", "go ponder wtime 3000 btime 3000", "stop")  # another was made
        assert program.until("bestmove")


def test_a_ponderhit_before_the_search_has_begun_takes_its_own_seconds():
    """And not those of the move before, while the agent is being compiled."""
    compiled = threading.Event()
    compiled.set()
    with talking("uct", prepare=lambda *_: compiled.wait(PATIENCE)) as program:
        program.say("go movetime 600000", "stop")
        assert program.until("bestmove")
        compiled.clear()
        program.say("setoption name exploration value 0.5", "go ponder movetime 20", "ponderhit", "isready")
        program.until("readyok")
        compiled.set()
        assert program.until("bestmove")  # in ten minutes otherwise


def test_threads_are_offered_where_play_uses_them():
    game = games.make("connect4")
    found = [agents.make(name) for name in agents.names() if name != "external"]
    for agent in (each for each in found if not each.refuses(game)):
        plays_on_threads = hasattr(agent, "workers") and replace(agent, workers=2).cores != 1
        with talking(str(agent)) as program:
            program.say("uci")
            assert any(" Threads " in line for line in program.until("uciok")) == plays_on_threads, agent


def test_quitting_and_the_end_of_input_end_a_search():
    for last in ("quit", ""):
        program = Dialogue("uct", "connect4")
        program.say("go infinite", last)
        assert [line for line in program.rest() if line.startswith("bestmove")]
    program = Dialogue("uct", "connect4")
    program.say("go nodes 300", "")
    assert program.rest()[-1].startswith("bestmove")


def test_a_search_is_ended_by_what_should_wait_for_it():
    """Programs may not do that; nothing is lost or said twice."""
    with talking("uct") as program:
        program.say("go infinite", "position startpos moves 4", "go infinite", "go nodes 20", "ucinewgame", "isready")
        told = program.until("readyok")
        assert [line.split()[0] for line in told].count("bestmove") == 3


@pytest.mark.slow
def test_options_are_the_agents_parameters():
    with talking("alphabeta", "chess") as program:
        program.say("uci")
        declared = program.until("uciok")
        for line in (
            "Hash type spin default 16 min 1 max 65536", "depth type string default none",
            "scout type check default true", "evaluation type string default <empty>",
            "UCI_Chess960 type check default false",
        ):  # fmt: skip
            assert f"option name {line}" in declared
        program.say("setoption name depth value 1", "setoption name evaluation value material", "go")
        told = program.until("bestmove")
        assert any(line.startswith("info depth 1 ") for line in told)
        program.say("setoption name evaluation value nonsense", "setoption name Hash value 0", "isready")
        told = program.until("readyok")
        assert (
            "and chess has material, shannon" in told[0]
            and told[1] == "info string error: Hash = '0': it can be 1 to 65536"
        )
    with talking("tree(playouts=20)") as program:
        program.say("uci", "setoption name threads value 3", "setoption name lock value global", "uci")
        assert "option name Threads type spin default 2 min 1 max 64" in program.until("uciok")
        declared = program.until("uciok")
        assert "option name Threads type spin default 3 min 1 max 64" in declared
        program.say("setoption name threads value 65", "isready")
        assert program.until("readyok")[0] == "info string error: threads = '65': it can be 1 to 64"
        assert "option name lock type string default global" in declared


def test_several_best_lines():
    with talking("uct") as program:
        program.say("setoption name MultiPV value 3", "go nodes 200")
        told = [line.split() for line in program.until("bestmove")]
    places = [line[line.index("multipv") + 1] for line in told if "multipv" in line]
    assert places[-3:] == ["1", "2", "3"] and len({tuple(line[-1:]) for line in told[-4:-1]}) == 3
    assert told[-2][-1] != told[-1][1]


@pytest.mark.parametrize("agent", SERVED)
def test_several_lines_are_offered_by_those_that_have_them(agent):
    game, served = games.make("tictactoe"), agents.make(agent)
    player = served.player(game, Budget(playouts=40, nodes=40, depth=2, seconds=0.05))
    decision = player.choose(game.initial(), stream(1))
    player.close(None)
    with talking(agent, "tictactoe") as program:
        program.say("uci", "setoption name MultiPV value 2", "isready")
        offered = any("name MultiPV" in line for line in program.until("uciok"))
        refused = any("no option" in line for line in program.until("readyok"))
    assert offered == (decision.statistics is not None) == (not refused)


@pytest.mark.parametrize("agent", SERVED)
def test_only_the_moves_that_are_asked_for_are_searched(agent):
    """By every agent, with every kind of budget; the move is one of them, and the line can be played."""
    asked = {"3", "5"}
    with talking(agent, "connect4(rows=4, columns=5)") as program:
        for go in ("nodes 60 depth 3 movetime 40", "wtime 400 btime 400 nodes 60 depth 3", "nodes 60 depth 3"):
            program.say(f"position startpos moves {random.Random(1).choice('123')}", f"go searchmoves 3 5 {go}")
            told = program.until("bestmove")
            assert told[-1].split()[1] in asked, told
            lines = [line.split(" pv ")[1].split() for line in told if " pv " in line]
            assert lines and all(line[0] in asked for line in lines)
        program.say("go searchmoves 9 nodes 60", "go nodes 60 depth 3 movetime 40")
        assert "searchmoves '9': is not a legal move; legal: 1 2 3 4 5" in program.until("bestmove 0000")[0]
        program.until("bestmove")


@pytest.mark.parametrize("spec, depth", [
    ("tictactoe", 9),
    pytest.param("kalah(houses=3, seeds=2)", 24, marks=pytest.mark.slow),  # where the side may stay
])  # fmt: skip
def test_the_best_of_some_moves_is_found(spec, depth):
    """Against exact values."""
    game, known = games.make(spec), {}
    for seed in range(20):
        rng = random.Random(seed)
        state, before = game.initial(), []
        for _ in range(rng.randrange(3)):
            before.append(rng.choice(game.moves(state)))
            game.play(state, before[-1])
        moves = [move for move in game.moves(state) if rng.random() < 0.7] or game.moves(state)[:1]
        values = [solve(game, game.after(state, move), known) * (1 - 2 * game.player(state)) for move in moves]
        player = Among(agents.make("alphabeta"), game, Budget(depth=depth), before, moves)
        decision = player.choose(state, stream(seed))
        assert decision.move in moves and np.sign(decision.value) == max(values)
        assert values[moves.index(decision.move)] == max(values)


def test_a_search_without_an_end_goes_round_the_moves():
    with talking("alphabeta", "connect4") as program:
        program.say("position startpos moves 1 2 1 2 1", "go infinite searchmoves 4 1 7")
        time.sleep(1.0)
        program.say("stop")
        told = program.until("bestmove")
        program.say("go depth 3")
        program.until("bestmove")
    assert told[-1].split()[1] == "1" and sum(line.startswith("info") for line in told) > 2


def test_moves_that_chance_follows_are_refused():
    with talking("uct", "backgammon") as program:
        program.say("position startpos moves 21", "go searchmoves 8/7 nodes 9")
        assert any("chance" in line or "not a legal move" in line for line in program.until("bestmove 0000"))


def test_castling_of_chess960_is_onto_the_rook():
    castling = "position fen 4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
    with talking("random", "chess") as program:
        program.say("setoption name UCI_Chess960 value true", f"{castling} moves e1h1", "go")
        assert program.until("bestmove")[0].startswith("bestmove e8")
        program.say(f"{castling} moves e1g1", "go", "setoption name UCI_Chess960 value false", f"{castling} moves e1g1")
        assert program.until("bestmove")[0].startswith("bestmove e8")
        program.say("go")
        assert program.until("bestmove")[0].startswith("bestmove e8")


def test_it_is_prepared_when_asked_whether_it_is_ready():
    prepared = []
    with talking("random", prepare=lambda agent, game: prepared.append(str(agent))) as program:
        program.say("uci")
        program.until("uciok")
        assert prepared == []
        program.say("isready", "isready")
        program.until("readyok"), program.until("readyok")
        assert prepared == ["random"]


@pytest.mark.parametrize("seed", range(3))
def test_whatever_comes_in_whatever_order_each_search_has_one_move(seed):
    rng, searches = random.Random(seed), 0
    lines = [
        "isready", "stop", "ponderhit", "go infinite", "go ponder wtime 50 btime 50", "go movetime 5", "go nodes 30",
        "position startpos", "position startpos moves 4 4", "position startpos moves 9", "position", "go", "debug on",
        "ucinewgame", "setoption name exploration value 0.7", "setoption name x", "go searchmoves 4 nodes 9", "",
        "go mate 2",
    ]  # fmt: skip
    with talking("uct") as program:
        for _ in range(60):
            program.say(line := rng.choice(lines) or " ")
            searches += line.startswith("go")
        program.say("ucinewgame", "uci")
        told = program.until("uciok")
    assert sum(line.startswith("bestmove") for line in told) == searches


def test_python_chess_can_analyse_ponder_and_play():
    """The library's own driver, with a program in a process: analysis that is ended, options, and moves of a game."""
    engine = pytest.importorskip("chess.engine")
    chess = pytest.importorskip("chess")
    command = [sys.executable, "-m", "arena", "serve-agent", "alphabeta", "chess", "--protocol", "uci"]
    with engine.SimpleEngine.popen_uci(command, timeout=PATIENCE) as program:
        board = chess.Board()
        with program.analysis(board) as analysis:
            info = next(info for info in analysis if info.get("depth", 0) >= 2)
            program.ping()
            analysis.stop()
            assert analysis.wait().move in board.legal_moves and info["pv"][0] in board.legal_moves
        program.configure({"Hash": 1, "evaluation": "material"})
        for _ in range(6):
            board.push(program.play(board, engine.Limit(white_clock=1, black_clock=1), ponder=True).move)
        assert program.analyse(board, engine.Limit(depth=2))["depth"] == 2
