"""What every agent must do, and each search against its naive twin."""

import time
from dataclasses import replace

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.agent import Agent, Budget, Player
from arena.agents.core.tree_arrays import LEAF, ROOT, copy_subtree, new_tree
from arena.agents.minimax.depthfirst import depth_first_kernel
from arena.agents.montecarlo.parallel.scheme import Scheme
from arena.agents.montecarlo.search import Search, search_kernel
from arena.agents.montecarlo.ucb1 import UCB1, Numbers
from arena.games.core.random import stream
from tests.agents.naive import flat
from tests.agents.positions import GAMES, after_names, random_position
from tests.shipped import AGENTS

FOR_TWO = [name for name in AGENTS if name != "external" and 2 in agents.make(name).needs.players]  # searches of ours
SCHEMES = [name for name in FOR_TWO if isinstance(agents.make(name), Scheme)]
MONTE_CARLO = ["flat", "uct", "grave", "ppa", "mast", *(name for name in SCHEMES if name != "distributed")]
SLOW, MORE_GAMES = pytest.mark.slow, ("tictactoe", "connect4(rows=4, columns=5)")
BUDGETS = {"playouts": 60, "nodes": 300, "depth": 3, "seconds": 0.02}
FEWER = BUDGETS | {"playouts": 20, "nodes": 50}  # in plain Python
FAMILIES = dict.fromkeys(("uct", "alphabeta", "tree"), pytest.mark.compiled)  # and nrpa: test_nested.py
ONCE = dict.fromkeys(
    ("flat", "grave", "minimax", "dfpn", "expectiminimax", "ubfm", "pns", "jlpns", "root"), ()
)  # in plain Python
PROCESSES = {"distributed": SLOW}  # there, nothing is plain Python, and it cannot be simulated; see test_distributed.py
PLAIN = {  # without processes, and with short jobs
    "jlpns": "jlpns(job_nodes=20)",
    "ppn2": "ppn2(job_nodes=20)",
    "spdfpn": "spdfpn(simulated=true, job=20)",
}


@pytest.mark.plain
@pytest.mark.parametrize("spec", [GAMES[1], *(pytest.param(name, marks=SLOW) for name in MORE_GAMES)])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=(ONCE | FAMILIES | PROCESSES).get(name, SLOW)) for name in FOR_TWO]
)
def test_every_agent_with_every_budget(name, spec, kernels):
    """By default one agent of each family; test_golden.py has a decision of all."""
    compiled = kernels == "compiled"
    game, agent = games.make(spec), agents.make(name if compiled else PLAIN.get(name, name))
    budgets = [kind for kind in agent.budgets if kind != "seconds" or not getattr(agent, "simulated", False)]
    amounts = BUDGETS if compiled else FEWER
    for kind in budgets or ["playouts"]:
        budget = agents.Budget(**{kind: amounts[kind]})
        state = random_position(game, 3, 3)
        kept = state.copy()
        first = agent.choose(game, state, seed=5, budget=budget)
        assert first.move in game.moves(state) and np.array_equal(state, kept)
        assert first.seconds > 0 and (first.value is None or -1 <= first.value <= 1)
        after_names(game, state, first.principal_variation)
        if compiled and kind != "seconds" and agent.cores == 1:  # threads on one tree are in no order
            second = agent.choose(game, state, seed=5, budget=budget)
            assert (first.move, first.value, first.playouts, first.nodes) == (
                second.move,
                second.value,
                second.playouts,
                second.nodes,
            )
        if kind == "playouts" and agent.budgets:
            playouts = amounts[kind] * getattr(agent, "workers", 1)
            assert first.playouts == playouts and first.statistics.playouts.sum() == playouts
        if kind == "nodes":
            assert first.nodes <= amounts[kind]


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["uct(playouts=20)", "alphabeta(depth=2)", "random"])
def test_a_player_that_is_kept_decides_as_one_made_for_each_decision(spec):
    """From a seed or a generator; it is told of the position in which it begins, and closed, whatever happens."""
    game, agent = games.make("tictactoe"), agents.make(spec)
    told = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(agent.player(game)), "start", lambda self, *given: told.append(("start", *map(str, given))))
        patch.setattr(type(agent.player(game)), "close", lambda self, result: told.append(("close", result)))
        with pytest.raises(KeyboardInterrupt), agents.playing(game, agent) as player:
            state = game.initial()
            while not game.is_over(state):
                decision, again = player.choose(state, 7), player.choose(state, stream(7))
                assert decision.move == again.move == agent.choose(game, state, seed=7).move
                player.played(decision.move)
                state = game.after(state, decision.move)
            raise KeyboardInterrupt
    assert told[0] == ("start", str(game), str(game.initial()), "[]") and told[-1] == ("close", None)
    with pytest.raises(agents.Unsuited), agents.playing(games.make("pig"), agents.make("alphabeta(depth=1)")):
        pass


@pytest.mark.plain
@pytest.mark.parametrize("spec", GAMES)
def test_flat_equals_its_twin(spec):
    game = games.make(spec)
    state = random_position(game, 8, 3)
    results = flat(game, state, 150, stream(9))
    decision = agents.make("flat(playouts=150)").choose(game, state, seed=9)
    table = decision.statistics
    assert table.moves.tolist() == list(results)
    np.testing.assert_array_equal(table.playouts, [len(scores) for scores in results.values()])
    np.testing.assert_allclose(table.means, [np.mean(scores) for scores in results.values()], atol=1e-12)
    np.testing.assert_allclose(table.deviations, [np.std(scores) for scores in results.values()], atol=1e-12)
    assert decision.value == max(table.means)


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["othello(size=4)", "go(size=5, komi=0.5)", "samegame(rows=5, columns=5, colours=3)"])
def test_flat_by_scores_equals_its_twin(spec):
    """The best mean score is played; its value is the mean result, but with one player the mean score."""
    game = games.make(spec)
    state = random_position(game, 8, 3 if game.players == 2 else 0)
    scores = flat(game, state, 60, stream(9), type(game).random_playout)
    values = scores if game.players == 1 else {move: np.sign(each) for move, each in scores.items()}
    decision = agents.make("flat(playouts=60, scores=true)").choose(game, state, seed=9)
    table, best = decision.statistics, max(scores, key=lambda move: np.mean(scores[move]))
    assert len(set(np.abs(np.concatenate(list(scores.values()))))) > 2
    assert table.moves.tolist() == list(scores) and decision.move == best
    np.testing.assert_allclose(table.means, [np.mean(each) for each in values.values()], atol=1e-12)
    np.testing.assert_allclose(table.deviations, [np.std(each) for each in values.values()], atol=1e-12)
    assert decision.value == pytest.approx(np.mean(values[best]))


@pytest.mark.plain
def test_flat_plays_for_the_larger_win_where_scores_count():
    """The first move always wins by 1, the second half the time by 100."""
    game = games.make("tree(nodes='[[1, 1], [100, -1]]')")
    choices = {
        more: agents.make(f"flat(playouts=40{more})").choose(game, game.initial(), seed=2)
        for more in ("", ", scores=true")
    }
    assert [game.move_name(game.initial(), one.move) for one in choices.values()] == ["1", "2"]
    assert choices[""].value == 1.0 > choices[", scores=true"].value > -1.0


@pytest.mark.plain
def test_flat_by_scores_counts_those_of_lanes():
    """Where a score is 1 or -1, its mean is that of the results."""
    game, found = games.make("matches(count=9)"), []
    for more in ("", ", scores=true"):
        found.append(agents.make(f"flat(playouts=500{more})").choose(game, game.initial(), seed=1))
    assert (found[0].move, found[0].value) == (found[1].move, found[1].value)


def test_flat_plays_a_puzzle_for_its_score_alone():
    with pytest.raises(agents.Unsuited, match=r"is played for its score: say flat.scores=true."):
        agents.make("flat(playouts=5)").player(games.make("samegame"))


@pytest.mark.parametrize("spec", ["breakthrough(rows=5, columns=4)"])
def test_flat_with_fewer_playouts_than_moves(spec):
    decision = agents.make("flat(playouts=2)").choose(games.make(spec), games.make(spec).initial(), seed=1)
    assert decision.statistics.playouts.tolist()[:3] == [1, 1, 0]
    assert decision.move in decision.statistics.moves[:2]


@pytest.mark.plain
@pytest.mark.parametrize("name", MONTE_CARLO)
def test_among_equal_moves_the_game_s_order_favours_none(name):
    """A move or two a playout on an empty board: most seeds would choose one of the first four, if ties went to it."""
    agent = agents.make(name)
    agent = replace(agent, playouts=16, **({"simulated": True} if hasattr(agent, "simulated") else {}))
    player, game = agent.player(games.make("hex(size=4)")), games.make("hex(size=4)")
    chosen = [player.choose(game.initial(), stream(seed)).move for seed in range(40)]
    assert sum(move < 4 for move in chosen) < 20


@pytest.mark.parametrize("agent", ["uct(playouts=3000)", "alphabeta(depth=5)", "flat(playouts=3000)"])
@pytest.mark.parametrize("spec", ["connect4"])
def test_searches_find_the_winning_move_and_the_only_defence(agent, spec):
    game, agent = games.make(spec), agents.make(agent)
    winning = game.read_line("1 7 2 7 3 6")[1]
    assert game.move_name(winning, agent.choose(game, winning, seed=2).move) == "4"
    threatened = game.read_line("1 1 2 1 3")[1]  # four or nothing
    assert game.move_name(threatened, agent.choose(game, threatened, seed=2).move) == "4"


@pytest.mark.parametrize("spec", ["connect4"])
def test_kept_tree_is_the_subtree_of_the_moves_played(spec):
    game = games.make(spec)
    player = agents.make("uct(playouts=2000, keep_tree=true)").player(game)
    state, rng = game.initial(), stream(4)
    first = player.choose(state, rng)
    tree = player.tree
    child = tree.first_child[ROOT] + int(np.argmax(tree.move[1 : 1 + tree.children[ROOT]] == first.move))
    visits = int(tree.visits[child])
    player.played(first.move)
    assert player.tree.visits[ROOT] == visits and player.tree.children[ROOT] == tree.children[child]
    state = game.after(state, first.move)
    reply = int(player.tree.move[1])
    below = int(player.tree.visits[1])
    player.played(reply)
    second = player.choose(game.after(state, reply), rng)
    assert second.playouts == 2000 and second.statistics.playouts.sum() == pytest.approx(2000 + below, abs=1)
    check_tree(player.tree)


def check_tree(tree):
    """Every expanded node has been visited as often as its children together, once more for the visit before."""
    for node in range(tree.size[0]):
        if tree.children[node] != LEAF:
            below = tree.visits[tree.first_child[node] : tree.first_child[node] + tree.children[node]].sum()
            assert tree.visits[node] - below in (0, 1)


@pytest.mark.parametrize("spec", ["connect4"])
def test_a_full_tree_goes_on_without_growing(spec):
    game = games.make(spec)
    player = agents.make("uct(playouts=5000, max_nodes=1000)").player(game)
    decision = player.choose(game.initial(), stream(1))
    assert decision.nodes <= 1000 and decision.statistics.playouts.sum() == 5000


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["tictactoe"])
def test_copy_subtree_keeps_every_node(spec, kernels):
    game = games.make(spec)
    tree, kept, simulations = new_tree(20_000), new_tree(20_000), 3000 if kernels == "compiled" else 600
    search_kernel(game, UCB1(), Search(tree, (), Numbers(0.4, 0.0)), game.initial(), simulations, stream(1))
    copy_subtree(game, tree, ROOT, kept)
    for name in ("visits", "value", "children"):
        assert getattr(kept, name)[: kept.size[0]].sum() == getattr(tree, name)[: tree.size[0]].sum()
    assert kept.size[0] == tree.size[0]


@pytest.mark.parametrize("spec", ["connect4", *(pytest.param(name, marks=SLOW) for name in ("tictactoe", GAMES[1]))])
@pytest.mark.parametrize("name", ["uct", *(pytest.param(name, marks=SLOW) for name in ("flat", "alphabeta"))])
def test_searches_end_within_their_seconds(name, spec):
    """The median overrun of nine searches, in the thread's own time, which other programs do not lengthen."""
    game = games.make(spec)
    player = agents.make(f"{name}(seconds=0.05)").player(game)
    overruns = []
    for seed in range(10):
        start, cpu = time.perf_counter(), time.thread_time()
        decision = player.choose(game.initial(), stream(seed))
        waited = (time.perf_counter() - start) - (time.thread_time() - cpu)
        overruns.append(decision.seconds - 0.05 - waited)
    assert np.median(overruns[1:]) < 0.010


@pytest.mark.parametrize(
    "spec, budget, message",
    [
        ("uct", {}, "uct needs a budget of playouts or seconds; for example uct.playouts=1000."),
        ("uct", {"depth": 4}, "uct needs a budget of playouts or seconds, not depth"),
        ("alphabeta", {"playouts": 4}, "alphabeta needs a budget of depth or nodes or seconds, not playouts"),
    ],
)
def test_budgets_that_do_not_fit(spec, budget, message):
    with pytest.raises(agents.Unsuited, match=message):
        agents.make(spec).player(games.make("tictactoe"), agents.Budget(**budget))


@pytest.mark.parametrize(
    "spec, message",
    [
        ("uct(playouts=0)", "playouts = 0 is out of range: a budget is more than 0"),
        ("uct(seconds=-1)", "seconds = -1.0 is out of range"),
        ("uct(exploration=-1)", "exploration = -1.0 is out of range"),
        ("uct(max_nodes=5)", "max_nodes = 5 is out of range"),
        ("uct(playouts=1.5)", "playouts = 1.5 should be int or none"),
        ("utc", "unknown agent 'utc' .did you mean 'uct'."),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=message):
        agents.make(spec)


def test_own_budget_comes_before_the_default():
    default = agents.Budget(playouts=7, seconds=1.0)
    assert agents.make("uct(playouts=5)").budget(default) == agents.Budget(playouts=5)
    assert agents.make("uct").budget(default) == default
    assert agents.make("alphabeta").budget(default) == agents.Budget(seconds=1.0)
    assert agents.make("random").budget(default) == agents.Budget()
    assert str(agents.make("uct(exploration=0.4, playouts=5)")) == "uct(playouts=5)"


@pytest.mark.parametrize("spec, least", [("tictactoe", 36), ("connect4", 39), ("breakthrough(rows=5, columns=4)", 39)])
def test_uct_beats_random(spec, least):
    """Points of 40 games; tic-tac-toe is never lost."""
    strong, weak, game, points = agents.make("uct(playouts=2000)"), agents.make("random"), games.make(spec), 0.0
    for seed in range(40):
        points += result_of(game, (strong, weak)[:: 1 if seed % 2 == 0 else -1], seed, seed % 2)
    assert points >= least


def result_of(game, sides, seed, strong_side):
    players, rng, state = [agent.player(game) for agent in sides], stream(seed), game.initial()
    while not game.is_over(state):
        move = players[int(game.player(state))].choose(state, rng).move
        state = game.after(state, move)
    score = game.score(state) * (1 if strong_side == 0 else -1)
    assert str(game) != "tictactoe" or score >= 0
    return (score + 1) / 2


def test_one_signature_for_each_game():
    """One dtype and layout reaches each kernel, whoever calls it: what is compiled is one version a game."""
    game = games.make("tictactoe")
    for spec in ("uct(playouts=9)", "uct(playouts=9, keep_tree=true)", "alphabeta(depth=2)", "minimax(nodes=90)"):
        player = agents.make(spec).player(game)
        player.played(player.choose(game.initial(), stream(1)).move)
    for kernel, deciding in ((search_kernel, 2), (depth_first_kernel, 2)):  # game, and selection rule or guide
        compiled = [signature[:deciding] for signature in kernel.signatures]
        assert compiled and len(compiled) == len(set(compiled))


def test_what_an_agent_lacks_is_named():
    class Bare(Agent):
        pass

    class BarePlayer(Player):
        pass

    game = games.make("tictactoe")
    with pytest.raises(NotImplementedError, match=r"Bare does not define new_player\(self, game, budget\)"):
        Bare().new_player(game, Budget())
    with pytest.raises(NotImplementedError, match=r"Bare does not define new_solver\(self, game, budget\)"):
        Bare().new_solver(game, Budget())
    with pytest.raises(NotImplementedError, match=r"BarePlayer does not define decide\(self, state, rng\)"):
        BarePlayer().decide(game.initial(), stream(1))
