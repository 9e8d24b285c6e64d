"""Lines of moves, played by compiled rules: a thousand lines take a few milliseconds."""

from arena.games.core.jit import kernel


@kernel
def play_line_kernel(game, state, line, moves):
    """Play a line, int32[n], in place; returns how many moves were legal, up to the first that is not.

    moves: int32[max_moves], scratch space
    """
    for i in range(len(line)):
        legal = False
        if not game.is_over(state):
            for k in range(game.legal_moves(state, moves)):
                legal |= moves[k] == line[i]
        if not legal:
            return i
        game.play(state, line[i])
    return len(line)
