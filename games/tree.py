"""A game given as an explicit tree, such as the figures of a textbook: MAX, the first player, MIN and chance.

A node is a number, which is the score of a game that ends there; a list of nodes; or a table, either of named moves

    {A: {C: 3, D: 5}, B: {C: 2, D: 1}}

or of properties; all but moves or value are optional:

    name            its name
    value           of an end, the score
    evaluation      of another node, its evaluation, between -1 and 1; the default is 0
    moves           a list of nodes, whose moves are then named 1, 2, ..., or a table of named ones
    player          "max", "min" or "chance"; by default "max" at the root, then the opponent of the last to move
    probabilities   of chance, one for each move: decimals or, as text, fractions; they sum to 1 exactly

Text has lists and tables in Python's notation; a TOML file holds the table of the root:

    tree(nodes="[[3, 12, 8], [2, 4, 6], [14, 5, 2]]")                  moves = [[3, 12, 8], [2, 4, 6], [14, 5, 2]]
    tree(nodes="{'A': {'C': 3, 'D': 5}, 'B': {'C': 2, 'D': 1}}")       A = { C = 3, D = 5 }
                                                                       B = { C = 2, D = 1 }
    tree(nodes="{'probabilities': [0.9, 0.1], 'moves': [2, 3]}")       probabilities = ["9/10", "1/10"]
                                                                       moves = [2, 3]
"""

import ast
import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from arena.games.core.game import CHANCE, Game, check_range
from arena.games.core.random import random_unit
from arena.games.core.shared.files import read_bounded

FIGURE = "[[3, 12, 8], [2, 4, 6], [14, 5, 2]]"  # Russell & Norvig, "Artificial Intelligence"
MAX_NODES, MAX_DEPTH = 1000, 64
KEYS = ("name", "value", "evaluation", "moves", "player", "probabilities")
PLAYERS = {"max": 0, "min": 1, "chance": CHANCE}


class Node(NamedTuple):
    """A node and those below it."""

    name: str
    player: int  # the player to move, even at an end
    value: float
    moves: tuple[str, ...]  # names; an end has none
    children: tuple["Node", ...]
    probabilities: tuple[Fraction, ...]  # of chance
    evaluation: float = 0.0  # of a node that is no end


@dataclass(frozen=True)
class Tree(Game):
    """state: int64[1] = the node, numbered breadth first.

    `nodes` is in its shortest form, and replaces a file that was read, which may change.

    nodes: the tree, as nested lists of scores or tables of named moves
    file: a TOML file with the tree, in place of nodes
    """

    nodes: str = FIGURE
    file: str = ""
    has_chance: bool = field(init=False, default=True)  # type: ignore[misc]  # a constant of the class in other games

    name = "tree"
    rules = (
        "MAX, the first player, wants the number at the end of the game to be high, MIN wants it low. A move is the "
        "name of a branch, such as `1`."
    )
    sizes = f"up to {MAX_NODES} nodes, depth 1 to {MAX_DEPTH}"
    state_size = 1
    dtype = np.int64

    def __post_init__(self):
        if self.file and self.nodes != FIGURE:
            raise ValueError("nodes and file are both given; a tree comes from one of them")
        source = f"file = {self.file!r}" if self.file else "nodes"
        try:
            root = parse(read_file(self.file) if self.file else read_text(self.nodes), [], "max")
        except ValueError as error:
            raise ValueError(f"{source}: {error}") from None
        listed = [node for node, _ in breadth_first(root)]
        check_range(f"{source}: number of nodes", len(listed), 2, MAX_NODES)
        object.__setattr__(self, "nodes", repr(spelled(root, "max")))
        object.__setattr__(self, "file", "")
        object.__setattr__(self, "has_chance", any(node.player == CHANCE for node in listed))

    @cached_property
    def listed(self):
        return [node for node, _ in breadth_first(parse(read_text(self.nodes), [], "max"))]

    @cached_property
    def players_to_move(self):
        return np.array([node.player for node in self.listed])

    @cached_property
    def values(self):
        return np.array([node.value for node in self.listed])

    @cached_property
    def child_counts(self):
        return np.array([len(node.children) for node in self.listed])

    @cached_property
    def first_children(self):
        return 1 + np.cumsum(self.child_counts) - self.child_counts

    @cached_property
    def probabilities(self):
        """The probability that chance leads to each node; else 0."""
        return np.array([0.0, *(float(p) for n in self.listed for p in n.probabilities or (0,) * len(n.children))])

    @property
    def move_limit(self):
        return self.max_moves

    @cached_property
    def max_moves(self):
        return max(len(node.children) for node in self.listed)

    @cached_property
    def max_plies(self):
        return max(depth for _, depth in breadth_first(self.listed[0]))

    def start(self, state):
        state[0] = 0

    def player(self, state):
        return self.players_to_move[state[0]]

    def legal_moves(self, state, moves):
        for move in range(self.child_counts[state[0]]):
            moves[move] = move
        return self.child_counts[state[0]]

    def play(self, state, move):
        state[0] = self.first_children[state[0]] + move

    def is_over(self, state):
        return self.child_counts[state[0]] == 0

    def score(self, state):
        return self.values[state[0]]

    def move_name(self, state, move):
        return self.listed[state[0]].moves[move]

    def render(self, state):
        return "\n".join(drawn(self.listed[state[0]], "", ""))

    def chance(self, state, moves, probabilities):
        for move in range(self.child_counts[state[0]]):
            probabilities[move] = self.probabilities[self.first_children[state[0]] + move]
        return self.legal_moves(state, moves)

    def random_outcome(self, state, rng):
        first, last = self.first_children[state[0]], self.child_counts[state[0]] - 1
        move, left = 0, random_unit(rng) - self.probabilities[first]
        while left >= 0.0 and move < last:
            move += 1
            left -= self.probabilities[first + move]
        return move

    # -- For strength ------------------------------------------------------------------------------------------

    @cached_property
    def guesses(self):
        return np.array([node.evaluation for node in self.listed])

    def evaluate(self, state):
        return self.guesses[state[0]]


def read_text(text: str):
    """Lists, tables and numbers in Python's notation; ValueError if it is none."""
    try:
        expression = ast.parse(text.strip(), mode="eval")
        data = ast.literal_eval(expression)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        reason = getattr(error, "msg", None) or "only numbers, lists, tables and text in quotes are allowed"
        raise ValueError(f"{text[:80]!r} is not a tree: {reason}") from None
    for table in ast.walk(expression):
        keys = [ast.unparse(key) for key in table.keys if key] if isinstance(table, ast.Dict) else []
        if twice := [key for key in keys if keys.count(key) > 1]:
            raise ValueError(f"{text[:80]!r} is not a tree: the key {twice[0]} is given twice")
    return data


def read_file(path: str) -> dict:
    """The table in a TOML file; ValueError if it cannot be read."""
    try:
        return tomllib.loads(read_bounded(path).decode())
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"is not TOML: {error}") from None


def parse(data, path: list[str], turn: str) -> Node:
    """The node of lists, tables and numbers; `path`: the moves to it; `turn`: the default player to move."""
    check_range("depth", len(path), 0, MAX_DEPTH)
    if type(data) in (int, float):
        data = {"value": data}
    elif isinstance(data, list) or (isinstance(data, dict) and not any(key in KEYS for key in data)):
        data = {"moves": data}
    elif not isinstance(data, dict):
        raise misfit(path, f"{data!r} is not a node: a number, a list or a table")
    if unknown := [key for key in data if key not in KEYS]:
        raise misfit(path, f"unknown key {unknown[0]!r}; known: {', '.join(KEYS)}, or only names of moves")
    name = data.get("name", "")
    if not isinstance(name, str):
        raise misfit(path, f"name = {name!r} should be text")
    if "value" in data:
        return Node(name, PLAYERS[turn], parse_value(data, path), (), (), ())
    names, nodes = parse_moves(data, path)
    player = data.get("player", "chance" if "probabilities" in data else turn)
    if not isinstance(player, str) or player not in PLAYERS:
        raise misfit(path, f"player = {player!r} should be one of {', '.join(PLAYERS)}")
    probabilities = parse_probabilities(data, path, player, len(names))
    children = tuple(parse(node, [*path, move], after(player, turn)) for move, node in zip(names, nodes))
    return Node(name, PLAYERS[player], 0.0, names, children, probabilities, parse_evaluation(data, path))


def after(player: str, turn: str) -> str:
    """Whose turn it is by default after a move of `player` in the turn of `turn`."""
    return {"max": "min", "min": "max", "chance": turn}[player]


def parse_value(data: dict, path) -> float:
    """The score of an end."""
    if clash := [key for key in data if key not in ("name", "value")]:
        raise misfit(path, f"an end, which has a value, has no {clash[0]}")
    try:
        value = float(data["value"]) if type(data["value"]) in (int, float) else math.nan
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise misfit(path, f"value = {data['value']!r} should be a finite number")
    return value


def parse_evaluation(data: dict, path) -> float:
    """The evaluation of a node that is no end."""
    given = data.get("evaluation", 0)
    if type(given) not in (int, float) or not -1 < given < 1:
        raise misfit(path, f"evaluation = {given!r} should be a number between -1 and 1, both set aside")
    return float(given)


def parse_moves(data: dict, path) -> tuple[tuple[str, ...], list]:
    """Names of moves, and the nodes after them."""
    moves = data.get("moves")
    if not isinstance(moves, (list, dict)) or not moves:
        raise misfit(path, f"moves = {moves!r} should be a list or a table of one node or more")
    if isinstance(moves, list):
        moves = {str(i): node for i, node in enumerate(moves, 1)}
    for name in moves:
        if not isinstance(name, str) or not name or any(letter.isspace() for letter in name):
            raise misfit(path, f"a move cannot be called {name!r}: a name is text without blanks")
    return tuple(moves), list(moves.values())


def parse_probabilities(data: dict, path, player: str, count: int) -> tuple[Fraction, ...]:
    """The probability of each move of chance; () if a player moves."""
    if player != "chance":
        if "probabilities" in data:
            raise misfit(path, f"probabilities are given, but player = {player!r}")
        return ()
    given = data.get("probabilities")
    if not isinstance(given, list) or len(given) != count:
        raise misfit(path, f"probabilities = {given!r} should be a list of {count}, one for each move")
    try:
        probabilities = tuple(Fraction(text if isinstance(text, str) else repr(text)) for text in given)
    except (ValueError, ZeroDivisionError):
        raise misfit(path, f"probabilities = {given!r} should be decimals, or fractions such as '1/3'") from None
    if min(probabilities) <= 0 or sum(probabilities) != 1:
        total = float(sum(probabilities))
        raise misfit(path, f"probabilities = {given!r} should be above 0 and sum to 1, and their sum is {total}")
    return probabilities


def misfit(path, message) -> ValueError:
    """An error whose message names the node."""
    return ValueError(f"at {'.'.join(path) or 'the root'}: {message}")


def spelled(node: Node, turn: str):
    """The shortest data from which `parse` makes the node."""
    if not node.moves:
        value = int(node.value) if node.value.is_integer() else node.value
        return {"name": node.name, "value": value} if node.name else value
    player = next(player for player, number in PLAYERS.items() if number == node.player)
    nodes = [spelled(child, after(player, turn)) for child in node.children]
    numbered = node.moves == tuple(str(i + 1) for i in range(len(nodes)))
    moves = nodes if numbered else dict(zip(node.moves, nodes))
    said: dict[str, object] = {"name": node.name} if node.name else {}
    if node.evaluation:
        said["evaluation"] = node.evaluation
    if node.player == CHANCE:
        said["probabilities"] = [str(probability) for probability in node.probabilities]
    elif player != turn:
        said["player"] = player
    return moves if not said and not any(name in KEYS for name in moves) else said | {"moves": moves}


def breadth_first(root: Node) -> Iterator[tuple[Node, int]]:
    """Nodes with their depths, level by level."""
    level, depth = [root], 0
    while level:
        yield from ((node, depth) for node in level)
        level, depth = [child for node in level for child in node.children], depth + 1


def drawn(node: Node, indent: str, move: str) -> Iterator[str]:
    """Lines of text: the move, the turn or the score, the name; then the nodes below."""
    number = f"{node.value:g}" if not node.moves else {0: "MAX", 1: "MIN", CHANCE: "chance"}[node.player]
    yield indent + " ".join(word for word in (move, number, node.name) if word)
    for i, (name, child) in enumerate(zip(node.moves, node.children)):
        odds = f" ({node.probabilities[i]})" if node.probabilities else ""
        yield from drawn(child, indent + "    ", f"{name}{odds}:")
