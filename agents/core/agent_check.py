"""Properties that must hold for every agent, tested on a game.

    agents.check(agents.make("myagent(playouts=100)"), games.make("connect4"), seed=1)

The agent needs a budget of its own, small enough for about twenty decisions.
"""

import math
from contextlib import ExitStack
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from arena.agents.core.agent import Agent, Budget, Decision, Player, Unsuited, closing, registry
from arena.agents.core.effort import Effort
from arena.games.core.checks.conformance import ConformanceError
from arena.games.core.game import CHANCE, Game
from arena.games.core.random import random_below, stream
from arena.games.core.shared.overdue import Overdue, limited
from arena.games.core.shared.registry import SpecError

DECISIONS = 8  # in one game
OPENING = 3  # random moves before the players of the last game begin
COUNTS = tuple(field.name for field in fields(Effort))
REPEATED = ("move", "value", *(name for name in COUNTS if name != "seconds"))  # by the seed alone
MOST = 1 << 63  # stored numbers are below it
LATE = 1.0  # seconds beyond the budget
FROM_RNG = "random numbers must come from rng, and nothing may be kept from an earlier game"


def check(agent: Agent, game: Game, *, seed: int) -> None:
    """Run every check; ConformanceError describes a failure, Unsuited an agent that does not play the game."""
    if reason := agent.refuses(game):
        raise Unsuited(reason)
    check_spec(agent)
    budget = agent.budget()
    try:
        with limited(agent, game):
            # the first game loads the kernels, so its decisions may be late
            first, second = (decisions(AgentCase(agent, game, budget, timed), seed) for timed in (False, True))
            decisions(AgentCase(agent, game, budget, True), seed, OPENING)
    except Overdue as error:
        raise ConformanceError(f"{agent} on {game}: {error}") from error
    if "seconds" not in budget.given() and agent.cores == 1:  # threads meet in any order
        for one, other in zip(first, second):
            same = all(getattr(one, name) == getattr(other, name) for name in REPEATED)
            require(same, agent, game, f"with the same seed it decides {one}, and then {other}: {FROM_RNG}")


class AgentCase(NamedTuple):
    """An agent with its budget on a game."""

    agent: Agent
    game: Game
    budget: Budget
    timed: bool  # whether it must keep to its seconds

    def wrong(self, condition, state, message) -> None:
        """ConformanceError with the position, unless the condition holds."""
        require(condition, self.agent, self.game, f"{message}\nstate {state!r}\n{self.game.render(state)}")


def require(condition, agent, game, message) -> None:
    """ConformanceError unless the condition holds."""
    if not condition:
        raise ConformanceError(f"{agent} on {game}: {message}")


def check_spec(agent: Agent) -> None:
    """The agent is registered, its text makes an equal one, and its budgets exist."""
    try:
        made = registry.make(str(agent))
    except SpecError as error:
        raise ConformanceError(f"{agent} cannot be made from its own text: {error}") from None
    if made != agent or hash(made) != hash(agent):
        raise ConformanceError(f"{agent!r} is not equal to what its text makes, {made!r}")
    if unknown := set(agent.budgets) - {field.name for field in fields(Budget)}:
        raise ConformanceError(f"{agent}: there is no budget of {', '.join(sorted(unknown))}")


def decisions(case: AgentCase, seed: int, opening: int = 0) -> list[Decision]:
    """The players' decisions in one game, whose other moves are random, as are the first `opening` ones."""
    game, line = case.game, random_line(case.game, seed)
    made = line[: min(opening, len(line) - 1)]
    state, found, every = game.initial(), list[Decision](), max(1, len(line) // DECISIONS)
    for move in made:
        game.play(state, move)
    chance, rngs = stream(seed, "chance"), [stream(seed, side) for side in range(game.players)]
    with ExitStack() as table:
        players = [table.enter_context(closing(case.agent.new_player(game, case.budget))) for _ in rngs]
        for player in players:
            player.start(game, state.copy(), list(made))
        while moves := game.moves(state):
            side, move = int(game.player(state)), moves[int(random_below(chance, len(moves)))]
            if side != CHANCE and (len(made) % every == 0 or not found):
                found.append(decided(case, players[side], state, rngs[side]))
                move = int(found[-1].move)
            state = game.after(state, move)
            made.append(move)
            for player in players:
                player.played(move)
    require(found or opening, case.agent, game, "no decision was asked for")
    return found


def random_line(game: Game, seed: int) -> list[int]:
    """The moves of a random game."""
    state, rng, made = game.initial(), stream(seed, "chance"), list[int]()
    while moves := game.moves(state):
        made.append(moves[int(random_below(rng, len(moves)))])
        game.play(state, made[-1])
    return made


def decided(case: AgentCase, player: Player, state: np.ndarray, rng: np.ndarray) -> Decision:
    """A decision that has passed the checks."""
    shown = state.copy()
    decision = player.choose(shown, rng)
    game, move = case.game, decision.move
    case.wrong(np.array_equal(shown, state), state, "it changes the state that it is given")
    whole = isinstance(move, int | np.integer) and not isinstance(move, bool)
    case.wrong(whole and move in game.moves(state), state, f"it answers {move!r}, which is no legal move")
    for name in ("value", *COUNTS):
        number = getattr(decision, name)
        sound = number is None or (math.isfinite(number) and abs(number) < MOST and (name == "value" or number >= 0))
        case.wrong(sound, state, f"{name} = {number!r}")
    value = decision.value
    case.wrong(value is None or game.players == 1 or -1 <= value <= 1, state, f"value = {value!r}, not -1 to 1")
    limit = case.budget.seconds
    late = case.timed and limit is not None and decision.seconds > limit + LATE
    case.wrong(not late, state, f"it took {decision.seconds:.2f} s of {limit} s")
    check_line(case, decision, state)
    return decision


def check_line(case: AgentCase, decision: Decision, state: np.ndarray) -> None:
    """The principal variation begins with the move, and it and the statistics are legal."""
    game, line, legal = case.game, [int(move) for move in decision.principal_variation], case.game.moves(state)
    case.wrong(line[:1] in ([], [int(decision.move)]), state, f"its line {line} does not begin with its move")
    ahead = state.copy()
    for move in line if not game.has_chance else ():
        case.wrong(move in game.moves(ahead), state, f"its line {line} is not legal at {move}")
        game.play(ahead, move)
    if (table := decision.statistics) is not None:
        case.wrong(set(table.moves.tolist()) <= set(legal), state, f"its statistics are of the moves {table.moves}")
        same = len(table.moves) == len(table.playouts) == len(table.means)
        case.wrong(same, state, "its statistics have two lengths")
