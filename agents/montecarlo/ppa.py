"""PPA, playout policy adaptation: UCT whose playouts follow a policy that is adapted to what has won (T. Cazenave,
"Playout policy adaptation for games", ACG 2015).

The policy has a weight for each move code; playouts draw moves by the softmax of the weights.  After each simulation
the moves of the winner, in the tree and in the playout, are made likelier, at the cost of the other moves that were
legal beside them, by `alpha` (agents/core/policy.py has the formula).  After a draw nothing is learnt.  Each move of
the game starts from a new policy.

`features` tells moves with different features apart, by the game's feature codes: PPAF, for which alpha = 0.32 was
found best (T. Cazenave, "Playout policy adaptation with move features", Theoretical Computer Science 644, 2016).
`memory` keeps the policy from move to move: PPAFM, together with features (T. Cazenave & E. Diemert, "Memorizing the
playout policy", CGW 2017).

`rule="simple"` learns in another way: a winner's move that is new gets the weight 1, then 2 more at a time below 10, 4
more below 100, and 1 more from there on; nothing is taken from the other moves.  Weights of that size leave the softmax
hardly any choice, so it needs a temperature well above 1.
"""

from dataclasses import dataclass
from math import exp
from typing import ClassVar

from agents.core.policy import (
    Coding,
    Learner,
    Settings,
    check_positive,
    coding_for,
    forget,
    gather_steps,
    has_room,
    new_learner,
    play_line,
    take_steps,
    with_room,
)
from agents.montecarlo.adapted import follow_path
from agents.montecarlo.search import TreeSearch
from agents.montecarlo.uct import UCB1, UCBOptions, check_exploration
from games.core.game import check_choice

PLAYOUT, IN_TREE = 0, 1  # lines of a simulation
LINES = 2


@dataclass(frozen=True)
class PolicyRule(UCB1):
    """UCT whose playouts follow the policy in memory, a Learner; `learn_from` of a derived rule says how it learns.

    The rule is the policy's coding too: see Coding.
    """

    features: bool = False
    direct: bool = True

    biased: ClassVar[bool] = False
    codes = Coding.codes

    def play_out(self, game, search, walk, rng):
        search.memory.lines.length[PLAYOUT] = 0
        return play_line(game, self, search.memory, 0, PLAYOUT, walk.state, rng)

    def learn(self, game, search, walk, score):
        follow_path(game, self, search.memory, IN_TREE, search.tree, walk)
        self.learn_from(game, search.memory, score)
        search.memory.lines.length[PLAYOUT] = 0  # a simulation that ends in a proven node has none

    def learn_from(self, game, learner, score):
        """Learn from the two lines of a simulation, the one in the tree and the playout."""
        raise NotImplementedError

    def has_room(self, game, memory):
        return has_room(game, self, memory, LINES)


@dataclass(frozen=True)
class Softmax(PolicyRule):
    """Adapts to the winner's moves by the gradient of their probability."""

    def learn_from(self, game, learner, score):
        if score != 0.0:
            winner = 0 if score > 0.0 else 1
            for line in range(LINES):
                gather_steps(self, learner, 0, line, winner)
            take_steps(learner, 0)


@dataclass(frozen=True)
class Simple(PolicyRule):
    """Adds 1, 2, 4 or 1 to the weights of the winner's moves, by how large they are."""

    def learn_from(self, game, learner, score):
        if score != 0.0:
            winner, lines, policy = 0 if score > 0.0 else 1, learner.lines, learner.policy
            for line in range(LINES):
                for ply in range(lines.length[line]):
                    if lines.players[line, ply] == winner:
                        number = lines.numbers[line, lines.chosen[line, ply]]
                        weight = policy.weights[0, number]
                        weight += 1.0 if weight == 0.0 or weight >= 100.0 else (2.0 if weight < 10.0 else 4.0)
                        policy.weights[0, number] = weight
                        policy.odds[0, number] = exp(weight / learner.settings.temperature)


RULES: dict[str, type[PolicyRule]] = {"softmax": Softmax, "simple": Simple}


@dataclass(frozen=True)
class PolicySearch(TreeSearch):
    """Base of the searches whose playouts follow a policy.

    exploration: the constant K of UCB1; temperature: of the softmax
    features: policies go by the game's feature codes instead of its move codes
    memory: keep the policy from move to move
    """

    exploration: float = 0.4
    temperature: float = 1.0
    features: bool = False
    memory: bool = False

    private: ClassVar[tuple[str, ...]] = ("lines", "state", "moves")
    policy: ClassVar[tuple[str, ...]] = ("policy",)
    policies: ClassVar[int] = 1  # rows of the arrays that its rule needs

    def __post_init__(self):
        super().__post_init__()
        check_positive("temperature", self.temperature)
        check_exploration(self.exploration)

    def options(self):
        return UCBOptions(self.exploration, 0.0)

    def policy_rule(self) -> type[PolicyRule]:
        """The class of its rule."""
        raise NotImplementedError

    def search_rule(self, game):
        coding = coding_for(game, self.features)
        return self.policy_rule()(self.solver, features=coding.features, direct=coding.direct)

    def settings(self) -> Settings:
        """What its policy reads."""
        return Settings(0.0, self.temperature)

    def new_memory(self, game, nodes) -> Learner:
        coding = coding_for(game, self.features)
        return new_learner(game, coding, self.settings(), policies=self.policies, lines=LINES)

    def forget(self, memory):
        if not self.memory:
            forget(memory)

    def unshared(self, game, one_policy):
        if one_policy and not coding_for(game, self.features).direct:
            return f"{self.name} has a policy that grows in {game}, so that each worker needs its own: policy = 'own'"
        return super().unshared(game, one_policy)

    def with_room(self, game, memory):
        return with_room(game, coding_for(game, self.features), memory, LINES)


@dataclass(frozen=True)
class PPA(PolicySearch):
    """UCT with playouts that are adapted to the winner's moves.

    alpha: the step of adaptation; rule: "softmax", or "simple" for the rule that adds 1, 2, 4 or 1
    """

    alpha: float = 1.0
    rule: str = "softmax"

    name: ClassVar[str] = "ppa"

    def __post_init__(self):
        super().__post_init__()
        check_positive("alpha", self.alpha)
        check_choice("rule", self.rule, RULES)

    def policy_rule(self):
        return RULES[self.rule]

    def settings(self):
        return Settings(self.alpha, self.temperature)
