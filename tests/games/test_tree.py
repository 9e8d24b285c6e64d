"""Explicit trees: the lecture notes' figures, trees from files, and what is refused."""

import math

import numpy as np
import pytest

from arena import agents, games
from arena.games.core.game import CHANCE
from arena.games.tree import FIGURE
from tests.games.exact import exact_value

TWO_MOVES = "{'A': {'C': 3, 'D': 5}, 'B': {'C': 2, 'D': 1}}"
COIN = "{'probabilities': [0.9, 0.1], 'moves': [2, 3]}"


def tree(nodes):
    return games.make(f"tree(nodes={nodes!r})")


def value(nodes):
    game = tree(nodes)
    return exact_value(game, game.initial())


def test_values_of_the_figures():
    assert value("[[3, 12, 8], [2, 4, 6], [14, 5, 2]]") == 3
    assert value(TWO_MOVES) == 3
    assert value(COIN) == pytest.approx(2.1, abs=1e-15)
    assert value(f"[{COIN}, {{'probabilities': [0.9, 0.1], 'moves': [1, 4]}}]") == pytest.approx(2.1)


def alpha_beta(game, state, visited, alpha=-math.inf, beta=math.inf):
    """As in the notes, with beta cut-offs; counts the nodes, and lists the scores it looks at."""
    if game.is_over(state):
        visited.append(game.score(state))
        return game.score(state)
    visited.append(None)
    best, sign = -math.inf, (1 if game.player(state) == 0 else -1)
    for move in game.moves(state):
        bounds = (alpha, beta) if sign == 1 else (-beta, -alpha)
        low = max(best, bounds[0])
        window = (low, bounds[1]) if sign == 1 else (-bounds[1], -low)
        best = max(best, sign * alpha_beta(game, game.after(state, move), visited, *window))
        if best >= bounds[1]:
            break
    return sign * best


@pytest.mark.parametrize(
    ("nodes", "result", "unseen", "count"),
    [
        ("[[3, 12, 8], [2, 400, 600], [14, 5, 2]]", 3, {400, 600}, 11),  # document 000: x and y are not visited
        ("[[12, 7, 4], [3, 100, 101, 102], [2, 103, 104]]", 4, set(range(100, 105)), 9),  # document 002: 9 nodes of 14
    ],
)
def test_alpha_beta_skips_what_the_notes_skip(nodes, result, unseen, count):
    game, visited = tree(nodes), []
    assert alpha_beta(game, game.initial(), visited) == result
    assert not unseen & set(visited) and len(visited) == count


def test_whose_turn_it_is():
    """They alternate, chance set aside, unless the tree says otherwise."""
    toss = "{'probabilities': ['1/2', '1/2'], 'moves': [[1, 2], 0]}"
    game = tree(f"[[{COIN}, {toss}], {{'player': 'max', 'moves': [7, [8, 9]]}}]")
    players = {line: int(game.player(game.read_line(line)[1])) for line in ("", "1", "1 1", "1 2 1", "2", "2 2")}
    assert players == {"": 0, "1": 1, "1 1": CHANCE, "1 2 1": 0, "2": 0, "2 2": 1}
    assert exact_value(game, game.initial()) == 8


def test_names_and_drawing():
    toss = "{'probabilities': ['1/3', '2/3'], 'moves': {'H': 3, 'T': -1.5}}"
    game = tree(f"{{'name': 'root', 'moves': {{'A': {toss}, 'B': [4]}}}}")
    assert game.render(game.initial()).splitlines() == [
        "MAX root",
        "    A: chance",
        "        H (1/3): 3",
        "        T (2/3): -1.5",
        "    B: MIN",
        "        1: 4",
    ]
    assert game.score(game.read_line("A T")[1]) == -1.5
    with pytest.raises(games.IllegalMove, match=r"'C' is not a legal move.*legal: A B"):
        game.parse_move(game.initial(), "C")


@pytest.mark.plain
def test_searches_play_trees():
    """They look at signs alone: with 2.5 taken from the figure's scores, only the first move wins."""
    game = tree("[[0.5, 9.5, 5.5], [-0.5, 1.5, 3.5], [11.5, 2.5, -0.5]]")
    alphabeta = agents.make("alphabeta(depth=2)")
    assert alphabeta.choose(game, game.initial(), seed=1).move == 0 and alphabeta.refuses(tree(COIN))
    choice = tree(f"[{COIN.replace('2, 3', '-1, 1')}, {COIN.replace('2, 3', '1, -1')}]")
    assert agents.make("uct(playouts=1000)").choose(choice, choice.initial(), seed=1).move == 1


def test_outcomes_come_by_their_probability():
    game = tree("{'probabilities': ['1/6', '1/3', 0.5], 'moves': [1, 0, -1]}")
    summary = games.playouts(game, 60_000, seed=2)
    found = np.array([summary.wins, summary.draws, summary.losses]) / 60_000
    np.testing.assert_allclose(found, [1 / 6, 1 / 3, 1 / 2], atol=0.01)


def test_the_same_tree_is_the_same_game():
    assert tree("[[3,12,8],[2,4,6],[14,5,2]]") == games.make("tree")
    assert tree("[{'1': 3.0, '2': 12, '3': 8}, [2, 4, 6], {'player': 'min', 'moves': [14, 5, 2]}]") == tree(FIGURE)
    game = tree(f"[{{'name': 'x', 'value': 1}}, {{'moves': {{'name': 2}}}}, {{'player': 'max', 'moves': [5]}}, {COIN}]")
    assert games.make(str(game)) == game and tree(game.nodes).nodes == game.nodes


def test_a_file_is_read_when_the_game_is_made(tmp_path):
    path = tmp_path / "figure.toml"

    def make():
        return games.make(f"tree(file={str(path)!r})")

    path.write_text("A = { C = 3, D = 5 }\nB = { C = 2, D = 1 }\n")
    first = make()
    assert first == tree(TWO_MOVES) and games.playouts(first, 100, seed=1).score > 0
    path.write_text("A = { C = -3, D = -5 }\nB = { C = -2, D = -1 }\n")
    second = make()
    assert games.playouts(second, 100, seed=1).losses == 100 and games.playouts(first, 100, seed=1).wins == 100
    path.unlink()
    assert games.make(str(second)) == second
    path.write_text('name = "figure"\nplayer = "chance"\nprobabilities = [0.9, "1/10"]\nmoves = [2, 3]\n')
    assert exact_value(make(), make().initial()) == pytest.approx(2.1)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("[[1, 2]", r"nodes: '\[\[1, 2\]' is not a tree: '\[' was never closed"),
        ("", "'' is not a tree"),
        ("[1, x]", "is not a tree: only numbers, lists, tables and text"),
        ("{[1]: 2}", "is not a tree"),
        ("{'A': 1, 'A': 2}", "the key 'A' is given twice"),
        ("[1, 'x']", "at 2: 'x' is not a node: a number, a list or a table"),
        ("[1, (2, 3)]", r"at 2: \(2, 3\) is not a node"),
        ("[1, true]", "is not a tree"),
        ("[1, True]", "at 2: True is not a node"),
        ("5", "number of nodes = 1 is out of range: it can be 2 to 1000"),
        (str([[0] * 40] * 40), "number of nodes = 1641 is out of range"),
        ("[" * 70 + "1" + "]" * 70, "depth = 65 is out of range: it can be 0 to 64"),
        ("[" * 5000 + "1" + "]" * 5000, "is not a tree"),
        ("{'A': [1, []]}", r"at A.2: moves = \[\] should be a list or a table of one node or more"),
        (
            "{'player': 'min', 'move': [1]}",
            "at the root: unknown key 'move'; known: name, value, evaluation, moves, pl",
        ),
        ("{'player': 'MAX', 'moves': [1]}", "at the root: player = 'MAX' should be one of max, min, chance"),
        ("{'player': [], 'moves': [1]}", r"player = \[\] should be one of"),
        ("{'name': 3, 'moves': [1]}", "name = 3 should be text"),
        ("{'a b': 1}", "a move cannot be called 'a b'"),
        ("{3: 1}", "a move cannot be called 3"),
        ("{'evaluation': 1, 'moves': [1]}", "evaluation = 1 should be a number between -1 and 1, both set aside"),
        ("{'evaluation': '0.5', 'moves': [1]}", "evaluation = '0.5' should be a number"),
        ("[{'value': 1, 'evaluation': 0.5}]", "at 1: an end, which has a value, has no evaluation"),
        ("[{'value': 1, 'moves': [1]}]", "at 1: an end, which has a value, has no moves"),
        ("[{'value': 'x'}]", "at 1: value = 'x' should be a finite number"),
        ("[1e999]", "at 1: value = inf should be a finite number"),
        ("[1" + "0" * 400 + "]", "should be a finite number"),
        ("[{'probabilities': [0.9, 0.2], 'moves': [1, 2]}]", "at 1: probabilities = .* sum to 1, and their sum is 1.1"),
        ("{'probabilities': [1.5, -0.5], 'moves': [1, 2]}", "should be above 0"),
        ("{'probabilities': [1.0], 'moves': [1, 2]}", "should be a list of 2, one for each move"),
        ("{'probabilities': ['1/0', 1], 'moves': [1, 2]}", "should be decimals, or fractions such as '1/3'"),
        ("{'player': 'chance', 'moves': [1, 2]}", "probabilities = None should be a list of 2"),
        ("{'player': 'max', 'probabilities': [1], 'moves': [1]}", "probabilities are given, but player = 'max'"),
    ],
)
def test_bad_trees(nodes, message):
    with pytest.raises(games.SpecError, match=f"tree: nodes: .*{message.removeprefix('nodes: ')}"):
        tree(nodes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file"),
        (b"moves = [1, 2", "is not TOML: "),
        (b"moves = [1, \xff]", "is not TOML: "),
        (b"", "at the root: moves = {} should be"),
        (b"player = 'max'\nmoves = [1, 1979-05-27]", r"at 2: datetime.date\(1979, 5, 27\) is not a node"),
    ],
)
def test_bad_files(tmp_path, content, message):
    path = tmp_path / "bad.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(games.SpecError, match=f"tree: file = '.*bad.toml': {message}"):
        games.make(f"tree(file={str(path)!r})")


def test_nodes_and_file_together():
    with pytest.raises(games.SpecError, match="nodes and file are both given"):
        games.make("tree(nodes='[1, 2]', file='x.toml')")
