"""OpenSpiel's games and searches among ours: `pip install open_spiel`, or the extra `interop`."""

import numpy as np
import pytest

import arena
from arena import agents, games
from arena.agents.core.agent import registry as agent_registry
from arena.games.core.game import CHANCE, IllegalMove
from arena.games.core.game import registry as game_registry
from arena.games.core.random import stream

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install open_spiel")

from arena.interop.counterparts import NoCounterpart  # noqa: E402

PLUGIN = "arena.interop.openspiel"


@pytest.fixture(autouse=True)
def plugin():
    """What it registers is forgotten after a test."""
    import arena.interop.openspiel as module

    game_registry.classes(), agent_registry.classes()
    game_registry.add(module.OpenSpielGame)
    for cls in (module.OpenSpielMCTS, module.OpenSpielAlphaBeta):
        agent_registry.add(cls)
    yield module
    del game_registry._classes["openspiel"]
    del agent_registry._classes["openspiel_mcts"], agent_registry._classes["openspiel_alphabeta"]


# -- Their games ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["tic_tac_toe", "connect_four(rows=4,columns=5)", "pig(winscore=12,horizon=20)", "y(board_size=4)"]
)
def test_their_games_keep_our_promises(name):
    games.check(games.make(f"openspiel(game={name!r})"), seed=1)


def test_their_game_is_ours_move_by_move():
    """Tic-tac-toe here and there: as many lines of each length, of which as many are over."""
    counts = []
    for spec in ("tictactoe", "openspiel"):
        game, level, found = games.make(spec), [games.make(spec).initial()], []
        for _ in range(5):
            level = [game.after(state, move) for state in level for move in game.moves(state)]
            found.append((len(level), sum(bool(game.is_over(state)) for state in level)))
        counts.append(found)
    assert counts[0] == counts[1] == [(9, 0), (72, 0), (504, 0), (3024, 0), (15120, 1440)]


def test_who_moves_first_is_our_first_player():
    game = games.make("openspiel(game='chess')")
    assert game.player(game.initial()) == 0 and game.has_chance is False
    _, state = game.read_line("f3 e5 g4 Qh4#")
    assert game.is_over(state) and game.score(state) == -1.0


def test_chance_and_one_player():
    game = games.make("openspiel(game='pig')")
    rolled = game.after(game.initial(), 0)
    assert game.player(rolled) == CHANCE and game.has_chance
    assert {game.random_outcome(rolled, rng) for rng in [stream(2)] for _ in range(60)} == set(range(6))
    alone = games.make("openspiel(game='morpion_solitaire')")
    assert alone.players == 1 and "plays games for two players" in agents.make("uct(playouts=5)").refuses(alone)


@pytest.mark.parametrize("name, message", [
    ("no_such", r"game = 'no_such': OpenSpiel has no game of that name; it has .*tic_tac_toe"),
    ("matrix_mp", "is not played in turns"), ("kuhn_poker", "hides something"), ("tic_tac_toe(x=1)", "tic_tac_toe"),
    ("chinese_checkers(players=3)", "is for 3 players"), ("tic_tac_toe(", "bracket"),
])  # fmt: skip
def test_games_that_cannot_be_ours_are_told(name, message):
    with pytest.raises(games.SpecError, match=message):
        games.make(f"openspiel(game={name!r})")


def test_agents_with_kernels_refuse():
    game, kept = games.make("openspiel"), ("external", "openspiel_alphabeta", "openspiel_mcts", "random")
    willing = [name for name in agents.names() if not agents.make(name).needs.unmet(game)]
    assert sorted(set(willing) & {*kept, "uct", "alphabeta", "flat", "dfpn", "ubfm"}) == sorted(kept)
    with pytest.raises(
        agents.Unsuited, match=r"uct plays games whose rules kernels can call, and openspiel.* has rules"
    ):
        agents.make("uct(playouts=5)").player(game)


def test_a_tournament_of_theirs(tmp_path):
    config = {
        "game": "openspiel(game='y(board_size=3)')",
        "games": 4,
        "opening_plies": 1,
        "plugins": [PLUGIN],
        "agents": [{"agent": "random"}, {"agent": "openspiel_mcts(playouts=50)"}],
    }
    played = arena.run(config, tmp_path / "run", workers=1)
    assert set(played.games["reason"]) == {"played out"}
    assert played.standings()["agent"][0] == "openspiel_mcts(playouts=50)"
    assert set(played.moves()["playouts"].dropna()) <= set(range(1, 51))  # fewer where it has proven a win


# -- Positions ------------------------------------------------------------------------------------------------------


def test_positions_there_and_back():
    game = games.make("connect4")
    moves, state = game.read_line("4 4 3")
    theirs = arena.to_openspiel(game, moves)
    assert theirs.history() == [3, 3, 2] and theirs.current_player() == 1
    theirs = pyspiel.load_game("connect_four").deserialize_state(theirs.serialize())  # of the same parameters, unsaid
    again, reached = arena.from_openspiel(game, theirs)
    assert again == moves and np.array_equal(reached, state)
    with pytest.raises(IllegalMove):
        arena.to_openspiel(game, [3] * 7)
    with pytest.raises(NoCounterpart, match=r"a state of tic_tac_toe\(\) is none of connect4.*, which is connect_four"):
        arena.from_openspiel(game, pyspiel.load_game("tic_tac_toe").new_initial_state())


def test_half_a_move_is_no_position():
    game = games.make("amazons(size=6)")
    theirs = arena.to_openspiel(game, game.moves(game.initial())[:1])
    assert len(theirs.history()) == 3
    theirs.apply_action(theirs.legal_actions()[0])
    with pytest.raises(NoCounterpart, match="in the middle of a move, which begins with the actions"):
        arena.from_openspiel(game, theirs)


# -- Their searches -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent, spec", [
    ("openspiel_mcts(playouts=20)", "tictactoe"), ("openspiel_mcts(playouts=20)", "pig(target=10, horizon=20)"),
    ("openspiel_mcts(seconds=0.01, rollouts=2)", "hex(size=4, swap=true)"),
    ("openspiel_mcts(playouts=5)", "amazons(size=6)"), ("openspiel_mcts(playouts=20)", "openspiel(game='oware')"),
    ("openspiel_alphabeta(depth=2)", "breakthrough(rows=6, columns=4)"),
])  # fmt: skip
def test_their_searches_keep_our_promises(agent, spec, monkeypatch):
    monkeypatch.setattr("arena.agents.core.agent_check.LATE", 60.0)
    agents.check(agents.make(agent), games.make(spec), seed=1)


@pytest.mark.parametrize("agent", ["openspiel_mcts(playouts=3000)", "openspiel_alphabeta(depth=3)"])
def test_they_find_the_winning_move_and_the_only_defence(agent):
    game, agent = games.make("connect4"), agents.make(agent)
    moves, winning = game.read_line("1 7 2 7 3 6")
    decision = agent.choose(game, winning, seed=2, moves=moves)
    assert game.move_name(winning, decision.move) == "4" and decision.value == 1.0
    moves, threatened = game.read_line("1 1 2 1 3")  # four or nothing
    assert game.move_name(threatened, agent.choose(game, threatened, seed=2, moves=moves).move) == "4"


def test_alphabeta_solves_as_ours_does():
    game = games.make("tictactoe")
    for line in ("2b 1a 1b", "1a 1b 2b", "1a 2b 3c", "1a 2c 1b"):
        moves, state = game.read_line(line)
        values = [
            agents.make(spec).choose(game, state, seed=1, moves=moves).value
            for spec in ("openspiel_alphabeta(depth=9)", "minimax(depth=9)")
        ]
        assert values[0] == values[1]


def test_mcts_counts_and_repeats_itself():
    game, agent = games.make("pig(target=10, horizon=20)"), agents.make("openspiel_mcts(playouts=200, solve=false)")
    first, second = (agent.choose(game, game.initial(), seed=3) for _ in range(2))
    assert (first.move, first.value, first.playouts) == (second.move, second.value, second.playouts)
    table = first.statistics
    assert first.playouts == 200 and 198 <= table.playouts.sum() <= 200 and table.moves.tolist() == [0, 7]
    assert first.value == table.means[table.playouts.argmax()] != agent.choose(game, game.initial(), seed=4).value


def test_one_playout_is_two():
    game = games.make("tictactoe")
    decision = agents.make("openspiel_mcts(playouts=1)").choose(game, game.initial(), seed=1)
    assert decision.playouts == 2 and decision.move in game.moves(game.initial())


@pytest.mark.parametrize("agent, spec, message", [
    ("openspiel_mcts(playouts=5)", "domineering", "OpenSpiel has no domineering"),
    ("openspiel_mcts(playouts=5)", "go(size=5)", "the same rules there: their game ends where a position is repeated"),
    ("openspiel_mcts(playouts=5)", "leftmove", "for two players"),
    ("openspiel_alphabeta(depth=3)", "pig", "without chance"),
    ("openspiel_alphabeta", "tictactoe", "needs a budget of depth"),
])  # fmt: skip
def test_what_they_refuse(agent, spec, message):
    with pytest.raises(agents.Unsuited, match=message):
        agents.make(agent).player(games.make(spec))


def test_they_are_not_asked_on_a_wrong_board():
    game = games.make("tictactoe")
    with pytest.raises(ValueError, match="it does not know how the game came to this position"):
        agents.make("openspiel_mcts(playouts=5)").choose(game, game.read_line("2b")[1], seed=1)
