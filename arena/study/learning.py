"""Learns an evaluation or a policy, from scratch or a checkpoint, with matches on the way that show progress.

The result depends only on the learner, the seed and the number of games, not on interruptions or looks.
"""

import hashlib
import json
import os
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from arena import agents
from arena.agents.core.agent import Player
from arena.agents.learning.learner import Kernel, Learner
from arena.agents.learning.regression import Run
from arena.agents.learning.trainer import GAMES, POSITIONS, Trainer, new_trainer
from arena.agents.learning.visits import COUNT, LEAST, LOSS, UNIFORM
from arena.agents.montecarlo.uct import UCT
from arena.config.openings import random_line
from arena.games.core.evaluations.network import Network, contents_of, make_orbits, new_network
from arena.games.core.evaluations.network_file import EVALUATION, POLICY, network_bytes
from arena.games.core.game import Game
from arena.games.core.random import stream
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.prepared_file import FILE, changes, checksums, pack, unpack, wrong
from arena.results.statistics.elo import pentanomial
from arena.study.preparing import ENDINGS, game_of

KIND = "learning checkpoint"
PAUSE = 0.5  # seconds between looks at the clock
OPENING = 4  # random plies before a match's games, or fewer
TRIES = 100  # draws of an opening of that length


@dataclass
class Learning:
    """A learner at work on a game.

    about: what determines the result, with the number of games: the learner's name and parameters, the seed, a digest
    """

    game: Game
    learner: Learner
    about: dict[str, Any]
    network: Network
    trainer: Trainer
    kernel: Kernel  # called with a number of games, learns until they are done
    seconds: float = 0.0  # of processor time
    curve: list[dict] = field(default_factory=list)

    @property
    def games(self) -> int:
        """Games learned from; for learners from runs, positions."""
        return int(self.trainer.counts[GAMES])

    def go_on(self, until: int, going_on: Callable[[], bool]) -> bool:
        """Learn until `until` games are done; about twice a second, ask `going_on` whether to continue."""
        chunk = 1
        self.kernel(0)  # compiles
        while self.games < until:
            begun = time.process_time()
            self.kernel(min(self.games + chunk, until))
            spent = time.process_time() - begun
            self.seconds += spent
            chunk = max(1, min(4 * chunk, int(chunk * PAUSE / max(spent, 1e-6))))
            if not going_on():
                return False
        return True

    def card(self) -> dict:
        """The file's origin, which it contains."""
        weights = hashlib.sha256(self.network.weights.tobytes()).hexdigest()[:12]
        learned = {"games": self.games, "positions": int(self.trainer.counts[POSITIONS])} | self.losses()
        return {**self.about, **learned, "seconds": round(self.seconds, 1), "weights": weights} | (
            {"curve": self.curve} if self.curve else {}
        )

    def losses(self) -> dict[str, float]:
        """A policy's cross-entropy in nats over the last positions, before it learned them: its own, the least possible
        (the entropy of the visits), and that of equal probabilities.
        """
        sums = self.trainer.losses
        if sums[COUNT] == 0.0:
            return {}
        means = {name: sums[i] / sums[COUNT] for name, i in (("loss", LOSS), ("least", LEAST), ("uniform", UNIFORM))}
        return {name: round(float(mean), 4) for name, mean in means.items()}

    def contents(self) -> bytes:
        """The bytes of the evaluation's or policy's file."""
        kind = POLICY if self.learner.policy else EVALUATION
        return network_bytes(self.game, replace(self.network, card=self.card()), kind)

    def check_match(self, agent: str) -> None:
        """UserError if no match is possible, before hours of learning."""
        made = agents.make(agent)
        if self.learner.policy and not (isinstance(made, UCT) and not made.methods and made.lanes == 1):
            raise UserError(f"{agent} cannot play with a policy: the agent must be uct, without methods or lanes")
        made.player(self.game).close(None)
        _opening(self.game, stream(0))

    def players(self, agent: str, file: Path) -> list[Player]:
        """The agent with and without what was learned.

        file: holds `contents`; a policy is read from there, as the prior of PUCT
        """
        made = agents.make(agent)
        if not self.learner.policy:
            return [made.player(self.game.with_network(self.network)), made.player(self.game)]
        puct = f"puct(prior={FILE + str(file)!r})"
        return [replace(made, methods=puct).player(self.game), made.player(self.game)]

    def checkpoint(self) -> bytes:
        """The bytes of a file to resume from."""
        trainer = self.trainer
        about = {"about": self.about, "counts": trainer.counts.tolist(), "rng": int(trainer.rng[0])}
        about |= {"seconds": self.seconds, "curve": self.curve, "tuples": self.network.orbits}
        about |= {"losses": trainer.losses.tolist()}
        arrays = b"".join(array.tobytes() for array in (trainer.weights, trainer.errors, trainer.sizes))
        return pack(KIND, self.game, {}, json.dumps(about).encode() + b"\n" + zlib.compress(arrays, 1))

    def resume(self, path: str | os.PathLike) -> None:
        """Restore a checkpoint; UserError if it is of another learner, PreparedFileError if it is damaged."""
        line, _, packed = unpack(KIND, self.game, path)[1].partition(b"\n")
        try:
            about = json.loads(line)
            then, now = about["about"], dict(self.about)
            files = changes(then.pop("files"), now.pop("files"))
            changed = [f"{name} = {then.get(name)!r}, not {now[name]!r}" for name in now if then.get(name) != now[name]]
            counts, rng, seconds, curve = (about[name] for name in ("counts", "rng", "seconds", "curve"))
            arrays = np.frombuffer(zlib.decompress(packed), np.int32).reshape(3, -1)
            self.trainer.counts[:], self.trainer.rng[0], self.trainer.losses[:] = counts, rng, about["losses"]
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, zlib.error):
            raise wrong(KIND, path, "it does not hold what a checkpoint does") from None
        if changed:
            raise UserError(f"{path} was begun with {'; '.join(changed)}")
        if files:
            raise UserError(f"{path} cannot be gone on with: {'; '.join(files)}")
        if arrays.shape[1] != len(self.trainer.weights):
            raise wrong(KIND, path, f"it has {arrays.shape[1]:,} weights, of {len(self.trainer.weights):,}")
        for target, source in zip((self.trainer.weights, self.trainer.errors, self.trainer.sizes), arrays):
            target[:] = source.view(target.dtype)
        self.seconds, self.curve = float(seconds), list(curve)


def default_tuples(game: Game) -> str:
    """Shapes for a game's board: blocks and lines of as many cells as tables can hold."""
    blocks = "3x3 2x4 4x2 lines" if contents_of(game) == 3 else "2x4 4x2 lines"
    return blocks if min(game.grid.shape) > 3 else "2x2 2x3 3x2 lines 1x3 3x1"


def begin(game: Game, learner: Learner, seed: int = 1) -> Learning:
    """A new learner at work; UserError if the game or the learner does not allow it."""
    if game.players != 2 or game.has_chance or not game.has_planes:
        raise UserError(
            f"{game} cannot be learned: it must be for two players, without chance, and have `planes` and `grid`"
        )
    learner = replace(learner, tuples=learner.tuples or default_tuples(game))
    try:
        network = new_network(game, make_orbits(game, learner.tuples), learner.stages)
    except ValueError as error:
        raise UserError(str(error)) from None
    trainer = new_trainer(network, stream(seed, "learn"))
    about = {"learner": learner.name, "seed": seed, **asdict(learner), "data": ""}
    if isinstance(learner, Run):
        states, targets = stored_positions(game, Path(learner.folder))
        about["data"] = hashlib.sha256(states.tobytes() + targets.tobytes()).hexdigest()[:12]
        kernel = learner.kernel(game, network, trainer, (states, targets))
    else:
        kernel = learner.kernel(game, network, trainer)
    about["files"] = checksums(learner.files(game))
    return Learning(game, learner, about, network, trainer, kernel)


def stored_positions(game: Game, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """(dtype[n, state_size], float32[n]): positions of a run's completed games without openings, the first player's
    results.
    """
    from arena import results

    run = results.load(folder)
    if (played := game_of(run)) != game:
        raise UserError(f"the run in {folder} is of {played}, not of {game}")
    states, targets = [], []
    kept = run.games[run.games["reason"].isin(ENDINGS)]
    for opening, line, outcome in zip(kept["opening_moves"], kept["moves"], kept["outcome"]):
        begun, _ = game.from_line(opening)
        _, state = begun.read_line(opening)
        for move in begun.read_line(line, state)[0]:
            states.append(state.copy())
            targets.append(2.0 * outcome - 1.0)
            begun.play(state, move)
    if not states:
        raise UserError(f"the run in {folder} has no games that were played to their end")
    return np.array(states), np.array(targets, np.float32)


def match(
    game: Game, players: Callable[[], list[Player]], count: int, seed: int, going_on: Callable[[], bool] = lambda: True
) -> dict | None:
    """A match of two players, the first with what was learned: score, Elo and its error; None if interrupted.

    players: makes both for a game.  Each random opening is played with both sides; after each game, `going_on` says
    whether to continue.
    """
    rng, points = stream(seed, "match"), []
    for _ in range(max(count // 2, 1)):
        opening = _opening(game, rng)
        scores = []
        for first in (0, 1):
            scores.append(_points(game, players(), opening, first, rng))
            if not going_on():
                return None
        points.append(sum(scores))
    counts = [points.count(half / 2) for half in range(5)]
    found = pentanomial(counts)
    return {"match": 2 * len(points), "score": sum(points) / 2 / len(points), "elo": found.elo, "error": found.error}


def _opening(game, rng) -> list[int]:
    """OPENING random moves, or the most that leave something to play."""
    for plies in range(OPENING, -1, -1):
        for _ in range(TRIES):
            if (line := random_line(game, plies, rng)) is not None:
                return line
    raise UserError(f"{game} is over before the first move: there can be no match")


def _points(game, players: list[Player], opening: list[int], first: int, rng) -> float:
    state = game.initial()
    result: float | None = None
    for move in opening:
        game.play(state, move)
    try:
        for player in players:
            player.start(game, state.copy(), list(opening))
        while not game.is_over(state):
            move = players[int(game.player(state)) ^ first].decide(state.copy(), rng).move
            state = game.after(state, move)
            for player in players:
                player.played(move)
        score = float(game.score(state))
        result = 1.0 if score > 0 else 0.5 if score == 0 else 0.0
        return result if first == 0 else 1.0 - result
    finally:
        for player in players:
            player.close(result)
