"""arena play: a person at the terminal, who is piped input here."""

import json

import pytest
from typer.testing import CliRunner

from arena import agents, games, results
from arena.cli import app
from arena.commands.dialogue import Dialogue
from arena.games.core.game import CHANCE
from arena.play.duel import Duel, usual_budget
from tests.arena.conftest import PLUGIN

NIM = ["test_nim", "test_odd", "--plugin", PLUGIN, "--seed", 1]


def play(*arguments, typed=""):
    return CliRunner().invoke(app, ["play", *map(str, arguments)], input=typed)


def duel(game, agent="random", side=0, seed=5, **more):
    return Duel(games.make(game), agents.make(agent), side, seed, **more)


def test_a_game_to_its_end():
    result = play("tictactoe", "random", "--seed", 0, "--moves", "1a 1b 2a 2b", typed="3a\n")
    assert result.exit_code == 0 and "You win (played out), after 5 plies." in result.stdout
    assert "your move> 3a" in result.stdout  # what is piped is seen as if it were typed
    assert result.stdout.count("a b c") == 2  # the board before, and at the end


def test_moves_hint_help_and_a_wrong_move():
    result = play("tictactoe", "uct", "--budget", "playouts=50", typed="moves\nhint\nhelp\n2bb\nxyzzy\n2B\nquit\n")
    assert result.exit_code == 0, result.output
    text = result.stdout
    assert "9 legal moves: 1a 1b 1c 2a 2b 2c 3a 3b 3c" in text and "take back your last move" in text
    assert "hint: " in text and "50 playouts" in text and "; expects " in text
    assert "'2bb' is neither a legal move here nor a command. Did you mean 2b?" in text
    assert "'xyzzy' is neither" in text and "Legal (9): 1a" in text
    assert "uct(playouts=50): " in text and "value" in text and "Broken off after 2 plies." in text


def test_rules_come_first_and_when_they_are_asked_for():
    rules = games.make("hex").rules
    said = play("hex", "random", "--seed", 1, typed="RULES\nquit\n").stdout
    assert said.count(rules) == 2 and said.index(rules) < said.index("A move is written like a1;")
    said = play(*NIM, typed="rules\nquit\n").stdout
    assert said.count("test_nim tells no rules.") == 1


@pytest.mark.parametrize("word", ["q", "exit", "Q"])
def test_other_words_for_quit(word):
    result = play("tictactoe", "random", typed=f"{word}\n")
    assert result.exit_code == 0 and "Broken off after 0 plies." in result.stdout and "neither" not in result.stdout


def test_a_legal_move_is_no_word_for_quit():
    named = "tree(nodes=\"{'q': 1, 'exit': 2}\")"
    for word in ("q", "exit"):
        assert "You win (played out), after 1 plies." in play(named, "random", typed=f"{word}\n").stdout


@pytest.mark.parametrize("game, typed, taken", [
    ("tictactoe", "b2", "2b"), ("breakthrough", "B2a3", "2b3a"), ("clobber", "2a1a", "a2a1"), ("hex", "11k", "k11"),
])  # fmt: skip
def test_squares_with_row_and_column_exchanged(game, typed, taken):
    made = Dialogue(duel(game))
    assert made.game.move_name(made.duel.state, made.move_of(typed, made.duel.legal)) == taken


@pytest.mark.parametrize("typed", ["b2a", "2b3", "b2a4", "22b"])
def test_what_is_no_legal_move_when_exchanged_is_refused(typed):
    made = Dialogue(duel("breakthrough"))
    assert made.move_of(typed, made.duel.legal) is None


def test_a_name_comes_before_one_with_row_and_column_exchanged():
    made = Dialogue(duel("tree(nodes=\"{'a1': 1, '1a': 2}\")"))
    for name in ("a1", "1a"):
        assert made.game.move_name(made.duel.state, made.move_of(name, made.duel.legal)) == name


@pytest.mark.parametrize("game, example", [("backgammon", "/"), ("coin", "stop"), ("pig", "roll")])
def test_the_example_of_a_move_is_no_throw_of_dice(game, example):
    said = play(game, "random", "--seed", 1, typed="").stdout
    assert example in said.split("A move is written like ")[1].split(";")[0]


def test_undo_brings_the_position_back():
    result = play(*NIM, typed="undo\n1\nundo\nresign\n")
    assert "You have made no move yet." in result.stdout and "2 moves are taken back." in result.stdout
    assert "test_odd wins (resigned), after 0 plies." in result.stdout


def test_what_is_played_again_comes_out_the_same():
    game, answers = duel("pig(target=30)", seed=3), []
    for _ in range(2):
        list(game.advance())
        game.move(game.game.parse_move(game.state, "roll"))
        answers.append([made.name for made in game.advance()])
        state = game.state.tolist()
        assert game.undo() == 1 + len(answers[-1]) and game.undo() == 0 and game.state[0] == 0
    assert answers[0] == answers[1] and state != game.state.tolist()
    assert game.names == []


def test_dice_fall_for_both_and_are_no_decisions():
    game = duel("pig(target=30)", seed=3)
    list(game.advance())
    game.move(game.game.parse_move(game.state, "roll"))
    list(game.advance())
    assert game.sides[1] == CHANCE and game.decisions[1] is None
    assert len(game.recorded().decisions) == sum(side != CHANCE for side in game.sides)


@pytest.mark.parametrize("side, outcome, names", [(0, 0.0, ("Ada", "random")), (1, 1.0, ("random", "Ada"))])
def test_who_resigns_has_lost(side, outcome, names):
    game = duel("tictactoe", side=side, name="Ada")
    list(game.advance())
    game.give_up()
    record = game.recorded()
    assert (record.outcome, (record.first, record.second), record.reason) == (outcome, names, "resigned")


def test_sides():
    assert "You play second. Seed" in play(*NIM, "--side", "second").stdout
    assert "You are Ada and play first. Seed" in play(*NIM, "--name", "Ada").stdout
    said = [play(*NIM[:-1], seed, "--side", "random").stdout for seed in range(8)]
    assert {text.split("You play ")[1].split(".")[0] for text in said} == {"first", "second"}


@pytest.mark.plain
def test_an_agent_without_a_budget_is_told_what_it_takes():
    result = play("tictactoe", "alphabeta", "--seed", 1, typed="quit\n")
    assert "alphabeta has no budget: it takes seconds=1 for a move" in result.stderr
    assert "alphabeta(seconds=1.0)" in result.stdout


def test_an_agent_that_knows_a_depth_alone_searches_four_plies_deep():
    assert usual_budget(agents.make("negamax")) == {"depth": 4}
    assert usual_budget(agents.make("negamax(depth=2)")) == usual_budget(agents.make("random")) == {}


@pytest.mark.parametrize("typed", ["", "1\n", "1"])
def test_the_end_of_the_input_ends_it(typed):
    result = play(*NIM, typed=typed)
    assert result.exit_code == 0 and "Broken off" in result.stdout


def test_ctrl_c_ends_it(monkeypatch, tmp_path):
    def interrupted(prompt):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    result = play(*NIM, "--save", tmp_path / "g.jsonl")
    assert result.exit_code == 130 and "Broken off after 0 plies." in result.stdout
    assert json.loads((tmp_path / "g.jsonl").read_text())["reason"] == "unfinished"


def test_records_are_added_and_can_be_rated(tmp_path):
    file = tmp_path / "games.jsonl"
    for seed in range(3):
        play("tictactoe", "random", "--seed", seed, "--save", file, "--name", "Ada", typed="resign\n")
    assert play("tictactoe", "random", "--save", file, "--name", "Ada", typed="quit\n").exit_code == 0
    done = CliRunner().invoke(app, ["import", str(file), "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    frame = results.load(tmp_path / "run").standings().set_index("agent")
    assert frame.loc["Ada", ["games", "losses", "void"]].tolist() == [3, 3, 1]


def test_records_in_other_formats(tmp_path):
    assert play("hex(size=3)", "random", "--seed", 1, "--save", tmp_path / "g.sgf", typed="a1\nresign\n").exit_code == 0
    assert "(;FF[4]" in (tmp_path / "g.sgf").read_text() and ";B[a1]" in (tmp_path / "g.sgf").read_text()
    for _ in range(2):
        play("tictactoe", "random", "--seed", 1, "--save", tmp_path / "g.pgn", typed="2b\nresign\n")
    text = (tmp_path / "g.pgn").read_text()
    assert text.count("[Event ") == 2 and 'GameId "play-0002"' in text and "1. 2b" in text


@pytest.mark.parametrize("how, reason", [
    ("raise", "ValueError: on purpose"), ("range", "answered the move 99"), ("sysexit", "SystemExit"),
    ("none", "TypeError"), ("raises when told", "I do not want to know"),
])  # fmt: skip
def test_an_agent_that_fails_has_lost(how, reason):
    result = play("test_nim", f"test_odd(how='{how}')", "--plugin", PLUGIN, "--seed", 1, typed="hint\n1\n")
    assert (f"There is no hint: test_odd(how='{how}')" in result.stdout) == (how != "raises when told")
    assert result.exit_code == 1 and "You win" in result.stdout and reason in result.stderr
    assert "Traceback" not in result.output


def test_an_agent_that_cannot_begin():
    result = play("test_nim", "test_odd(how='raises at once')", "--plugin", PLUGIN)
    assert result.exit_code == 1 and "the agent failed: " in result.stderr and "no player today" in result.stderr


@pytest.mark.parametrize("name, content", [
    ("x.jsonl", b"{}\n"), ("x.pgn", b"hello\n"), ("x.sgf", b"x"), ("x.pgn", b"\xff"),
])  # fmt: skip
def test_a_file_of_something_else_is_not_added_to(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "folder.pgn").mkdir()
    for file, message in ((name, "holds no records"), ("folder.pgn", "cannot be written")):
        result = play("hex(size=3)", "random", "--save", tmp_path / file)
        assert result.exit_code == 2 and message in " ".join(result.stderr.replace("│", " ").split())
    assert (tmp_path / name).read_bytes() == content


def test_a_hint_moves_nothing():
    game = duel("tictactoe", "uct(playouts=20)")
    assert game.hint().expected == game.hint().expected != ()
    assert game.names == [] and not game.is_over


def test_a_game_for_one_player_is_played_alone():
    result = play("test_puzzle(heap=3)", "random", "--plugin", PLUGIN, "--seed", 1, typed="hint\n2\nundo\n2\n1\n")
    assert result.exit_code == 0, result.output
    assert "hint: " in result.stdout and "random: " not in result.stdout and "Your move is taken back." in result.stdout
    assert "Score -1 (played out), after 2 plies." in result.stdout
    assert "for one player" in play("test_puzzle", "random", "--plugin", PLUGIN, "--side", "second").stderr


@pytest.mark.parametrize("arguments, message", [
    (["nosuch", "random"], "unknown game 'nosuch'"),
    (["tictactoe", "nobody"], "unknown agent 'nobody'"),
    (["tictactoe", "uct", "--budget", "depth=3"], "uct needs a budget of playouts or seconds, not depth"),
    (["tictactoe", "uct", "--budget", "time=3"], "uct knows playouts, seconds"),
    (["tictactoe", "uct", "--budget", "playouts=0"], "playouts = 0 is out of range"),
    (["tictactoe", "uct(playouts=5)", "--budget", "playouts=9"], "has its own budget"),
    (["tictactoe", "random", "--seed", "-1"], "--seed -1 is out of range"),
    (["tictactoe", "random", "--moves", "1a 1a"], "'1a' is not a legal move"),
    (["tictactoe", "random", "--moves", "1a 1b 2a 2b 3a"], "the game is over after these moves"),
    (["tictactoe", "random", "--name", "random"], "must be printable text, and not the agent's name"),
    (["tictactoe", "random", "--save", "x.txt"], "must end in .jsonl, .pgn, .sgf"),
    (["tictactoe", "random", "--save", "x.sgf"], "has no records in SGF"),
    (["tictactoe", "random", "--save", "none/x.pgn"], "there is no folder none"),
    (["tictactoe", "random", "--plugin", "no.such"], "No module named"),
    (["tictactoe", "random", "--side", "third"], "'third' is not one of"),
])  # fmt: skip
def test_mistakes_are_told_before_play(arguments, message):
    result = play(*arguments)
    assert result.exit_code == 2 and message in " ".join(result.stderr.replace("│", " ").split()), result.stderr
    assert result.stdout == "" and "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "game, first, second",
    [
        ("breakthrough", "W", "B"),
        ("checkers", "b", "w"),
        ("amazons", "W", "B"),
        ("othello", "B", "W"),
        ("hex", "X", "O"),
        ("chess", "the capital letters", "the small letters"),
        ("domineering", "vertical dominoes", "horizontal dominoes"),
        ("pig", "A", "B"),
        ("nim", "", ""),
    ],
)
def test_who_has_which_pieces(game, first, second):
    made = games.make(game)
    assert (made.pieces(0), made.pieces(1)) == (first, second)


def test_letters_beside_the_board_are_nobodys_pieces(monkeypatch):
    game = games.make("breakthrough")
    board = type(game).render
    monkeypatch.setattr(
        type(game), "render", lambda self, state: f"{board(self, state)}\n{'WB'[self.player(state)]} moves"
    )
    assert (game.pieces(0), game.pieces(1)) == ("W", "B")


def test_what_the_last_move_changed_is_inverse_in_a_terminal(monkeypatch):
    said = play("breakthrough", "random", "--seed", 1, typed="2b3a\nquit\n").stdout
    assert "You play first with W." in said and "\x1b" not in said
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    said = play("breakthrough", "random", "--seed", 1, typed="2b3a\nquit\n").stdout
    assert said.count("\x1b[7m") == 2
