"""Depth-first searches against plain minimax, and their known counts."""

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.agent import Budget
from arena.agents.minimax.depthfirst import depth_first_kernel
from arena.agents.minimax.ordering import UNGUIDED
from arena.agents.minimax.root_moves import put_root
from arena.agents.minimax.stack import DONE, INFINITE, WIN, restart
from arena.games.core.random import stream
from tests.agents.naive import minimax
from tests.agents.positions import GAMES, after_names, random_line, random_position, small_positions

SMALL = [
    "tictactoe",
    "nim(heaps=[1, 2, 3])",
    *(
        pytest.param(spec, marks=pytest.mark.slow)
        for spec in (
            "breakthrough(rows=5, columns=4)",
            "connect4(rows=4, columns=5)",
            "othello(size=4)",
            "domineering(rows=4, columns=4)",
        )
    ),
]
PLAIN = "table=0, order=[], scout=false, foresee=false, sound=false"
ALONE = [
    PLAIN,
    "order=[], scout=false, sound=false",
    "order=[], scout=false, sound=false, table=0.001, scheme='new'",
    "table=0, scout=false, sound=false",
    "table=0, order=[], sound=false",
    "table=0, order=[], scout=false",
    "aspiration=0.05, deepening=true",
    "",
]


def value_of(player, state, seed=1):
    """The value of a search, as it is inside: a win in p plies is WIN - p."""
    player.choose(state, stream(seed))
    return float(player.search.nodes[0]["best"])


@pytest.mark.plain
@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("options", ["foresee=false", PLAIN])
def test_alphabeta_equals_minimax(spec, depth, options, kernels):
    game = games.make(spec)
    for seed in range(6) if kernels == "compiled" or depth < 4 else (1, 5):
        state = random_position(game, seed, seed)
        player = agents.make(f"alphabeta(depth={depth}, {options})").player(game)
        decision = player.choose(state, stream(seed))
        value = float(player.search.nodes[0]["best"])
        assert value == pytest.approx(minimax(game, state, depth), abs=1e-12)
        assert decision.value == max(-1, min(1, value))
        end = after_names(game, state, decision.principal_variation)
        same = 1 if game.player(state) == 0 else -1
        expected = same * (game.score(end) if game.is_over(end) else game.evaluate(end))
        assert decision.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.plain
@pytest.mark.parametrize("spec", SMALL)
def test_every_option_gives_the_value_of_plain_minimax(spec, kernels):
    """335 positions of each game (4 in plain Python), to their ends: the same value, and so the same plies to it."""
    game = games.make(spec)
    depth = game.max_plies
    plain = agents.make(f"negamax(depth={depth})").player(game)
    pruning = agents.make(f"negamax(depth={depth}, pruning=true)").player(game)
    options = [*ALONE, *(["symmetries=true", f"symmetries=true, {PLAIN}"] if game.symmetries > 1 else [])]
    searcher = agents.make(f"minimax(depth={depth})").player(game)
    players = [searcher, agents.make(f"minimax(depth={depth}, table=0.1)").player(game)]
    players += [agents.make(f"alphabeta(depth={depth}, {text})").player(game) for text in options]
    count, nodes = (335, 1000) if kernels == "compiled" else (4, 300)
    for seed, state in enumerate(small_positions(searcher, count, nodes)):
        expected = max(plain.values(state).values())
        assert max(pruning.values(state).values()) == expected
        for player in players if seed < 40 else players[-3:]:
            assert value_of(player, state, seed) == expected


@pytest.mark.plain
@pytest.mark.parametrize("nodes, agent", [
    ("[[1, 1], [1, 1]]", "negamax(depth=2, pruning=true)"),
    ("[[3, 5], [3, 9]]", f"alphabeta(depth=2, scores=true, {PLAIN})"),
])  # fmt: skip
def test_a_value_that_equals_the_bound_cuts_off(nodes, agent):
    """The last leaf is not visited, since the one before it already makes the second move no better than the first."""
    game = games.make(f"tree(nodes={nodes!r})")
    decision = agents.make(agent).choose(game, game.initial(), seed=1)
    assert (decision.nodes, decision.counts["leaves"]) == (5, 3)


@pytest.mark.plain
def test_a_value_at_the_edge_of_its_window_is_a_bound():
    """With aspiration the depth is searched again then, with the window open on that side."""
    game = games.make("tictactoe")
    for value, window in ((-0.25, (-INFINITE, 0.5)), (0.5, (-0.25, INFINITE))):
        player = agents.make("alphabeta(depth=2, aspiration=0.1)").player(game)
        deepening = player.begin(game.initial(), stream(1))
        deepening.restart(-0.25, 0.5)
        player.search.nodes[0]["best"] = value
        deepening.end_depth()
        assert deepening.completed == 0 and (deepening.low, deepening.high) == window


@pytest.mark.plain
def test_history_counts_the_squares_of_depths():
    """MAX cuts off with one ply left, since 5 is too much for MIN; and MIN with two, who has 3 already."""
    game = games.make("tree(nodes='[[[3, 3], [5, 5]], [[3, 3], [9, 9]]]')")
    player = agents.make(f"alphabeta(depth=3, scores=true, {PLAIN.replace('[]', repr(['history']))})").player(game)
    assert value_of(player, game.initial()) == 3
    assert player.search.history.sum(axis=1).tolist() == [1, 4]


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["tictactoe", "breakthrough(rows=4, columns=4)"])
def test_negamax_equals_its_twin(spec):
    game = games.make(spec)
    for seed in range(10):
        state = random_position(game, seed, 4)
        for depth in (1, 3):
            player = agents.make(f"negamax(depth={depth})").player(game)
            assert max(player.values(state).values()) == pytest.approx(minimax(game, state, depth), abs=1e-12)


def test_counts_of_tictactoe():
    """Plain minimax: 549,946 positions with the root, 255,168 of them ends; 26,830 of symmetric moves only one.

    With a table, each of the 5,478 positions once, and their 16,167 moves; 765 positions with symmetries.
    """
    game = games.make("tictactoe")

    def counts(spec):
        decision = agents.make(spec).choose(game, game.initial(), seed=1)
        assert decision.value == 0
        return decision.nodes + 1, decision.counts["leaves"]

    assert counts("minimax(depth=9)") == counts("negamax(depth=9)") == (549_946, 255_168)
    assert counts("minimax(depth=9, symmetries=true)")[1] == 26_830
    assert counts("minimax(depth=9, table=64)") == edges(game, lambda state: [state])
    assert counts("minimax(depth=9, table=64, symmetries=true)") == edges(game, images)


def images(state):
    game = games.make("tictactoe")
    for symmetry in range(8):
        target = game.initial()
        game.transform(state, symmetry, target)
        yield target


def edges(game, alike):
    """Moves in all positions, of those that are alike only one, with the root; and those of them that end the game."""
    waiting, seen, moves, ends = [game.initial()], set(), 1, 0
    while waiting:
        state = waiting.pop()
        name = min(image.tobytes() for image in alike(state))
        if name not in seen:
            seen.add(name)
            children = [game.after(state, move) for move in game.moves(state)]
            moves += len(children)
            ends += sum(bool(game.is_over(child)) for child in children)
            waiting += [child for child in children if not game.is_over(child)]
    return moves, ends


@pytest.mark.parametrize("spec", ["tictactoe"])
def test_alphabeta_counts_of_tictactoe(spec):
    """Natural order, any win as good as another: 18,297 positions with the root, 7,330 of them leaves; a draw."""
    game = games.make(spec)
    player = agents.make(f"alphabeta(depth=9, shortest=false, {PLAIN})").player(game)
    search, counts = player.search, player.search.counts[0]
    put_root(game, search, game.initial(), stream(1))
    search.moves[0] = range(9)
    restart(search, 9)
    depth_first_kernel(game, UNGUIDED, search, 10**6)
    assert counts["nodes"] + 1 == 18_297 and counts["leaves"] == 7_330
    assert search.nodes[0]["best"] == 0


@pytest.mark.plain
@pytest.mark.parametrize("options", ["", PLAIN])
@pytest.mark.parametrize("spec", ["breakthrough(rows=5, columns=4)"])
def test_alphabeta_in_steps_equals_all_at_once(options, spec, kernels):
    game, depth = games.make(spec), 5 if kernels == "compiled" else 4
    players = [agents.make(f"alphabeta(depth={depth}, {options})").player(game) for _ in range(2)]
    whole, steps = (player.search for player in players)
    for search in (whole, steps):
        put_root(game, search, game.initial(), stream(1))
        restart(search, depth)
    depth_first_kernel(game, UNGUIDED, whole, 10**9)
    until = 0
    while steps.counts[0]["ply"] != DONE:
        until += 7
        depth_first_kernel(game, UNGUIDED, steps, until)
    assert steps.counts.tolist() == whole.counts.tolist() and steps.line[0].tolist() == whole.line[0].tolist()


@pytest.mark.parametrize("spec", ["tictactoe"])
def test_alphabeta_deepens_until_the_value_is_exact(spec):
    game = games.make(spec)
    decision = agents.make("alphabeta(seconds=300)").choose(game, game.initial(), seed=1)
    assert decision.depth <= 9 and decision.value == 0 and decision.seconds < 100
    winning = game.read_line("1a 2a 1b 2b")[1]
    decision = agents.make("alphabeta(nodes=100000)").choose(game, winning, seed=1)
    assert game.move_name(winning, decision.move) == "1c" and decision.value == 1 and decision.depth == 1


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["connect4"])
def test_each_option_saves_nodes(spec):
    """Connect 4 to depth 8: each aid alone leaves fewer positions to visit, and all together far fewer.

    The value is the same, but for what is foreseen beyond that depth.
    """
    game = games.make(spec)
    aids = [f"order=['{word}']" for word in ("own", "killers", "history")]
    aids += ["foresee=true", "sound=true", "scout=true", "table=16", "table=16, symmetries=true", "symmetries=true"]

    def visited(options):
        decision = agents.make(f"alphabeta(depth=8, {options})").choose(game, game.initial(), seed=1)
        assert decision.value == pytest.approx(-1 / 9 if "foresee=false" in options else -0.0857, abs=1e-4)
        return decision.nodes

    plain = {"table": "0", "order": "[]", "scout": "false", "foresee": "false", "sound": "false"}
    spelled = [plain | dict(part.split("=") for part in aid.split(", ")) for aid in aids]
    counts = [visited(", ".join(f"{name}={value}" for name, value in given.items())) for given in spelled]
    assert max(counts) < visited(PLAIN) and visited("") < visited(PLAIN) / 20


@pytest.mark.parametrize("spec", ["connect4"])
def test_counters_add_up(spec):
    game = games.make(spec)
    decision = agents.make("alphabeta(depth=8)").choose(game, game.initial(), seed=1)
    counts = decision.counts
    assert 0 < counts["table_cutoffs"] <= counts["table_hits"] < decision.nodes
    assert 0 < counts["leaves"] < decision.nodes and 0 < counts["cutoffs"] < decision.nodes
    plain = agents.make(f"alphabeta(depth=5, {PLAIN})").choose(game, game.initial(), seed=1)
    assert plain.counts["table_hits"] == plain.counts["table_cutoffs"] == 0


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["breakthrough(rows=5, columns=4)"])
def test_quiescence_equals_its_twin(spec, kernels):
    """Depth 2 and captures beyond it, as in plain Python."""
    game = games.make(spec)
    quiet = agents.make("alphabeta(depth=2, quiescence=true, foresee=false)").player(game)
    for seed in range(12 if kernels == "compiled" else 2):
        state = random_position(game, seed, 8)
        assert value_of(quiet, state) == pytest.approx(quiescent(game, state, 2, 0), abs=1e-12)


def quiescent(game, state, depth, ply):
    """Minimax in plain Python which at depth 0 may stop or capture."""
    side = 1 if game.player(state) == 0 else -1
    if game.is_over(state):
        return side * game.score(state) * (WIN - ply)
    moves = [move for move in game.moves(state) if depth > 0 or game.is_unstable(state, move)]
    values = [-quiescent(game, game.after(state, move), depth - 1, ply + 1) for move in moves]
    return max([*values, side * game.evaluate(state)] if depth <= 0 else values)


@pytest.mark.parametrize("spec", ["connect4(rows=4, columns=5)", "connect4"])
def test_sound_moves_hold_a_best_one(spec):
    """Leaving moves out changes no value at two plies: what is left out loses by then, or comes later than a win."""
    game, room = games.make(spec), np.empty(7, np.int32)
    for seed in range(150):
        states = random_line(game, seed)
        state = states[seed % len(states)]
        sound = room[: game.sound_moves(state, room)].tolist()
        legal = game.moves(state)
        values = {move: -minimax_after(game, state, move) for move in legal}
        assert sound and set(sound) <= set(legal)
        best = max(values.values())
        assert max(values[move] for move in sound) == best
        assert all(values[move] <= -9000 or best >= 9000 for move in legal if move not in sound)


def minimax_after(game, state, move):
    after = game.after(state, move)
    if game.is_over(after):
        return -(WIN - 1) if game.score(after) else 0.0
    return minimax(game, after, 1, ply=1)


@pytest.mark.plain
def test_scores_are_played_for():
    """The first figure of the lecture notes: 3, of which two ends are never seen."""
    game = games.make("tree(nodes='[[3, 12, 8], [2, 4, 6], [14, 5, 2]]')")
    player = agents.make(f"alphabeta(depth=2, scores=true, {PLAIN})").player(game)
    assert value_of(player, game.initial()) == 3
    assert value_of(agents.make("minimax(depth=2, scores=true)").player(game), game.initial()) == 3


@pytest.mark.parametrize("spec", ["connect4"])
def test_table_is_kept_from_move_to_move(spec):
    game = games.make(spec)
    player = agents.make("alphabeta(depth=8)").player(game)
    first, again = (player.choose(game.initial(), stream(1)) for _ in range(2))
    assert again.nodes < first.nodes / 10 and again.value == first.value


@pytest.mark.parametrize(
    "spec, message",
    [
        ("alphabeta(order=['tables'])", "order = 'tables' is not one of table, own, killers, history"),
        ("alphabeta(table=131000)", "table = 131000 MiB is more than the memory"),
        ("minimax(scheme='old')", "scheme = 'old' is not one of new, big, two_big"),
        ("alphabeta(aspiration=-1)", "aspiration = -1.0 is out of range: it can be 0 to 1000000000"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=message):
        agents.make(spec)


@pytest.mark.parametrize(
    "spec, game, message",
    [
        (
            "alphabeta(depth=2, symmetries=true)",
            "nim",
            "symmetries=True.* plays games with symmetries, and nim.* has none",
        ),
        (
            "alphabeta(depth=2, quiescence=true)",
            "nim",
            "quiescence=True.* plays games with unstable moves, and nim.* calls no move unstable",
        ),
        ("negamax(depth=2)", "pig", "negamax plays games without chance, and pig.* has chance"),
        ("minimax(depth=2)", "leftmove", "minimax plays games for two players"),
    ],
)
def test_games_refused(spec, game, message):
    with pytest.raises(agents.Unsuited, match=message):
        agents.make(spec).player(games.make(game))


@pytest.mark.plain
@pytest.mark.parametrize("name", ["negamax", "expectimax", "expectiminimax"])
def test_the_moves_of_a_root_are_made_in_a_kernel(name, monkeypatch):
    """Plain Python takes half a minute for those of Amazons."""
    game = games.make("tictactoe")
    state = game.after(game.initial(), 4)
    player = agents.make(f"{name}(depth=2)").player(game)
    monkeypatch.setattr(type(game), "after", None)
    assert len(player.values(state)) == 8 and player.choose(state, stream(1)).depth == 2


@pytest.mark.plain
@pytest.mark.parametrize("agent", ["minimax(depth=2", "alphabeta(depth=2", f"alphabeta(depth=2, {PLAIN}"])
def test_of_equal_moves_a_random_one_or_the_first(agent):
    """MIN leaves MAX 0 after the first move, and 1 after each of the three others."""
    game = games.make("tree(nodes='[[5, 0], [1, 2], [3, 1], [1, 1]]')")
    state = game.initial()
    moves = list(game.moves(state))
    random, first = (
        agents.make(f"{agent}{ties})").new_player(game, Budget(depth=2)) for ties in ("", ", ties='first'")
    )
    assert {random.choose(state, stream(k)).move for k in range(99)} == set(moves[1:])
    assert {first.choose(state, stream(k)).move for k in range(9)} == {moves[1]}
    with pytest.raises(ValueError, match="ties = 'last' is not one of random, first"):
        agents.make(f"{agent}, ties='last')")
