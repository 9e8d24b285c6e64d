"""Bytes of other programs' files as text."""

import codecs
import re
import unicodedata
from contextlib import suppress

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MARK, BLANK = "\ufeff", "\xa0"  # the byte-order mark, and the no-break blank


def decoded(data: bytes) -> str:
    """The text of UTF-8 or UTF-16, or if it is neither of Windows-1252, which has Latin-1's letters.

    No-break blanks become blanks.
    """
    try:
        text = data.decode("utf-16" if data.startswith(UTF_16) else "utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    return _composed(text).replace(BLANK, " ")


def declared(data: bytes) -> str:
    """The text of an SGF, in the set of characters that its CA names, if that is known and fits."""
    if found := re.search(rb"\bCA\s*\[\s*([\w-]+)\s*\]", data):
        with suppress(LookupError, UnicodeDecodeError):
            name = found[1].decode("ascii")
            return _composed(data.decode({"gb2312": "gb18030", "gbk": "gb18030"}.get(name.lower(), name)))
    return decoded(data)


def _composed(text: str) -> str:
    """The text without byte-order marks wherever they stand, and with each letter and its accents as one (NFC)."""
    return unicodedata.normalize("NFC", text.replace(MARK, ""))
