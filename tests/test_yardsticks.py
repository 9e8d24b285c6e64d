"""The C++ programs of docs/speed make the same searches as our agents, to the node."""

import importlib.util
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

SPEED = Path(__file__).parents[1] / "docs" / "speed"


@pytest.fixture(scope="module")
def compare():
    """docs/speed/compare.py, as a module."""
    spec = importlib.util.spec_from_file_location("compare_speed", SPEED / "compare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not shutil.which(module.COMPILER):
        pytest.skip(f"there is no {module.COMPILER} to compile the C++ programs with")
    return module


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The folder that programs are compiled into."""
    return tmp_path_factory.mktemp("yardsticks")


def small_alphabeta(compare, depth=6, theirs=6):
    """Alpha-beta on Connect 4, to a small depth, which may be another one in C++."""
    yardstick = next(one for one in compare.YARDSTICKS if one.program == "alphabeta" and one.game == "connect4")
    return replace(yardstick, agent=f"alphabeta(depth={depth})", arguments=("connect4", theirs))


def sides(compare, yardstick, programs):
    """(nodes or playouts, check) of our search and of that in C++."""
    with compare.Program(yardstick, programs) as program:
        units, _, check = program.search(1)
    return yardstick.search()(), (units, check)


@pytest.mark.slow
def test_alphabeta_visits_the_same_nodes_in_cpp(compare, programs):
    ours, theirs = sides(compare, small_alphabeta(compare), programs)
    assert ours == theirs
    assert ours[0] > 1000


@pytest.mark.slow
def test_another_search_is_told(compare, programs):
    with pytest.raises(compare.Difference, match="is another search"):
        compare.compare(small_alphabeta(compare, theirs=5), programs, 1)


@pytest.mark.slow
def test_a_row_has_both_speeds(compare, programs):
    row = compare.compare(small_alphabeta(compare), programs, 3)
    assert row["ratio"] == sorted(row["ratios"])[1] > 0
    assert row["arena_per_second"] > 0 and row["cpp_per_second"] > 0
    assert compare.table([row]).splitlines()[-1].endswith(f"| {row['ratio']:.2f} |")


def test_a_word_that_no_title_has_is_told(compare, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["compare.py", "chess"])
    with pytest.raises(SystemExit) as end:
        compare.main()
    assert end.value.code == 2
    assert "no search has chess in its title; there are: alpha-beta, Connect 4" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("number", range(9))
def test_every_search_is_the_same_in_cpp(compare, programs, number):
    assert len(compare.YARDSTICKS) == 9
    yardstick = compare.YARDSTICKS[number]
    if yardstick.program == "dfpn":  # 5x5 takes a quarter of a minute
        yardstick = replace(yardstick, game="breakthrough(rows=5, columns=4)", arguments=("5x4",))
    ours, theirs = sides(compare, yardstick, programs)
    assert ours == theirs
