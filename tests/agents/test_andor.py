"""AND-OR graph search: the textbook's plan, none where there is none, and won games."""

import numpy as np
import pytest

from arena import games
from arena.agents.minimax import andor
from arena.agents.minimax.trace import TooLarge
from arena.games.core.interface.problem import Problem
from arena.games.problems.vacuum import LEFT, RIGHT, VacuumWorld, World
from tests.agents.positions import random_position
from tests.games.exact import exact_value


def reaches_goal(problem, state, plan):
    """Whether every course of a plan ends at the goal."""
    if plan.action is None:
        return problem.is_goal(state)
    outcomes = set(problem.outcomes(state, plan.action))
    assert outcomes == set(plan.after) and plan.action in problem.actions(state)
    return all(reaches_goal(problem, outcome, plan.after[outcome]) for outcome in outcomes)


def test_the_plan_of_the_erratic_vacuum():
    """[suck, if both are clean nothing, else right, suck] of the textbook."""
    plan = andor.search(VacuumWorld())
    done, right = plan.after[World(LEFT, (False, False))], plan.after[World(LEFT, (False, True))]
    assert plan.action == "suck" and done.action is None and right.action == "right"
    (sucked,) = right.after.values()
    assert sucked.action == "suck" and list(sucked.after) == [World(RIGHT, (False, False))] and plan.depth() == 3
    assert reaches_goal(VacuumWorld(), VacuumWorld().initial(), plan)
    assert str(plan).splitlines() == ["suck", "  if [machine] [*]:", "    right", "    suck", "  if [machine] []: done"]


def test_a_problem_that_needs_loops_has_no_plan():
    assert andor.search(VacuumWorld(slippery=True)) is None


class Ladder(Problem):
    """Climb to rung 3; a jump may fall to 0, a step moves by one up; `down` leads back, to states on the path."""

    def initial(self):
        return 1

    def is_goal(self, state):
        return state == 3

    def actions(self, state):
        return ("down", "jump", "step") if state else ()

    def outcomes(self, state, action):
        return {"down": [state - 1], "jump": [state + 2, 0], "step": [state + 1]}[action]


def test_dead_ends_and_states_on_the_path_are_failures():
    plan = andor.search(Ladder())
    assert reaches_goal(Ladder(), 1, plan) and plan.action == "step" and plan.depth() == 2


class Trap(Problem):
    """Two ways lead from 0 to 1, where one only goes round in a circle."""

    def initial(self):
        return 0

    def is_goal(self, state):
        return False

    def actions(self, state):
        return ("round",) if state else ("one", "other")

    def outcomes(self, state, action):
        return [1]


def test_a_failure_that_rests_on_the_state_itself_is_known_from_then_on():
    search = andor.Search(Trap(), limit=7)
    plan, root = search.run()
    assert plan is None and search.visits == 7
    assert [way.children[0].end for way in root.children] == [andor.End.FAILURE, andor.End.KNOWN_FAILURE]
    with pytest.raises(TooLarge, match="no plan after 6 nodes"):
        andor.Search(Trap(), limit=6).run()


class FirstPlayer(Problem):
    """The problem of winning a game for two as the first player: the other may answer with any move.

    A state is a position in which the first player is to move, or the game is over, as bytes.
    """

    def __init__(self, game, state):
        self.game, self.start = game, state

    def initial(self):
        return self.start.tobytes()

    def is_goal(self, state):
        return self.game.is_over(self.array(state)) and self.game.score(self.array(state)) > 0

    def actions(self, state):
        return self.game.moves(self.array(state))

    def outcomes(self, state, action):
        return list(dict.fromkeys(self.answers(self.game.after(self.array(state), action))))

    def answers(self, state):
        """The positions at which the first player is to move again, or the game is over."""
        if self.game.is_over(state) or self.game.player(state) == 0:
            return [state.tobytes()]
        return [end for move in self.game.moves(state) for end in self.answers(self.game.after(state, move))]

    def array(self, state):
        return np.frombuffer(state, self.game.dtype).copy()


@pytest.mark.parametrize("spec", ["tictactoe", "breakthrough(rows=4, columns=2)", "nim(heaps=[1, 2, 3])"])
def test_a_plan_is_found_where_the_first_player_wins(spec):
    game, won, known = games.make(spec), 0, {}
    for seed in range(20):
        state = random_position(game, seed, 4)
        if game.player(state) == 1:
            continue
        problem = FirstPlayer(game, state)
        plan = andor.search(problem)
        assert (plan is not None) == (exact_value(game, state, known) > 0)
        won += plan is not None and reaches_goal(problem, problem.initial(), plan)
    assert won > 3 or "nim" in spec
