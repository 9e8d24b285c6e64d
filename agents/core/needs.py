"""What an agent requires of a game: one record, checked in one place, with one wording."""

from dataclasses import dataclass

from arena.games.core.game import Game
from arena.games.core.interface.strength import WEIGHTED, WeightsError, weights_in
from arena.games.core.shared.prepared_file import FILE, PreparedFileError

FOR_ONE = ("nmcs", "nrpa", "beam_nrpa", "sp_mcts", "expectimax", "flat", "random")  # agents for games for one player


@dataclass(frozen=True)
class Needs:
    """The games that an agent plays.

    players: numbers of players that the game may be for
    chance: whether the game may have chance
    symmetries: whether it must have symmetries besides the identity (Game.symmetries)
    unstable_moves: whether it must call some moves unstable (Game.is_unstable)
    tabu_playouts: whether it must have tabu playouts (Game.has_tabu_moves)
    evaluation: the name of an evaluation function that it must have; "" is every game's default, and `file:PATH` a
        learned one
    kernels: whether kernels must be able to call the game's methods
    """

    players: tuple[int, ...] = (2,)
    chance: bool = True
    symmetries: bool = False
    unstable_moves: bool = False
    tabu_playouts: bool = False
    evaluation: str = ""
    kernels: bool = True

    def unmet(self, game: Game) -> str | None:
        """The first need that `game` does not meet, to complete "plays games ..."; None if it meets all."""
        if game.players not in self.players:
            what, has = ("for two players", "is for one") if game.players == 1 else ("for one player", "is for two")
            has += f"; {', '.join(FOR_ONE)} play it" if game.players == 1 else ""
        elif game.has_chance and not self.chance:
            what, has = "without chance", "has chance"
        elif self.kernels and not game.compiles:
            what, has = "whose rules kernels can call", "has rules in plain Python"
        elif self.symmetries and game.symmetries == 1:
            what, has = "with symmetries", "has none"
        elif self.unstable_moves and not defines(game, "is_unstable"):
            what, has = "with unstable moves", "calls no move unstable"
        elif self.tabu_playouts and not game.has_tabu_moves:
            what, has = "with tabu playouts", "has no tabu playouts"
        elif self.evaluation.startswith(FILE):
            return self._unreadable(game)
        elif WEIGHTED in self.evaluation:
            return self._unknown_terms(game)
        elif self.evaluation and self.evaluation not in game.evaluations():
            what = f"with evaluation = {self.evaluation!r}"
            has = f"has {', '.join(game.evaluations()) or 'only its default'}"
        else:
            return None
        return f"{what}, and {game} {has}"

    def _unreadable(self, game: Game) -> str | None:
        try:
            game.with_evaluation(self.evaluation)
        except PreparedFileError as error:
            return f"with an evaluation from a file, but {error}"
        return None

    def _unknown_terms(self, game: Game) -> str | None:
        try:
            weights_in(self.evaluation, game.term_weights)
        except WeightsError as error:
            return f"whose terms have weights, but {error}"
        return None


def unscored(agent, game: Game) -> str | None:
    """Why an agent with the parameter `scores` cannot play a game: it would play for wins, alone."""
    if game.players == 1 and not agent.scores:
        return f"{game} is played for its score: say {agent.name}(scores=true)"
    return None


def defines(game: Game, method: str) -> bool:
    """Whether the game's class defines the method itself."""
    return getattr(type(game), method, None) is not getattr(Game, method, None)
