"""PGN as people and programs write it: read for what it is, one bad game costs one game, python-chess agrees."""

import gzip
import io
import random

import pytest
from typer.testing import CliRunner

from arena import games, results
from arena.cli import app
from arena.results.database.store import Store
from arena.results.files.csv_reader import from_csv
from arena.results.files.decoding import decoded
from arena.results.files.exchange import ExchangeError
from arena.results.files.extras import comments_of, tags_of
from arena.results.files.legality import Wanted, judge_of
from arena.results.files.pgn import to_pgn
from arena.results.files.pgn_reader import from_pgn
from tests.arena.stored import CONFIG, store_run
from tests.shipped import GAMES

HEAD = '[Event "t"]\n[Round "1"]\n[White "Ann"]\n[Black "Ben"]\n[Result "{}"]\n'
LINE = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6"
PLAIN = "e4 e5 Nf3 Nc6 Bb5 a6"


def game(moves=LINE, result="1-0", more=""):
    return f"{HEAD.format(result)}{more}\n{moves} {result}\n\n"


def moves_of(text, **options):
    return [record.moves for record in from_pgn(text, **options)]


WRITTEN = {
    "marks": "1. e4! e5?! 2. Nf3 !? Nc6 = 3. Bb5 +/= a6 N",
    "numeric marks": "1. e4$1 e5 $2 2. Nf3$14$36 Nc6 3. Bb5 a6",
    "numbers without dots": "1 e4 e5 2 Nf3 Nc6 3 Bb5 a6",
    "numbers with many dots": "1. e4 1... e5 2.Nf3 2. ... Nc6 3... Bb5 a6",
    "comments": "{ begins } 1. e4 {a {b} c} e5 ; to the end { of the line\n2. Nf3 (2. f4 exf4 (2... d5)) Nc6 "
    '{\n[Event "no"]\n} 3. Bb5 a6',
    "escaped lines": "1. e4 e5\n% a program's own { line\n2. Nf3 Nc6 3. Bb5 a6",
    "a line in brackets": "1. e4 e5\n[see the book]\n2. Nf3 Nc6 3. Bb5 a6",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_what_is_no_move_is_left_out(text):
    assert moves_of(game(text)) == [PLAIN]


@pytest.mark.parametrize(
    "more",
    [
        '[Annotator "the "Rock" Smith"]\n',
        '[Time-Control "5+3"]\n',
        '[Opening "Ruy \\"Lopez\\" C:\\\\x"] [ECO "C70"]\n',
        '[Cut "short\n',
        "; a remark\n",
    ],
)
def test_lines_among_tags_are_no_moves(more):
    found, left_out = from_pgn(game(more=more), left_out=[]), []
    assert [(one.first, one.second, one.moves) for one in found] == [("Ann", "Ben", PLAIN)] and not left_out


@pytest.mark.parametrize("remark", ["; a remark\n", "{ two\nlines }\n", "\n{ a remark }\n\n"])
def test_remarks_between_tags_part_no_game(remark):
    text = game().replace('[White "Ann"]\n', f'[White "Ann"]\n{remark}')
    assert moves_of(text + text) == [PLAIN, PLAIN]
    forfeit = HEAD.format("0-1") + f"\n{{ did not come }}\n\n{HEAD.format('1-0')}\n{LINE} 1-0\n"
    assert [(one.outcome, one.moves) for one in from_pgn(forfeit)] == [(0.0, ""), (1.0, PLAIN)]


def test_a_game_of_tags_alone_is_a_game_and_keeps_its_tags():
    forfeit = HEAD.format("0-1") + '[FEN "8/8/8/8/8/8/8/K1k5 w - - 0 1"]\n\n\n'
    text = forfeit + game() + HEAD.format("1/2-1/2")
    assert [(one.outcome, one.moves) for one in from_pgn(text)] == [(0.0, ""), (1.0, PLAIN), (0.5, "")]
    tags = []
    from_pgn(text, lambda own, moves, *result: tags.append("FEN" in own) or ("", "", moves, result[0], ""))
    assert tags == [True, False, False]


@pytest.mark.parametrize("end", ["1-0", "1-0 ", "1-0\n\n; remark\n", "1-0\n{ end }\n"])
def test_games_that_are_glued_or_follow_remarks(end):
    text = f"{HEAD.format('1-0')}\n{LINE} {end}" + game()
    assert moves_of(text) == [PLAIN, PLAIN]
    assert moves_of("{\nGames of a match\n}\n\n;; and more\n" + text.replace("\n", "\r")) == [PLAIN, PLAIN]


BAD = {
    "has no result": game(result="*"),
    "must be two, with a name each": game().replace("Ben", "Ann"),
    "the result '0-0' is not one of": game().replace('Result "1-0"', 'Result "0-0"'),
    "this game has no tag Black": game().replace('[Black "Ben"]\n', ""),
    "the variation does not end": game("1. e4 (1. d4"),
    "the comment does not end": game("1. e4 { no end"),
    "has characters that cannot be printed": game("1. e4\x1b[31m"),
}


@pytest.mark.parametrize("why", BAD)
def test_a_bad_game_costs_one_game(why):
    left_out = []
    found = from_pgn(game() + BAD[why] + game(), left_out=left_out)
    assert [one.moves for one in found] == [PLAIN, PLAIN] and len(left_out) == 1
    assert left_out[0].startswith("line 9: ") and why in left_out[0]
    if "no result" not in why:
        with pytest.raises(ExchangeError, match=why):
            from_pgn(game() + BAD[why])


def test_moves_before_any_tags_are_told():
    left_out = []
    assert len(from_pgn("1. e4 e5\n\n" + game(), left_out=left_out)) == 1
    assert left_out == ['line 1: is not PGN: a game begins with tags such as [White "name"]']


def test_an_end_that_contradicts_the_tag_is_told():
    notes = []
    (record,) = from_pgn(game(f"{LINE} 1/2-1/2").replace(" 1-0\n", "\n"), notes=notes)
    assert record.outcome == 1.0 and notes == ["line 1: the tag says 1-0, the end 1/2-1/2: stored by the tag"]


def test_pairs_by_round():
    """One Round for both games of a pair, N.1 and N.2, or none; another event is another pair."""

    def openings(*tags):
        text = ""
        for event, round_, exchanged in tags:
            white, black = ("Ben", "Ann") if exchanged else ("Ann", "Ben")
            own = game().replace('"t"', f'"{event}"').replace('Round "1"', f'Round "{round_}"')
            text += own.replace('White "Ann"', f'White "{white}"').replace('Black "Ben"', f'Black "{black}"')
        return [record.opening for record in from_pgn(text)]

    assert openings(("a", "1", False), ("a", "1", True), ("a", "2", False), ("a", "2", True)) == [0, 0, 1, 1]
    assert openings(("a", "1.1", False), ("a", "1.2", True), ("a", "2.1", False)) == [0, 0, 1]
    assert openings(("a", "1", False), ("b", "1", True)) == [0, 1]
    assert openings(("a", "?", False), ("a", "?", True)) == [0, 1]
    assert openings(("a", "3", False), ("a", "3", False), ("a", "3", True), ("a", "3", True)) == [0, 1, 0, 1]


@pytest.mark.parametrize(
    "data, name",
    [
        ("Žilka, Štěpán".encode(), "Žilka, Štěpán"),
        ("Žilka, Štepán".encode("cp1252"), "Žilka, Štepán"),
        ("Žilka, Štěpán".encode("utf-16"), "Žilka, Štěpán"),
        ("José\xa0Raúl".encode(), "José Raúl"),
        (b"\xef\xbb\xbfA\xef\xbb\xbfB", "AB"),
    ],
)
def test_sets_of_characters(data, name):
    assert decoded(data) == name


@pytest.mark.parametrize("separator", [";", "\t"])
def test_tables_of_other_countries(separator):
    rows = [("first", "second", "outcome"), ("A", "B", "0,5"), ("B", "A", "1"), ("A", "B", "")]
    text = "".join(separator.join(row) + "\r\n" for row in rows)
    left_out = []
    assert [record.outcome for record in from_csv(text, left_out)] == [0.5, 1.0]
    assert left_out == ["line 4: has no result"]


# -- Chess ---------------------------------------------------------------------------------------------------------


def played(line):
    """The names of the moves that a line of words is read as."""
    chess = games.make("chess")
    state, names = chess.initial(), []
    for word in line.split():
        move = chess.parse_move(state, word)
        names.append(chess.move_name(state, move))
        chess.play(state, move)
    return " ".join(names)


def test_moves_as_people_and_programs_write_them():
    assert played("e2-e4 e7e5 Ng1f3 Nb8-c6 Bf1b5 a7-a6 Bb5xc6 d7xc6 0-0") == "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6 O-O"
    assert played("d4 Nf6 c4 e6 Nc3 Bb4 e3 b6 Nge2").endswith("Ne2")  # the other knight is pinned
    assert played("a4 b5 axb5 a6 bxa6 Bb7 axb7 h6 bxa8=q h5 Qa8xb8").endswith("bxa8=Q h5 Qxb8")
    with pytest.raises(ValueError, match="a null move is no move of chess"):
        played("e4 --")
    with pytest.raises(ValueError, match="is not a legal move of chess here"):
        played("Nf3 a6 Nc3 a5 Nb5 a4 Nd4")  # which of the two knights?


def run(*arguments, **options):
    return CliRunner().invoke(app, ["import", *map(str, arguments)], **options)


def test_a_record_goes_on_after_a_draw_that_nobody_claimed(tmp_path):
    shuffle = "Nf3 Nf6 Ng1 Ng8 "
    (tmp_path / "a.pgn").write_text(game(shuffle * 2 + "e4 e5") + game(shuffle * 30 + "e4 e5") + game(shuffle * 2))
    done = run(tmp_path / "a.pgn", "--game", "chess", "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    plies = results.load(tmp_path / "run").games["plies"].tolist()
    assert plies == [10, 122, 8]


def test_a_result_that_the_rules_contradict_is_stored_by_the_rules(tmp_path):
    mate, stale = (
        "1. f3 e5 2. g4 Qh4#",
        "1. e3 a5 2. Qh5 Ra6 3. Qxa5 h5 4. h4 Rah6 5. Qxc7 f6 6. Qxd7+ Kf7 7. Qxb7 Qd3 ",
    )
    stale += "8. Qxb8 Qh7 9. Qxc8 Kg6 10. Qe6"
    (tmp_path / "a.pgn").write_text(game(mate) + game(stale) + game(mate, "0-1"))
    done = run(tmp_path / "a.pgn", "--game", "chess", "--out", tmp_path / "run")
    assert done.exit_code == 0 and "line 1: the record says 1-0, by the rules it is 0-1: stored so" in done.output
    assert results.load(tmp_path / "run").games["outcome"].tolist() == [0.0, 0.5, 0.0]


def test_what_is_left_out_is_counted(tmp_path):
    text = game() + game("1. e4 e5 2. Ke3") + game()
    (tmp_path / "a.pgn").write_text(text)
    done = run(tmp_path / "a.pgn", "--game", "chess", "--out", tmp_path / "run")
    assert (
        done.exit_code == 1
        and "3 games, 2 stored in" in done.output
        and "1 left out: line 9: move 3: 'Ke3'" in done.output
    )
    strict = run(tmp_path / "a.pgn", "--game", "chess", "--strict", "--out", tmp_path / "strict")
    assert strict.exit_code == 2 and "line 9: move 3: 'Ke3' is not a legal" in strict.output.replace("\n", " ")
    assert not (tmp_path / "strict").exists()


def test_many_files_packed_and_from_standard_input(tmp_path):
    folder = tmp_path / "archive" / "year"
    folder.mkdir(parents=True)
    (folder / "a.pgn").write_text(game())
    (folder / "b.pgn.gz").write_bytes(gzip.compress(game(result="0-1").encode()))
    (folder / "notes.txt").write_text("no games")
    done = run(tmp_path / "archive", "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    played = results.load(tmp_path / "run").games
    assert played["outcome"].tolist() == [1.0, 0.0] and played["opening"].tolist() == [0, 1]
    assert run("-", "--out", tmp_path / "piped", input=game()).exit_code == 0
    (folder / "c.pgn.gz").write_bytes(b"no gzip")
    broken = run(tmp_path / "archive", "--out", tmp_path / "again")
    assert broken.exit_code == 2 and "cannot be unpacked" in broken.output
    assert run(folder / "a.pgn", folder / "a.pgn", "--out", tmp_path / "twice").exit_code == 2
    assert "no file .csv" in run(tmp_path / "run", "--out", tmp_path / "none").output


@pytest.mark.parametrize("fen", ["8/P5k1/8/8/8/8/6K1/8 w - - 0 0", "8/P5k1/8/8/8/8/6K1/8 w - - 120 70"])
def test_counts_of_positions_in_the_wild(fen):
    chess = games.make(f"chess(fen={fen!r})")
    assert chess.player(chess.initial()) == 0


# -- Against python-chess ------------------------------------------------------------------------------------------


def mutated(chance, text):
    """The text with changes of kinds that archives have; not two blank lines behind tags, where python-chess ends."""
    changes = [
        lambda t: t.replace(" 1-0\n", " 1-0 ", 1),
        lambda t: t.replace("Nf3", "Ng1f3", 1),
        lambda t: t.replace(" e5", " e5 $1", 1),
        lambda t: t.replace("2. Nf3", "{c} 2. Nf3", 1),
        lambda t: t.replace("2. Nf3", "2. Nf3 (2. f4 exf4) {d}", 1),
        lambda t: t.replace("\n", "\r\n"),
        lambda t: t.replace("3. Bb5 a6", "3. Bb5 ; rest\na6", 1),
        lambda t: t.replace('[Round "1"]', '[Round "1"]\n[Note "a b"]', 1),
        lambda t: t.replace("1. e4", "1.e4", 1),
    ]
    for change in chance.sample(changes, 3):
        text = change(text)
    return text


def test_python_chess_reads_the_same_games():
    pgn = pytest.importorskip("chess.pgn", reason="python-chess is not installed: pip install chess")
    chance = random.Random(1)
    for _ in range(200):
        text = "".join(mutated(chance, game(result=chance.choice(["1-0", "0-1", "1/2-1/2"]))) for _ in range(3))
        file, theirs = io.StringIO(text), []
        while (found := pgn.read_game(file)) is not None:
            theirs.append((found.headers["Result"], len(list(found.mainline_moves()))))
        ours = [(one, len(record.moves.split())) for record in from_pgn(text) for one in [RESULT[record.outcome]]]
        assert ours == theirs, text


RESULT = {1.0: "1-0", 0.0: "0-1", 0.5: "1/2-1/2"}


def test_what_was_read_is_written_again():
    """Tags and where the game began; python-chess reads the same from both."""
    more = (
        '[SetUp "1"]\n[FEN "8/8/7p/5k1P/3KN3/8/8/8 b - - 0 40"]\n[ECO "C70"]\n[Annotator "a \\"B\\""]\n[Opening "?"]\n'
    )
    (record,) = from_pgn(game("40... Kg4 41. Nf6+ Kf5", "1/2-1/2", more).replace('Event "t"', 'Event "Cup"'))
    text = to_pgn(record, "another")
    assert '[Event "Cup"]' in text and '[Round "1"]' in text and "\n40... Kg4 41. Nf6+ Kf5 1/2-1/2" in text
    assert '[FEN "8/8/7p/5k1P/3KN3/8/8/8 b - - 0 40"]' in text and '[ECO "C70"]' in text and "Opening" not in text
    assert '[Annotator "a \\"B\\""]' in text
    (again,) = from_pgn(text)
    assert again.moves == record.moves and tags_of(record.detail).items() <= tags_of(again.detail).items()


COMMENTED = {  # of each program, its comments by ply
    "fastchess": ("1. e4 {+0.31/12 0.350s} e5 {-0.20/11 0.41s, n=1200} 2. Nf3 {book} Nc6 {+M5/20 0.1s, White mates}",
                  {0: "+0.31/12 0.350s", 1: "-0.20/11 0.41s, n=1200", 2: "book", 3: "+M5/20 0.1s, White mates"}),
    "lichess": ("1. e4 { [%eval 0.17] [%clk 0:00:30] } 1... e5?! { (0.19 → 0.73) Inaccuracy. } { [%eval #-3] } 2. Nf3",
                {0: "[%eval 0.17] [%clk 0:00:30]", 1: "(0.19 → 0.73) Inaccuracy. [%eval #-3]"}),
    "ours": ("1. e4 {+0.125/8 0.35s [%clk 0:00:09.65]} 1... e5 2. Nf3", {0: "+0.125/8 0.35s [%clk 0:00:09.65]"}),
    "before and behind": ("{an {old} game} 1. e4 (1. d4 {not here} d5) {king's} e5 $6 ; best\n2. Nf3!? {why} {not}",
                          {-1: "an (old) game", 0: "king's", 1: "best", 2: "why not"}),
    "numbers alone": ("1 e4 {a} e5 {b} 2 Nf3 {c}", {0: "a", 1: "b", 2: "c"}),
}  # fmt: skip


@pytest.mark.parametrize("program", COMMENTED)
def test_comments_are_written_again(program):
    """Evaluations, depths and times, in the words of the program; python-chess reads them at the same moves."""
    moves, comments = COMMENTED[program]
    (record,) = from_pgn(game(moves, more='[ECO "{C20}"]\n'))
    assert comments_of(record.detail) == comments and tags_of(record.detail)["ECO"] == "{C20}"
    text = to_pgn(record, "x")
    (again,) = from_pgn(text)
    assert comments_of(again.detail) == comments and again.moves == record.moves
    pgn = pytest.importorskip("chess.pgn", reason="python-chess is not installed: pip install chess")
    read = pgn.read_game(io.StringIO(text))
    theirs = {ply: node.comment for ply, node in enumerate([read, *read.mainline()], -1) if node.comment}
    assert theirs == comments and not read.errors


def test_comments_of_games_replayed_by_rules_stay_at_their_moves(tmp_path):
    (tmp_path / "a.pgn").write_text(game("1. e2-e4 {one} e7-e5 2. Ng1f3 {three}"))
    done = CliRunner().invoke(app, ["import", str(tmp_path / "a.pgn"), "--game", "chess", "--out", str(tmp_path / "r")])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(app, ["export", str(tmp_path / "r"), "--format", "pgn"])
    assert "\n1. e4 {one} 1... e5 2. Nf3 {three} 1-0\n" in done.stdout


def test_a_count_of_moves_that_is_none_does_no_harm():
    for fen in ("8/8/7p/5k1P/3KN3/8/8/8 b - - 0 0", "8/8/7p/5k1P/3KN3/8/8/8 b - - 0 x", "none"):
        (record,) = from_pgn(game("1... Kg4", "1-0", f'[FEN "{fen}"]\n'))
        assert "Kg4 1-0" in to_pgn(record, "x")


SMALL = {name: f"{name}(size=4)" for name in ("go", "atarigo", "nogo", "misere_nogo")}
TWO = [SMALL.get(name, name) for name in GAMES if games.make(name).players == 2 and name != "tree"]


@pytest.mark.parametrize("name", TWO)
def test_what_is_written_is_read_back_by_the_rules_of_every_game(tmp_path, name):
    """And the same again, once more."""
    judge, game = judge_of(Wanted.by_spec(name)), games.make(name)
    with Store.open(store_run(tmp_path / "run", CONFIG | {"game": name, "games": 2})) as store:
        played = list(store.records())
    notes = []
    read = from_pgn("".join(to_pgn(one, name, tags_of_game=game.pgn_tags()) for one in played), judge, notes=notes)
    assert notes == [] and len(read) == len(played)
    assert read == from_pgn("".join(to_pgn(one, name, tags_of_game=game.pgn_tags()) for one in read), judge)
    for one, before in zip(read, played):
        line = f"{before.opening_moves} {before.moves}".strip()
        assert (one.first, one.second, one.outcome, one.moves) == (before.first, before.second, before.outcome, line)
    pairs = [[(sorted((one.first, one.second)), one.opening) for one in games] for games in (read, played)]
    assert [pairs[0].index(pair) for pair in pairs[0]] == [pairs[1].index(pair) for pair in pairs[1]]


def test_games_whose_rules_are_known_are_shown(tmp_path):
    """From the position that they begin with; without rules, a line says why not."""
    fen = "4k3/8/8/8/8/8/4P3/4K2R w K - 0 1"
    (tmp_path / "a.pgn").write_text(game("1. O-O Kd7", more=f'[SetUp "1"]\n[FEN "{fen}"]\n') + game())
    assert run(tmp_path / "a.pgn", "--game", "chess", "--out", tmp_path / "run").exit_code == 0
    first, second = results.load(tmp_path / "run").games["id"]
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "run"), first])
    assert shown.exit_code == 0 and "After 2 of 2 plies" in shown.output and "Opening: none" in shown.output
    assert "of 6 plies" in CliRunner().invoke(app, ["show", str(tmp_path / "run"), second]).output
    (again,) = (one for one in from_pgn(exported(tmp_path / "run")) if "FEN" in one.detail)
    assert again.moves == "O-O Kd7"
    assert run(tmp_path / "a.pgn", "--out", tmp_path / "other").exit_code == 0
    unknown = CliRunner().invoke(app, ["show", str(tmp_path / "other"), first])
    assert unknown.exit_code != 0 and "were imported: their game is not known" in " ".join(unknown.output.split())


def exported(folder):
    return CliRunner().invoke(app, ["export", str(folder), "--format", "pgn"]).output


def test_a_bishop_that_cannot_take_is_no_pawn_that_can():
    """Another game's words may be of other cases; chess's are not."""
    text = game("1. Bxc3", more='[SetUp "1"]\n[FEN "4k3/8/8/8/8/2p5/1P6/4KB2 w - - 0 1"]\n')
    judge = judge_of(Wanted.by_spec("chess"))
    with pytest.raises(ExchangeError, match="move 1: 'Bxc3' is not a legal move"):
        from_pgn(text, judge)
    (record,) = from_pgn(text.replace("Bxc3", "bxc3"), judge)
    assert record.moves == "bxc3"
    (loose,) = from_pgn(game("1. C8-C6 a3C3"), judge_of(Wanted.by_spec("loa")))
    assert loose.moves == "c8-c6 a3-c3"


def test_words_that_look_like_results_stay_moves():
    """A comma, or a dash of a move, is as it is written."""
    assert moves_of(game("1. 61 13/8,13/7 2. 12–8 1,5")) == ["61 13/8,13/7 12–8 1,5"]
