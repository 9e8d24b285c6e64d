"""Openings from files, from lists, and all there are: what is accepted, what is told, and what is played."""

import pytest

import arena
from arena import games
from arena.config import loading
from arena.config.config import ConfigError
from arena.config.openings import BadOpenings, every, lines_of
from arena.play.match import play_fixture
from arena.results.database.store import Store
from tests.arena.fixtures import round_robin

AGENTS = [{"agent": "random"}, {"agent": "random", "name": "b"}]


def keys(openings, **more):
    return {"game": "tictactoe", "games": 4, "openings": openings, "agents": AGENTS} | more


def states_after(game, state, plies):
    """The states that all sequences of moves lead to, of those that do not end the game."""
    if game.is_over(state):
        return set()
    if plies == 0:
        return {state.tobytes()}
    return set().union(*(states_after(game, game.after(state, move), plies - 1) for move in game.moves(state)))


def test_every_opening_is_a_position_of_its_own():
    game = games.make("tictactoe")
    assert [len(every(game, plies)) for plies in range(5)] == [1, 9, 72, 252, 756]  # 9, 9*8, C(9,2)*7, C(9,2)*C(7,2)
    assert every(game, 0) == [""] and every(game, 1)[:3] == ["1a", "1b", "1c"]
    connect4 = games.make("connect4")
    assert len(every(connect4, 2)) == games.perft(connect4, 2) == 49
    small = games.make("breakthrough(rows=5, columns=3)")
    assert {small.read_line(line)[1].tobytes() for line in every(small, 3)} == states_after(small, small.initial(), 3)
    assert len(every(small, 3)) == len(states_after(small, small.initial(), 3)) < games.perft(small, 3)


def test_openings_of_chance_are_openings():
    lines = every(games.make("pig(target=20)"), 2)
    assert "roll 3" in lines and lines == lines_of({"plies": 2, "all": True}, games.make("pig(target=20)"))


@pytest.mark.parametrize("game, plies, message", [
    ("tictactoe", 9, "is over within 9 plies"), ("tictactoe", 10, "plies = 10 is out of range: it can be 0 to 9"),
    ("hex(size=7)", 4, "there are more than 10000 openings of 4 plies"),
    ("tictactoe", "2", "plies = '2' is out of range"),
])  # fmt: skip
def test_openings_that_there_are_not(game, plies, message):
    with pytest.raises(BadOpenings, match=message):
        every(games.make(game), plies)


def test_a_file_beside_the_configuration(tmp_path):
    (tmp_path / "book.txt").write_text("# a comment\n\n  2b   1a\n3c\n")
    text = 'game = "tictactoe"\n{}[[agents]]\nagent = "random"\n[[agents]]\nagent = "random"\nname = "b"\n'
    for value in ('"book.txt"', '{ file = "book.txt" }', '["2b 1a", "3c"]'):
        (tmp_path / "t.toml").write_text(text.format(f"openings = {value}\n"))
        resolved = loading.load(tmp_path / "t.toml").resolved()
        assert resolved["openings"] == ["2b 1a", "3c"] and resolved["games"] == 4 and "opening_plies" not in resolved
        assert loading.from_values(resolved).resolved() == resolved


def test_games_without_a_number_are_all_openings_with_both_sides():
    checked = loading.from_values({"game": "tictactoe", "openings": {"plies": 1, "all": True}, "agents": AGENTS})
    assert checked.values["games"] == 18 and checked.resolved()["openings"] == every(games.make("tictactoe"), 1)


def test_they_are_played_with_both_sides_and_begin_again(tmp_path):
    arena.run(keys(["2b 1a", "3c"], games=6), tmp_path, workers=1)
    with Store.open(tmp_path) as store:
        played = store.select("SELECT opening, opening_moves FROM games ORDER BY number")
    assert played == [(k, line) for k, line in enumerate(["2b 1a", "3c", "2b 1a"]) for _ in range(2)]


def test_a_stored_run_needs_no_file(tmp_path):
    (tmp_path / "book.txt").write_text("2b\n")
    arena.run(keys(str(tmp_path / "book.txt"), games=2), tmp_path / "run", workers=1)
    (tmp_path / "book.txt").unlink()
    with Store.open(tmp_path / "run") as store:
        resolved = store.config
    assert len(arena.run(resolved | {"games": 4}, tmp_path / "run", workers=1, resume=True).games) == 4
    with pytest.raises(ConfigError, match=r"openings = .*but the run was started with"):
        arena.run(resolved | {"openings": ["1a"]}, tmp_path / "run", workers=1, resume=True)


def test_the_same_games_as_with_random_plies_but_for_the_opening():
    fixture = round_robin(2, 4, 0)[0]
    drawn = play_fixture(loading.from_values(keys(["2b"])), fixture)
    assert drawn.opening_moves == "2b" and drawn.seed == fixture.seed
    random_plies = {key: value for key, value in keys([]).items() if key != "openings"} | {"opening_plies": 3}
    assert play_fixture(loading.from_values(random_plies), fixture).opening_moves.count(" ") == 2


@pytest.mark.parametrize("openings, message", [
    ("none.txt", "none.txt cannot be read: No such file"), ([], "there is no opening"),
    (5, "openings is a file's name, a list of lines of moves, or { plies = 2, all = true }"),
    ({"plies": 2}, "openings is a file's name"), ({"plies": 2, "all": False}, "openings is a file's name"),
    ({"file": 3}, "openings is a file's name"), (["1a", "1a 1a"], "line 2: '1a' is not a legal move of tictactoe here"),
    (["1a 2a 1b 2b 1c"], "line 1: tictactoe is over after '1a 2a 1b 2b 1c'"), ([3], "openings is a file's name"),
    ({"plies": 9, "all": True}, "is over within 9 plies"), (["1z"] * 9, "and 4 more lines that are wrong"),
    (["1a"] * 10_001, "there are 10001 openings; there can be 10000"),
])  # fmt: skip
def test_mistakes_in_openings(openings, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as error:
        loading.from_values(keys(openings))
    assert message in str(error.value) and "openings = " in str(error.value)


def test_lines_of_a_file_are_named(tmp_path):
    (tmp_path / "book.txt").write_text("# good\n1a\n\n9z\n")
    (tmp_path / "latin.txt").write_bytes(b"1a\n\xff\n")
    with pytest.raises(ConfigError, match=r"book.txt, line 4: '9z' is not a legal move"):
        loading.from_values(keys(str(tmp_path / "book.txt")))
    with pytest.raises(ConfigError, match="byte 3 is not UTF-8"):
        loading.from_values(keys(str(tmp_path / "latin.txt")))


def test_openings_have_no_place_beside_random_plies_or_puzzles():
    with pytest.raises(ConfigError, match="together with opening_plies"):
        loading.from_values(keys(["1a"], opening_plies=3))
    with pytest.raises(ConfigError, match=r"openings = .* is for two players"):
        loading.from_values(keys(["1"], game="samegame(rows=4, columns=4)"))
