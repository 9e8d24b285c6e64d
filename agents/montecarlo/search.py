"""Monte-Carlo tree search: the skeleton of UCT, GRAVE and others.

A simulation selects, expands, plays out and backs up:

    select    from the root, to the child that the rule prefers, until a leaf
    expand    a leaf that has been visited before gets all its children, in random order
    play out  moves that the rule draws, to the end of the game; win 1, draw 1/2, loss 0
    back up   the reward and a visit to every node on the way; the rule may learn from the playout

An outcome of chance is drawn by its probability.  The move with the most visits is played (Chaslot, Winands & van den
Herik 2008, "robust child").  Searches differ in their rule: agents/montecarlo/ucb1.py.

With `solver`, certain results are backed up as such (Winands, Bjornsson & Saito, "Monte-Carlo tree search solver",
2008): a node is won when a move is, lost when all are; proven nodes are not searched again.  A result is certain at the
end of a game, and where the game foresees it (`Game.foreseen`).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arena.agents.core.agent import Budget, Player
from arena.agents.core.chunks import run_chunks
from arena.agents.core.selection import UNVISITED
from arena.agents.core.sides import side_to_move
from arena.agents.core.tree_arrays import (
    LEAF,
    ROOT,
    UNPROVEN,
    Tree,
    begin_walk,
    capacity,
    child_by_move,
    clear,
    copy_subtree,
    last_node,
    leave_tree,
    new_tree,
    new_walk,
    proof_of,
    proven_result,
    shuffled_moves,
    step,
    write_children,
)
from arena.agents.montecarlo.decision import decision_from
from arena.games.core.game import CHANCE
from arena.games.core.jit import Compilable, helper, inlined, kernel
from arena.games.core.play.playout import reward_of


class Search(NamedTuple):
    """The data of a rule."""

    tree: Tree
    memory: tuple  # the rule's arrays, or ()
    options: tuple  # a NamedTuple of numbers, which unlike a rule's fields are not constants in kernels


class OneSearch:
    """A tree, and the arrays of an agent's rule, in one game."""

    def __init__(self, agent, game, nodes: int, playouts: int | None):
        self.agent, self.game = agent, game
        self.rule, self.options = agent.search_rule(game), agent.options()
        self.memory, self.tree = agent.new_memory(game, nodes, playouts), new_tree(nodes)

    def forget(self) -> None:
        clear(self.tree)
        self.agent.forget(self.memory)

    def begin(self, budget: Budget, rng: np.ndarray) -> None:
        """Prepare the rule's arrays for a search with that budget."""
        self.agent.seed(self.memory, rng)
        self.agent.begin_search(self.game, self.memory, budget, rng)

    def search(self, state: np.ndarray, playouts: int | None, seconds: float | None, rng: np.ndarray) -> int:
        """Search on from the root's position within these limits; returns the playouts."""

        def run(n):
            self.memory = self.agent.with_room(self.game, self.memory)
            return search_kernel(self.game, self.rule, Search(self.tree, self.memory, self.options), state, n, rng)

        lanes = self.agent.leaf_playouts()
        return run_chunks(run, playouts and max(1, playouts // lanes), seconds) * lanes

    def last_choice(self) -> int | None:
        return self.agent.last_choice(self.tree, self.memory)


class TreeSearchPlayer(OneSearch, Player):
    """Keeps or clears the tree between moves as the agent says."""

    def __init__(self, agent, game, budget):
        playouts = None if agent.keep_tree else budget.playouts
        super().__init__(agent, game, capacity(game, agent.max_nodes, playouts), playouts)
        self.budget = budget
        self.state = game.initial()  # in which it decides

    def decide(self, state, rng):
        if not self.agent.keep_tree:
            self.forget()
        self.begin(self.budget, rng)
        self.state = state
        playouts = self.search(state, self.budget.playouts, self.budget.seconds, rng)
        return decision_from(self.tree, playouts, int(self.game.player(state)), self.last_choice())

    def thoughts(self):
        if not self.tree.children[ROOT]:
            return None
        return decision_from(
            self.tree, int(self.tree.visits[ROOT]), int(self.game.player(self.state)), self.last_choice()
        )

    def close(self, result):
        if (tree := vars(self).pop("tree", None)) is not None:  # closed once more, it has none
            leave_tree(tree)

    def played(self, move):
        if not self.agent.keep_tree:
            return
        child = child_by_move(self.tree, ROOT, move)
        if child is None:
            self.forget()
        else:
            kept = new_tree(len(self.tree.visits))
            origin = copy_subtree(self.game, self.tree, child, kept)
            leave_tree(self.tree)
            self.tree, self.memory = kept, self.agent.moved(self.memory, origin)


@kernel
def search_kernel(game, rule, search, root, simulations, rng):
    """Run up to that many simulations and return how many; fewer if the root gets proven or the memory full."""
    walk, done = new_walk(game, root), 0
    open_root(game, rule, search, walk, rng)
    while done < simulations and goes_on(game, rule, search):
        descend(game, rule, search, walk, rng)
        finish(game, rule, search, walk, result_of(game, rule, search, walk, rng))
        done += 1
    return done


@inlined
def open_root(game, rule, search, walk, rng):
    """Expand the root, unless it is expanded."""
    tree = search.tree
    if tree.children[ROOT] == LEAF:
        begin_walk(game, walk)
        rule.grow(game, search, walk, np.uint64(ROOT), rng)
        tree.proven[ROOT] = UNPROVEN  # a kept tree may foresee its result without the move


@inlined
def goes_on(game, rule, search):
    """Whether another simulation has room and a purpose."""
    return rule.chain.has_room(game, search) and not (rule.solver and search.tree.proven[ROOT] != UNPROVEN)


@inlined
def result_of(game, rule, search, walk, rng):
    """The first player's result of a simulation at its leaf: a certain one, else a playout's."""
    if rule.prover.settles(game, search.tree, walk):
        rule.chain.arrive(game, search, walk)
        return proven_result(search.tree.proven[last_node(walk)])
    return rule.play_out(game, search, walk, rng)


@inlined
def finish(game, rule, search, walk, result):
    """Back up a simulation's result, learn from it, and prove by it."""
    back_up(rule, search.tree, walk, rule.lanes * 0.5 * (1.0 + result), rule.lanes)
    rule.chain.learn(game, search, walk, result)
    rule.prover.prove(search.tree, walk)


@inlined
def descend(game, rule, search, walk, rng):
    """Select down to a leaf; one that has been visited before is expanded."""
    begin_walk(game, walk)
    tree, node = search.tree, np.uint64(ROOT)  # unsigned, here and below: Numba omits its test for negative indices
    while not game.is_over(walk.state) and not (rule.solver and tree.proven[node] != UNPROVEN):
        if tree.children[node] == LEAF:
            if tree.visits[node] == 0 or tree.size[0] + game.max_moves > len(tree.visits):
                break
            rule.grow(game, search, walk, node, rng)
        mover = game.player(walk.state)
        if game.has_chance and mover == CHANCE:
            node = np.uint64(child_of_move(tree, node, game.random_outcome(walk.state, rng)))
        else:
            node = np.uint64(rule.best_child(game, search, walk, node))
        step(game, walk, node, tree.move[node], mover)


@helper
def child_of_move(tree, node, move):
    """The child of an expanded node for a legal move."""
    child = tree.first_child[node]
    while tree.move[child] != move:
        child += 1
    return child


@inlined
def expand(game, tree, node, state, moves, rng):
    """Give a leaf its children."""
    count, first, row = shuffled_moves(game, state, moves, rng), tree.size[0], np.uint64(node)
    write_children(tree, first, moves, count)
    for i in range(count):
        child = np.uint64(first + i)
        tree.value[child] = 0.0
        tree.bounds[child, 0], tree.bounds[child, 1] = UNVISITED, np.float32(0.0)
    tree.first_child[row] = first
    tree.children[row] = count
    tree.size[0] = first + count


@inlined
def back_up(rule, tree, walk, reward, playouts):
    """Count the playouts along the path, and the sum of the first player's rewards for each node's mover."""
    tree.visits[ROOT] += playouts
    for i in range(np.uint64(1), np.uint64(walk.length[0])):
        node = np.uint64(walk.path[i])
        tree.visits[node] += playouts
        tree.value[node] += reward if walk.movers[i] == 0 else playouts - reward
        rule.note(tree, node)


@dataclass(frozen=True)
class Unproving(Compilable):
    """No solver; kernels without one leave it out, a third of what there is to compile."""

    def settles(self, game, tree, walk):
        """Whether the walk's leaf is proven: by the end of the game, or one that it foresees."""
        return False

    def prove(self, tree, walk):
        """Prove the consequences of the path's last node upwards, as far as there are any."""


@dataclass(frozen=True)
class Proving(Unproving):
    """The solver."""

    def settles(self, game, tree, walk):
        state, node = walk.state, last_node(walk)
        if tree.proven[node] != UNPROVEN:
            return True
        if game.is_over(state):
            tree.proven[node] = proof_of(2.0 * reward_of(game.score(state)) - 1.0)
            return True
        if node != ROOT:  # the root's moves must be compared
            plies, _ = game.foreseen(state)
            if plies != 0:
                tree.proven[node] = proof_of(side_to_move(game, state) * (1.0 if plies > 0 else -1.0))
        return tree.proven[node] != UNPROVEN

    def prove(self, tree, walk):
        path, i = walk.path, walk.length[0] - 1
        while i > 0 and tree.proven[path[i]] != UNPROVEN and tree.proven[path[i - 1]] == UNPROVEN:
            mark = proof_by_children(tree, path[i - 1], walk.movers[i])
            if mark == UNPROVEN:  # and not written: another thread may know more by now
                return
            tree.proven[path[i - 1]] = mark
            i -= 1


@helper
def proof_by_children(tree, node, mover):
    """A node's mark by its children's, where `mover` moves, or chance; UNPROVEN if they prove nothing."""
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
