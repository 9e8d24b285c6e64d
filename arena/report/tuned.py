"""The figures of a tuning: values against strength, two parameters at once, and the path of SPSA."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from arena.results.statistics.elo import ELO_PER_LOGIT, Z
from arena.results.statistics.surface import Surface
from arena.study.space import Parameter
from arena.study.tuning import Findings

GRID = 61  # places of a curve, and a side of a map
HIGH = 2.0  # inches of a panel
MARKER = 40.0  # square points of the trial with most games
SURFACE, TRIAL, BEFORE = "C0", "C1", "grey"


def kinds(found: Findings) -> dict[str, Callable[[Figure, Findings], None]]:
    """What can be drawn of a tuning, the main figure first."""
    if found.tuning.sampler == "spsa":
        return {"path": _path}
    known: dict[str, Callable[[Figure, Findings], None]] = {"tuning": _values}
    if sum(not one.choices for one in found.space.parameters) > 1:
        known["tuning_pairs"] = _pairs
    return known


def height(found: Findings, kind: str, width: float) -> float:
    """The height in inches that suits a width."""
    numbers = len(found.space.parameters)
    panels = numbers * (numbers - 1) // 2 if kind == "tuning_pairs" else numbers
    return 0.3 + HIGH * -(-panels // _columns(width))


def _columns(width: float) -> int:
    return 1 if width < 5 else 2


def _panels(figure: Figure, count: int):
    columns = _columns(figure.get_figwidth())
    axes = figure.subplots(-(-count // columns), columns, squeeze=False).ravel()
    for ax in axes[count:]:
        ax.remove()
    return axes[:count]


def _values(figure: Figure, found: Findings) -> None:
    """A panel for each parameter: trials, the surface with the others at their best, the region of the peak."""
    start = np.array(found.space.point(found.space.start()))
    points, elo, games = _tried(found)
    for number, (ax, own) in enumerate(zip(_panels(figure, len(found.space.parameters)), found.space.parameters)):
        places = np.arange(len(own.choices)) if own.choices else np.linspace(0, 1, GRID)
        line = np.repeat(found.surface.peak[None], len(places), axis=0)
        line[:, number] = places
        mean, error = found.surface.elo(line, start)
        across = _across(own, places)
        size = MARKER * games / games.max()
        ax.scatter(_across(own, points[:, number]), elo, size, color=TRIAL, alpha=0.5, linewidths=0, label="trials")
        if own.choices:
            ax.errorbar(across, mean, Z * error, fmt="o", color=SURFACE, label="surface")
            ax.set_xticks(across, [str(choice) for choice in own.choices])
        else:
            ax.plot(across, mean, marker="", color=SURFACE, label="surface")
            ax.fill_between(across, mean - Z * error, mean + Z * error, color=SURFACE, alpha=0.2, linewidth=0)
            low, high = _across(own, np.array(found.surface.region(number)))
            ax.axvspan(low, high, color=SURFACE, alpha=0.08, linewidth=0)
            ax.axvline(_across(own, found.peak[number]), color=SURFACE, linewidth=1)
            ax.axvline(_across(own, start[number]), color=BEFORE, linestyle=":", linewidth=1)
            if own.log:
                _logarithmic(ax.xaxis)
        inner = np.concatenate([mean, np.quantile(elo[games >= games.max() / 2], (0.05, 0.95))])
        ax.set_ylim(inner.min() - 20, inner.max() + 20)
        ax.set_xlabel(own.name)
        ax.set_ylabel("Elo over the start")


def _tried(found: Findings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(points, Elo, games) of the trials, against all opponents together, on the scale of the surface."""
    results, start = found.results, np.array(found.space.point(found.space.start()))
    names = np.unique(results.one)
    won, games = (np.bincount(results.one, each)[names] for each in (results.won, results.games))
    points = results.points[names]
    elo = np.log((won + 0.5) / (games - won + 0.5)) * ELO_PER_LOGIT
    expected, _ = found.surface.elo(points, start)
    return points, elo + np.average(expected - elo, weights=games), games


def _across(own: Parameter, places: Any) -> Any:
    """The values at places, not rounded."""
    if own.choices:
        return places
    if own.log:
        return own.low * (own.high / own.low) ** places
    return own.low + places * (own.high - own.low)


def _logarithmic(axis) -> None:
    getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def _pairs(figure: Figure, found: Findings) -> None:
    """A map of the surface for each two parameters, the others at their best, with peaks drawn from what is known."""
    surface: Surface = found.surface
    numbers = [number for number, own in enumerate(found.space.parameters) if not own.choices]
    both = list(combinations(numbers, 2))
    start = np.array(found.space.point(found.space.start()))
    one, other = map(np.ravel, np.meshgrid(np.linspace(0, 1, GRID // 2), np.linspace(0, 1, GRID // 2)))
    for ax, (i, j) in zip(_panels(figure, len(both)), both):
        points = np.repeat(surface.peak[None], len(one), axis=0)
        points[:, i], points[:, j] = one, other
        elo, _ = surface.elo(points, start)
        first, second = found.space.parameters[i], found.space.parameters[j]
        shape = GRID // 2, GRID // 2
        x, y = _across(first, one).reshape(shape), _across(second, other).reshape(shape)
        drawn = ax.contourf(x, y, elo.reshape(shape), levels=10, cmap="cividis")
        figure.colorbar(drawn, ax=ax, label="Elo over the start")
        peaks = surface.draws[:200]
        ax.scatter(_across(first, peaks[:, i]), _across(second, peaks[:, j]), 2, color="white", linewidths=0)
        ax.plot(_across(first, surface.peak[i]), _across(second, surface.peak[j]), "+", color="red", markersize=8)
        ax.set(xlabel=first.name, ylabel=second.name)
        for own, axis in ((first, ax.xaxis), (second, ax.yaxis)):
            if own.log:
                _logarithmic(axis)


def _path(figure: Figure, found: Findings) -> None:
    """Where SPSA was before each step, and the mean that it recommends."""
    path = np.array(found.path)
    games = np.arange(len(path)) * 2 * found.tuning.half * found.tuning.at_once * found.tuning.conditions
    for number, (ax, own) in enumerate(zip(_panels(figure, len(found.space.parameters)), found.space.parameters)):
        ax.plot(games, _across(own, path[:, number]), marker="", color=SURFACE)
        ax.axhline(_across(own, found.peak[number]), color=TRIAL, linewidth=1)
        ax.axhline(_across(own, path[0, number]), color=BEFORE, linestyle=":", linewidth=1)
        if own.log:
            _logarithmic(ax.yaxis)
        ax.set(xlabel="games", ylabel=own.name)
