"""The record of a game that was played: plain values."""

from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from arena.agents.core.effort import Effort
from arena.results.database.columns import kind_of

if TYPE_CHECKING:
    from arena.agents.core.agent import Decision  # which loads Numba

MOST = 1 << 63  # above the numbers of a decision, as of SQLite's integers


class Reason:
    """Why a game ended, as the store and the tables say it."""

    PLAYED_OUT = "played out"
    ILLEGAL_MOVE = "illegal move"  # forfeit
    EXCEPTION = "exception"  # forfeit: the mover raised an exception
    TIME = "time"  # forfeit: beyond its seconds a move, or its clock
    DIED = "died"  # forfeit: the mover ended its process, or broke its connection
    EXCLUDED = "excluded"  # forfeit: the player ended or hung its process twice before play, and is asked no more
    CRASH = "crash"  # void: twice, by code of unknown origin
    RULES = "rules"  # void: the rules of the game failed
    HANG = "hang"  # void: beyond its time limit, twice
    RESIGNED = "resigned"  # a person, or a program, gave up
    ADJUDICATED_WIN = "adjudicated win"  # a player took its position for lost
    ADJUDICATED_DRAW = "adjudicated draw"  # both players took the position for a draw
    UNFINISHED = "unfinished"  # void: a person broke it off
    IMPORTED = "imported"  # played elsewhere: the reason is not known

    FORFEITS = (ILLEGAL_MOVE, EXCEPTION, TIME, DIED, EXCLUDED)
    VOIDS = (CRASH, RULES, HANG, UNFINISHED)
    ADJUDICATED = (ADJUDICATED_WIN, ADJUDICATED_DRAW)


@dataclass(frozen=True)
class MoveRecord(Effort):
    """One decision of an agent, and its cost."""

    ply: int  # the first decision's is the number of opening plies
    side: int  # 0 first player, 1 second
    move: str  # in the game's notation
    value: float | None = None  # for the mover, -1 (loss) to 1 (win)
    clock: float | None = None  # seconds after the move, with increment; below 0 is a debt
    candidates: str | None = None  # written by `candidates`

    @classmethod
    def of(cls, ply: int, side: int, move: str, decision: "Decision", **known: Any) -> "MoveRecord":
        """A decision's record, with NumPy's scalars as Python's numbers; `known` can have clock and candidates.

        ValueError for a number that is not finite, does not fit the store, or is a count below 0; TypeError for
        anything but a number.
        """
        return cls(ply=ply, side=side, move=move, **known, **numbers_of(decision))


@cache
def _counted() -> list[tuple[str, type, bool]]:
    """Names, types, and whether they may be missing; cached, since slow."""
    names = {field.name for field in fields(Effort)} | {"value"}
    return [(field.name, *kind_of(field)) for field in fields(MoveRecord) if field.name in names]


def numbers_of(decision: "Decision") -> dict[str, Any]:
    """What a decision counts, and its value, as Python's numbers; errors as of `MoveRecord.of`."""
    return {
        name: _plain(name, kind, value)
        for name, kind, optional in _counted()
        if (value := getattr(decision, name)) is not None or not optional
    }


def exact(kind: type, answer: Any) -> Any:
    """The answer, perhaps one of NumPy's, as an int, float, bool or str; TypeError if it is none, even nearly."""
    if type(answer) is kind:
        return answer
    plain = answer.item() if hasattr(answer, "item") else answer
    if kind is str and isinstance(plain, str):
        return str(plain)
    if kind is not str and isinstance(plain, (bool, int, float)):
        made = kind(plain)
        if made == plain or made != made:
            return made
    raise TypeError(f"{answer!r:.80} is no {kind.__name__}")


def _plain(name, kind, value):
    try:
        number = exact(kind, value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"a decision's {name} is {value!r:.80}, which is no {kind.__name__}") from None
    if not abs(number) < MOST:  # nan is not either
        raise ValueError(f"a decision's {name} is {number}, which is no finite number below 2**63")
    if number < 0 and name != "value":
        raise ValueError(f"a decision's {name} is {number}; it can be 0 or more")
    return number


@dataclass(frozen=True)
class ImprovementRecord:
    """A new best score of an agent that plays by itself."""

    playouts: int  # of the agent in this run, when found
    seconds: float  # of its thinking, to a few hundredths
    score: float


@dataclass(frozen=True)
class GameRecord:
    """One game with its decisions; in games for one player, a run of one agent."""

    id: str  # known before play, unique in its tournament
    number: int  # in the schedule, from 0
    condition: int  # game and budget, from 0; see `conditions`
    opening: int  # from 0; shared by a pair, with sides swapped; for one player the run
    seed: int  # unsigned 64 bits
    first: str  # name of the first mover
    second: str | None  # None in a game for one player
    outcome: float | None  # of the first player: 1, 0.5, 0; None when void, or one player
    score: float | None  # the game's own, for the first player; None unless played out
    reason: str  # one of Reason
    detail: str  # of a forfeit, a void or an adjudication, in a sentence; else empty
    opening_moves: str  # names separated by blanks
    moves: str  # likewise, the agents' own
    plies: int  # opening included
    seconds: float  # wall time, opening excluded
    decisions: tuple[MoveRecord, ...] = ()
    improvements: tuple[ImprovementRecord, ...] = ()


def in_words(record: GameRecord) -> str:
    """How a game has ended."""
    if record.second is None:
        scored = record.score is not None
        return f"Score {record.score:,.10g}." if scored else f"Broken off ({record.reason}): {record.detail}"
    if record.outcome is None:
        return f"Void ({record.reason}): {record.detail}"
    winner = {1.0: f"{record.first} wins", 0.5: "Draw", 0.0: f"{record.second} wins"}[record.outcome]
    detail = "" if record.reason == Reason.IMPORTED else record.detail  # the tags that a file had
    return f"{winner} ({record.reason}{': ' + detail if detail else ''}), after {record.plies} plies."
