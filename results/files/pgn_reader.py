"""Games from PGN as people and programs write it: archives, exports of servers, logs of tournaments.

Nothing is stored as something else: tags belong to their game, also to one without moves; lines in brackets are never
moves.  A game that cannot be stored costs no other game.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from arena.results.database.record import GameRecord
from arena.results.files.exchange import RESULTS, leave_out, numbered, numbered_lines

TAG = r'\[\s*([^\s"\[\]]+)\s+"((?:[^"\\]|\\.)*)"\s*\]'
PROPER, ONE_TAG = re.compile(rf"(?:{TAG}\s*)+"), re.compile(TAG)
LOOSE = re.compile(r'\[\s*([^\s"\[\]]+)\s+"(.*)"\s*\]')  # with quotes within
BRACKETED = re.compile(r"\[\s*[A-Za-z][\w-]*\s.*")  # no tag, but no moves either
RESULT = "|".join(re.escape(text) for text in RESULTS.values())
GLUED = re.compile(rf"(.*?(?:{RESULT}))\s*(\[\s*[^\s\"\[\]]+\s+\".*)")  # a game's end, and tags of the next one
BRACES, REMARK = re.compile("[{}]"), re.compile("[{;]")
MARK = re.compile(r"(\((?!(?<=\S\()\d\))|(?<!\S\(\d)\))")  # no mark are those of a play: 13/10(2)
MOVE_NUMBER = re.compile(r"\b\d+\.[.\s]*(?=\s|[^\d\s]|$)|(?<!\S)\.+(?!\S)")
NAG = re.compile(r"\$\d+")
SIGNS = re.compile(r"[!?]+|=|\+/?=|=/?\+|\+/?-|-/?\+|[±∓⩲⩱∞]|T?N|e\.p\.|\(?=\)?")
NO_ROUND = ("", "?", "-")
HELD = ("White", "Black", "Result", "PlyCount", "Reason", "GameId")  # tags that records hold otherwise

Judge = Callable[[Mapping[str, str], list[str]], tuple[list[str], str | None, str]]
"""From tags and moves: the moves by their names, the result by the rules where they say one, and a note, or \"\"."""


class Found(NamedTuple):
    """A game as it stands in the text."""

    line: int
    tags: dict[str, str]
    moves: list[str]
    end: str  # the result behind the moves, or ""
    fault: str  # why the game cannot be read, or ""


def from_pgn(
    text: str, judge: Judge | None = None, left_out: list[str] | None = None, notes: list[str] | None = None
) -> list[GameRecord]:
    """The games with a result: players, result, moves.

    judge: takes the tags and moves of each game; its ValueError says what is wrong with them
    left_out: gets a line for each game that is left out, which is an ExchangeError without such a list
    notes: gets a line for each game that was stored otherwise than it says

    Two games of one event and round between two players, with colours exchanged, are a pair, as are those of the rounds
    N.1 and N.2.
    """
    games, pairs = [], dict[tuple, int]()
    for found in games_in(text):
        try:
            moves, result, note = _judged(found, judge)
        except ValueError as error:
            leave_out(f"line {found.line}: {error}", left_out)
            continue
        if note and notes is not None:
            notes.append(f"line {found.line}: {note}")
        tags = found.tags
        row = found.line, tags["White"], tags["Black"], result, "", _pair(tags, pairs), "", " ".join(moves)
        games.append((*row, _kept(tags)))
    return numbered(games, left_out)


def _kept(tags: Mapping[str, str]) -> str:
    """The tags that a record does not hold otherwise, as text, to be written again."""
    kept = {name: value for name, value in tags.items() if name not in HELD and value.strip("?.- ")}
    return " ".join(f'[{name} "{quoted(value)}"]' for name, value in kept.items() if (name + value).isprintable())


def quoted(text) -> str:
    """As the value of a tag."""
    return str(text).replace("\\", "\\\\").replace('"', '\\"')


def tags_of(text: str) -> dict[str, str]:
    """The tags that a text holds, one behind the other."""
    return {name: re.sub(r"\\(.)", r"\1", value) for name, value in ONE_TAG.findall(text)}


def _judged(found: Found, judge: Judge | None) -> tuple[list[str], str, str]:
    """(moves, result, note); ValueError says why the game cannot be stored."""
    if not found.tags:
        raise ValueError('is not PGN: a game begins with tags such as [White "name"]')
    if missing := [name for name in ("White", "Black", "Result") if name not in found.tags]:
        raise ValueError(f"this game has no tag {', '.join(missing)}")
    if found.fault:
        raise ValueError(found.fault)
    stated = found.tags["Result"].strip()
    if judge is None:
        differ = found.end not in ("", "*", stated)
        return found.moves, stated, f"the tag says {stated}, the end {found.end}: stored by the tag" if differ else ""
    moves, result, note = judge(found.tags, found.moves)
    if result is None and found.end not in ("", "*", stated):
        note = f"the tag says {stated}, the end {found.end}: stored by the tag"
    return moves, result or stated, note


def _pair(tags: Mapping[str, str], pairs: dict[tuple, int]) -> str:
    """What tells the pair that a game belongs to, "" for none.

    pairs: counts the games so far, by round and colours; the first ones with either colours are a pair, and so on
    """
    round_, where = tags.get("Round", "").strip(), (tags.get("Event", ""), tags.get("Site", ""))
    front, _, part = round_.rpartition(".")
    if part.isdigit() and front:
        return repr((where, front))
    if round_ in NO_ROUND:
        return ""
    key = (where, round_, tags.get("FEN"), tags["White"], tags["Black"])
    pairs[key] = pairs.get(key, 0) + 1
    return repr((key[:3], pairs[key]))


def games_in(text: str) -> Iterator[Found]:
    """The games of a file as they stand there, with their faults."""
    begin, tags, moves = 1, dict[str, str](), list[tuple[int, str]]()
    gap = open_ = blank = False  # a blank line behind the tags; whether a comment goes on; whether the last was blank
    for number, line in _parted(text):
        word = line.strip()
        if line.startswith("%"):
            continue
        # a comment that does not end costs one game: a header begins behind a blank line
        own = None if open_ and not (blank and word.startswith("[Event ")) else _tags(word)
        blank = not word
        if own is not None:
            if _has_moves(moves) or (gap and not own.keys().isdisjoint(tags)) or "Event" in own.keys() & tags.keys():
                if tags or _has_moves(moves):
                    yield _found(begin, tags, moves)
                tags, moves, open_ = {}, [], False
            begin, gap = begin if tags else number, False
            tags |= own
        elif not word:
            gap = bool(tags)
        elif open_ or not BRACKETED.fullmatch(word):
            begin = begin if tags or moves else number
            moves.append((number, line))
            open_ = _without_comments("{" + line if open_ else line)[1]
    if tags or _has_moves(moves):
        yield _found(begin, tags, moves)


def _parted(text: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers; one in which a game ends and another begins is two."""
    for number, line in numbered_lines(text.replace("\r\n", "\n").replace("\r", "\n")):
        if "[" in line and (glued := GLUED.fullmatch(line)):
            yield number, glued[1]
            yield number, glued[2]
        else:
            yield number, line


def _tags(word: str) -> dict[str, str] | None:
    """The tags of a line; None if it has other things."""
    if not word.startswith("["):
        return None
    if PROPER.fullmatch(word):
        return tags_of(word)
    found = LOOSE.fullmatch(word)
    return {found[1]: found[2]} if found else None


def _has_moves(moves: list[tuple[int, str]]) -> bool:
    return bool(_without_comments("\n".join(line for _, line in moves))[0].strip())


def _without_comments(text: str) -> tuple[str, bool]:
    """The text with a blank for each comment, and whether the last one does not end.

    Braces in braces are one comment where as many end as begin.
    """
    parts, place = [], 0
    while begin := REMARK.search(text, place):
        parts.append(text[place : begin.start()])
        if begin[0] == ";":
            place = text.find("\n", begin.end())
            if place < 0:
                return " ".join(parts), False
            continue
        end, inner = text.find("}", begin.end()), text.find("{", begin.end())
        if end < 0:
            return " ".join(parts), True
        after = BRACES.search(text, end + 1) if 0 <= inner < end else None
        place = after.end() if after and after[0] == "}" else end + 1
    return " ".join([*parts, text[place:]]), False


def _found(line: int, tags: dict[str, str], lines: list[tuple[int, str]]) -> Found:
    """A game without numbers, comments, variations and marks."""
    text, open_ = _without_comments("\n".join(text for _, text in lines))
    fault, words, depth = "the comment does not end" if open_ else "", list[str](), 0
    for part in MARK.split(NAG.sub(" ", text)):
        if part == "(":
            depth += 1
        elif part == ")":
            depth -= 1
            fault = fault or (") ends what has not begun" if depth < 0 else "")
        elif depth == 0:
            words += MOVE_NUMBER.sub(" ", part).split()
    if "}" in text:
        fault = fault or "} ends what has not begun"
    if depth > 0:
        fault = fault or "the variation does not end"
    end = next((word for word in reversed(words) if word in RESULTS.values()), "")
    moves = [word.rstrip("!?") for word in words if word not in RESULTS.values() and not SIGNS.fullmatch(word)]
    return Found(line, tags, _unnumbered(moves), end, fault)


def _unnumbered(words: list[str]) -> list[str]:
    """Without numbers that stand alone before each first player's move: `1 e4 e5 2 Nf3`."""
    numbers = words[::3]
    plain = all(word == str(count) for count, word in enumerate(numbers, 1))
    others = [word for place, word in enumerate(words) if place % 3]
    return others if plain and others and not all(word.isdigit() for word in others) else words
