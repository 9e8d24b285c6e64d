"""Where a tuning looks next: points that Optuna's samplers propose, and SPSA.

Each is a function of the results so far and a seed alone, so a resumed tuning proposes what an undisturbed one would.
"""

import importlib.util
import itertools
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import qmc, wilcoxon

from arena.config.config import ConfigError
from arena.games.core.shared.seeds import derive_seed
from arena.study.space import Parameter, Space, Values

if TYPE_CHECKING:
    import optuna

SAMPLERS = ("tpe", "gp", "cmaes", "sobol", "spsa")
NEEDS = {"tpe": ("optuna",), "gp": ("optuna", "torch"), "cmaes": ("optuna", "cmaes")}  # libraries
HOPELESS = 0.1  # p-value
INSTALL = "pip install 'search-arena[tune]'"


@dataclass(frozen=True)
class Trial:
    """An agent tried: its values, the step that proposed it, and its results.

    value: mean log-odds of a point won against the opponents; NaN without a result; pairs: points by the number of the
    pair of games
    """

    values: Values
    step: int
    value: float = math.nan
    pairs: dict[int, float] = field(default_factory=dict)


# -- Optuna -----------------------------------------------------------------------------------------------------------


def check(sampler: str, space: Space) -> None:
    """ConfigError if it cannot be used here, or for this space."""
    chosen = [parameter.name for parameter in space.parameters if parameter.choices]
    if sampler not in SAMPLERS:
        raise ConfigError([f"sampler = {sampler!r}: is no sampler; there are {', '.join(SAMPLERS)}"])
    if sampler in ("spsa", "cmaes") and chosen:
        raise ConfigError([f"sampler = {sampler!r}: moves numbers, and {', '.join(chosen)} has choices; take tpe"])
    if sampler == "cmaes" and len(space.parameters) < 2:
        raise ConfigError(["sampler = 'cmaes': is for two parameters or more; take gp or tpe"])
    for library in NEEDS.get(sampler, ()):
        if not has(library):
            install = "pip install torch" if library == "torch" else INSTALL
            raise ConfigError([f"sampler = {sampler!r}: needs {library}: {install}"])


def has(library: str) -> bool:
    """Whether a library is installed."""
    return importlib.util.find_spec(library) is not None


def proposed(sampler: str, space: Space, trials: Sequence[Trial], seed: int, step: int, count: int) -> list[Values]:
    """Values to try next: half spread evenly, so that a surface can be fitted, half of one of Optuna's samplers.

    CMA-ES goes through all earlier steps again, since what it knows is made of them; the others need only the results.
    """
    own = 0 if sampler == "sobol" else (count + 1) // 2
    spread = count - own
    return evenly(space, seed, step * spread, spread) + _asked(sampler, space, trials, seed, step, own)


def evenly(space: Space, seed: int, begin: int, count: int) -> list[Values]:
    """Values number `begin` and so on of a sequence that is spread evenly (Sobol's)."""
    even = qmc.Sobol(len(space.parameters), rng=np.random.default_rng(derive_seed(seed, "sobol")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numbers that are no power of 2
        points = even.random(begin + count)[begin:]
    return [space.values(_chosen(space, point)) for point in points]


def _optuna() -> Any:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _chosen(space: Space, point) -> list[float]:
    """A point whose places of choices are their numbers."""
    return [min(int(place * size), size - 1) if size else place for place, size in zip(point, space.sizes)]


def _asked(sampler, space, trials, seed, step, count) -> list[Values]:
    if not count:
        return []
    optuna = _optuna()
    spread = {parameter.name: _distribution(parameter) for parameter in space.parameters}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of features that Optuna calls experimental
        study = optuna.create_study(direction="maximize", sampler=_sampler(sampler, space, seed, step, count))
        if sampler == "cmaes":
            proposals = [trial for trial in trials if trial.step >= 0]
            for _, together in itertools.groupby(proposals, key=lambda trial: trial.step):
                _tell_again(study, space, spread, list(together)[-count:])
        else:
            known = [trial for trial in trials if not math.isnan(trial.value) and _fits(space, trial)]
            study.add_trials([_told(trial, spread) for trial in known])
        asked = [study.ask(spread).params for _ in range(count)]
    return [{own.name: _rounded(own, one[own.name]) for own in space.parameters} for one in asked]


def _sampler(name: str, space: Space, seed: int, step: int, count: int) -> "optuna.samplers.BaseSampler":
    import optuna

    of_step = derive_seed(seed, f"sampler {step}") % 2**32
    if name == "gp":
        return optuna.samplers.GPSampler(seed=of_step, n_startup_trials=1)
    if name == "tpe":
        return optuna.samplers.TPESampler(seed=of_step, n_startup_trials=count, multivariate=True)
    more: dict[str, Any] = {"n_startup_trials": 0, "warn_independent_sampling": False}
    whole = derive_seed(seed, "sampler") % 2**32
    begin = space.values(space.inner(space.point(space.start())))
    return optuna.samplers.CmaEsSampler(x0=begin, seed=whole, popsize=count, **more)


def _distribution(parameter: Parameter) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if parameter.choices:
        return CategoricalDistribution(parameter.choices)
    if parameter.whole:
        return IntDistribution(int(parameter.low), int(parameter.high), log=parameter.log)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log)


def _rounded(parameter: Parameter, value: Any) -> Any:
    return value if parameter.choices else parameter.value(parameter.place(value))


def _fits(space: Space, trial: Trial) -> bool:
    """Whether it lies within the ranges, which may be narrower than when it was proposed."""
    return all(parameter.holds(trial.values[parameter.name]) for parameter in space.parameters)


def _told(trial: Trial, spread) -> Any:
    import optuna

    return optuna.trial.create_trial(params=trial.values, distributions=spread, value=trial.value)


def _tell_again(study, space: Space, spread, trials: list[Trial]) -> None:
    from optuna.trial import TrialState

    asked = [study.ask(spread) for _ in trials]
    for one, trial in zip(asked, trials):
        if any(_rounded(own, one.params[own.name]) != trial.values[own.name] for own in space.parameters):
            text = "proposes other values than this tuning began with: its ranges, or Optuna, have changed"
            raise ConfigError([f"sampler = 'cmaes': {text}; it cannot go on, the sampler tpe can"])
        if trial.pairs or trial.value == 0.0:  # of its own step alone, as it was told then; 0: it would meet itself
            study.tell(one, float(np.mean([*trial.pairs.values()])) if trial.pairs else 1.0)
        else:
            study.tell(one, state=TrialState.FAIL)


def hopeless(trial: Trial, others: Sequence[Trial]) -> bool:
    """Whether a trial is worse than the best one, pair by pair (Wilcoxon's test, as in Optuna's pruner)."""
    best = max(others, key=lambda other: other.value)
    apart = np.array([points - best.pairs[number] for number, points in trial.pairs.items() if number in best.pairs])
    if not apart.any() or apart.mean() >= 0:
        return False
    return bool(wilcoxon(apart, alternative="less", zero_method="zsplit").pvalue < HOPELESS)


# -- SPSA -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gains:
    """Gains of SPSA, of its last iteration (Spall, IEEE Transactions on Aerospace and Electronic Systems 34, 1998).

    As authors of engines give them: c, the perturbation, as a share of the range; r, over c squared, of the step.  A
    gain falls with the iterations as (A + k) ** -0.602, with A a tenth of them, a perturbation as k ** -0.101.
    """

    c: float = 0.1
    r: float = 0.05

    def at(self, k: int, most: int) -> tuple[float, float]:
        """The step and the perturbation of iteration k of `most`, from 1."""
        tenth = most / 10
        c = self.c * (most / k) ** 0.101
        return self.r * self.c**2 * ((tenth + most) / (tenth + k)) ** 0.602, c


@dataclass(frozen=True)
class Perturbed:
    """An iteration: the point, moved both ways, and how far in each parameter."""

    plus: np.ndarray
    minus: np.ndarray
    shift: np.ndarray
    gain: float


def perturbed(space: Space, point: np.ndarray, gains: Gains, k: int, most: int, seed: int) -> Perturbed:
    """Iteration k at a point; a whole number moves by one at least."""
    rng = np.random.default_rng(derive_seed(seed, f"spsa {k}"))
    gain, c = gains.at(k, most)
    least = [0.75 / (one.high - one.low) if one.whole and not one.log else 0.0 for one in space.parameters]
    shift = rng.choice([-1.0, 1.0], len(point)) * np.maximum(c, least)
    return Perturbed(np.clip(point + shift, 0, 1), np.clip(point - shift, 0, 1), shift, gain)


def stepped(point: np.ndarray, results: Sequence[tuple[Perturbed, float]]) -> np.ndarray:
    """The point after iterations that began at it; each with what the first won less what the second won, a pair."""
    move = sum((one.gain * difference / one.shift for one, difference in results), np.zeros(len(point)))
    return np.clip(point + move, 0, 1)
