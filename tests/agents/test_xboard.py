"""xboard's protocol: what a program is told, and what is understood of its answers."""

import os
import shutil
import sys

import pytest

from arena import agents, games
from arena.agents.core.agent import Budget, OutOfTime, Resigned
from arena.agents.core.clock import Clock
from arena.agents.outside import xboard
from arena.agents.outside.process import EngineError, Silent
from arena.agents.outside.uci import value_of_score
from arena.agents.outside.xboard import Xboard
from arena.games.core.play.in_progress import GameInProgress
from arena.games.core.random import stream
from tests.agents.test_serving import stretched

CHESS = games.make("chess")
FEATURES = 'feature ping=1 setboard=1 usermove=1 myname="Toy 1.0" done=1'
TIMED = Budget(seconds=2.5)
PROGRAMS = ("fairymax", "phalanx", "sjeng")


class Scripted:
    """A program that answers lines as a table says."""

    def __init__(self, answers):
        self.answers, self.sent, self.lines = answers, [], []

    def send(self, text):
        for line in text.splitlines():
            self.sent.append(line)
            word = line.split()[0]
            self.lines += self.answers.get(word, [f"pong {line.split()[1]}"] if word == "ping" else [])

    def line(self, until):
        if not self.lines:
            raise Silent("has not answered", "answer")
        return self.lines.pop(0).encode()

    def unasked(self):
        self.lines = []
        return b""


def spoken(go, features=FEATURES, options=None, game=CHESS, budget=TIMED, moves=""):
    """(the answer to `go`, everything sent) of a program in a game after some moves."""
    process = Scripted({"protover": [features] if features else [], "go": go})
    protocol = Xboard(process, options or {})
    identity = protocol.hello(1e12)
    position = GameInProgress(game, game.read_line(moves)[0])
    protocol.new_game(position, budget, 1e12)
    return protocol.choose(position, budget, 1, 1e12), process.sent, identity


def test_a_program_is_told_moves_and_asked_for_its_own():
    answer, sent, identity = spoken(["6 34 100 4567 e5 Nf3 Nc6", "move e7e5"], moves="e4", options={"level": "3"})
    assert identity.name == "Toy 1.0"
    assert sent == [
        "xboard", "protover 2", "accepted ping", "accepted setboard", "accepted usermove", "accepted myname", "level 3",
        "new", "force", "easy", "post", "st 2", "ping 1", "usermove e2e4", "ping 2", "go", "force",
    ]  # fmt: skip
    assert (answer.move, answer.depth, answer.nodes, answer.line) == ("e5", 6, 4567, ("e5", "Nf3", "Nc6"))
    assert answer.value == value_of_score("cp", "34")


@pytest.mark.parametrize("told, move", [
    (["move e2e4"], "e4"), (["My move is: e2e4"], "e4"), (["1. ... e2e4", "My move is : e2e4"], "e4"),
    (["# a remark", "move g1f3"], "Nf3"), (["move Nf3"], "Nf3"), (["move e2e5"], "e2e5"),
])  # fmt: skip
def test_moves_are_understood_in_every_spelling(told, move):
    assert spoken(told)[0].move == move


def test_words_are_parted_by_any_blanks(monkeypatch):
    monkeypatch.setattr(Scripted, "line", lambda self, until: stretched(self.lines.pop(0)).encode())
    for told in (["6 34 100 4567 e4 e5", "move e2e4"], ["1. ... e2e4"], ["My move is : e2e4"]):
        assert spoken(told)[0].move == "e4"
    for told in ("resign", "0-1 {White resigns}"):
        with pytest.raises(Resigned):
            spoken([told])
    with pytest.raises(EngineError, match="wrote 'Illegal move: e2e4'"):
        spoken(["Illegal move: e2e4"])


@pytest.mark.parametrize("features", [FEATURES, FEATURES.replace("ping=1", "ping=0")])
def test_a_right_claim_after_its_own_move_is_part_of_no_other_game(features):
    process = Scripted({"protover": [features], "go": ["move d8h4", "0-1 {Black mates}"]})
    protocol, position = Xboard(process, {}), GameInProgress(CHESS, CHESS.read_line("f3 e5 g4")[0])
    protocol.hello(1e12)
    protocol.new_game(position, TIMED, 1e12)
    position.push(position.legal[protocol.choose(position, TIMED, 1, 1e12).move])
    assert CHESS.is_over(position.state)
    protocol.game_over(position, 0.0, 1e12)
    process.answers["go"] = ["move e2e4"]
    protocol.new_game(GameInProgress(CHESS), TIMED, 1e12)
    assert protocol.choose(GameInProgress(CHESS), TIMED, 1, 1e12).move == "e4" and "result 0-1 {}" in process.sent


def test_who_claims_its_own_loss_resigns_and_other_claims_are_no_moves():
    for moves, loss in (("", "0-1 {Black mates}"), ("e4", "1-0 {White wins on time}")):
        with pytest.raises(Resigned):
            spoken([loss], moves=moves)
    for claim in ("1-0 {White mates}", "1/2-1/2 {Draw by repetition}"):
        assert spoken([claim, "move e2e4"])[0].move == "e4"
        with pytest.raises(Silent):
            spoken([claim])


def test_a_wrong_claim_is_named(tmp_path):
    """The position is not over, or it would not have been asked: nothing but a move counts."""
    (tmp_path / "engine.py").write_text(
        "import sys\nfor line in sys.stdin:\n"
        "    said = {'protover': 'feature done=1', 'go': '1/2-1/2 {Draw by repetition}'}.get(line.split()[0], '')\n"
        "    print(said, flush=True)\n"
    )
    command = f"{sys.executable} -I -S {tmp_path / 'engine.py'}"
    player = agents.make(f"external(command='{command}', protocol='xboard', seconds=1, margin=0.1)").player(CHESS)
    with pytest.raises(OutOfTime, match=r"1/2-1/2 \{Draw by repetition\}"):
        player.choose(CHESS.initial(), stream(1))


def test_a_move_that_is_told_twice_is_one():
    """The second line is no answer to the next request."""
    process = Scripted({"protover": [FEATURES], "go": ["1. ... e2e4", "My move is : e2e4"]})
    protocol, position = Xboard(process, {}), GameInProgress(CHESS)
    protocol.hello(1e12)
    protocol.new_game(position, Budget(depth=3), 1e12)
    for move in ("e4", "e5"):
        assert protocol.choose(position, Budget(depth=3), 1, 1e12).move == "e4" or move == "e5"
        position.push(position.legal[move])
        process.answers["go"] = ["move e7e5"]
    assert "sd 3" in process.sent and not any(line.startswith("usermove") for line in process.sent)
    for points, told in ((0.5, "1/2-1/2"), (1.0, "1-0"), (0.0, "0-1"), (None, "*")):
        protocol.game_over(position, points, 1e12)
        assert process.sent[-1] == f"result {told} {{}}"


def test_clocks_are_told_in_centiseconds():
    clock = Budget(clock=Clock(95.55, 1.5, 20.0))
    _, sent, _ = spoken(["move e2e4"], budget=clock)
    assert "level 0 1:35 1" in sent and sent[sent.index("go") - 2 : sent.index("go")] == ["time 9555", "otim 2000"]


def test_a_program_of_version_1_is_spoken_to_as_well(monkeypatch):
    monkeypatch.setattr(xboard, "PATIENCE", 0.0)
    answer, sent, identity = spoken(["move e7e5"], features="", moves="e4")
    assert answer.move == "e5" and "e2e4" in sent and identity.name == "" and not any("ping" in line for line in sent)


def test_positions_need_setboard():
    fen = "8/8/8/8/8/5k2/6q1/7K w - - 0 1".replace("6q1", "6p1")
    game = games.make(f"chess(fen='{fen}')")
    answer, sent, _ = spoken(["move h1g1"], game=game)
    assert f"setboard {fen}" in sent and answer.move == "Kg1"
    with pytest.raises(EngineError, match="cannot be given fen"):
        spoken([], features="feature done=1", game=game)


def test_what_a_program_refuses_or_gives_up():
    with pytest.raises(EngineError, match="wrote 'Illegal move: e2e4'"):
        spoken(["Illegal move: e2e4"])
    with pytest.raises(Resigned):
        spoken(["resign"])
    with pytest.raises(Silent):
        spoken(["# nothing more"])


def test_it_is_for_chess_and_whole_seconds():
    outside = agents.make("external(command='x', protocol='xboard')")
    assert "chess alone, not for connect4" in outside.refuses(games.make("connect4"))
    assert "chess alone" in outside.refuses(games.make("chess(setup=0)"))
    with pytest.raises(agents.Unsuited, match="xboard's protocol knows whole seconds alone"):
        agents.make("external(command='x', protocol='xboard')").budget(Budget(seconds=1.5))
    with pytest.raises(agents.Unsuited, match="needs a budget: depth, seconds"):
        outside.budget()


@pytest.mark.slow
@pytest.mark.parametrize("command", PROGRAMS)
def test_programs_that_are_installed_play(command):
    """Some moves of a game of the program against itself."""
    place = shutil.which(command.split()[0], path=f"{os.environ.get('PATH', '')}:/usr/games")
    if place is None:
        pytest.skip(f"{command.split()[0]} is not installed")
    words = " ".join([place, *command.split()[1:]])
    player = agents.make(f"external(command='{words}', protocol='xboard', seconds=1, margin=20)").player(CHESS)
    state = CHESS.initial()
    for _ in range(6):
        move = player.choose(state, stream(1)).move
        state = CHESS.after(state, move)
        player.played(move)
    player.close(None)
