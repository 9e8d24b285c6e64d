"""Results as people write them: `1-0`, `½–½`, `0.5-0.5`, `+/-`, `1-0 ff`, `White wins`, `0.50`; and as we do."""

import functools
import re

RESULTS = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1", None: "*"}
KNOWN = f"{', '.join(RESULTS.values())}, 1, 0.5, 0, white, black or draw"  # for messages
POINTS = {"1": 1.0, "0": 0.0, "0.5": 0.5, ".5": 0.5, "1/2": 0.5, "+": 1.0, "-": 0.0, "=": 0.5}
WORDS = {
    **dict.fromkeys(("white", "first", "w", "win", "won"), 1.0),
    **dict.fromkeys(("black", "second", "b", "l", "loss", "lost"), 0.0),
    **dict.fromkeys(("draw", "drawn", "d", "tie", "tied", "jigo"), 0.5),
    **dict.fromkeys(("", "*", "?", "unfinished", "unknown", "ongoing", "void"), None),
}
DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-") | {"½": "1/2", ",": "."})
FORFEIT = re.compile(r"(?<=\d)\s*\(?(?:ff?|forfeit|w/?o|default)\)?$")
PAIR = re.compile(r"([\d./+=]+|-)\s*[-:/]\s*([\d./+=]+|-)|(1/2)\s*[-:]\s*(1/2)")


@functools.lru_cache(1 << 10)
def outcome_of(text: str) -> float | None:
    """The first player's 1, 0.5 or 0, White being the first; None for a game without a result.

    ValueError if the text says none of these.
    """
    word = FORFEIT.sub("", text.strip().lower().translate(DASHES))
    alone = re.sub(r"\s+(?:wins?|won)\b.*|\s+victory$", "", word) if word[:1].isalpha() else word
    if alone in WORDS:
        return WORDS[alone]
    if word not in "+-=" and (point := _point(word)) is not None:
        return point
    if pair := PAIR.fullmatch(word):
        first, second = (_point(part) for part in pair.groups() if part is not None)
        if first is not None and second is not None and first + second == 1.0:
            return first
    raise ValueError(f"the result {short(text)} is not one of {KNOWN}")


def _point(text: str) -> float | None:
    """Half a point, a whole one or none; None if the text is no such number."""
    if text in POINTS:
        return POINTS[text]
    return float(text) if re.fullmatch(r"(?:0|1)?\.(?:0+|50*)", text) and float(text) in (0.0, 0.5, 1.0) else None


def short(value) -> str:
    """What was given, for a message."""
    text = repr(value[:60] if isinstance(value, str) else value)
    return text if len(text) <= 60 else text[:57] + "..."
