"""What an imported game's record holds besides players, result and moves, as text: tags, then comments; and pairs."""

import json
import re
from collections.abc import Iterable, Mapping

from arena.results.database.record import GameRecord

TAG = r'\[\s*([^\s"\[\]]+)\s+"((?:[^"\\]|\\.)*+)"\s*\]'
PROPER, ONE_TAG = re.compile(rf"(?:{TAG}\s*)++"), re.compile(TAG)
NO_ROUND = ("", "?", "-")


def kept(tags: Mapping[str, str], comments: Mapping[int, str], held: Iterable[str] = ()) -> str:
    """The text: tags that say something and are not held otherwise, then comments by ply in JSON."""
    own = {name: value for name, value in sorted(tags.items()) if name not in held and value.strip("?. ")}
    parts = [f'[{name} "{quoted(value)}"]' for name, value in own.items() if (name + value).isprintable()]
    return " ".join([*parts, *([json.dumps(comments, ensure_ascii=False)] if comments else [])])


def comments_of(text: str) -> dict[int, str]:
    """The comments that a text of `kept` holds, by ply."""
    head = PROPER.match(text)
    rest = text[head.end() if head else 0 :]
    return {int(ply): comment for ply, comment in json.loads(rest).items()} if rest.startswith("{") else {}


def tags_of(text: str) -> dict[str, str]:
    """The tags that a text holds, one behind the other."""
    head = PROPER.match(text)
    return {name: re.sub(r"\\(.)", r"\1", value) for name, value in ONE_TAG.findall(head[0] if head else "")}


def quoted(text) -> str:
    """The text as the value of a tag."""
    return str(text).replace("\\", "\\\\").replace('"', '\\"')


def is_position(word: str) -> bool:
    """Whether the first word of a line is a position, as chess has it in FEN."""
    return word.count("/") == 7


def pair_of(tags: Mapping[str, str], first: str, second: str, pairs: dict[tuple, int]) -> str:
    """What tells the pair that a game belongs to, "" for none.

    pairs: counts the games so far, by round and colours; the first ones with either colours are a pair, and so on
    """
    round_, where = tags.get("Round", "").strip(), (tags.get("Event", ""), tags.get("Site", ""))
    front, _, part = round_.rpartition(".")
    if part.isdigit() and front:
        return repr((where, front))
    if round_ in NO_ROUND:
        return ""
    key = (where, round_, tags.get("FEN"), first, second)
    pairs[key] = pairs.get(key, 0) + 1
    return repr((key[:3], pairs[key]))


def round_of(record: GameRecord) -> str:
    """Opening and number, such as `3.7`: games of a pair differ in the last part alone; behind the first condition,
    with the condition in front.
    """
    condition = [record.condition + 1] if record.condition else []
    return ".".join(map(str, (*condition, record.opening + 1, record.number + 1)))
