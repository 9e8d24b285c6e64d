"""Nested search: published and known figures, naive twins, budgets, restarts and workers."""

import numpy as np
import pytest

from arena import agents, games
from arena.games.core.random import stream
from tests.agents.naive_nested import Lazy, beam_nrpa, nmcs, nmcs_for_two, sp_mcts
from tests.agents.test_montecarlo import assert_same_tree

SMALL_BOARD = "samegame(rows=5, columns=5, colours=3)"
LEFT_MOVE = [  # of depth 60: agent, mean score of one search, computed independently
    ("nrpa(level=1, iterations=10)", 35.9),
    *(
        pytest.param(*row, marks=pytest.mark.slow)
        for row in (
            ("nrpa(level=2, iterations=10)", 47.9),
            ("nrpa(level=1, iterations=100)", 47.4),
            ("nmcs(level=1)", 42.3),
            ("nmcs(level=2)", 50.1),
            ("nrpa(level=3, iterations=10)", 59.3),
            ("nrpa(level=2, iterations=100)", 60.0),
        )
    ),
]


def searched(spec, game, seed=1, **budget):
    return agents.make(spec).choose(game, game.initial(), seed=seed, budget=agents.Budget(**budget))


def score_of(game, decision):
    """What the rules make of the sequence of a decision."""
    state = game.initial()
    for move in decision.principal_variation:
        state = game.after(state, move)
    assert game.is_over(state)
    return game.score(state)


@pytest.mark.plain
@pytest.mark.parametrize("spec, mean", LEFT_MOVE)
def test_left_move(spec, mean):
    """The means of 100 searches lie within three standard errors."""
    game, agent = games.make("leftmove"), agents.make(spec.replace(")", ", restarts=false)"))
    scores = [agent.choose(game, game.initial(), seed=seed).value for seed in range(100)]
    error = np.std(scores, ddof=1) / 10
    assert abs(np.mean(scores) - mean) <= 3 * error + 0.05  # the known means have one digit


@pytest.mark.plain
@pytest.mark.parametrize(
    "spec, playout, level",
    [
        ("leftmove", "random", 1),
        ("leftmove(depth=12)", "random", 2),
        (SMALL_BOARD, "random", 2),
        (SMALL_BOARD, "tabu", 1),
        pytest.param("leftmove", "random", 2, marks=pytest.mark.slow),
        pytest.param(SMALL_BOARD, "random", 1, marks=pytest.mark.slow),
        pytest.param(SMALL_BOARD, "tabu", 2, marks=pytest.mark.slow),
    ],
)
def test_nmcs_equals_its_twin(spec, playout, level):
    game = games.make(spec)
    draw = game.random_move if playout == "random" else game.random_move_tabu
    for seed in range(4 // level**2):
        decision = searched(f"nmcs(level={level}, playout={playout!r}, restarts=false)", game, seed)
        score, line = nmcs(game, level, game.initial(), np.empty(game.max_moves, np.int32), stream(seed), draw)
        assert (decision.value, list(decision.principal_variation)) == (score, line)


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["leftmove(depth=12)", SMALL_BOARD])
@pytest.mark.parametrize("level, lazy, ratio", [(2, 1, 0.5), (2, 3, 1.0), (3, 2, 0.0), (3, 1, 0.9)])
def test_lazy_nmcs_equals_its_twin(spec, level, lazy, ratio, kernels):
    """The same sequence, and as many random numbers drawn."""
    game = games.make(spec)
    agent = agents.make(f"nmcs(level={level}, lazy={lazy}, ratio={ratio}, restarts=false)")
    for seed in range(2 if kernels == "compiled" else 1):
        ours, theirs, room = stream(seed), stream(seed), np.empty(game.max_moves, np.int32)
        decision = agent.player(game).choose(game.initial(), ours)
        score, line = nmcs(game, level, game.initial(), room, theirs, game.random_move, Lazy(lazy, ratio))
        assert (decision.value, list(decision.principal_variation)) == (score, line)
        assert ours[0] == theirs[0]


@pytest.mark.plain
def test_a_lazy_search_spares_playouts():
    """The higher the ratio, the fewer; one that looks and then always searches makes more than one that does not."""
    game = games.make(SMALL_BOARD)
    made = [
        searched(f"nmcs(level=3, restarts=false{more})", game).playouts
        for more in ("", ", lazy=1, ratio=0", ", lazy=1, ratio=0.5", ", lazy=1, ratio=1")
    ]
    assert made == sorted(made, reverse=True) and made[0] > 2 * made[-1]


@pytest.mark.plain
def test_each_lazy_search_begins_with_nothing_seen():
    """Of two searches in one budget, the second does what it does alone."""
    game, agent = games.make(SMALL_BOARD), agents.make("nmcs(level=2, lazy=2, restarts=false)")
    first = agent.player(game).choose(game.initial(), rng := stream(1))
    second = agent.player(game).choose(game.initial(), rng)
    both = searched("nmcs(level=2, lazy=2)", game, playouts=first.playouts + second.playouts)
    assert both.value == max(first.value, second.value)
    last = [one.playouts for one in both.improvements if one.playouts > first.playouts]
    later = [one for one in second.improvements if one.score > first.value]
    assert last == [first.playouts + one.playouts for one in later]


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["tictactoe", pytest.param("connect4(rows=4, columns=5)", marks=pytest.mark.slow)])
@pytest.mark.parametrize("level", [1, 2])
def test_nmcs_for_two_equals_its_twin(spec, level):
    game = games.make(spec)
    for state in (game.initial(), game.after(game.initial(), game.moves(game.initial())[1])):
        player = agents.make(f"nmcs(level={level}, restarts=false)").player(game)
        decision = player.choose(state, rng := stream(3))
        side, rng, room = 1 if game.player(state) == 0 else -1, stream(3), np.empty(game.max_moves, np.int32)
        values = [
            side * nmcs_for_two(game, level - 1, game.after(state, move), 1, room, rng) for move in game.moves(state)
        ]
        assert player.searches[0].sums[1, : len(values)].tolist() == values
        assert decision.value == max(values) and decision.move == game.moves(state)[int(np.argmax(values))]


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["leftmove(depth=12)", SMALL_BOARD, "tsptw(cities=6)"])
def test_sp_mcts_equals_its_twin(spec, kernels):
    game, playouts = games.make(spec), 400 if kernels == "compiled" else 120
    player = agents.make(f"sp_mcts(playouts={playouts}, exploration=0.2)").player(game)
    decision = player.choose(game.initial(), stream(3))
    root, simulated = sp_mcts(game, game.initial(), playouts, 0.2, 0.01, stream(3))
    assert_same_tree(player.searches[0].tree, root)
    score, moves = max(simulated, key=lambda one: one[0])
    assert decision.value == score and list(decision.principal_variation) == moves


@pytest.mark.plain
def test_sp_mcts_begins_again_with_an_empty_tree():
    game, rng, parts = games.make(SMALL_BOARD), stream(3), []
    for _ in range(3):
        parts += sp_mcts(game, game.initial(), 40, 0.03, 0.01, rng)[1]
    player = agents.make("sp_mcts(size=40, playouts=130)").player(game)
    decision = player.choose(game.initial(), stream(3))
    assert player.searches[0].tree.visits[0] == 10
    assert [one[::2] for one in decision.improvements if one.playouts <= 120] == [
        (i + 1, score) for i, (score, _) in enumerate(parts) if all(score > other for other, _ in parts[:i])
    ]


@pytest.mark.plain
@pytest.mark.parametrize(
    "name", ["nmcs(level=1)", "nmcs(level=2)", "nrpa(level=2, iterations=10)", "sp_mcts", "sp_mcts(size=70)"]
)
@pytest.mark.parametrize("spec", ["leftmove", SMALL_BOARD])
def test_a_search_for_one_player(name, spec, kernels):
    """Equal seeds give equal sequences, which score what is said; the improvements lead there, whatever the chunks."""
    game, (many, few) = games.make(spec), (700, 300) if kernels == "compiled" else (150, 60)
    first, second = (searched(name, game, seed=5, playouts=many) for _ in range(2))
    assert first.playouts == many and first.principal_variation == second.principal_variation
    assert score_of(game, first) == first.value == second.value
    scores = [one.score for one in first.improvements]
    playouts = [one.playouts for one in first.improvements]
    assert scores == sorted(set(scores)) and scores[-1] == first.value
    assert playouts == sorted(playouts) and playouts[0] == 1 and playouts[-1] <= many
    assert [one[::2] for one in first.improvements] == [one[::2] for one in second.improvements]
    shorter = searched(name, game, seed=5, playouts=few)
    assert [one[::2] for one in shorter.improvements] == [one[::2] for one in first.improvements if one.playouts <= few]


@pytest.mark.plain
def test_the_sequence_is_played_without_more_search():
    game, rng = games.make("leftmove"), stream(2)
    player = agents.make("nrpa(level=1, iterations=50, playouts=50)").player(game)
    state = game.initial()
    plan, score = None, None
    for ply in range(60):
        decision = player.choose(state, rng)
        plan, score = plan or decision.principal_variation, score or decision.value
        assert decision.move == plan[ply] and decision.playouts == (50 if ply == 0 else 0)
        state = game.after(state, decision.move)
        player.played(decision.move)
    assert game.score(state) == score


@pytest.mark.plain
def test_a_move_that_was_not_planned_begins_a_new_search():
    game, rng = games.make("leftmove"), stream(2)
    player = agents.make("nmcs(level=1, restarts=false)").player(game)
    state = game.initial()
    other = 1 - player.choose(state, rng).move
    player.played(other)
    decision = player.choose(game.after(state, other), rng)
    assert decision.playouts > 0 and len(decision.principal_variation) == 59


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nrpa(level=4)", pytest.param("nmcs(level=3)", marks=pytest.mark.slow)])
def test_seconds_end_a_search(name):
    game = games.make(SMALL_BOARD)
    searched(name, game, playouts=1)  # which compiles
    decision = searched(name, game, seconds=0.1)
    assert decision.playouts > 100 and decision.seconds < 1 and score_of(game, decision) == decision.value


@pytest.mark.plain
def test_restarts_go_on_until_the_budget_ends(kernels):
    game, playouts = games.make("leftmove"), 1000 if kernels == "compiled" else 100
    for name in ("nrpa(level=1, iterations=5{})", "sp_mcts(size=5{})"):
        once = searched(name.format(", restarts=false"), game, playouts=playouts)
        again = searched(name.format(""), game, playouts=playouts)
        assert once.playouts == 5 and again.playouts == playouts and again.value >= once.value


@pytest.mark.plain
@pytest.mark.parametrize("name", ["nmcs(level=1{})", "nrpa(level=2, iterations=10{})", "sp_mcts(size=50{})"])
def test_workers_search_by_themselves_and_the_best_counts(name, kernels):
    game, playouts = games.make(SMALL_BOARD), 300 if kernels == "compiled" else 120
    rngs = [stream(3), stream(int(stream(3)[0]), "worker", 1)]
    alone = [
        agents.make(name.format("")).player(game, agents.Budget(playouts=playouts)).choose(game.initial(), rng)
        for rng in rngs
    ]
    for _ in range(2):
        together = searched(name.format(", workers=2"), game, seed=3, playouts=playouts)
        best = max(alone, key=lambda decision: decision.value)
        assert (together.value, together.principal_variation) == (best.value, best.principal_variation)
        assert together.playouts == 2 * playouts and agents.make(name.format(", workers=2")).cores == 2
        assert together.improvements[-1].score == best.value


@pytest.mark.plain
@pytest.mark.parametrize(
    "name", ["nmcs(level=1)", "nrpa(level=2, iterations=5)", "nmcs(level=2, parallel='leaf')", "sp_mcts"]
)
def test_the_best_score_is_told_while_the_search_goes_on(name):
    game, told = games.make("leftmove"), []
    player = agents.make(name).player(game, agents.Budget(playouts=60))
    player.note_best = told.append
    decision = player.choose(game.initial(), stream(4))
    assert told == sorted(set(told)) and told[-1] == decision.value


@pytest.mark.plain
def test_repetitions_end_a_level_early():
    """A call of level 1 ends when its best sequence has come three times."""
    game = games.make(SMALL_BOARD)
    whole = searched("nrpa(level=1, iterations=1000, restarts=false)", game)
    short = searched("nrpa(level=1, iterations=1000, repetitions=3, restarts=false)", game)
    assert whole.playouts == 1000 and short.playouts < 500
    until = [one for one in whole.improvements if one.playouts <= short.playouts]
    assert [one[::2] for one in short.improvements] == [one[::2] for one in until]


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["leftmove(depth=12)", SMALL_BOARD])
def test_beam_nrpa_equals_its_twin(spec, kernels):
    """As many playouts, and each that is better than all before at the same place."""
    game, compiled = games.make(spec), kernels == "compiled"
    for beam, level, iterations in (
        [(3, 1, 30), (3, 2, 5), (2, 3, 4)] if compiled else [(3, 1, 20), (3, 2, 4), (2, 3, 2)]
    ):
        words = f"level={level}, iterations={iterations}, beam={beam}, restarts=false"
        for seed, stabilization in ((0, 1), (1, 2)) if compiled or level == 2 else ((0, 1),):
            agent = agents.make(f"nrpa({words}, stabilization={stabilization})")
            decision, scores = agent.choose(game, game.initial(), seed=seed), []
            beam_nrpa(game, level, iterations, beam, {}, game.move_code, stream(seed), scores, stabilization)
            better = [i for i, score in enumerate(scores) if score > max(scores[:i], default=-np.inf)]
            assert decision.playouts == len(scores)
            assert [one[::2] for one in decision.improvements] == [(i + 1, scores[i]) for i in better]


@pytest.mark.plain
@pytest.mark.parametrize("one, other", [("beam_nrpa({}, beam=1)", "nrpa({})"), ("beam_nrpa({})", "nrpa({}, beam=4)")])
def test_a_beam_of_nrpa(one, other, kernels):
    """A beam of one is NRPA, and beam_nrpa has one of four."""
    game, (iterations, playouts) = games.make(SMALL_BOARD), (20, 1000) if kernels == "compiled" else (8, 150)
    words = f"level=2, iterations={iterations}, playouts={playouts}"
    found = [searched(name.format(words), game) for name in (one, other)]
    assert len({(each.value, each.principal_variation, each.improvements[-1][0]) for each in found}) == 1


@pytest.mark.plain
@pytest.mark.parametrize(
    "name", ["nmcs(level=2{})", pytest.param("nrpa(level=2, iterations=10{})", marks=pytest.mark.slow)]
)
def test_a_first_level_that_is_shared_out(name, kernels):
    """The same result each time, budgets kept, and with one worker what the serial search finds."""
    game, playouts = games.make(SMALL_BOARD), 500 if kernels == "compiled" else 110
    for workers in (1, 2, 3) if kernels == "compiled" else (1, 3):
        agent = name.format(f", workers={workers}, parallel='leaf'")
        first, second = (searched(agent, game, seed=4, playouts=playouts) for _ in range(2))
        assert (first.value, first.principal_variation) == (second.value, second.principal_variation)
        assert (
            first.playouts_each == playouts
            and first.playouts <= playouts * workers
            and score_of(game, first) == first.value
        )
        assert first.improvements[-1].score == first.value
    once = searched(name.format(", workers=2, parallel='leaf', restarts=false"), game)
    assert once.playouts > 50
    for seconds in (0.0005, 0.001, 0.002, 0.005, 0.05):  # over in the first search, or at any place of a later one
        assert searched(agent, game, seconds=seconds).seconds < 60
    alone = searched(name.format(", parallel='leaf', restarts=false"), game)
    serial = searched(name.format(", restarts=false"), game)
    if name.startswith("nrpa"):  # nmcs shuffles from the same stream at other moments
        assert (alone.value, alone.playouts) == (serial.value, serial.playouts) == (serial.value, 100)


@pytest.mark.parametrize(
    "spec, message",
    [
        ("nrpa(level=0)", "level = 0 is out of range: it can be 1 to 12"),
        ("nrpa(level=13)", "level = 13 is out of range"),
        ("nrpa(iterations=0)", "iterations = 0 is out of range"),
        ("nrpa(alpha=0)", "alpha = 0.0 is out of range"),
        ("nrpa(temperature=0)", "temperature = 0.0 is out of range"),
        ("nrpa(repetitions=-1)", "repetitions = -1 is out of range"),
        ("nrpa(stabilization=0)", "stabilization = 0 is out of range"),
        ("beam_nrpa(beam=0)", "beam = 0 is out of range: it can be 1 to 64"),
        ("beam_nrpa(parallel='leaf')", "beam = 4 and parallel = 'leaf' exclude each other"),
        ("nmcs(workers=0)", "workers = 0 is out of range"),
        ("nmcs(parallel='tree')", "parallel = 'tree' is not one of root, leaf"),
        ("nrpa(level=1, parallel='leaf')", "level = 1: parallel = 'leaf' shares out calls of the level below"),
        ("nmcs(lazy=-1)", "lazy = -1 is out of range"),
        ("nmcs(ratio=1.5)", "ratio = 1.5 is out of range: it can be 0 to 1"),
        ("nmcs(level=1, lazy=2)", "level = 1: lazy = 2 is for level 2 and more"),
        ("nmcs(lazy=2, parallel='leaf')", "lazy = 2 and parallel = 'leaf' exclude each other"),
        ("sp_mcts(size=0)", "size = 0 is out of range"),
        ("sp_mcts(deviation=-1)", "deviation = -1.0 is out of range"),
        ("nmcs(playout='tabuu')", "playout = 'tabuu' is not one of random, tabu"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=message):
        agents.make(spec)


def test_games_that_do_not_fit():
    with pytest.raises(agents.Unsuited, match=r"leftmove.* has no tabu playouts"):
        agents.make("nmcs(playout='tabu', playouts=1)").player(games.make("leftmove"))
    with pytest.raises(agents.Unsuited, match=r"nmcs.* plays games for one player"):
        agents.make("nmcs(lazy=2, playouts=1)").player(games.make("tictactoe"))
    with pytest.raises(agents.Unsuited, match=r"pig.* has chance"):
        agents.make("nrpa(playouts=1)").player(games.make("pig"))
    with pytest.raises(agents.Unsuited, match="nrpa needs a budget of playouts or seconds"):
        agents.make("nrpa").player(games.make("leftmove"))
    assert agents.make("nrpa(restarts=false)").budget() == agents.Budget()


def test_a_search_that_memory_cannot_hold_is_refused(monkeypatch):
    monkeypatch.setattr("arena.agents.nested.nested_agent.memory_bytes", lambda: 10**6)
    with pytest.raises(agents.Unsuited, match=r"nrpa\(level=12, playouts=1\) needs .* GB for morpion"):
        agents.make("nrpa(level=12, playouts=1)").player(games.make("morpion"))
