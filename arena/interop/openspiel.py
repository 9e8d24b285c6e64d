"""OpenSpiel's games and searches (Lanctot et al., "OpenSpiel: A framework for reinforcement learning in games", 2019)
among ours: a plug-in.

    plugins = ["arena.interop.openspiel"]               # in a configuration; --plugin on the command line
    game = "openspiel(game='oware')"                    # for agents that need no kernels: random, external, and these
    agent = "openspiel_mcts(playouts=1000)"             # on our own games that OpenSpiel has, too
    agent = "openspiel_alphabeta(depth=4)"
"""

import functools
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from arena.agents.core.agent import Agent, Budget, Decision, MoveStatistics, Player
from arena.agents.core.needs import Needs
from arena.games.core.game import Game, check_range
from arena.games.core.random import next_word, random_unit
from arena.interop.counterparts import COUNTERPARTS, Counterpart, Mirror, NoCounterpart, counterpart_of, pyspiel

KEPT = 1024  # positions cached, lest a line is replayed for each question
LEAST = 2  # simulations: the first one only visits the root
ENDLESS = 1 << 30  # simulations of a search that only time ends

# -- Their games ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OpenSpielGame(Game):
    """A game of OpenSpiel with perfect information, for one player, or for two if it is zero-sum.

    state: int64[1 + max_plies] = number of actions so far, actions.  Whoever moves first is our first player.

    game: as `pyspiel.load_game` takes it, with parameters: connect_four(rows=5,columns=5)
    """

    game: str = "tic_tac_toe"

    name = "openspiel"
    dtype = np.int64
    compiles = False
    has_chance = True  # in some games; each instance knows its own
    sizes = "any of its games with perfect information for one or two players"
    status = "theirs"

    def __post_init__(self):
        object.__setattr__(self, "players", self.about.players)  # no kernel asks for these two
        object.__setattr__(self, "has_chance", self.about.has_chance)

    @property
    def about(self) -> "About":
        return _about(self.game)

    @property
    def move_limit(self):
        return self.about.move_limit

    @property
    def max_moves(self):
        return self.about.move_limit

    @property
    def max_plies(self):
        return self.about.max_plies

    @property
    def state_size(self):
        return 1 + self.about.max_plies

    def their_state(self, state: np.ndarray) -> Any:
        """The position as a `pyspiel.State`; do not change it."""
        return _reached(self.game, tuple(state[1 : 1 + state[0]].tolist()))

    def _side(self, player):
        return player if player < 0 else player ^ self.about.first

    def start(self, state: np.ndarray) -> None:
        state[:] = 0

    def player(self, state: np.ndarray) -> int:
        return self._side(self.their_state(state).current_player())

    def legal_moves(self, state: np.ndarray, moves: np.ndarray) -> int:
        legal = self.their_state(state).legal_actions()
        moves[: len(legal)] = legal
        return len(legal)

    def play(self, state: np.ndarray, move: int) -> None:
        state[0] += 1
        state[state[0]] = move

    def is_over(self, state: np.ndarray) -> bool:
        return self.their_state(state).is_terminal()

    def score(self, state: np.ndarray) -> float:
        return self.their_state(state).returns()[self.about.first]

    def chance(self, state: np.ndarray, moves: np.ndarray, probabilities: np.ndarray) -> int:
        outcomes = self.their_state(state).chance_outcomes()
        moves[: len(outcomes)], probabilities[: len(outcomes)] = zip(*outcomes, strict=True)
        return len(outcomes)

    def random_outcome(self, state: np.ndarray, rng: np.ndarray) -> int:
        outcomes, shares = zip(*self.their_state(state).chance_outcomes(), strict=True)
        place = np.searchsorted(np.cumsum(shares), random_unit(rng), side="right")
        return int(outcomes[min(place, len(outcomes) - 1)])

    def move_name(self, state: np.ndarray, move: int) -> str:
        """OpenSpiel's name without blanks; with the action's number if not unique."""
        theirs = self.their_state(state)
        names = {action: "".join(theirs.action_to_string(action).split()) for action in theirs.legal_actions()}
        own = names[move]
        return own if list(names.values()).count(own) == 1 and own else f"{own}#{move}"

    def render(self, state: np.ndarray) -> str:
        return str(self.their_state(state)).rstrip("\n") or "-"


class About(NamedTuple):
    """Facts about one of their games, named as in `Game`."""

    players: int
    has_chance: bool
    move_limit: int
    max_plies: int
    first: int  # the number of the first mover there


@functools.cache
def _about(name: str) -> About:
    """ValueError if it does not exist, or cannot be one of ours."""
    known = name.partition("(")[0]
    if known not in pyspiel.registered_names():
        raise ValueError(f"game = {name!r}: OpenSpiel has no game of that name; it has {_playable()}")
    try:
        game = pyspiel.load_game(name)
    except pyspiel.SpielError as error:
        raise ValueError(f"game = {name!r}: {error}") from None
    if unfit := _unfit(game.get_type(), game.num_players()):
        raise ValueError(f"game = {name!r} {unfit}; there are {_playable()}")
    limit = max(game.num_distinct_actions(), game.max_chance_outcomes())
    plies = game.max_game_length() + game.max_chance_nodes_in_history()
    first = max(game.new_initial_state().current_player(), 0)
    chance = game.get_type().chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC
    return About(game.num_players(), chance, limit, plies, first)


def _unfit(kind: Any, players: int) -> str:
    """Why it cannot be one of ours, or ""."""
    types = pyspiel.GameType
    if players > 2:
        return f"is for {players} players, not for one or two"
    if kind.dynamics != types.Dynamics.SEQUENTIAL:
        return "is not played in turns"
    if kind.information != types.Information.PERFECT_INFORMATION:
        return "hides something from the players"
    if kind.chance_mode == types.ChanceMode.SAMPLED_STOCHASTIC:
        return "does not list the outcomes of chance"
    if players == 2 and kind.utility != types.Utility.ZERO_SUM:
        return "is not zero-sum"
    return ""


def _playable() -> str:
    kinds = [kind for kind in pyspiel.registered_games() if kind.default_loadable]
    return ", ".join(kind.short_name for kind in kinds if not _unfit(kind, kind.min_num_players))


_kept: dict[tuple[str, tuple[int, ...]], Any] = {}


def _reached(name: str, actions: tuple[int, ...]) -> Any:
    """Cached, a child of a cached one, or replayed."""
    state = _kept.get((name, actions))
    if state is None:
        before = _kept.get((name, actions[:-1])) if actions else None
        if before is None:
            state = pyspiel.load_game(name).new_initial_state()
            for action in actions:
                state.apply_action(action)
        else:
            state = before.child(actions[-1])
        if len(_kept) >= KEPT:
            _kept.clear()
        _kept[name, actions] = state
    return state


COUNTERPARTS[OpenSpielGame.name] = lambda game: Counterpart(game.game, first=game.about.first)

# -- Their searches -------------------------------------------------------------------------------------------------


class FoundAction(NamedTuple):
    """A search's answer for a state."""

    action: int
    value: float  # for the player to move, in the game's utility
    playouts: int | None = None
    statistics: MoveStatistics | None = None  # of actions


class Searcher(Agent):
    """A search of OpenSpiel, on an OpenSpiel board."""

    needs: ClassVar[Needs] = Needs(kernels=False)

    def misfit(self, game: Game) -> str | None:
        try:
            found = counterpart_of(game)
        except NoCounterpart as error:
            return str(error)
        return f"{self.name} plays games that have the same rules there: {found.differs}" if found.differs else None

    def new_player(self, game: Game, budget: Budget) -> Player:
        return SearcherPlayer(self, game, budget)

    @abstractmethod
    def search(self, state: Any, budget: Budget, seed: int) -> FoundAction:
        """One action; if a move has several, only its first."""


class SearcherPlayer(Player):
    """Keeps their board in step with ours."""

    def __init__(self, agent: Searcher, game: Game, budget: Budget):
        self.agent, self.budget, self.mirror = agent, budget, Mirror(game)
        self.most = self.mirror.theirs.get_game().max_utility() if game.players == 2 else 1.0

    def start(self, game: Game, state: np.ndarray, moves: Sequence[int]) -> None:
        self.mirror = Mirror(game, moves)

    def played(self, move: int) -> None:
        self.mirror.push(move)

    def decide(self, state: np.ndarray, rng: np.ndarray) -> Decision:
        if not np.array_equal(self.mirror.state, state):
            raise ValueError("it cannot be asked: it does not know how the game came to this position")
        theirs = self.mirror.theirs.clone()
        first = self._search(theirs, rng)
        taken = [first.action]
        while (move := self.mirror.move_of(taken)) is None:
            theirs.apply_action(taken[-1])
            taken.append(self._search(theirs, rng).action)
        value = min(1.0, max(-1.0, first.value / self.most))
        table = first.statistics if len(taken) == 1 else None
        return Decision(move, value, (move,), self._ours(table), playouts=first.playouts, depth=self.budget.depth)

    def _search(self, theirs: Any, rng: np.ndarray) -> FoundAction:
        return self.agent.search(theirs, self.budget, int(next_word(rng) >> np.uint64(33)))

    def _ours(self, table: MoveStatistics | None) -> MoveStatistics | None:
        if table is None:
            return None
        moves = np.array([self.mirror.move_of([action]) for action in table.moves.tolist()], np.int32)
        return table._replace(moves=moves, means=table.means / self.most)


@dataclass(frozen=True)
class OpenSpielMCTS(Searcher):
    """OpenSpiel's Monte-Carlo tree search in C++, with random playouts; it keeps no tree from move to move.

    Its first playout tries no move, so it makes at least two.

    exploration: the factor of UCB1's second term, for rewards from -1 to 1
    rollouts: random playouts from each leaf; together they count as one playout of the budget
    solve: whether proven positions are searched no further
    memory: MB for its tree
    """

    exploration: float = 2.0
    rollouts: int = 1
    solve: bool = True
    memory: int = 1000
    playouts: int | None = None
    seconds: float | None = None

    name: ClassVar[str] = "openspiel_mcts"
    budgets: ClassVar[tuple[str, ...]] = ("playouts", "seconds")

    def __post_init__(self):
        super().__post_init__()
        check_range("exploration", self.exploration, 0)
        check_range("rollouts", self.rollouts, 1, 1 << 20)
        check_range("memory", self.memory, 1, 1 << 24)

    def search(self, state: Any, budget: Budget, seed: int) -> FoundAction:
        evaluator = pyspiel.RandomRolloutEvaluator(self.rollouts, seed)
        most = ENDLESS if budget.playouts is None else max(budget.playouts, LEAST)
        limits = most, self.memory, self.solve, seed, False
        policy, seconds = pyspiel.ChildSelectionPolicy.UCT, -1.0 if budget.seconds is None else budget.seconds
        bot = pyspiel.MCTSBot(state.get_game(), evaluator, self.exploration, *limits, policy, seconds)
        root, player = bot.mcts_search(state), state.current_player()
        visits = np.array([child.explore_count for child in root.children], np.int64)
        sums = np.array([child.total_reward for child in root.children])
        table = MoveStatistics(
            np.array([child.action for child in root.children]),
            visits,
            np.where(visits > 0, sums / np.maximum(visits, 1), np.nan),
        )
        best = root.best_child()
        value = best.outcome[player] if best.outcome else best.total_reward / max(best.explore_count, 1)
        return FoundAction(best.action, float(value), int(root.explore_count), table)


@dataclass(frozen=True)
class OpenSpielAlphaBeta(Searcher):
    """OpenSpiel's alpha-beta in Python, without move ordering or table; beyond its depth, a position counts as a draw.

    It searches small games to the end; its depth counts actions, which may be several per move.
    """

    depth: int | None = None

    name: ClassVar[str] = "openspiel_alphabeta"
    budgets: ClassVar[tuple[str, ...]] = ("depth",)
    needs: ClassVar[Needs] = Needs(chance=False, kernels=False)

    def search(self, state: Any, budget: Budget, seed: int) -> FoundAction:
        from open_spiel.python.algorithms.minimax import alpha_beta_search

        value, action = alpha_beta_search(state.get_game(), state, lambda state: 0.0, budget.depth)
        return FoundAction(action, float(value))
