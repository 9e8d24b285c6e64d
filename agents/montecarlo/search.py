"""Monte-Carlo tree search: the skeleton that UCT, GRAVE and others share.

A simulation selects, expands, plays out and backs up:

    select    from the root, to the child that the rule prefers, until a leaf
    expand    a leaf that has been visited before gets all its children, in random order
    play out  moves that the rule draws, to the end of the game; win 1, draw 1/2, loss 0
    back up   the reward and a visit to every node on the way; the rule may learn from the playout

Where chance moves, the child is drawn by its probability.  The move with the most visits is played (Chaslot, Winands &
van den Herik 2008, "robust child").  What is different from one search to another is a Rule.

With `solver`, results that are certain are backed up as such (Winands, Bjornsson & Saito, "Monte-Carlo tree search
solver", 2008): a node is won when a move is, lost when all are; proven nodes are not searched again.
"""

from dataclasses import dataclass

import numpy as np

from agents.core.agent import Decision, MoveStatistics, Player
from agents.core.chunks import run_chunks
from agents.core.tree import (
    LEAF,
    ROOT,
    UNPROVEN,
    child_by_move,
    clear,
    copy_subtree,
    most_visited_child,
    new_tree,
    principal_variation,
    proof_of,
    proven_result,
    shuffled_moves,
    write_children,
)
from agents.knowledge.prepared import PreparedAgent
from games.core.game import CHANCE, check_range
from games.core.jit import Compilable, helper, kernel
from games.core.playout import copy_state, reward_of


@dataclass(frozen=True)
class Rule(Compilable):
    """What distinguishes one search from another: methods that kernels call, like a game's.

    Its fields are constants in kernels.  `options` is a NamedTuple of numbers, which are not; `memory` a tuple of
    arrays that the rule keeps, or ().
    """

    solver: bool = False

    def best_child(self, game, tree, memory, state, path, length, options):
        """The child to go on with from the last node of the path, path[length - 1]."""
        raise NotImplementedError

    def play_out(self, game, state, memory, moves, rng):
        """Play to the end, and return the score."""
        score, _ = game.random_playout(state, moves, rng)
        return score

    def learn(self, game, tree, memory, root, path, length, score):
        """Take what it wants of the simulation that is over."""

    def has_room(self, game, memory):
        """Whether the memory surely has room for another simulation; where not, the agent's `with_room` is called."""
        return True


@dataclass(frozen=True)
class TreeSearch(PreparedAgent):
    """Base of the agents that search by Monte-Carlo; each adds its rule and the rule's parameters.

    keep_tree: search on in the part of the tree that the moves played lead to, rather than anew
    solver: back up certain wins and losses as such
    max_nodes: when the tree has this many, leaves are played out but no longer expanded (37 bytes a node)
    """

    playouts: int | None = None
    seconds: float | None = None
    keep_tree: bool = False
    solver: bool = False
    max_nodes: int = 1 << 24

    budgets = ("playouts", "seconds")

    def __post_init__(self):
        super().__post_init__()
        check_range("max_nodes", self.max_nodes, 1000, 2**31 - 1)

    def search_rule(self) -> Rule:
        """Its rule."""
        raise NotImplementedError

    def options(self):
        """The numbers that the rule reads."""
        raise NotImplementedError

    def new_memory(self, game) -> tuple:
        """The arrays that the rule keeps for one game."""
        return ()

    def forget(self, memory: tuple) -> None:
        """Make the arrays new again."""

    def with_room(self, game, memory: tuple) -> tuple:
        """The arrays, or larger ones with the same content if they might be full."""
        return memory

    def new_player(self, game, budget):
        return TreeSearchPlayer(self, game, budget)


class TreeSearchPlayer(Player):
    """One game's tree; between moves it is kept or cleared, as the agent says."""

    def __init__(self, agent, game, budget):
        self.agent, self.game, self.budget = agent, game, budget
        self.rule, self.options, self.memory = agent.search_rule(), agent.options(), agent.new_memory(game)
        self.tree = new_tree(max(agent.max_nodes, 1 + game.max_moves))

    def decide(self, state, rng):
        if not self.agent.keep_tree:
            self.forget()

        def run(n):
            self.memory = self.agent.with_room(self.game, self.memory)
            return search_kernel(self.game, self.rule, self.tree, self.memory, state, n, self.options, rng)

        playouts = run_chunks(run, self.budget.playouts, self.budget.seconds)
        return decision_from(self.tree, playouts, int(self.game.player(state)))

    def forget(self):
        """Begin anew."""
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


def decision_from(tree, playouts: int, player: int) -> Decision:
    """The most visited move of the root, `player`'s, but for certain wins and losses; and what the tree says of it."""
    children = np.arange(tree.first_child[ROOT], tree.first_child[ROOT] + tree.children[ROOT])
    visits = tree.visits[children].astype(np.int64)
    means = 2.0 * tree.value[children] / np.maximum(visits, 1) - 1.0
    certain = np.flatnonzero(tree.proven[children] != UNPROVEN)
    side = 1.0 if player == 0 else -1.0
    means[certain] = [side * proven_result(proof) for proof in tree.proven[children[certain]]]
    best = most_visited_child(tree, ROOT)
    won, lost = certain[means[certain] == 1.0], certain[means[certain] == -1.0]
    if len(won):
        best = int(children[won[0]])
    elif best in children[lost] and len(lost) < len(children):
        open_children = np.delete(children, lost)
        best = int(open_children[np.argmax(tree.visits[open_children])])
    variation = principal_variation(tree, best)
    return Decision(
        move=int(tree.move[best]),
        value=float(means[best - children[0]]),
        playouts=playouts,
        nodes=int(tree.size[0]),
        depth=len(variation),
        principal_variation=variation,
        statistics=MoveStatistics(tree.move[children].copy(), visits, means),
    )


@kernel
def search_kernel(game, rule, tree, memory, root, simulations, options, rng):
    """Run that many simulations, or fewer if the root is proven before or the memory full; returns how many."""
    state, moves = root.copy(), np.empty(game.max_moves, np.int32)
    path, movers = np.empty(game.max_plies + 1, np.int32), np.empty(game.max_plies + 1, np.int64)
    if tree.children[ROOT] == LEAF:
        expand(game, tree, ROOT, state, moves, rng)
    done = 0
    while done < simulations and rule.has_room(game, memory) and not (rule.solver and tree.proven[ROOT] != UNPROVEN):
        copy_state(game, root, state)
        length = descend(game, rule, tree, memory, state, path, movers, moves, options, rng)
        if rule.solver and settle(game, tree, state, path[length - 1]):
            score = proven_result(tree.proven[path[length - 1]])
        else:
            score = rule.play_out(game, state, memory, moves, rng)
        back_up(tree, path, movers, length, reward_of(score))
        rule.learn(game, tree, memory, root, path, length, score)
        if rule.solver:
            prove_path(tree, path, movers, length)
        done += 1
    return done


@helper
def descend(game, rule, tree, memory, state, path, movers, moves, options, rng):
    """Select down to a leaf, expanding it if it has been visited before; returns the path's length.

    path[i] is the node i plies below the root, movers[i] the player who moved into it; `state` follows.
    """
    node, length = ROOT, 1
    path[0] = ROOT
    while not game.is_over(state) and not (rule.solver and tree.proven[node] != UNPROVEN):
        if tree.children[node] == LEAF:
            if tree.visits[node] == 0 or tree.size[0] + game.max_moves > len(tree.visits):
                break
            expand(game, tree, node, state, moves, rng)
        movers[length] = game.player(state)
        if game.has_chance and movers[length] == CHANCE:
            node = child_of_move(tree, node, game.random_outcome(state, rng))
        else:
            node = rule.best_child(game, tree, memory, state, path, length, options)
        game.play(state, tree.move[node])
        path[length] = node
        length += 1
    return length


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


@helper
def back_up(tree, path, movers, length, reward):
    """Count a visit along the path, and the reward, which is the first player's, for whoever moved into each node."""
    tree.visits[ROOT] += 1
    for i in range(1, length):
        node = path[i]
        tree.visits[node] += 1
        tree.value[node] += reward if movers[i] == 0 else 1.0 - reward


@helper
def settle(game, tree, state, node):
    """Whether the result of the path's last node is certain; it is if the game is over there."""
    if tree.proven[node] == UNPROVEN and game.is_over(state):
        tree.proven[node] = proof_of(2.0 * reward_of(game.score(state)) - 1.0)
    return tree.proven[node] != UNPROVEN


@helper
def prove_path(tree, path, movers, length):
    """Prove what follows from the last node of the path, upwards as far as it goes."""
    i = length - 1
    while i > 0 and tree.proven[path[i]] != UNPROVEN and tree.proven[path[i - 1]] == UNPROVEN:
        tree.proven[path[i - 1]] = proof_by_children(tree, path[i - 1], movers[i])
        i -= 1


@helper
def proof_by_children(tree, node, mover):
    """What the children's proofs say of a node where `mover` moves, or chance: UNPROVEN if that is nothing."""
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
