"""Monte-Carlo tree search: the skeleton that UCT, GRAVE and others share.

A simulation selects, expands, plays out and backs up:

    select    from the root, to the child that the rule prefers, until a leaf
    expand    a leaf that has been visited before gets all its children, in random order
    play out  moves that the rule draws, to the end of the game; win 1, draw 1/2, loss 0
    back up   the reward and a visit to every node on the way; the rule may learn from the playout

Where chance moves, the child is drawn by its probability.  The move with the most visits is played (Chaslot, Winands &
van den Herik 2008, "robust child").  What is different from one search to another is a Rule.

With `solver`, results that are certain are backed up as such (Winands, Bjornsson & Saito, "Monte-Carlo tree search
solver", 2008): a node is won when a move is, lost when all are; proven nodes are not searched again.  A result is
certain at the end of a game, and where the game foresees it (`Game.foreseen`).
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from agents.core.agent import Decision, MoveStatistics, Player
from agents.core.chunks import run_chunks
from agents.core.sides import side_to_move
from agents.core.tree import (
    LEAF,
    ROOT,
    UNPROVEN,
    Tree,
    begin_walk,
    child_by_move,
    clear,
    copy_subtree,
    last_node,
    most_visited_child,
    new_tree,
    new_walk,
    principal_variation,
    proof_of,
    proven_result,
    shuffled_moves,
    step,
    write_children,
)
from agents.knowledge.prepared import PreparedAgent
from games.core.game import CHANCE, check_range
from games.core.jit import Compilable, helper, inlined, kernel
from games.core.playout import reward_of


class Search(NamedTuple):
    """What a rule works on."""

    tree: Tree
    memory: tuple  # of arrays that the rule keeps, or ()
    options: tuple  # a NamedTuple of numbers, which unlike the fields of a rule are no constants in kernels


@dataclass(frozen=True)
class Rule(Compilable):
    """What distinguishes one search from another: methods that kernels call, as they do a game's.

    A new search is a rule, which must define only `best_child`, and an agent that wraps it.  The fields of a rule are
    constants in kernels.
    """

    solver: bool = False

    def best_child(self, game, search, walk):
        """Selection: the child to go on to from the last node of the walk."""
        raise NotImplementedError

    @property
    def playouts(self) -> int:
        """How many playouts a simulation makes, from the leaf that it comes to."""
        return 1

    def play_out(self, game, search, walk, rng):
        """Play from walk.state to the end of the game; returns the score, or of several playouts the mean result."""
        score, _ = game.random_playout(walk.state, walk.moves, rng)
        return score

    def reward(self, score):
        """What a simulation of that score adds to the first player's rewards."""
        return reward_of(score)

    def learn(self, game, search, walk, score):
        """Learn from the simulation that has just been backed up."""

    def has_room(self, game, memory):
        """Whether the memory has room for another simulation; if not, the agent's `with_room` is called."""
        return True


@dataclass(frozen=True)
class TreeSearch(PreparedAgent):
    """Base of the Monte-Carlo tree searches; each adds its rule and the rule's parameters.

    keep_tree: go on in the subtree of the moves that were played, instead of starting anew
    solver: back up proven wins, draws and losses as such
    max_nodes: in a tree of this size leaves are still played out, but no longer expanded (a node takes 25 bytes)
    """

    playouts: int | None = None
    seconds: float | None = None
    keep_tree: bool = False
    solver: bool = False
    max_nodes: int = 1 << 24

    budgets: ClassVar[tuple[str, ...]] = ("playouts", "seconds")

    def __post_init__(self):
        super().__post_init__()
        check_range("max_nodes", self.max_nodes, 1000, 2**31 - 1)

    def search_rule(self, game) -> Rule:
        """The rule of its search of a game."""
        raise NotImplementedError

    def options(self) -> tuple:
        """The numbers that the rule reads: Search.options."""
        raise NotImplementedError

    def new_memory(self, game) -> tuple:
        """The arrays that the rule keeps in one game: Search.memory."""
        return ()

    def forget(self, memory: tuple) -> None:
        """Empty the arrays for a new search."""

    def seed(self, memory: tuple, rng: np.ndarray) -> None:
        """Before a search: draw from `rng` what generators the arrays hold."""

    def with_room(self, game, memory: tuple) -> tuple:
        """The arrays, or larger ones with the same content if they might be full."""
        return memory

    def new_player(self, game, budget):
        return TreeSearchPlayer(self, game, budget)


class TreeSearchPlayer(Player):
    """One game's tree, kept or cleared between moves as the agent says."""

    def __init__(self, agent, game, budget):
        self.agent, self.game, self.budget = agent, game, budget
        self.memory = agent.new_memory(game)
        self.tree = new_tree(max(agent.max_nodes, 1 + game.max_moves))

    def decide(self, state, rng):
        if not self.agent.keep_tree:
            self.forget()
        rule, options = self.agent.search_rule(self.game), self.agent.options()

        self.agent.seed(self.memory, rng)

        def run(n):
            self.memory = self.agent.with_room(self.game, self.memory)
            return search_kernel(self.game, rule, Search(self.tree, self.memory, options), state, n, rng)

        limit = self.budget.playouts and max(1, self.budget.playouts // rule.playouts)
        playouts = run_chunks(run, limit, self.budget.seconds) * rule.playouts
        return decision_from(self.tree, playouts, int(self.game.player(state)))

    def forget(self):
        """Start a new tree."""
        clear(self.tree)
        self.agent.forget(self.memory)

    def played(self, move):
        if not self.agent.keep_tree:
            return
        child = child_by_move(self.tree, ROOT, move)
        if child is None:
            self.forget()
        else:
            kept = new_tree(len(self.tree.visits))
            copy_subtree(self.game, self.tree, child, kept)
            self.tree = kept


def decision_from(tree: Tree, playouts: int, player: int) -> Decision:
    """The most visited move of the root, and the root's statistics, for `player`, who is to move.

    A proven win is played instead; a proven loss is not played unless all moves are.
    """
    first, best = int(tree.first_child[ROOT]), most_visited_child(tree, ROOT)
    children = slice(first, first + int(tree.children[ROOT]))
    visits = tree.visits[children].astype(np.int64)
    means = 2.0 * tree.value[children] / np.maximum(visits, 1) - 1.0
    certain = tree.proven[children].nonzero()[0]
    if len(certain):
        side = 1.0 if player == 0 else -1.0
        means[certain] = [side * proven_result(proof) for proof in tree.proven[children][certain]]
        best = first + best_by_proofs(visits, means, certain, best - first)
    variation = principal_variation(tree, best)
    return Decision(
        move=variation[0],
        value=float(means[best - first]),
        playouts=playouts,
        nodes=int(tree.size[0]),
        depth=len(variation),
        principal_variation=variation,
        statistics=MoveStatistics(tree.move[children].copy(), visits, means),
    )


def best_by_proofs(visits: np.ndarray, means: np.ndarray, certain: np.ndarray, best: int) -> int:
    """What to play in place of the most visited move `best`, where the results of the moves `certain` are proven."""
    won, lost = certain[means[certain] == 1.0], certain[means[certain] == -1.0]
    if len(won):
        return int(won[0])
    if best in lost and len(lost) < len(visits):
        unclear = np.delete(np.arange(len(visits)), lost)
        return int(unclear[np.argmax(visits[unclear])])
    return best


@kernel
def search_kernel(game, rule, search, root, simulations, rng):
    """Run up to that many simulations and return how many; fewer if the root gets proven or the memory full."""
    tree, walk = search.tree, new_walk(game, root)
    if tree.children[ROOT] == LEAF:
        expand(game, tree, ROOT, root, walk.moves, rng)
        tree.proven[ROOT] = UNPROVEN  # in a kept tree it may be foreseen, without a move that leads there
    done = 0
    while (
        done < simulations
        and rule.has_room(game, search.memory)
        and not (rule.solver and tree.proven[ROOT] != UNPROVEN)
    ):
        descend(game, rule, search, walk, rng)
        leaf = last_node(walk)
        if rule.solver and settle(game, tree, walk.state, leaf):
            score = proven_result(tree.proven[leaf])
        else:
            score = rule.play_out(game, search, walk, rng)
        back_up(tree, walk, rule.reward(score), rule.playouts)
        rule.learn(game, search, walk, score)
        if rule.solver:
            prove_path(tree, walk)
        done += 1
    return done


@inlined
def descend(game, rule, search, walk, rng):
    """Select down to a leaf, expanding it if it has been visited before."""
    begin_walk(game, walk)
    tree, node = search.tree, np.int64(ROOT)
    while not game.is_over(walk.state) and not (rule.solver and tree.proven[node] != UNPROVEN):
        if tree.children[node] == LEAF:
            if tree.visits[node] == 0 or tree.size[0] + game.max_moves > len(tree.visits):
                break
            expand(game, tree, node, walk.state, walk.moves, rng)
        mover = game.player(walk.state)
        if game.has_chance and mover == CHANCE:
            node = child_of_move(tree, node, game.random_outcome(walk.state, rng))
        else:
            node = rule.best_child(game, search, walk)
        step(game, walk, node, tree.move[node], mover)


@helper
def child_of_move(tree, node, move):
    """The child of an expanded node that a legal move leads to."""
    child = tree.first_child[node]
    while tree.move[child] != move:
        child += 1
    return child


@helper
def expand(game, tree, node, state, moves, rng):
    """Give a leaf its children."""
    count, first = shuffled_moves(game, state, moves, rng), tree.size[0]
    write_children(tree, first, moves, count)
    tree.value[first : first + count] = 0.0
    tree.first_child[node] = first
    tree.children[node] = count
    tree.size[0] = first + count


@inlined
def back_up(tree, walk, reward, playouts):
    """Count so many visits along the path, and the first player's rewards for whoever moved into each node."""
    tree.visits[ROOT] += playouts
    for i in range(1, walk.length[0]):
        node = walk.path[i]
        tree.visits[node] += playouts
        tree.value[node] += reward if walk.movers[i] == 0 else playouts - reward


@helper
def settle(game, tree, state, node):
    """Whether the node that the walk has come to is proven: by the end of the game, or one that the game foresees."""
    if tree.proven[node] != UNPROVEN:
        return True
    if game.is_over(state):
        tree.proven[node] = proof_of(2.0 * reward_of(game.score(state)) - 1.0)
        return True
    if node != ROOT:  # whose moves are to be told apart
        plies, _ = game.foreseen(state)
        if plies != 0:
            tree.proven[node] = proof_of(side_to_move(game, state) * (1.0 if plies > 0 else -1.0))
    return tree.proven[node] != UNPROVEN


@helper
def prove_path(tree, walk):
    """Prove what follows from the last node of the path, upwards until nothing more does."""
    path, i = walk.path, walk.length[0] - 1
    while i > 0 and tree.proven[path[i]] != UNPROVEN and tree.proven[path[i - 1]] == UNPROVEN:
        tree.proven[path[i - 1]] = proof_by_children(tree, path[i - 1], walk.movers[i])
        i -= 1


@helper
def proof_by_children(tree, node, mover):
    """The mark of a node by those of its children, where `mover` moves, or chance; UNPROVEN if they prove nothing."""
    first = tree.first_child[node]
    side = 1.0 if mover == 0 else -1.0
    best, worst, unproven = -1.0, 1.0, False
    for child in range(first, first + tree.children[node]):
        if tree.proven[child] == UNPROVEN:
            unproven = True
        else:
            result = side * proven_result(tree.proven[child])
            best, worst = max(best, result), min(worst, result)
    if mover == CHANCE:
        return proof_of(side * best) if not unproven and best == worst else np.int8(UNPROVEN)
    return proof_of(side * best) if best == 1.0 or not unproven else np.int8(UNPROVEN)
