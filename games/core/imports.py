"""The imports of a module's source, found without parsing it.

Every process that loads a kernel asks this of dozens of files, to tell whether they have changed, and the parser takes
seventeen times as long.
"""

import functools
import re
from pathlib import Path

# A statement begins a line, or stands behind a colon, a semicolon or the end of a line that goes on.
_GAP, _LISTED = r"[ \t\\\n]", r"[^;\n\\]*(?:\\\n[^;\n\\]*)*"
_FROM = rf"from{_GAP}+([.\w]+){_GAP}+import\b{_GAP}*(\((?:#[^\n]*|[^)#])*\)|{_LISTED})"
_STATEMENT = re.compile(rf"(?:^|[;:\\])[ \t]*(?:{_FROM}|import\b{_GAP}+({_LISTED}))", re.MULTILINE)
_NO_NAME = re.compile(r"#[^\n]*|[()\\]")


@functools.cache
def imported_names(module: str, path: Path) -> frozenset[str]:
    """All names that import statements in a module's file may mention, and words of its texts that look like them."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    names: set[str] = set()
    for home, what, whole in _STATEMENT.findall(path.read_bytes().decode(errors="replace")):
        listed = [part.split()[0] for part in _NO_NAME.sub("", what or whole).split(",") if part.strip()]
        if whole:
            names.update(listed)
        else:
            home = _absolute(home, package)
            names.update((home, *(f"{home}.{name}" for name in listed)))
    return frozenset(names)


def _absolute(home: str, package: str) -> str:
    """`package.module` for `.module`."""
    name = home.lstrip(".")
    level, parts = len(home) - len(name), package.split(".")
    return ".".join([*(parts[: len(parts) - level + 1] if level else []), *filter(None, [name])])
