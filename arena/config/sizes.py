"""Sizes of memory and files in a configuration."""

import re

_UNITS = {"MB": 1 << 20, "GB": 1 << 30}
_FORM = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(MB|GB)")


def in_bytes(text: str | None) -> int | None:
    """The bytes of a size such as "4GB" or "1500 MB" (1 GB is 2^30 bytes); ValueError if it is none."""
    if text is None:
        return None
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError('is no size such as "4GB" or "1500MB"')
    return int(float(match[1]) * _UNITS[match[2]])
