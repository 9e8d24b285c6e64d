"""Compares two reports of the bench: ratios of speeds, and which changed by more than noise.

A row's noise is the range of its chunks' speeds over their median.  A row is slower if its median has dropped by more
than LEAST and by more than the noise of either measurement, and faster if the reverse holds.
"""

import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from arena.games.core.files import read_bounded
from arena.study.bench import BenchError, Subject, measure

LEAST = 0.05  # the smallest change that counts


def read_report(path: Path) -> dict:
    """A report of `arena bench --output`; BenchError if the file holds none."""
    try:
        report = json.loads(read_bounded(path))
        for row in _rows(report):
            if not (row["game"] and statistics.median(row["chunks"]) > 0):
                raise ValueError("a row without speeds")
        int(report["signature"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BenchError(f"{path} holds no report of arena bench --output: {error!r}") from None
    return report


def subjects_of(report: dict) -> list[Subject]:
    """The subjects of a report's rows."""
    return [_key(row) for row in _rows(report)]


def compare(new: dict, old: dict) -> list[dict]:
    """A row for each subject of both reports: game, agent, old, new, ratio, noise, verdict.

    Speeds are in units a second of processor time, ratio is new / old, noise is the larger of both; the verdict is
    slower, faster, or "".
    """
    before = {_key(row): row for row in _rows(old)}
    both = [(row, before[_key(row)]) for row in _rows(new) if _key(row) in before]
    return [_compared(row, past) for row, past in both]


def _rows(report: dict) -> list[dict]:
    return [*report["games"], *report["agents"]]


def _key(row: dict) -> Subject:
    return Subject(row["game"], row.get("agent"))


def _compared(row: dict, past: dict) -> dict:
    new, old = (statistics.median(one["chunks"]) for one in (row, past))
    ratio, noise = new / old, max(_noise(row["chunks"]), _noise(past["chunks"]))
    beyond = max(LEAST, noise)
    verdict = "slower" if ratio < 1 - beyond else "faster" if 1 / ratio < 1 - beyond else ""
    return _key(row)._asdict() | {"old": old, "new": new, "ratio": ratio, "noise": noise, "verdict": verdict}


def _noise(speeds: Sequence[float]) -> float:
    return (max(speeds) - min(speeds)) / statistics.median(speeds)


def changed(new: dict, old: dict) -> list[Subject]:
    """The subjects whose signatures differ: they do other work than before."""
    before = {_key(row): row.get("signature") for row in _rows(old)}
    rows = _rows(new)
    return [_key(row) for row in rows if before.get(_key(row), row["signature"]) != row["signature"]]


def look_again(new: dict, old: dict, versions: Sequence, seconds: float, show: Callable[[str], None]) -> None:
    """Measure once more the rows that look slower, and add the chunks to both reports.

    versions: the new one and, if at hand, the old one.  A machine busy for a while widens the noise: no slow-down.
    """
    for row in [row for row in compare(new, old) if row["verdict"] == "slower"]:
        subject = Subject(row["game"], row["agent"])
        show(f"measuring {subject.agent or 'playouts'} on {subject.game} once more")
        for report, again in zip((new, old), measure(versions, subject, seconds)):
            if again and "chunks" in again:
                next(row for row in _rows(report) if _key(row) == subject)["chunks"] += again["chunks"]
