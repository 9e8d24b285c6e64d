"""Two reports of the bench compared: ratios of speeds, and which of them are slower beyond noise.

The speeds of a row are those of its chunks.  Its noise is their range, the largest less the smallest, as a share of the
median.  A row is slower if its median is lower than before by more than LEAST and by more than the noise of either
measurement; faster, if the other way round.
"""

import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from arena.study.bench import BenchError, Subject, measure
from games.core.files import read_bounded

LEAST = 0.05  # the smallest difference that counts


def read_report(path: Path) -> dict:
    """A report that `arena bench --output` wrote; BenchError if the file holds none."""
    try:
        report = json.loads(read_bounded(path))
        for row in [*report["games"], *report["agents"]]:
            if not (row["game"] and statistics.median(row["chunks"]) > 0):
                raise ValueError("a row without speeds")
        int(report["signature"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BenchError(f"{path} holds no report of arena bench --output: {error!r}") from None
    return report


def subjects_of(report: dict) -> list[Subject]:
    """What a report's rows have measured."""
    return [_key(row) for row in [*report["games"], *report["agents"]]]


def compare(new: dict, old: dict) -> list[dict]:
    """A row for each that both reports have: game, agent, old, new, ratio, noise, verdict.

    Speeds are in units a second of processor time, the ratio is new to old, the noise is the larger of both.  The
    verdict is slower, faster, or nothing.
    """
    before = {_key(row): row for row in [*old["games"], *old["agents"]]}
    both = [(row, before[_key(row)]) for row in [*new["games"], *new["agents"]] if _key(row) in before]
    return [_compared(row, past) for row, past in both]


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
    """The rows of both reports whose signatures differ: they do other work than before."""
    before = {_key(row): row.get("signature") for row in [*old["games"], *old["agents"]]}
    rows = [*new["games"], *new["agents"]]
    return [_key(row) for row in rows if before.get(_key(row), row["signature"]) != row["signature"]]


def look_again(new: dict, old: dict, versions: Sequence, seconds: float, show: Callable[[str], None]) -> None:
    """Measure once more what looks slower, and add the chunks to both reports.

    `versions` are the new one and, if the old one is at hand, the old one.  A machine that was busy for a while does
    not make a slow-down so, because it widens the noise.
    """
    for row in [row for row in compare(new, old) if row["verdict"] == "slower"]:
        subject = Subject(row["game"], row["agent"])
        show(f"measuring {subject.agent or 'playouts'} on {subject.game} once more")
        for report, again in zip((new, old), measure(versions, subject, seconds)):
            if again and "chunks" in again:
                _find(report, subject)["chunks"] += again["chunks"]


def _find(report: dict, subject: Subject) -> dict:
    return next(row for row in [*report["games"], *report["agents"]] if _key(row) == subject)
