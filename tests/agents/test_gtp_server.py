"""GTP 2 as programs for Go use it: clocks, handicaps, the same colour twice, and analysis."""

import re
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import agents, games
from arena.agents.core.chunks import Control, control
from arena.agents.core.clock import Clock
from arena.agents.outside.gtp_server import GtpServer
from arena.agents.outside.serving import serve
from arena.games.core.random import stream
from tests.agents.test_serving import answers

COMMANDS = [
    "play b c3", "play w c3", "play b d4", "play b pass", "play w pass", "play b z9", "play w z9", "play q a1", "undo",
    "set_free_handicap A1 B2 pass", "set_free_handicap A1 A1", "set_free_handicap pass A1", "set_free_handicap A1 Z9",
    "set_free_handicap A1 B2", "fixed_handicap 2", "fixed_handicap x", "komi nan", "komi 5.5", "boardsize 99",
    "boardsize 8", "loadsgf {file}", "loadsgf {file} x", "loadsgf /no", "genmove b", "genmove w", "genmove z",
    "reg_genmove b", "time_settings nan 1 1", "time_settings 9 1 1", "time_left b nan 0", "time_left b 5 -3",
]  # fmt: skip


def told(*lines, agent="random", game="go(size=9)"):
    """The answers without their signs; refused ones begin with `?`."""
    written = [answer.strip() for answer in answers(agent, game, "gtp", *lines).split("\n\n") if answer]
    return [answer.removeprefix("=").strip() for answer in written]


def test_a_player_may_move_twice_and_takes_both_back():
    board = told("play b c3", "play b d4", "play w e5", "undo", "undo", "undo", "undo", "showboard")
    assert board[:6] == [""] * 6 and board[6] == "? cannot undo" and "X" not in board[7].upper().replace("X ", "")
    made = told("play b c3", "play b d4", "genmove b", "genmove b", "play w pass", "play w a1")
    assert all(re.fullmatch("[A-J][1-9]|PASS", vertex) for vertex in made[2:4])
    assert made[5] == "? it is not the turn of w"  # after a pass, another would end the game
    assert told("play b a1", "play b b1", game="atarigo(size=5)")[1] == "? it is not the turn of b"


def test_a_refused_move_leaves_the_board_as_it_was():
    server = GtpServer(agents.make("random"), games.make("go(size=5)"), 0)
    for line in ("play b c3", "play b c3", "play b z9"):
        list(server.answers(line))
    assert server.position.names == ["c3"]
    for line in ("play w d4", "play b e5", "undo"):
        list(server.answers(line))
    assert server.position.names == ["c3", "d4"]  # which nobody was let make


@pytest.mark.parametrize("game", ["go(size=9)", "hex(size=5)", "nogo(size=5)", "othello(size=6)"])
@given(st.lists(st.sampled_from(COMMANDS), max_size=6))
def test_a_command_that_is_refused_changes_nothing(tmp_path_factory, game, lines):
    file = tmp_path_factory.getbasetemp() / "seven.sgf"
    file.write_text("(;GM[1]SZ[7]KM[5.5];B[ce];W[ec])")
    server = GtpServer(agents.make("random"), games.make(game), 0)
    for line in lines:
        before = server.game, list(server.position.names), list(server.let), server.times, dict(server.left)
        said = "".join(server.answers(line.format(file=file)))
        after = server.game, server.position.names, server.let, server.times, server.left
        assert said.startswith("=") or after == before, line
        if line.startswith("set_free") and said.startswith("="):
            assert not server.game.is_over(server.position.state)


@pytest.mark.parametrize("size, stones, points", [
    (9, 2, "C3 G7"), (9, 5, "C3 G7 C7 G3 E5"), (9, 9, "C3 G7 C7 G3 C5 G5 E3 E7 E5"), (13, 3, "D4 K10 D10"),
    (13, 8, "D4 K10 D10 K4 D7 K7 G4 G10"), (8, 4, "C3 F6 C6 F3"),
])  # fmt: skip
def test_a_fixed_handicap(size, stones, points):
    """The points of the GTP's specification; the second player is to move."""
    said = told(f"boardsize {size}", f"fixed_handicap {stones}", "final_status_list alive", "play w a1")
    assert said[1] == points and sorted(said[2].split()) == sorted(points.split()) and said[3] == ""


def test_bad_handicaps_are_refused():
    assert told("fixed_handicap 10")[0] == "? 10 stones: on 9x9 a handicap has 2 to 9"
    assert told("boardsize 8", "fixed_handicap 5")[1] == "? 5 stones: on 8x8 a handicap has 2 to 4"
    assert told("boardsize 5", "fixed_handicap 2")[1] == "? the board is small"
    assert told("play b a1", "fixed_handicap 2")[1] == "? board not empty"
    assert "not a legal move" in told("set_free_handicap a1 a1")[0]
    assert told("set_free_handicap a1 b2 pass")[0].startswith("? bad vertex list")
    board = ["final_status_list alive", "final_status_list dead"]
    assert told("set_free_handicap a1 b2 c3", *board) == ["", "C3 B2 A1", ""]
    assert told("set_free_handicap a1")[0].startswith("? a handicap is of two stones")
    assert told("fixed_handicap") == ["? syntax error"]


def test_a_move_may_be_asked_for_without_being_played():
    first, board, second = told("reg_genmove b", "final_status_list alive", "reg_genmove b")
    assert first == second and re.fullmatch("[A-J][1-9]", first) and board == ""


def limits(*lines, agent="uct"):
    """The budget that the player got for the move after these lines."""
    server = GtpServer(agents.make(agent), games.make("go(size=5)"), 0)
    for line in (*lines, "genmove b"):
        said = "".join(server.answers(line))
        assert said.startswith("="), said
    server.close()
    return server


def test_times_are_a_clock_for_an_agent_without_a_budget():
    assert limits("time_settings 2 0 0").limit.clock == Clock(2.0)
    assert limits("time_settings 0 1 5").limit.clock == Clock(1.0, moves=5)
    assert limits("time_settings 9 0 0", "time_left b 1 0", "time_left w 5 0").limit.clock == Clock(1.0)
    assert limits("time_settings 0 1 5", "time_left b 0 3").limit.clock == Clock(0.0, moves=3)
    own = limits("time_settings 2 0 0", agent="uct(playouts=9)")
    assert own.limit.clock is None and own.own
    for line in ("time_settings 0 0 0", "time_settings 5 10 0"):  # no limit: the agent needs a budget
        assert "needs a budget" in answers("uct", "go(size=5)", "gtp", "time_settings 3 0 0", line, "genmove b")
    assert told("time_settings 1 -1 1", "time_settings x 1 1", "time_settings 1")[0] == "? times are 0 or more"


def test_moves_are_charged_and_periods_begin_anew():
    server = limits("time_settings 0.2 0.5 3")
    seconds, moves = server.left[0]
    assert 0 < seconds < 0.2 and moves == 0 and server.left[1] == (0.2, 0)
    for spent, expected in [(0.3, (pytest.approx(seconds - 0.3 + 0.5), 2)), (0.1, None), (0.1, (0.5, 3))]:
        server._charge(0, spent)
        assert expected is None or server.left[0] == expected
    server.gtp_clear_board()
    assert server.left[0] == (0.2, 0)


@pytest.mark.parametrize("agent", ["uct", pytest.param("alphabeta", marks=pytest.mark.slow), "uct(playouts=30)"])
def test_boards_can_show_what_it_thinks(agent):
    """`lz-analyze` tells the best moves until the next line comes."""
    said = []

    def lines():
        yield "play b c3"
        yield "lz-analyze w 5"
        while not any(line.startswith("info move") for line in said):
            time.sleep(0.01)
        yield "7 play w b2"
        yield "final_status_list alive"

    serve(agents.make(agent), games.make("go(size=5)"), "gtp", lines(), said.append)
    written = "".join(said)
    analysis = next(line for line in written.splitlines() if line.startswith("info move"))
    assert re.match(r"info move [A-E][1-5] visits \d+ winrate \d+ order 0 pv [A-E][1-5]", analysis)
    assert re.search(r"\n\n=7 ", written) and written.endswith("= C3 B2\n\n") and control == Control()


def test_gtp_in_a_process_with_a_clock(tmp_path):
    """Our own side speaks to it, with clocks."""
    command = f"{sys.executable} -m arena serve-agent uct 'go(size=5)' --protocol gtp"
    outside = agents.make(f"external(command={command!r}, protocol='gtp')")
    game = games.make("go(size=5)")
    player = outside.player(game, agents.Budget(clock=Clock(30.0)))
    player.start(game, game.initial(), [])
    decision = player.choose(game.initial(), stream(1))
    assert decision.move in game.moves(game.initial())
    player.close(None)


def test_a_fault_of_a_command_is_no_error_of_syntax(monkeypatch):
    monkeypatch.setattr(GtpServer, "gtp_komi", lambda self, komi: len(0.5))
    assert told("komi", "name")[0] == "? syntax error"
    with pytest.raises(TypeError, match="has no len"):
        told("komi 7.5")


def test_a_game_is_loaded_from_sgf(tmp_path):
    """With its size and komi, to its end or before a move; a file of another game is refused."""
    text = "(;GM[1]SZ[7]KM[5.5]HA[2]AB[cc][ee];W[ce];B[ec];W[dd])"
    (tmp_path / "g.sgf").write_text(text)
    (tmp_path / "h.sgf").write_text("(;GM[11]SZ[5];B[a1])")
    place, alive = tmp_path / "g.sgf", "final_status_list alive"
    _, at_end = told(f"loadsgf {place}", alive)
    _, before, _, refused = told(f"loadsgf {place} 2", alive, "boardsize 5", f"loadsgf {tmp_path}/h.sgf")
    assert sorted(at_end.split()) == ["C3", "C5", "D4", "E3", "E5"] and sorted(before.split()) == ["C3", "C5", "E3"]
    assert refused.startswith("? cannot load file: is of hex")
    assert told(f"loadsgf {tmp_path}/none.sgf")[0].startswith("? cannot load file")
