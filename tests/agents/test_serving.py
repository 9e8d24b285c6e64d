"""Our agents as programs for others: what they answer, and that our own side of each protocol understands it."""

import json
import re
from dataclasses import replace

import pytest

from arena import agents, games
from arena.agents.core.agent import Budget
from arena.agents.core.clock import Clock
from arena.agents.outside import protocol
from arena.agents.outside.external import Engines
from arena.agents.outside.server import Wrong
from arena.agents.outside.serving import SERVERS, JsonServer, serve
from arena.agents.outside.uci_server import limit_of
from arena.games.core.random import next_word, stream


def answers(agent, game, spoken, *lines):
    """All that is written in answer to these lines."""
    written = []
    serve(agents.make(agent), games.make(game), spoken, lines, written.append)
    return "".join(written)


class Wired:
    """A server in the place of a process."""

    def __init__(self, command, memory, log, place):
        spoken, agent, game = command.split(" ", 2)
        self.server = SERVERS[spoken](agents.make(agent), games.make(game), 0)
        self.lines, self.closed = [], False

    def send(self, text):
        for line in text.splitlines():
            for answer in self.server.answers(line):
                self.lines += answer.encode().split(b"\n")

    def line(self, until):
        return self.lines.pop(0)

    def unasked(self):
        return b""

    def last_lines(self):
        return ""

    def close(self, farewell=None):
        self.closed = True


@pytest.mark.parametrize("spoken", ["json", "uci"])
def test_an_agent_outside_plays_as_inside(spoken, monkeypatch):
    """Value, depth and line come through; with one budget, it decides as it does here."""
    monkeypatch.setattr(protocol, "Process", Wired)
    game = games.make("connect4(rows=4, columns=5)")
    moves, state = game.read_line("3 3")
    outside = agents.make(f"external(command='{spoken} flat {game}', protocol='{spoken}', nodes=60)")
    if spoken == "json":
        outside = agents.make(f"external(command='json flat {game}', playouts=60)")
    player = outside.player(game)
    player.start(game, state, moves)
    for ply in range(len(moves), len(moves) + 3):
        sent = int(next_word(stream(0, ply))) >> 32  # by JSON lines
        rng = stream(sent) if spoken == "json" else stream(0, ply)
        inside = agents.make("flat(playouts=60)").player(game).choose(state, rng)
        decision = player.choose(state, stream(0, ply))
        assert (decision.move, decision.depth) == (inside.move, inside.depth)
        assert decision.principal_variation == (inside.move,)
        assert decision.value == pytest.approx(inside.value, abs=2e-3 if spoken == "uci" else 1e-12)
        player.played(decision.move)
        state = game.after(state, decision.move)
    player.close(1.0)
    assert player.engine in Engines.free.pop(Engines._key(outside)) and player.engine.identity.name == "flat"


@pytest.mark.parametrize("game", ["go(size=5, komi=5.5)", "hex(size=3, swap=true)", "othello(size=4)", "nogo(size=3)"])
def test_games_are_spoken_in_gtp(game, monkeypatch):
    """Whole games, both sides being asked: each vertex is understood on the other side."""
    monkeypatch.setattr(protocol, "Process", Wired)
    game = games.make(game)
    player = agents.make(f"external(command='gtp random {game}', protocol='gtp', seconds=2)").player(game)
    state, rng, plies = game.initial(), stream(3), 0
    while not game.is_over(state) and plies < 30:
        legal = game.moves(state)
        move = player.choose(state, rng).move if plies % 2 else legal[-1]  # a pass or swap, if any
        state = game.after(state, move)
        player.played(move)
        plies += 1
    assert player.engine._protocol._sent >= plies - 1 > 2
    player.close(None)
    Engines.free.clear()


STRETCHED = {
    "uci": (
        "uci", "setoption name Move Overhead value 100", "isready", "setoption name exploration value 0.7",
        "position startpos moves 4 4", "go nodes 20", "go searchmoves 3 5 nodes 20", "position startpos moves 9",
    ),
    "gtp": ("7 name", "boardsize 5", "play b c3", "2 genmove w", "fixed_handicap 2", "undo", "final_status_list alive"),
}  # fmt: skip


def stretched(line):
    """The line with more blanks, of both kinds."""
    return f" {line} ".replace(" ", " \t ")


@pytest.mark.parametrize("spoken", STRETCHED)
def test_words_are_parted_by_any_blanks(spoken):
    lines, game = STRETCHED[spoken], {"uci": "connect4", "gtp": "go(size=5)"}[spoken]
    told = [answers("uct(playouts=9)", game, spoken, *said) for said in (lines, map(stretched, lines))]
    told = [re.sub(r"info depth .*\n", "", text) for text in told]  # which come as time goes
    assert told[0] == told[1]


@pytest.mark.parametrize("spoken, game", [("uci", "connect4"), ("gtp", "go(size=5)")])
def test_a_program_may_part_its_words_by_any_blanks(spoken, game, monkeypatch):
    monkeypatch.setattr(protocol, "Process", Wired)
    monkeypatch.setattr(Wired, "line", lambda self, until: stretched(self.lines.pop(0).decode()).encode())
    game = games.make(game)
    player = agents.make(f"external(command='{spoken} random {game}', protocol='{spoken}', seconds=1)").player(game)
    state = game.initial()
    for _ in range(4):
        move = player.choose(state, stream(1)).move
        state = game.after(state, move)
        player.played(move)
    assert player.engine.identity.name == "random"
    player.close(None)
    Engines.free.clear()


def test_gtp():
    written = answers(
        "random", "go(size=7)", "gtp",
        "1 protocol_version # as they all do", "", "boardsize 5", "komi 5.5", "clear_board", "play b c3", "play b c3",
        "2 genmove z", "genmove w", "undo", "undo", "undo", "showboard", "known_command play", "known_command fly",
        "fly", "boardsize 99", "boardsize", "final_score", "3 quit", "name",
    )  # fmt: skip
    told = [answer.strip() for answer in written.split("\n\n")]
    assert told[:6] == ["=1 2", "=", "=", "=", "=", told[5]]
    assert (
        told[5].startswith("? 'c3' is not a legal move")
        and told[6] == "?2 z: a colour is b, black, w or white"
        and told[7].startswith("= ")
        and told[8:10] == ["=", "="]
    )
    assert told[10] == "? cannot undo" and told[11].startswith("= \n5 . . . . .")
    assert told[12:15] == ["= true", "= false", "? unknown command"]
    assert told[15:19] == ["? size = 99 is out of range: it can be 2 to 19", "? syntax error", "= W+5.5", "=3"]
    assert told[19:] == [""]
    assert answers("random", "go(size=5)", "gtp", "komi nan") == "? komi = nan: it must be a finite number\n\n"
    with pytest.raises(Wrong, match="GTP has words for"):
        answers("random", "connect4", "gtp")
    with pytest.raises(agents.Unsuited, match="needs a budget"):
        answers("negamax", "go", "gtp")
    assert "needs a budget" in answers("uct", "go(size=5)", "gtp", "genmove b")


def test_gtp_has_square_boards_alone():
    with pytest.raises(Wrong, match="square boards alone"):
        answers("random", "nogo(rows=2, columns=3)", "gtp")
    written = answers("random", "nogo(rows=3, columns=3)", "gtp", "boardsize 2", "showboard", "boardsize 1")
    assert written.split("\n\n")[:3] == [
        "= ", "= \n2 . .\n1 . .\n  a b", "? size = 1 is out of range: it can be 2 to 13"
    ]  # fmt: skip


def test_the_overhead_of_moves_is_an_option():
    lines = (
        "setoption name move overhead value 100",
        "setoption name Hash value 16",
        "setoption name Move Overhead value x",
    )
    assert answers("random", "connect4", "uci", *lines).splitlines() == [
        "info string error: there is no option 'Hash'",
        "info string error: Move Overhead = 'x': it can be 0 to 10000",
    ]
    assert limit_of(["wtime", "1000"], agents.make("uct"), 0, 0.1) == Budget(clock=Clock(1.0, overhead=0.1))


def test_uci():
    lines = ("uci", "isready", "ucinewgame", "position startpos moves 4 4", "go", "position startpos moves 9", "stop")
    assert answers("random", "connect4", "uci", *lines, "position fen x", "quit", "uci").splitlines() == [
        "id name random",
        "id author search-arena",
        "option name Move Overhead type spin default 20 min 0 max 10000",
        "option name Ponder type check default false",
        "uciok",
        "readyok",
        "bestmove 6",  # by the seed
        "info string error: '9' is not a legal move; legal: 1 2 3 4 5 6 7",
        "info string error: position 'fen x': only startpos is known",
    ]


def test_chess_is_spoken_as_programs_for_chess_speak_it(monkeypatch):
    """Moves by their squares, from any position; and so our own side understands them."""
    castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    told = answers(
        "random", "chess", "uci", "position startpos moves e2e4 e7e5", "go", "position startpos moves e4", "go",
        f"position fen  {castling}  moves e1g1", "go", "position fen 8/8", "position startpos moves e2e4 e7e5", "go",
    ).splitlines()  # fmt: skip
    assert told[0] == told[-1] and re.fullmatch("bestmove [a-h][12][a-h][3-6]", told[0])
    assert told[1].startswith("info string error: 'e4' is not a legal move; legal: a2a3 b2b3")
    assert told[2:4] == ["info string error: the last position was refused: startpos moves e4", "bestmove 0000"]
    assert re.fullmatch("bestmove ([a-h][1-8]){2}", told[4]) and told[5].startswith("info string error: FEN: ")
    monkeypatch.setattr(protocol, "Process", Wired)
    for game in (games.make("chess"), games.make(f"chess(fen='{castling}')"), games.make("chess(setup=0)")):
        outside = replace(agents.make("external(protocol='uci', nodes=1)"), command=f"uci random {game}")
        player, state = outside.player(game), game.initial()
        player.start(game, state, [])
        for _ in range(4):
            state = game.after(state, move := player.choose(state, stream(1)).move)
            player.played(move)
        player.close(None)
    Engines.free.clear()


def test_a_search_of_uci_always_ends_with_a_move():
    told = answers("random", "nim(heaps=(1, 1, 1))", "uci", "position startpos moves 1-1 2-1 3-1", "go")
    assert told.splitlines() == ["info string the game is over", "bestmove 0000"]


@pytest.mark.parametrize("error", [KeyError("row"), TypeError("none"), ZeroDivisionError("x")])
def test_a_failing_agent_is_no_bad_request(error, monkeypatch):
    """The answer names the agent and its error, and the next request is answered."""
    agent = type(agents.make("random"))
    monkeypatch.setattr(agent, "new_player", lambda *_: (_ for _ in ()).throw(error))
    asked = json.dumps({"type": "move", "game": "tictactoe", "moves": [], "budget": {}})
    told = [json.loads(line) for line in answers("random", "tictactoe", "json", asked, asked).splitlines()]
    assert told == 2 * [{"error": f"random failed: {type(error).__name__}: {error}"}]
    text = f"random failed: {type(error).__name__}: {error}"
    assert answers("random", "go(size=5)", "gtp", "genmove b") == f"? {text}\n\n"
    assert (
        answers("random", "connect4", "uci", "position startpos", "go") == f"info string error: {text}\nbestmove 0000\n"
    )


def test_what_is_no_request_is_answered_too():
    told = answers("random", "tictactoe", "json", "[]", "[" * 100_000).splitlines()
    assert json.loads(told[0]) == {"error": "a request is a JSON object"} and "error" in json.loads(told[1])


def test_json_lines():
    asked = {"type": "move", "game": "tictactoe", "moves": ["1a"], "budget": {}}
    lines = [json.dumps(request) for request in (asked | {"id": 7}, {"type": "move"}, asked | {"game": "nim"}, [])]
    told = [json.loads(line) for line in answers("random", "tictactoe", "json", *lines, "{").splitlines()]
    assert told[0]["id"] == 7 and told[0]["move"] in ("1b", "2b", "3c", "2a", "3a", "1c", "2c", "3b")
    assert told[1] == {"error": "the request lacks 'game'"}
    assert told[2] == {"error": "'nim' is to be played, and 'tictactoe' is served"}
    assert "error" in told[3] and "error" in told[4]


def test_clocks_of_go_and_of_json_lines():
    uct = agents.make("uct")
    go = "movestogo 40 wtime 60000 btime 30000 winc 1000 binc 500"
    assert limit_of(go.split(), uct, 0) == Budget(clock=Clock(60.0, 1.0, 30.0, 40))
    assert limit_of(go.split(), uct, 1) == Budget(clock=Clock(30.0, 0.5, 60.0, 40))
    assert limit_of(["wtime", "60000", "movetime", "50"], uct, 0) == Budget(seconds=0.05)
    assert limit_of(["ponder", *go.split()], uct, 1) == Budget(clock=Clock(30.0, 0.5, 60.0, 40))
    assert limit_of(["mate", "2"], agents.make("alphabeta"), 0) == Budget(depth=3)
    server = JsonServer(agents.make("flat"), games.make("tictactoe"), 0)
    for left, moves in ((5.0, []), (3.0, ["1a", "1b"])):
        clock = {"left": left, "increment": 0.0, "opponent": None}
        asked = {"type": "new_game", "game": str(games.make("tictactoe")), "moves": moves, "budget": {"clock": clock}}
        assert json.loads(next(server.answers(json.dumps(asked)))) == {}
        assert server.limit == Budget(clock=Clock(left))
    assert server.limit.seconds == Clock(3.0).share()
