"""Ranges in the text of games and agents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.config import loading
from arena.config.several import RangeError, spelled_out


def test_a_range_stands_for_each_of_its_numbers():
    assert spelled_out("tree(workers=1..3)", 9) == ["tree(workers=1)", "tree(workers=2)", "tree(workers=3)"]
    assert spelled_out("uct", 9) == ["uct"] and spelled_out("a(b=7..7)", 9) == ["a(b=7)"]
    assert spelled_out("a(1..2, c=8..9)", 4) == ["a(1, c=8)", "a(1, c=9)", "a(2, c=8)", "a(2, c=9)"]


def test_a_list_stands_for_each_of_its_items():
    assert spelled_out("tree(virtual_loss=[0, 1.5])", 9, True) == ["tree(virtual_loss=0)", "tree(virtual_loss=1.5)"]
    assert spelled_out("a(b=[1, 3..4], c='[1, 2]')", 9, True) == [f"a(b={n}, c='[1, 2]')" for n in (1, 3, 4)]
    assert spelled_out("""a(b=['x, y', "[z]"])""", 2, True) == ["a(b='x, y')", 'a(b="[z]")']
    assert spelled_out("nim(heaps=[3, 5], misere=1..1)", 9) == ["nim(heaps=[3, 5], misere=1)"]
    with pytest.raises(RangeError, match="stands for 2,000,000; 9 are the most"):
        spelled_out("a(b=[1, 3], c=[1..999999, 7])", 9, True)


@given(st.integers(0, 10**30), st.integers(0, 10**30), st.integers(1, 2000))
def test_what_is_too_much_is_refused_before_it_is_built(low, more, most):
    spec = f"a(b={low}..{low + more}, c={low}..{low + more})"
    if (more + 1) ** 2 > most:
        with pytest.raises(RangeError, match=f"stands for {(more + 1) ** 2:,}; {most:,} are the most"):
            spelled_out(spec, most)
    else:
        assert len(spelled_out(spec, most)) == (more + 1) ** 2


@given(st.text(st.characters(codec="ascii", exclude_characters="'\"\\"), max_size=20), st.sampled_from("'\""))
def test_text_in_quotes_stays(text, quote):
    spec = f"external(command={quote}{text} 1..4 {text}{quote})"
    assert spelled_out(spec, 1) == [spec]
    assert (
        spelled_out(f"a(b={quote}it\\{quote}s 1..4{quote}, c=1..2)", 2)[1]
        == f"a(b={quote}it\\{quote}s 1..4{quote}, c=2)"
    )


@pytest.mark.parametrize(
    "bad",
    [
        "uct(exploration=0.1..0.9)",
        "a(1..2.5)",
        "a(.5..2)",
        "a(3..1)",
        f"a(1..1{'0' * 5000})",
        "a(b=[])",
        "a(b=[1, ,2])",
    ],
)
def test_what_is_no_range_is_told(bad):
    with pytest.raises(RangeError, match=r"ranges are of whole numbers, such as 1..8|ends before it begins|such as \["):
        spelled_out(bad, 9, lists=True)


@pytest.mark.parametrize(
    "keys, told",
    [
        ({"agents": ["random", "uct(playouts=1..999999)"]}, "stands for 999,999; 10,000 are the most"),
        ({"agents": ["uct(playouts=1..9999, exploration=1..9999)"]}, "stands for 99,980,001; 10,000 are the most"),
        ({"agents": ["uct(playouts=1..6000)", "flat(playouts=1..6000)"]}, "there are more than 10,000 of them"),
        ({"game": None, "instances": ["nim(1..9999, 1..9999)"]}, "stands for 99,980,001"),
    ],
)
def test_nothing_is_played_that_was_not_written(keys, told):
    with pytest.raises(loading.ConfigError, match=told):
        loading.from_values({k: v for k, v in ({"game": "nim", "games": 2} | keys).items() if v is not None})
