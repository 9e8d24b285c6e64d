"""Our agents as bots of OpenSpiel: whole games by its own evaluation, and the moves that the agent makes here."""

import pytest

import arena
from arena import agents, games

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install open_spiel")

import pyspiel

from arena.games.core.random import stream
from arena.interop.counterparts import NoCounterpart, counterpart_of

SPECS = ["connect4", "tictactoe", "breakthrough(rows=6, columns=6)", "nim(heaps=(1, 3, 5, 7))", "othello", "kalah"]


@pytest.mark.parametrize("spec", SPECS)
def test_bots_play_whole_games(spec):
    game = games.make(spec)
    state = pyspiel.load_game(counterpart_of(game).name).new_initial_state()
    bots = [arena.to_openspiel_bot("flat(playouts=20)", game, seed=1), pyspiel.make_uniform_random_bot(1, 5)]
    results = pyspiel.evaluate_bots(state, bots, 3)
    assert state.is_terminal() and sum(results) == 0


def test_a_move_of_several_actions_is_thought_about_once():
    """An amazon moves by three actions there."""
    game = games.make("amazons(rows=10, columns=10)")
    state = pyspiel.load_game(counterpart_of(game).name).new_initial_state()
    bot = arena.to_openspiel_bot("random", game)
    for ply in range(6):
        state.apply_action(bot.step(state))
        assert (len(bot.known), len(bot.left)) == (ply // 3, 2 - ply % 3)
    assert len(arena.from_openspiel(game, state)[0]) == 2


def test_it_decides_as_the_agent_does_here():
    """With the tree of the moves before; another line of moves begins anew."""
    game, agent = games.make("connect4"), agents.make("uct(playouts=100)")
    bot, player, state = arena.to_openspiel_bot(agent, game, seed=7), agent.player(game), game.initial()
    player.start(game, state.copy(), [])
    theirs, moves = pyspiel.load_game("connect_four").new_initial_state(), []
    for _ in range(6):
        move = player.choose(state.copy(), stream(7, len(moves))).move
        assert bot.step(theirs) == move
        player.played(move)
        moves.append(move)
        state = game.after(state, move)
        theirs.apply_action(move)
    other = arena.to_openspiel(game, [3])
    assert bot.step(other) in other.legal_actions() and bot.known == [3]
    bot.restart_at(other)
    assert bot.player is None


def test_misfits_are_told_at_once():
    with pytest.raises(NoCounterpart):
        arena.to_openspiel_bot("random", "samegame")
    with pytest.raises(agents.Unsuited, match="needs a budget"):
        arena.to_openspiel_bot("uct", "connect4")
    bot = arena.to_openspiel_bot("random", "connect4")
    with pytest.raises(NoCounterpart, match="is none of connect4"):
        bot.step(pyspiel.load_game("tic_tac_toe").new_initial_state())
