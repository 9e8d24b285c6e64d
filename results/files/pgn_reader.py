"""Games from PGN as people and programs write it: archives, exports of servers, logs of tournaments.

Nothing is stored as something else: tags belong to their game, also to one without moves; lines in brackets are never
moves.  A game that cannot be stored costs no other game.
"""

import json
import re
from collections import deque
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
MARKER = "\0"  # in front of the number of a comment
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
    comments: dict[int, str] = {}  # behind the move of each ply, from 0; -1: before the first


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
    games, pairs = deque[tuple](), dict[tuple, int]()
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
        games.append((*row, _kept(tags, found.comments)))
    return numbered((games.popleft() for _ in range(len(games))), left_out)  # which need not be kept beside the records


def _kept(tags: Mapping[str, str], comments: Mapping[int, str]) -> str:
    """What a record does not hold otherwise, as text, to be written again: tags, then comments by ply in JSON."""
    kept = {name: value for name, value in tags.items() if name not in HELD and value.strip("?. ")}
    parts = [f'[{name} "{quoted(value)}"]' for name, value in kept.items() if (name + value).isprintable()]
    return " ".join([*parts, *([json.dumps(comments, ensure_ascii=False)] if comments else [])])


def comments_of(text: str) -> dict[int, str]:
    """The comments that a text of `_kept` holds, by ply."""
    head = PROPER.match(text)
    rest = text[head.end() if head else 0 :]
    return {int(ply): comment for ply, comment in json.loads(rest).items()} if rest.startswith("{") else {}


def quoted(text) -> str:
    """The text as the value of a tag."""
    return str(text).replace("\\", "\\\\").replace('"', '\\"')


def tags_of(text: str) -> dict[str, str]:
    """The tags that a text holds, one behind the other."""
    head = PROPER.match(text)
    return {name: re.sub(r"\\(.)", r"\1", value) for name, value in ONE_TAG.findall(head[0] if head else "")}


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


def _without_comments(text: str, comments: list[str] | None = None) -> tuple[str, bool]:
    """The text with a blank for each comment, and whether the last one does not end.

    Braces in braces are one comment where as many end as begin.  `comments` gets them, and each leaves a MARKER and its
    number in the text.
    """
    parts, place, open_ = [], 0, False
    while not open_ and (begin := REMARK.search(text, place)):
        parts.append(text[place : begin.start()])
        if begin[0] == ";":
            end = text.find("\n", begin.end())
            end = place = len(text) if end < 0 else end
        else:
            end, inner = text.find("}", begin.end()), text.find("{", begin.end())
            open_ = end < 0
            after = BRACES.search(text, end + 1) if 0 <= inner < end else None
            end = after.start() if after and after[0] == "}" else end
            place = end + 1
        if comments is not None and not open_:
            parts.append(f"{MARKER}{len(comments)}")
            comments.append(text[begin.end() : end])
    return " ".join(parts if open_ else [*parts, text[place:]]), open_


def _found(line: int, tags: dict[str, str], lines: list[tuple[int, str]]) -> Found:
    """A game without numbers, variations and marks."""
    remarks = list[str]()
    text, open_ = _without_comments("\n".join(text for _, text in lines).replace(MARKER, " "), remarks)
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
    plain = [word for word in words if word not in RESULTS.values() and not SIGNS.fullmatch(word)]
    moves = _unnumbered([word.rstrip("!?") for word in plain if word[0] != MARKER])
    return Found(line, tags, moves, end, fault, _by_ply(plain, moves, remarks) if remarks else {})


def _by_ply(words: list[str], moves: list[str], remarks: list[str]) -> dict[int, str]:
    """The remarks, each at the move that it stands behind."""
    found, ply = dict[int, str](), -1
    for word in words:
        if word[0] != MARKER:
            ply += ply + 1 < len(moves) and word.rstrip("!?") == moves[ply + 1]
        elif text := " ".join(remarks[int(word[1:])].split()):
            text = text.replace("{", "(").replace("}", ")")
            found[ply] = f"{found[ply]} {text}" if ply in found else text
    return {ply: text for ply, text in found.items() if text.isprintable()}


def _unnumbered(words: list[str]) -> list[str]:
    """The words without numbers that stand alone before each first player's move: `1 e4 e5 2 Nf3`."""
    numbers = words[::3]
    plain = all(word == str(count) for count, word in enumerate(numbers, 1))
    others = [word for place, word in enumerate(words) if place % 3]
    return others if plain and others and not all(word.isdigit() for word in others) else words
