"""Text from outside, for readers that obey some of it: terminals control characters, spreadsheets formulas."""

import re
import unicodedata

FORMULA = re.compile(r"'*[=+\-@\t\r]")  # behind apostrophes, so that `guarded` can be undone
LONG_WORD, LONGEST = re.compile(r"(\S{100})\S{100,}(\S{20})"), 2000  # characters of a message
BEGINNINGS = "'=+-@\t\r"  # of what FORMULA matches: quicker to look at

# JSON leaves them as they are, unlike those below
JSON_ESCAPES = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}


def printable(text: str) -> str:
    """`text` with line breaks; any other character that does not print becomes its escape (`\\x1b`)."""
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(letter: str) -> str:
    if letter == "\n" or letter.isprintable() or unicodedata.category(letter) == "Zs":
        return letter
    return letter.encode("unicode_escape").decode()


def one_line(message: str) -> str:
    """A message that may quote a file: without line breaks, and what is too long in it shortened."""
    text = LONG_WORD.sub(r"\1...\2", " ".join(message.split()))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def guarded(text: str) -> str:
    """The text with an apostrophe before the sign that would make it a formula."""
    return f"'{text}" if text[:1] in BEGINNINGS and FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """The text before `guarded` changed it."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text
