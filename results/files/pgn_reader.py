"""Games from PGN as people and programs write it: archives, exports of servers, logs of tournaments.

Nothing is stored as something else: tags belong to their game, also to one without moves; lines in brackets are never
moves.  A game that cannot be stored costs no other game.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from arena.results.database.record import GameRecord
from arena.results.files.exchange import ImportedGame, leave_out, numbered, numbered_lines
from arena.results.files.extras import PROPER, kept, pair_of, tags_of
from arena.results.files.outcomes import DASHES, outcome_of

LOOSE = re.compile(r'\[\s*([^\s"\[\]]+)\s+"(.*)"\s*\]')  # with quotes within
BRACKETED = re.compile(r"\[\s*[A-Za-z][\w-]*\s.*")  # no tag, but no moves either
RESULT = rf"1/2-1/2|1/2|½-½|½|1-0|0-1|{re.escape('0.5-0.5')}|\*"
TWO_POINTS = {"2-0": "1-0", "1-1": "1/2-1/2", "0-2": "0-1"}
ENDS = re.compile(RESULT)
ENDS_OF_DRAUGHTS = re.compile("|".join([RESULT, *TWO_POINTS]))
GLUED = re.compile(rf"(.*?(?:{RESULT}))\s*(\[\s*[^\s\"\[\]]+\s+\".*)")  # a game's end, and tags of the next one
BRACES, REMARK = re.compile("[{}]"), re.compile("[{;]")
MARKER = "\0"  # in front of the number of a comment
MARK = re.compile(r"(\((?!(?<=\S\()\d\))|(?<!\S\(\d)\))")  # no mark are those of a play: 13/10(2)
MOVE_NUMBER = re.compile(r"\b\d+\.[.\s]*(?=\s|[^\d\s]|$)|(?<!\S)\.+(?!\S)")
NAG = re.compile(r"\$\d+")
SIGNS = re.compile(r"[!?]+|=|\+/?=|=/?\+|\+/?-|-/?\+|[±∓⩲⩱∞]|T?N|e\.p\.|\(?=\)?")
HELD = ("White", "Black", "Result", "PlyCount", "Reason", "GameId")  # tags that records hold otherwise

Judged = tuple[str, str, list[str], float | None, str]
"""The game, the word of the position that it begins from or \"\", moves by their names, outcome, and a note or \"\"."""
Judge = Callable[[Mapping[str, str], list[str], float | None, str], Judged]
"""From tags, moves, the outcome and its words."""


class PgnGame(NamedTuple):
    """A game as it stands in the text."""

    line: int
    tags: dict[str, str]
    moves: list[str]
    end: str  # the result behind the moves, or ""
    fault: str  # why the game cannot be read, or ""
    comments: dict[int, str] = {}  # behind the move of each ply, from 0; -1: before the first


def from_pgn(
    text: str,
    judge: Judge | None = None,
    left_out: list[str] | None = None,
    notes: list[str] | None = None,
    conditions: dict[str, int] | None = None,
    first: str = "White",
) -> list[GameRecord]:
    """The games with a result: players, result, moves.

    judge: takes the tags and moves of each game; its ValueError says what is wrong with them
    left_out: gets a line for each game that is left out, which is an ExchangeError without such a list
    notes: gets a line for each game that was stored otherwise than it says
    conditions: as of `numbered`
    first: the tag of the player who moves first: Black in the PDN of draughts, where a win may count two points

    Two games of one event and round between two players, with colours exchanged, are a pair, as are those of the rounds
    N.1 and N.2.
    """
    games, pairs = deque[ImportedGame](), dict[tuple, int]()
    for found in games_in(text, ENDS if first == "White" else ENDS_OF_DRAUGHTS):
        place, tags = f"line {found.line}", found.tags
        try:
            game, start, moves, outcome, note = _judged(found, judge, first)
        except ValueError as error:
            leave_out(f"{place}: {error}", left_out)
            continue
        if note and notes is not None:
            notes.append(f"{place}: {note}")
        players = tags[first], tags["White" if first == "Black" else "Black"]
        comments = found.comments if len(moves) == len(found.moves) else {}  # else it is not known where they belong
        row = place, *players, outcome, game, pair_of(tags, *players, pairs), start, " ".join(moves)
        games.append(ImportedGame(*row, kept(tags, comments, HELD)))
    return numbered(
        (games.popleft() for _ in range(len(games))), left_out, conditions
    )  # which need not be kept beside the records


def _judged(found: PgnGame, judge: Judge | None, first: str) -> Judged:
    """ValueError says why the game cannot be stored."""
    if not found.tags:
        raise ValueError('is not PGN: a game begins with tags such as [White "name"]')
    if missing := [name for name in ("White", "Black") if name not in found.tags]:
        raise ValueError(f"this game has no tag {', '.join(missing)}")
    if found.fault:
        raise ValueError(found.fault)
    if first == "Black" and not found.moves and "GameType" not in found.tags:
        raise ValueError("has no moves, and no GameType: it may be of another game of draughts")
    stated = found.tags.get("Result", "").strip("? ")
    said = stated or found.end
    if first == "Black":
        said = TWO_POINTS.get(said, said)
    outcome, end = outcome_of(said), outcome_of(TWO_POINTS.get(found.end, found.end))
    game, start, moves, by_rules, note = "", "", found.moves, outcome, ""
    if judge is not None:
        game, start, moves, by_rules, note = judge(found.tags, found.moves, outcome, said)
    if by_rules == outcome and end not in (None, outcome):
        note = f"the tag says {stated}, the end {found.end}: stored by the tag"
    return game, start, moves, by_rules, note


def games_in(text: str, ends: re.Pattern = ENDS) -> Iterator[PgnGame]:
    """The games of a file as they stand there, with their faults; `ends`: words that are results, and no moves."""
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
                    yield _pgn_game(begin, tags, moves, ends)
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
        yield _pgn_game(begin, tags, moves, ends)


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


def moves_in(text: str) -> list[str]:
    """The moves of a line, without numbers, comments, variations and marks."""
    return _pgn_game(0, {}, [(0, text)]).moves


def _pgn_game(line: int, tags: dict[str, str], lines: list[tuple[int, str]], ends: re.Pattern = ENDS) -> PgnGame:
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
    results = [ends.fullmatch(word.translate(DASHES)) if word[0] in "012½*" else None for word in words]
    end = next((result[0] for result in reversed(results) if result), "")
    plain = [word for word, result in zip(words, results) if not result and not SIGNS.fullmatch(word)]
    moves = _unnumbered([word.rstrip("!?") for word in plain if word[0] != MARKER])
    return PgnGame(line, tags, moves, end, fault, _by_ply(plain, moves, remarks) if remarks else {})


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
