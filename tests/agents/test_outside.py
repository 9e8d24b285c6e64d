"""Programs as agents: what they are told, what becomes of bad ones, and that nothing of them is left."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import agents, games
from arena.agents.core.agent import Budget, IllegalAnswer, OutOfTime
from arena.agents.core.clock import Clock
from arena.agents.outside.external import Engines, ExternalPlayer
from arena.agents.outside.gtp import Gtp
from arena.agents.outside.jsonlines import JsonLines
from arena.agents.outside.process import EngineError, Process, Silent
from arena.agents.outside.uci import Uci, read_info, score_of_value, value_of_score
from arena.agents.outside.xboard import Xboard
from arena.games.core.play.in_progress import GameInProgress
from arena.games.core.random import stream
from arena.games.core.shared import system
from arena.games.core.shared.registry import spell
from arena.results.database.record import numbers_of
from tests.agents import badly

TEMPLATES = Path(__file__).parents[2] / "docs" / "engines"
PYTHON = f"{sys.executable} -I -S"
NUMBERS = count()
STOCKFISH = shutil.which("stockfish", path=f"{os.environ.get('PATH', '')}:/usr/games")
GNUGO = shutil.which("gnugo", path=f"{os.environ.get('PATH', '')}:/usr/games")

SAYS = {  # what a program of tests/agents/badly.py is told of, and what it does; all else is late
    "dies at once": "ended with exit code 3",
    "banner": "wrote 'Welcome to my engine', which is not JSON",
    "closes its output": "has closed its output",
    "dies at hello": "ended with exit code 4",
    "no JSON": "wrote 'hello', which is not JSON",
    "nameless": "'name' = missing; it must be text",
    "floods at hello": "wrote a line of more than 1 MiB",
    "ends": "ended with exit code 0; it wrote last: .*badly ends",
    "crashes": "ended with exit code 1.*ValueError: the engine's own mistake",
    "segmentation fault": "was killed by signal 11",
    "kills itself": "was killed by signal 9",
    "half a line and ends": "ended with exit code 0 in the middle of a line",
    "binary": r"wrote '\\x00.*not JSON",
    "zeros": "not JSON",
    "a line of 10 MB": "wrote a line of more than 1 MiB",
    "a line without end": "wrote a line of more than 1 MiB",
    "lines without end": "'move' = missing",
    "null": "wrote 'null', which is no JSON object",
    "a list": r"wrote '\[\"a1\"\]', which is no JSON object",
    "deep": "not JSON",
    "no move": "'move' = missing",
    "takes all memory": "ended with exit code 1.*MemoryError",
    "leaves a child": "ended with exit code 0",
    "kills its guard": "has lost its guard",
    "kills both guards": "has lost its guard",
    "children that flood": "more than 1 MiB",
    "illegal": "the move 'z9'; legal: 1a 1b",
    "an odd name": r"the move '\\ud800\\x1b\[2J'",
    "a number": "'move' = 4; it must be text",
    "a blank": "the move 'a1 '",
    "another id": "answered request 1000000 when asked 3",
    "echo": "'move' = missing",
    "answers twice": "without being asked",
}


@pytest.fixture(autouse=True)
def nothing_left():
    """Programs that a test leaves free are ended after it."""
    yield
    Engines.close()


@pytest.fixture
def unhurried(monkeypatch):
    """What has closed its output, and is about to end, may take long for that."""
    monkeypatch.setattr("arena.agents.outside.process.GRACE", 15.0)


def bad(mode, **options):
    """(agent, token) of a program that misbehaves; by the token its processes are found."""
    token = f"token-{os.getpid()}-{next(NUMBERS)}"
    texts = {"command": f"{PYTHON} {badly.__file__} '{mode}' {token}"} | options
    return agents.make(f"external({', '.join(f'{key}={value!r}' for key, value in texts.items())})"), token


def left(token):
    """The processes whose command line has the token."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path.parent.name] if token.encode() in path.read_bytes() else []
        except OSError:
            continue
    return found


def moves_of(player, game, decisions=2, seed=1):
    """The first moves of a game that a player plays for both sides."""
    state, rng, names = game.initial(), stream(seed), []
    for _ in range(decisions):
        decision = player.choose(state, rng)
        names.append(game.move_name(state, decision.move))
        state = game.after(state, decision.move)
        player.played(decision.move)
    return names


# -- Bad programs ----------------------------------------------------------------------------------------------------

LONGEST = ("deaf", "kills both guards")  # until they are ended
OUT_OF_REACH = (
    "children of a new session",
    "kills its guard",
    "kills both guards",
    "stops its guard",
    "stops both guards",
)


@pytest.mark.parametrize(
    "mode", [pytest.param(mode, marks=pytest.mark.slow) if mode in LONGEST else mode for mode in badly.MODES]
)
def test_a_bad_program_is_at_fault_and_leaves_nothing(mode, request):
    if mode in OUT_OF_REACH and not system.PROC:
        pytest.skip("a process out of the program's group is found on Linux alone")
    if mode != "closes its output":  # which does not end
        request.getfixturevalue("unhurried")
    late = mode not in SAYS
    before_play = mode in badly.AT_ONCE or mode in badly.AT_HELLO
    patience = 0.3 if before_play and late else 60.0
    memory = 300 if "memory" in mode else 0
    agent, token = bad(mode, seconds=0.1, margin=0.1 if late else 30.0, patience=patience, memory=memory)
    kind = EngineError if before_play or not late else OutOfTime
    if mode in ("illegal", "an odd name", "a blank"):
        kind = IllegalAnswer
    lateness = r"had not answered after \d.*allowed: 0.1 s and a margin of 0.1 s"
    pattern = SAYS.get(mode, "has not answered 'hello' in time" if before_play else lateness)
    with pytest.raises(kind, match=re.compile(pattern, re.DOTALL)) as caught:
        moves_of(agent.player(games.make("tictactoe")), games.make("tictactoe"))
    assert str(caught.value).isprintable() and len(str(caught.value)) < 2000
    assert left(token) == []


def test_every_bad_program_is_expected():
    assert len(badly.MODES) > 40 and SAYS.keys() <= set(badly.MODES)


def test_a_program_that_failed_is_started_again_and_others_are_kept(unhurried):
    game = games.make("tictactoe")
    agent, token = bad("notes")
    for _ in range(2):
        player = agent.player(game, Budget(nodes=5))
        assert moves_of(player, game) == ["1a", "1b"]
        player.close(None)
    (first,) = Engines.free[Engines._key(agent)]
    two = [agent.player(game) for _ in range(2)]  # at the same time: one each
    assert (
        two[0].engine is first and two[1].engine is not first and len(left(token)) == (6 if system.PROC else 4)
    )  # and their guards
    os.kill(int(left(token)[-1]), signal.SIGKILL)
    for player in two:
        try:
            moves_of(player, game)
            player.close(None)
        except EngineError as error:
            assert "killed by signal 9" in str(error)
    assert len(Engines.free[Engines._key(agent)]) == 1
    Engines.close()
    assert left(token) == []


def below(parent):
    """The processes that one has started, and the orphans that it has taken over."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            found += [int(path.parent.name)] if path.read_text().rpartition(")")[2].split()[1] == str(parent) else []
    return found


def guards_of(parent):
    """The processes between one and its program, the outer one first."""
    guards = [pid for pid in below(parent) if b"guard.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return [*guards, *(guard for outer in guards for guard in guards_of(outer))]


@pytest.mark.skipif(not system.PROC, reason="elsewhere nothing tells a guard's descendants")
@pytest.mark.parametrize("harm", ["", "9", " 9", "19", " 19", "19 19", "9 19"])
def test_a_program_ends_with_its_process(harm):
    """Killed without a warning, the process that started it has no time to end it.

    harm: signals for the outer guard, and before for the inner one
    """
    _, token = bad("notes")
    code = f"""
import sys, time
from arena.agents.outside.process import Process
process = Process({f"{PYTHON} {badly.__file__} 'children of a new session' {token}"!r})
process.send('{{"type": "hello"}}\\n')
process.line(time.monotonic() + 60)
process.send('{{"type": "move", "legal": ["a"]}}\\n')
print("ready", flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout.readline() == "ready\n"
        outer, inner = guards_of(parent.pid)
        until = time.monotonic() + 100
        while len(below(inner)) < 4 and time.monotonic() < until:
            time.sleep(0.01)
        assert len(below(inner)) == 4  # the program and its children, whose own parents have ended
        assert len(left(token)) == 7  # and the guards and the parent itself
        for guard, number in ((inner, harm.partition(" ")[2]), (outer, harm.partition(" ")[0])):
            if number:
                os.kill(guard, int(number))
        parent.kill()
    until = time.monotonic() + 20
    while left(token) and time.monotonic() < until:
        time.sleep(0.01)
    assert left(token) == []


def test_a_program_with_too_many_processes_is_ended(unhurried):
    agent, token = bad("many children", seconds=0.1, margin=30.0, processes=8)
    with pytest.raises(EngineError, match=r"killed by signal 9; .*more than 8 processes at a time"):
        moves_of(agent.player(games.make("tictactoe")), games.make("tictactoe"))
    assert left(token) == []
    agent, _ = bad("notes", nodes=5, processes=1)
    assert moves_of(agent.player(games.make("tictactoe")), games.make("tictactoe")) == ["1a", "1b"]


# -- What a program is told ------------------------------------------------------------------------------------------


def test_requests_say_all_that_a_simple_program_needs(tmp_path):
    game, log = games.make("connect4(rows=4, columns=5)"), tmp_path / "engine.log"
    agent, _ = bad("notes", log=str(log), nodes=20, seconds=2.5, margin=60.0, options="style=calm; book")
    moves, state = game.read_line("3 3 1")
    player = agent.player(game)
    player.start(game, state, moves)
    decision = player.choose(state, stream(7))
    assert game.move_name(state, decision.move) == "1" and decision.principal_variation == (decision.move,)
    player.played(decision.move)
    player.close(0.5)
    Engines.close()
    hello, new_game, move, over = (json.loads(line) for line in log.read_text().splitlines())
    described = {"game": spell(game), "moves": ["3", "3", "1"]}
    assert hello == {"id": 1, "type": "hello", "protocol": 1, "options": {"style": "calm", "book": ""}}
    assert new_game == {"id": 2, "type": "new_game", **described, "budget": {"nodes": 20, "seconds": 2.5}}
    assert 0 <= move.pop("seed") < 1 << 32
    assert move == {"id": 3, "type": "move", **described, "player": 1, "legal": ["1", "2", "3", "4", "5"]} | {
        "budget": {"nodes": 20, "seconds": 2.5}
    }
    assert over["type"] == "game_over" and over["moves"] == ["3", "3", "1", "1"] and over["result"] == 0.5


def test_a_position_of_which_nobody_told_is_refused():
    agent, _ = bad("notes")
    game = games.make("tictactoe")
    with pytest.raises(EngineError, match="does not know how the game came to this position"):
        agent.choose(game, game.read_line("1a")[1], seed=1)


@pytest.mark.parametrize(
    "spec, message",
    [
        ("external(protocol='cecp')", "protocol = 'cecp' is not one of json, gtp, uci, xboard"),
        ("external(command='a \"b')", "cannot be split into words: No closing quotation"),
        ("external(options='=3')", "is not of the form name=value"),
        ("external(protocol='gtp', nodes=3)", "protocol='gtp' cannot express nodes; it knows seconds"),
        ("external(protocol='gtp', seconds=0.5)", "seconds = 0.5: GTP knows whole seconds alone"),
        ("external(protocol='uci', playouts=3)", "protocol='uci' cannot express playouts"),
        ("external(cores=0)", "cores = 0 is out of range"),
    ],
)
def test_parameters_that_are_wrong(spec, message):
    with pytest.raises(games.SpecError, match=message):
        agents.make(spec)


def test_what_does_not_fit_is_refused():
    connect4, go = games.make("connect4"), games.make("go(size=5)")
    assert "needs a program" in agents.make("external").refuses(connect4)
    gtp, uci = (agents.make(f"external(command='x', protocol={name!r})") for name in ("gtp", "uci"))
    assert "GTP has words for go, atarigo" in gtp.refuses(connect4) and gtp.refuses(go) is None
    assert gtp.budget(Budget(playouts=3)) == Budget() and gtp.budget(Budget(seconds=3.0)) == Budget(seconds=3.0)
    with pytest.raises(agents.Unsuited, match="protocol='uci' needs a budget: nodes, depth, seconds"):
        uci.budget(Budget(playouts=3))
    assert uci.budget(Budget(playouts=3, depth=2)) == Budget(depth=2)
    with pytest.raises(agents.Unsuited, match="GTP knows whole seconds alone"):
        gtp.budget(Budget(seconds=0.5))
    assert agents.make("external(command='x', cores=3)").cores == 3
    with pytest.raises(EngineError, match="there is no program 'no-such-program'"):
        agents.make("external(command='no-such-program --x')").player(connect4)


def test_requests_of_any_length_are_sent():
    """More than a pipe holds, to a program that reads and to one that does not."""
    long = "x" * 900_000
    reader = Process("cat")
    reader.send(long + "\n")
    assert reader.line(time.monotonic() + 60).decode() == long
    deaf = Process("sleep 60")
    deaf.send(long + "\n")
    with pytest.raises(Silent):
        deaf.line(time.monotonic() + 0.1)
    for process in (reader, deaf):
        process.close()
    assert reader.last_lines().endswith("xxx") and deaf.closed


# -- The protocols ---------------------------------------------------------------------------------------------------


class Script:
    """A process that answers with these lines, and keeps what it is sent."""

    def __init__(self, *lines):
        self.lines, self.sent = [line.encode() for line in lines], []

    def send(self, text):
        self.sent += text.splitlines()

    def line(self, until):
        return self.lines.pop(0)

    def unasked(self):
        return b""


CLOCKS = [Budget(clock=Clock(10.0, 0.5)), Budget(clock=Clock(9.5, 0.5, 8.25)), Budget(clock=Clock(-0.5, 0.5, 3.999))]


def test_uci_is_told_the_clocks():
    game = games.make("connect4")
    told = []
    for moves, budget in (("", CLOCKS[0]), ("4", CLOCKS[1]), ("4 4", CLOCKS[2])):
        process = Script("bestmove 1")
        Uci(process, {}).choose(GameInProgress(game, game.read_line(moves)[0]), budget, 0, 0.0)
        told.append(process.sent[-1])
    assert told == [
        "go wtime 10000 winc 500",
        "go btime 9500 wtime 8250 binc 500 winc 500",
        "go wtime 1 btime 3999 winc 500 binc 500",
    ]
    for budget, go in ((Budget(seconds=0.25, nodes=7), "nodes 7 movetime 250"), (Budget(seconds=1e-4), "movetime 1")):
        process = Script("bestmove 1")
        Uci(process, {}).choose(GameInProgress(game), budget, 0, 0.0)
        assert process.sent[-1] == f"go {go}"


CHESS960 = "setoption name UCI_Chess960 value "


@pytest.mark.parametrize(
    ("declared", "options", "told"),
    [
        ("UCI_Chess960", {}, [CHESS960 + "true", CHESS960 + "false"]),  # each time: one program plays several games
        ("UCI_Chess960", {"UCI_Chess960": "true"}, [CHESS960 + "true"]),
        ("Ponder", {}, []),
    ],
)
def test_uci_is_told_of_chess960(declared, options, told):
    """Unless the program lacks the option, or the user has set it."""
    process = Script(f"option name {declared} type check default false", "uciok", *["readyok"] * 4)
    uci = Uci(process, options)
    uci.hello(0.0)
    for spec in ("chess(setup=0)", "chess", "connect4"):
        uci.new_game(GameInProgress(games.make(spec)), Budget(), 0.0)
    assert [line for line in process.sent if line.startswith("setoption")] == told


def test_gtp_is_told_the_clocks():
    game = games.make("go(size=5)")
    process = Script(*["=", ""] * 6, "= C3", "")  # 4 that begin a game, 2 of clocks
    gtp = Gtp(process, {})
    gtp._commands = frozenset({"time_settings", "time_left"})
    gtp.new_game(GameInProgress(game), Budget(clock=Clock(10.9, 0.5)), 0.0)
    assert process.sent[-1] == "time_settings 10 0 0"
    position = GameInProgress(game, game.read_line("a1")[0])
    assert gtp.choose(position, CLOCKS[1], 0, 0.0).move == "c3"
    assert process.sent[-3:] == ["time_left w 9 0", "time_left b 8 0", "genmove w"]
    process.lines += [b"=", b"", b"= C3", b""]
    gtp.choose(position, Budget(seconds=3.0), 0, 0.0)
    assert process.sent[-2:] == ["time_left w 3 1", "genmove w"]


def test_gtp_is_told_the_size_of_a_board():
    for spec in ("nogo(size=3)", "nogo(rows=3, columns=3)"):
        process = Script(*["=", ""] * 2)
        Gtp(process, {}).new_game(GameInProgress(games.make(spec)), Budget(), 0.0)
        assert process.sent == ["boardsize 3", "clear_board"]
    assert "square boards alone" in Gtp.refuses(games.make("nogo(rows=3, columns=5)"))


def test_json_is_told_the_clocks():
    process = Script('{"move": "1"}')
    JsonLines(process, {}).choose(GameInProgress(games.make("connect4")), CLOCKS[1], 7, 0.0)
    clock = {"left": 9.5, "increment": 0.5, "opponent": 8.25}
    assert json.loads(process.sent[0])["budget"] == {"seconds": CLOCKS[1].seconds, "clock": clock}


@pytest.mark.parametrize("value", [-1, 1, 0.5, -1.001, 1.001])
def test_a_value_in_json_is_between_a_loss_and_a_win(value):
    json_lines, position = (
        JsonLines(Script(f'{{"move": "1", "value": {value}}}'), {}),
        GameInProgress(games.make("connect4")),
    )
    told = json_lines.choose(position, Budget(), 7, 0.0).value
    assert told == (value if abs(value) <= 1 else None)


def test_a_program_may_take_what_is_left_on_its_clock():
    agent, game = bad("notes", margin=0.25)[0], games.make("tictactoe")
    assert agent.budget(Budget(clock=Clock(5.0))) == Budget(clock=Clock(5.0))
    gtp = agents.make("external(command='x', protocol='gtp')")
    assert gtp.budget(Budget(clock=Clock(0.5))).clock == Clock(0.5)  # which need not be whole
    player = agent.player(game, Budget(clock=Clock(5.0, 1.0)))
    for left, limit in ((5.0, 5.0), (0.5, 0.5), (-1.0, 0.0)):
        player.allot(player.budget.on(Clock(left, 1.0)))
        assert player._limit() == limit


def info(text):
    """What is read of an `info` with this text."""
    return read_info(text.split())


def test_info_of_uci():
    text = "depth 12 seldepth 20 multipv 1 score cp 400 lowerbound nodes 1234 nps 9 pv e2e4 e7e5"
    assert info(text) == {"depth": 12, "value": pytest.approx(9 / 11), "nodes": 1234, "line": ("e2e4", "e7e5")}
    assert info("depth 3 multipv 2 score cp 10 pv a b") == {}
    assert info("string nodes 5 pv x") == {}
    assert info("nodes many score mate -3 depth") == {"value": -1.0}
    assert info("score mate 1") == {"value": 1.0} and info("score mate 0") == {"value": -1.0}  # mated already
    assert info("score") == info("") == {}
    assert info("depth nodes 5 score cp 18446744073709551615 nodes -1 seldepth") == {"nodes": 5}
    for value in (-1.0, -0.5, 0.0, 0.25, 0.999):
        assert value_of_score("cp", str(score_of_value(value))) == pytest.approx(value, abs=2e-3)


NUMBERS_TOLD = st.one_of(
    st.integers(-20, 20), st.integers(), st.floats(), st.text(), st.booleans(), st.none(),
    st.sampled_from(["9" * 5000, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, "nan", "-inf", "1e999", "\u00b2", "0x7f"]),
)  # fmt: skip
WORDS_TOLD = st.one_of(
    NUMBERS_TOLD,
    st.sampled_from(["depth", "nodes", "score", "cp", "mate", "pv", "multipv", "string", "lowerbound", "e4", "1", "4"]),
)
LINES_TOLD = st.lists(WORDS_TOLD, max_size=9).map(lambda words: " ".join(map(str, words)).replace("\n", " "))
KEYS_TOLD = st.dictionaries(
    st.sampled_from(["value", "playouts", "nodes", "depth", "line", "other"]),
    st.one_of(NUMBERS_TOLD, st.lists(WORDS_TOLD, max_size=3), st.sampled_from([10**4000, -(10**400), 2**63 - 1])),
)


class Told(Script):
    """Any program: it answers the request for a move with some lines, and all else as it must."""

    def __init__(self, ready, asks, *lines):
        super().__init__()
        self.ready, self.asks, self.last = ready, asks, lines

    def send(self, text):
        for line in text.splitlines():
            told = self.last if re.search(self.asks, line) else self.ready.get(line.split()[0], [])
            self.lines += [line.encode(errors="replace") for line in told]


def decision_of(protocol, game, process):
    """The decision of a player whose program is this process."""
    player = object.__new__(ExternalPlayer)
    player.agent, player.game, player.budget = agents.make("external(command='x')"), games.make(game), Budget(depth=2)
    player.position, player.begun = GameInProgress(player.game), True
    spoken = protocol(process, {})
    spoken._features = {}
    player.engine = SimpleNamespace(ask=lambda method, *rest: getattr(spoken, method)(*rest))
    return player.game, player.decide(player.position.state, stream(1))


def is_legal(game, decision):
    """Whether a game can be recorded with it: its numbers in their ranges, its line of legal moves."""
    numbers_of(decision)
    assert decision.value is None or game.players == 1 or -1 <= decision.value <= 1
    state = game.initial()
    for move in decision.principal_variation:
        assert move in game.moves(state)
        game.play(state, move)
    return decision.principal_variation[0] == decision.move


@given(st.lists(LINES_TOLD, max_size=4))
def test_whatever_uci_tells_of_a_search_the_game_goes_on(lines):
    told = Told({}, "^go", *(f"info {line}" for line in lines), "bestmove 4")
    assert is_legal(*decision_of(Uci, "connect4", told))


@given(st.lists(LINES_TOLD, max_size=2), st.lists(st.integers().map(str) | st.just("9" * 5000), min_size=4))
def test_whatever_xboard_tells_of_a_search_the_game_goes_on(lines, numbers):
    told = Told({}, "^go", *lines, f"{' '.join(numbers)} e4 e5", "move e2e4")
    assert is_legal(*decision_of(Xboard, "chess", told))


@given(KEYS_TOLD, st.sampled_from(["connect4", "samegame(rows=3, columns=3)"]))
def test_whatever_json_tells_of_a_search_the_game_goes_on(keys, game):
    first = games.make(game)
    move = first.move_name(first.initial(), first.moves(first.initial())[0])
    told = json.dumps({**keys, "move": move})
    assert is_legal(*decision_of(JsonLines, game, Told({}, "move", told.replace("0" * 4000, "0" * 5000))))


@pytest.mark.parametrize("language", ["python", "c++"])
def test_templates_play(language, tmp_path):
    command = f"{PYTHON} {TEMPLATES / 'engine.py'}"
    if language == "c++":
        compiler = shutil.which("g++") or shutil.which("clang++") or pytest.skip("there is no C++ compiler")
        subprocess.run([compiler, "-std=c++17", "-o", tmp_path / "engine", TEMPLATES / "engine.cpp"], check=True)
        command = str(tmp_path / "engine")
    game, agent = games.make("pig(target=10, horizon=20)"), agents.make(f"external(command={command!r})")
    lines = [moves_of(agent.player(game), game, 1, seed) for seed in (1, 1, 2, 3, 4, 5)]
    assert lines[0] == lines[1] and {name for line in lines for name in line} == {"roll", "hold"}
    player = agent.player(games.make("connect4"))
    assert len(moves_of(player, games.make("connect4"), 7)) == 7
    assert player.engine.identity.version == "1"


def decided(agent, game, line):
    """(player, state, decision) of a new player that was told the moves so far."""
    player, (moves, state) = agent.player(game), game.read_line(line)
    player.start(game, state, moves)
    return player, state, player.choose(state, stream(1))


@pytest.mark.skipif(not GNUGO, reason="there is no gnugo here")
def test_gnugo_plays_go():
    game = games.make("go(size=5, komi=5.5)")
    agent = agents.make(f"external(command='{GNUGO} --mode gtp --level 0', protocol='gtp', options='level=0')")
    player, state, decision = decided(agent, game, "c3 pass")
    player.played(decision.move)
    state = game.after(state, decision.move)
    player.played(game.moves(state)[0])
    assert player.engine.identity.name == "GNU Go" and player.engine._protocol._sent == 4
    player.close(None)
    with pytest.raises(EngineError, match="refused 'no-such-command'"):
        agents.make(f"external(command='{GNUGO} --mode gtp', protocol='gtp', options='no-such-command')").player(game)


@pytest.mark.skipif(not STOCKFISH, reason="there is no stockfish here")
def test_stockfish_plays_chess():
    """From moves that a new player was told, with the values, lines and counts that it tells of its own moves."""
    game = games.make("chess")
    agent = agents.make(f"external(command='{STOCKFISH}', protocol='uci', options='Skill Level=0', nodes=50)")
    player, state, decision = decided(agent, game, "f3 e5 g4")
    assert game.move_name(state, decision.move) == "Qh4#" and decision.value == 1.0
    assert decision.nodes >= 1 and decision.principal_variation[0] == decision.move
    assert player.engine.identity.name.startswith("Stockfish")
    player.close(1.0)


@pytest.mark.skipif(not STOCKFISH, reason="there is no stockfish here")
def test_stockfish_castles_in_chess960():
    """It is told the move b1a1, which it takes for none without its option, and would then move for White."""
    game = games.make("chess(fen='4k3/8/8/8/8/8/8/RK6 w A - 0 1')")
    agent = agents.make(f"external(command='{STOCKFISH}', protocol='uci', nodes=200)")
    player, state, decision = decided(agent, game, "O-O-O")
    assert decision.move in game.moves(state)
    player.close(1.0)


def test_a_forked_process_leaves_the_programs_to_its_parent(tmp_path):
    """What a fork of this process does at its end is no good-bye to them."""
    (tmp_path / "engine.py").write_text(
        "import sys\nfor line in sys.stdin:\n"
        "    if line == 'quit\\n': break\n"
        "    print({'uci': 'uciok', 'isready': 'readyok', 'go': 'bestmove 2b'}.get(line.split()[0], ''), flush=True)\n"
    )
    agent = agents.make(f"external(command='{PYTHON} {tmp_path / 'engine.py'}', protocol='uci', nodes=1)")
    game = games.make("tictactoe")
    first = agent.player(game)
    engine = first.engine
    first.close(None)
    if (child := os.fork()) == 0:
        try:
            Engines.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    again = agent.player(game)
    again.start(game, game.initial(), [])
    assert again.engine is engine
    assert game.move_name(game.initial(), again.choose(game.initial(), stream(1)).move) == "2b"
    again.close(None)
    Engines.close()


@pytest.mark.parametrize("code", [3, 200, 255])
def test_an_exit_code_is_told_as_it_is(code, unhurried):
    """`exit(-1)` is 255, and no signal of the number 127."""
    program = Process(f"{PYTHON} -c 'import os; os._exit({code})'")
    with pytest.raises(EngineError, match=f"^ended with exit code {code}$"):
        program.line(time.monotonic() + 100)
    program.close()


ENGINE = """
import os, sys
print("A friendly engine")
print("of two lines", flush=True)
options = {}
for line in sys.stdin:
    word, *rest = line.split()
    if word.startswith("option"):
        options[word] = " ".join(rest)
    answers = {
        "protocol_version": "2", "name": os.path.basename(os.getcwd()), "version": os.environ.get("SEARCH", "none"),
        "list_commands": "play", "genmove": "a1",
    }
    if word == "genmove" and options.get("option_path") != "a;b":
        answers["genmove"] = "pass"
    print("=", answers.get(word, ""), end="\\n\\n", flush=True)
"""


def test_a_program_has_a_folder_an_environment_and_its_banner(tmp_path):
    """Its folder is where ./engine is; GTP programs may greet; a value may hold a semicolon."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "engine.py").write_text(f"#!{sys.executable}\n{ENGINE}")
    (tmp_path / "home" / "engine.py").chmod(0o755)
    values = f"folder={str(tmp_path / 'home')!r}, environment='SEARCH=fast; OTHER=1'"
    options = "option_path=a\\\\;b; option_x=1"
    agent = agents.make(f"external(command='./engine.py', protocol='gtp', options='{options}', {values})")
    assert agent.lacks() == "" and agent.identity() == "home fast"
    go = games.make("go(size=5)")
    player = agent.player(go)
    player.start(go, go.initial(), [])
    assert go.move_name(go.initial(), player.decide(go.initial(), stream(1)).move) == "a1"
    player.close(None)
    Engines.close()


@pytest.mark.parametrize("values, message", [
    ("command='./engine', folder='/no/such'", "there is no folder '/no/such'"),
    ("command='./engine', folder='{here}'", "there is no program './engine' in {here}"),
    ("command='engine'", "there is no program 'engine'"),
])  # fmt: skip
def test_what_is_lacking_is_named(values, message, tmp_path):
    agent = agents.make(f"external({values.format(here=tmp_path)})")
    assert agent.lacks().startswith(message.format(here=tmp_path))


def test_an_environment_has_names():
    with pytest.raises(ValueError, match="environment = '=3' is not of the form name=value; name=value, at ''"):
        agents.make("external(command='x', environment='=3')")
