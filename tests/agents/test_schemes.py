"""Parallel schemes of any search: one worker decides as the search does by itself, several lose nothing, and what
cannot be shared is refused.
"""

import re

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.agent import Budget, Unsuited
from arena.agents.core.tree_arrays import LEAF, ROOT, UNPROVEN, last_node, new_walk
from arena.agents.montecarlo.method import registry
from arena.agents.montecarlo.methods.grave import Grave
from arena.agents.montecarlo.methods.nst import NST
from arena.agents.montecarlo.methods.puct import PUCT
from arena.agents.montecarlo.parallel.scheme import Searching
from arena.agents.montecarlo.parallel.together import Access, begin_at
from arena.agents.montecarlo.search import descend, finish, open_root, result_of
from arena.games.core.jit import kernel
from arena.games.core.random import stream
from tests.agents.specs import made
from tests.shipped import AGENTS

GAME = games.make("tictactoe")
STATE = GAME.initial()
SCHEMES = [name for name in AGENTS if isinstance(agents.make(name), Searching)]
TOGETHER = [name for name in SCHEMES if name != "root"]
SEARCHES = [
    *(f"uct(methods='{name}')" for name in registry.classes()),
    "uct(methods='gumbel(logits=\"ppa\")')",
    "uct(methods='implicit + bounds + pn + history + nst + decisive + halving(below=2)')",
    "uct(solver=true, first_play_urgency=1)",
    "uct(lanes=2)",
    "grave(ref=5, entries=1024)",
    "grave(lanes=2, entries=1024)",
    "uct(methods='grave(lanes=2, entries=1024)')",
    "uct(methods='grave(entries=1024) + halving + pn')",
    "ppa(features=true)",
    "uct(methods='ppa(features=true) + implicit + decisive')",
    "uct(methods='mast + shuss')",
    "ppa(rule='simple', temperature=5)",
    "mast",
]
# to compile seven kernels for each search would take half an hour
PLAIN_ALONE = pytest.mark.parametrize("kernels", ["plain"], indirect=True)
CONTENDED = [
    "grave(entries=1024)",
    "ppa",
    "uct(solver=true, methods='decisive + nst + history')",
    "uct(methods='reply + halving')",
]


def of(scheme, search, **more):
    """The scheme of a search."""
    return made(scheme, search=search, **{"playouts": 25, **more})


def decided(agent, seed=3, game=GAME, state=None):
    """A player that has decided on a move, and the decision."""
    player = agent.player(game)
    return player, player.choose(game.initial() if state is None else state, stream(seed))


def seen(decision):
    """What a decision says of the root's moves, in their order, and the move."""
    return *(each.tolist() for each in decision.statistics[:3]), decision.move


def arrays_of(memory):
    """All arrays in a memory, in order."""
    if isinstance(memory, np.ndarray):
        return [memory]
    return [array for part in memory for array in arrays_of(part)] if isinstance(memory, tuple) else []


def assert_whole(player, decision, at_once):
    """Nothing is left in flight or locked, and children add up but for visits while their node was a leaf."""
    tree = player.tree
    if player.free:  # others pass through a leaf only when the thread that expands it is done, however long that takes
        at_once = decision.playouts
    assert not any(each.any() for each in (player.company.lock, player.company.locks, player.company.flying))
    assert tree.visits[ROOT] == decision.playouts == decision.statistics.playouts.sum()
    reached, found = [ROOT], 1
    for node in reached:
        if tree.children[node] == LEAF:
            continue
        found += tree.children[node]
        reached += range(tree.first_child[node], tree.first_child[node] + tree.children[node])
        children = slice(tree.first_child[node], tree.first_child[node] + tree.children[node])
        assert 0 <= tree.visits[node] - tree.visits[children].sum() <= at_once
        assert np.all((tree.value[children] >= 0) & (tree.value[children] <= tree.visits[children]))
    assert found == len(set(reached)) == decision.nodes


@PLAIN_ALONE
@pytest.mark.parametrize("search", SEARCHES)
def test_every_scheme_plays_every_search_or_says_why_not(search):
    """And one worker decides as the search by itself does; several simulated ones are deterministic, threads whole."""
    name, _, inside = search.rstrip(")").partition("(")
    state = GAME.read_line("2b 1a")[1]  # playouts are shorter here, and fewer reach as deep

    def play(scheme, **more):
        return decided(of(scheme, search, playouts=10, **more), state=state)

    expected = decided(agents.make(f"{name}({inside}{', ' if inside else ''}playouts=10)"), state=state)[1]
    for scheme in SCHEMES:
        for simulated in (False, True):
            if simulated and "lanes" in search and scheme != "root":
                continue
            if reason := of(scheme, search, workers=1, simulated=simulated).refuses(GAME):
                assert "graph" in search and reason.startswith(f"{scheme} has several workers on one tree, and method")
                continue
            player, decision = play(scheme, workers=1, simulated=simulated)
            if scheme != "gscpm":  # whose tasks have random numbers of their own
                assert seen(decision) == seen(expected) and decision.playouts == expected.playouts
            player, decision = play(scheme, workers=3, simulated=simulated)
            assert decision.playouts == decision.statistics.playouts.sum()
            if scheme in TOGETHER:
                assert_whole(player, decision, at_once=6)
            if simulated or scheme in ("root", "leaf"):
                again = play(scheme, workers=3, simulated=simulated)[1]
                assert (seen(again), again.nodes) == (seen(decision), decision.nodes)


@pytest.mark.plain
@pytest.mark.parametrize("search", ["uct(methods='history + nst')", "ppa", "grave(entries=1024)"])
@pytest.mark.parametrize("scheme", ["root", "leaf"])
def test_threads_and_simulated_workers_agree(scheme, search):
    threads, simulated = (decided(of(scheme, search, workers=3, simulated=way))[1] for way in (False, True))
    assert (seen(threads), threads.move) == (seen(simulated), simulated.move)
    assert threads.virtual_time is None and simulated.virtual_time == simulated.playouts_each


@pytest.mark.plain
@pytest.mark.parametrize("search", [
    "ppa(features=true)", pytest.param("uct(methods='mast(features=true) + history')", marks=pytest.mark.slow),
])  # fmt: skip
def test_tables_that_fill_up_grow_in_every_scheme(search):
    """On this board, one simulation can need as many places as a new table has."""
    game = games.make("connect4(rows=4, columns=4)")
    name, _, inside = search.rstrip(")").partition("(")
    serial, expected = decided(agents.make(f"{name}({inside}, playouts=40)"), game=game)
    assert len(serial.memory[0].learner.policy.steps) > 2 * game.max_plies * game.max_moves
    for scheme in SCHEMES:
        for simulated in (False, True):
            _, decision = decided(of(scheme, search, workers=1, simulated=simulated, playouts=40), game=game)
            if scheme != "gscpm":
                assert seen(decision) == seen(expected)
            player, decision = decided(of(scheme, search, workers=2, simulated=simulated, playouts=40), game=game)
            assert decision.playouts == decision.statistics.playouts.sum() == 80
            if scheme in TOGETHER:
                assert_whole(player, decision, at_once=4)
            one = player.memories if scheme in TOGETHER else [search.memory for search in player.searches]
            grown = [len(each[0].learner.policy.steps) > 2 * game.max_plies * game.max_moves for each in one]
            assert all(grown) if simulated else any(grown)  # of two threads, one may get few of the playouts


@PLAIN_ALONE
@pytest.mark.parametrize("search", [search for search in SEARCHES if "graph" not in search])
def test_a_playout_writes_nothing_that_is_shared(search):
    player = of("leaf", search, workers=2).player(GAME)
    one, walks, rng = player.one, [new_walk(GAME, STATE) for _ in range(2)], stream(5)
    one.agent.begin_search(GAME, player.memories[0], Budget(playouts=30), rng)
    shared = [
        first for first, other in zip(*map(arrays_of, player.memories)) if len(first) and np.shares_memory(first, other)
    ]
    played = 0
    for _ in range(12):
        search = player.search_of(0)
        reach_kernel(GAME, one.rule, search, *walks, rng)
        before = [array.copy() for array in shared]
        score = play_kernel(GAME, one.rule, search, walks[1], rng)
        if player.tree.proven[last_node(walks[0])] == UNPROVEN:  # a proof is written wherever the walk ends
            played += 1
            assert all(np.array_equal(old, new) for old, new in zip(before, shared))
        finish_kernel(GAME, one.rule, search, walks[1], score)
    assert played > 0


@kernel
def reach_kernel(game, rule, search, walk, copy, rng):
    open_root(game, rule, search, walk, rng)
    descend(game, rule, search, walk, rng)
    begin_at(game, copy, walk)


@kernel
def play_kernel(game, rule, search, walk, rng):
    return float(result_of(game, rule, search, walk, rng))


@kernel
def finish_kernel(game, rule, search, walk, score):
    finish(game, rule, search, walk, score)


@pytest.mark.plain
@pytest.mark.parametrize("scheme", ["tree", "tree(wu=true)", "tree(lock='local')", "gscpm(grain=7)", "leaf"])
@pytest.mark.parametrize("search", ["uct", "mast", *CONTENDED])
def test_threads_lose_no_visit(scheme, search, kernels):
    playouts, game = (80, GAME) if kernels == "plain" else (40_000, games.make("connect4"))
    try:
        agent = made(scheme, search=search, workers=8, playouts=playouts, total=True)
    except games.SpecError as error:
        assert "select by UCB1 alone" in str(error) and search in CONTENDED
        return
    player, decision = decided(agent, game=game)
    assert_whole(player, decision, at_once=8)
    assert decision.playouts == playouts or player.tree.proven[ROOT]


@pytest.mark.slow
def test_two_threads_do_a_search_with_methods_on_one_tree():
    agent = of("tree", "uct(methods='history')", playouts=500)
    player, decision = decided(agent, game=games.make("breakthrough(rows=5, columns=4)"))
    assert_whole(player, decision, at_once=2)
    assert decision.playouts == 1000


@pytest.mark.slow
def test_two_threads_do_a_search_with_methods_on_trees_of_their_own():
    game = games.make("breakthrough(rows=5, columns=4)")
    _, decision = decided(of("root", "uct(methods='history')", playouts=500), game=game)
    assert decision.playouts == decision.statistics.playouts.sum() == 1000


@pytest.mark.plain
@pytest.mark.parametrize("search", ["ppa", "mast", "uct(methods='gumbel(logits=\"ppa\")')"])
def test_a_policy_is_of_each_worker_or_of_all(search):
    for policy, together in (("own", False), ("shared", True)):
        agent = of("tree", search, workers=2, simulated=True, policy=policy)
        player, decision = decided(agent)
        memories = player.memories
        learners = [memory[0].extra.taught.learner if "gumbel" in search else memory[0].learner for memory in memories]
        weights = [learner.policy.weights for learner in learners]
        assert np.shares_memory(*weights) == together
        assert np.array_equal(*weights) == together and all(each.any() for each in weights)
        assert not np.shares_memory(*(learner.lines.moves for learner in learners))
        assert seen(decided(agent)[1]) == seen(decision)


@pytest.mark.plain
def test_what_a_tree_of_root_has_proven_counts_for_all():
    state = GAME.read_line("1a 2a 1b 2b")[1]  # 1c wins
    for more in ({}, {"share_every": 5}):
        agent = of("root", "uct(solver=true)", workers=3, **more)
        decision = agent.player(GAME).choose(state, stream(1))
        assert (decision.value, GAME.move_name(state, decision.move)) == (1.0, "1c")


@pytest.mark.plain
def test_trees_of_root_exchange_statistics_beside_counts_of_moves():
    agent = of("root", "grave(entries=1024)", workers=2, share_every=5)
    decision = decided(agent)[1]
    assert decision.playouts == decision.statistics.playouts.sum() == 50
    assert seen(decided(agent)[1]) == seen(decision)


@pytest.mark.plain
def test_root_without_a_search_has_the_exploration_that_is_asked_for():
    expected = decided(agents.make("uct(playouts=60, exploration=2.0)"))[1]
    assert seen(decided(agents.make("root(workers=1, playouts=60, exploration=2.0)"))[1])[:3] == seen(expected)[:3]


@pytest.mark.plain
def test_root_has_more_workers_than_playouts():
    decision = decided(agents.make("root(workers=3, playouts=2, total=true)"))[1]
    assert decision.playouts == decision.statistics.playouts.sum() == 2


@pytest.mark.parametrize(
    "spec, message",
    [
        ("root(search='alphabeta')", "search = 'alphabeta' is no search of one tree, such as uct, grave, ppa or mast"),
        ("tree(search='tree')", "search = 'tree' is no search of one tree"),
        ("tree(search='ucb')", "unknown agent 'ucb'"),
        ("tree(search='grave(ref=-1)')", "grave: ref = -1"),
        ("leaf(search='uct(playouts=5)')", "has playouts = 5: give it to leaf itself"),
        ("tree(search='uct(max_nodes=2000)')", "has max_nodes = 2000: give it to tree itself"),
        ("root(search='uct(keep_tree=true)')", "has keep_tree = True: root has none"),
        ("root(search='grave', exploration=1)", "exploration = 1.0 is for plain UCT: leave it out if search is given"),
        ("tree(search='uct', simulated=true, playout_time='plies')", "playout_time = 'plies' is for plain UCT"),
        ("tree(search='grave', wu=true)", "wu = True and search = 'grave': WU-UCT is for searches that"),
        ("gscpm(search='uct(solver=true)', wu=true)", "WU-UCT is for searches that select by UCB1 alone"),
        ("tree(virtual_loss=0.5)", "virtual_loss = 0.5: visits are whole numbers"),
        ("tree(search='uct', lanes=2)", "lanes = 2 is for plain UCT: give lanes to the search"),
        (
            "tree(search='uct(lanes=2)', simulated=true)",
            "simulated workers make one playout of each leaf, so lanes is 1",
        ),
        (
            "leaf(search='uct(methods=\"grave(lanes=2)\")', simulated=true)",
            "simulated workers make one playout of each leaf, so lanes is 1",
        ),
        ("tree(search='ppa', policy='one')", "policy = 'one' is not one of own, shared"),
        ("tree(search='uct', policy='shared')", "search = 'uct': that learns no policy; ppa and mast do"),
        ("tree(policy='shared')", "search = '': that learns no policy"),
        ("root(search=\"uct(methods='halving')\", share_every=5)", "share_every = 5 excludes halving,"),
        ("pipeline(search='uct')", "pipeline has no parameter 'search', since its stages change one tree at once"),
        ("distributed(search='uct')", "distributed has no parameter 'search', since its messages carry what plain UCT"),
    ],
)
def test_what_is_wrong_is_one_line(spec, message):
    with pytest.raises(games.SpecError, match=re.escape(message)):
        agents.make(spec)


def test_what_a_scheme_refuses(monkeypatch):
    coin = games.make("pig(target=10, horizon=20)")
    assert "method pn of uct(methods='pn')" in of("root", "uct(methods='pn')").refuses(coin)
    assert "a policy that grows in tictactoe" in of("tree", "ppa(features=true)", policy="shared").refuses(GAME)
    monkeypatch.setattr(PUCT, "with_room", lambda self, game, memory: memory)
    assert "method puct has arrays that grow in tictactoe" in of("tree", "uct(methods='puct')").refuses(GAME)
    with pytest.raises(Unsuited, match=r"method halving of uct.* needs a budget of playouts alone"):
        agents.make("tree(search=\"uct(methods='halving')\")").budget(Budget(seconds=1.0))
    for cls, search in ((NST, "uct(methods='nst')"), (Grave, "grave")):
        monkeypatch.setattr(cls, "private", None)
        assert "does not name the arrays of one simulation" in of("tree", search).refuses(GAME)
        assert of("root", search).refuses(GAME) is None


def test_files_of_the_search_are_those_of_the_scheme(policies):
    assert of("tree", "uct(methods='heavy(prior=\"file:a.policy\")')").files() == ["a.policy"]


@PLAIN_ALONE
@pytest.mark.parametrize("name", [name for name, method in registry.classes().items() if method.lockless])
def test_without_a_lock_a_simulation_writes_to_nodes_sums_and_its_own_arrays(name):
    """What it needs room for, such as a scratch state, is each worker's own."""
    player = of("tree", f"uct(methods='{name}')", workers=2, playouts=60).player(GAME)
    agent, rng = player.one.agent, stream(2)
    agent.begin_search(GAME, player.memories[0], Budget(playouts=60), rng)
    other = player.memories[1][0]  # which sees what worker 0 writes to common arrays
    before = {
        field: [array.copy() for array in arrays_of(getattr(other, field))] for field in getattr(other, "_fields", ())
    }
    player.company.size[0] = 1
    player.open(STATE, rng)
    assert player.free and player.run(STATE, 0, rng)(60) == 60
    written = {
        field for field, old in before.items() if not all(map(np.array_equal, old, arrays_of(getattr(other, field))))
    }
    assert written <= {*agent.chosen[0].per_node, "keys", "counts"}
    assert bool(written) == (name in ("decisive", "grave", "implicit"))


def test_methods_that_keep_more_than_sums_take_one_lock():
    assert of("tree", "grave", lock="local").player(GAME).access == Access(one=False, local=True)
    for search, free in (("grave", True), ("uct(methods='implicit + nst')", False), ("uct(solver=true)", True)):
        for lock in ("free", "global"):
            assert of("tree", search, lock=lock).player(GAME).free == (free and lock == "free")
            assert not of("tree", search, lock=lock, simulated=True).player(GAME).free
