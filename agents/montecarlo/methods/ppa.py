"""PPA, playout policy adaptation: playouts follow a policy that adapts to the moves that win (T. Cazenave, "Playout
policy adaptation for games", ACG 2015).

The policy has a weight for each move code; playouts draw moves by the softmax of the weights.  After each simulation
that is won the winner's moves, in the tree and in the playout, are made likelier by `alpha`, at the cost of their legal
alternatives (formula: agents/core/policy.py).  Each move of the game starts from a new policy.

`features` uses the game's feature codes: PPAF, whose best alpha was 0.32 (T. Cazenave, "Playout policy adaptation with
move features", Theoretical Computer Science 644, 2016).  `memory` keeps the policy from move to move: PPAFM, together
with features (T. Cazenave & E. Diemert, "Memorizing the playout policy", CGW 2017).

With `rule="simple"` a new move of the winner gets the weight 1, then 2 more at a time below 10, 4 more below 100, and 1
more from there on; other moves lose nothing.  The softmax of such large weights is nearly deterministic, so the rule
needs a temperature well above 1.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.policy import (
    Coding,
    Learner,
    Settings,
    check_positive,
    coding_for,
    draw_move,
    forget,
    gather_steps,
    has_room,
    new_learner,
    play_line,
    take_steps,
    with_room,
    write_move,
)
from arena.agents.montecarlo.method import NONE, Method
from arena.games.core.game import check_choice
from arena.games.core.jit import inlined
from arena.games.core.numbers.elementary import exp
from arena.games.core.play.playout import copy_state
from arena.games.core.shared.registry import UNLISTED

PLAYOUT, IN_TREE = 0, 1  # lines of a simulation
LINES = 2
MOST_CODES = 1 << 22  # if codes are their own numbers; each takes 24 bytes


class Adapted(NamedTuple):
    """A policy, and the lines of the current simulation."""

    learner: Learner
    drawn: np.ndarray  # int64[1], the policy's last draw, which is in the line, or NONE


@dataclass(frozen=True)
class PolicyParameters:
    """temperature: of the softmax by which playouts draw moves
    features: policies use the game's feature codes instead of its move codes
    memory: keep the policy from move to move
    """

    temperature: float = 1.0
    features: bool = False
    memory: bool = False


@dataclass(frozen=True)
class Following(PolicyParameters, Method):
    """Base of the methods whose playouts follow a policy, which learns by `teach`.

    direct: whether codes are their own numbers in any game, or only if there are few
    """

    direct: bool = field(default=False, kw_only=True, metadata=UNLISTED)

    part: ClassVar[str] = "playout"
    alone: ClassVar[tuple[str, ...]] = ("draw the moves of playouts",)
    steps: ClassVar[bool] = True
    private: ClassVar[tuple[str, ...]] = (
        "drawn",
        "learner.lines",
        "learner.state",
        "learner.moves",
        "learner.policy.steps",
    )
    lockless: ClassVar[bool] = True  # a shared policy may lose steps: each weight is one word
    policy: ClassVar[tuple[str, ...]] = ("learner.policy",)
    data_fields: ClassVar[tuple[str, ...]] = ("temperature", "memory")
    policies: ClassVar[int] = 1  # rows of the arrays

    def __post_init__(self):
        super().__post_init__()
        check_positive("temperature", self.temperature)

    @property
    def coding(self) -> Coding:
        return Coding(self.features, self.direct)

    def compiled(self, game):
        coding = coding_for(game, self.features)
        return replace(super().compiled(game), direct=self.direct or coding.direct)

    def settings(self) -> Settings:
        return Settings(0.0, self.temperature)

    def misfit(self, game):
        if self.direct and game.code_limit > MOST_CODES:
            return f"a policy has room for {MOST_CODES} move codes, and the code_limit of the game is {game.code_limit}"
        return None

    def new_memory(self, game, nodes):
        coding = self.compiled(game).coding
        learner = new_learner(game, coding, self.settings(), policies=self.policies, lines=LINES)
        return Adapted(learner, np.full(1, NONE))

    def forget(self, memory):
        if not self.memory:
            forget(memory.learner)

    def grows(self, game):
        return not self.compiled(game).direct

    def with_room(self, game, memory):
        return memory._replace(learner=with_room(game, self.compiled(game).coding, memory.learner, LINES))

    def has_room(self, game, search):
        return has_room(game, self.coding, search.memory.learner, LINES)

    def arrive(self, game, search, walk):
        search.memory.learner.lines.length[PLAYOUT] = 0

    def plays(self, game, search, walk, rng):
        return play_line(game, self.coding, search.memory.learner, 0, PLAYOUT, walk.state, rng)

    def draws(self, game, search, walk, rng):
        learner = search.memory.learner
        ply = learner.lines.length[PLAYOUT]
        move = draw_move(game, self.coding, learner, 0, PLAYOUT, ply, walk.state, rng)
        search.memory.drawn[0] = move
        return move

    def made(self, game, search, walk, move):
        learner, drawn = search.memory
        lines, ply = learner.lines, learner.lines.length[PLAYOUT]
        if drawn[0] == move:
            lines.players[PLAYOUT, ply], lines.moves[PLAYOUT, ply] = game.player(walk.state), move
        else:
            write_move(game, self.coding, learner, PLAYOUT, ply, walk.state, move)
        drawn[0] = NONE
        lines.length[PLAYOUT] = ply + 1

    def learn(self, game, search, walk, result):
        learner = search.memory.learner
        follow_path(game, self.coding, learner, IN_TREE, search.tree, walk)
        self.teach(learner, result)

    def teach(self, learner, result):
        """Learn from the playout's line and the path's."""
        raise NotImplementedError


@inlined
def follow_path(game, coding, learner, line, tree, walk):
    """Write the moves in the tree, and their legal alternatives, into a line."""
    plies = walk.length[0] - 1
    copy_state(game, walk.root, learner.state)
    for ply in range(plies):
        move = tree.move[walk.path[ply + 1]]
        write_move(game, coding, learner, line, ply, learner.state, move)
        game.play(learner.state, move)
    learner.lines.length[line] = plies


@dataclass(frozen=True)
class PPAParameters(PolicyParameters):
    """alpha: the step of adaptation; rule: "softmax", or "simple" for the rule that adds 1, 2, 4 or 1"""

    alpha: float = 1.0
    rule: str = "softmax"


@dataclass(frozen=True)
class PPA(PPAParameters, Following):
    """Playouts are adapted to the winner's moves."""

    name: ClassVar[str] = "ppa"
    data_fields: ClassVar[tuple[str, ...]] = ("alpha", "temperature", "memory")

    def __post_init__(self):
        super().__post_init__()
        check_positive("alpha", self.alpha)
        check_choice("rule", self.rule, ("softmax", "simple"))

    def settings(self):
        return Settings(self.alpha, self.temperature)

    def function(self, name):
        return super().function(f"teach_{self.rule}" if name == "teach" else name)

    def teach(self, learner, result):
        return self.function("teach")(self, learner, result)

    def teach_softmax(self, learner, result):
        if result != 0.0:
            winner = 0 if result > 0.0 else 1
            for line in range(LINES):
                gather_steps(self.coding, learner, 0, line, winner)
            take_steps(learner, 0)

    def teach_simple(self, learner, result):
        if result != 0.0:
            winner, lines, policy = 0 if result > 0.0 else 1, learner.lines, learner.policy
            for line in range(LINES):
                for ply in range(lines.length[line]):
                    if lines.players[line, ply] == winner:
                        number = lines.numbers[line, lines.chosen[line, ply]]
                        weight = policy.weights[0, number]
                        weight += 1.0 if weight == 0.0 or weight >= 100.0 else (2.0 if weight < 10.0 else 4.0)
                        policy.weights[0, number] = weight
                        policy.odds[0, number] = exp(weight / learner.settings.temperature)
