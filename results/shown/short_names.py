"""Names as short as a place has room for, all different: `uct(…, exploration=0.3)`.

What names agree on is left out first, then later parameters; at last letters in the middle.  `…` stands for it.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, chop_cells

LEFT_OUT = "…"
HEADS = (1 / 2, 3 / 4, 1 / 4, 0, 1)  # shares of a cut name that come from its beginning


def short_names(names: Iterable[str], width: int) -> dict[str, str]:
    """Each name's form of at most `width` columns; a name that has none of its own stays whole."""
    names = list(dict.fromkeys(names))
    split = {name: _split(name) for name in names}
    forms = {name: list(dict.fromkeys(_forms(name, split, width))) for name in names}
    used = Counter(form for own in forms.values() for form in own)
    return {
        name: name
        if cell_len(name) <= width
        else next((form for form in forms[name] if cell_len(form) <= width and used[form] == 1), name)
        for name in names
    }


def _split(name: str) -> tuple[str, list[str]]:
    """`uct(a=1, b=2)` as `uct` and its parameters; names of another form have none."""
    try:
        call = ast.parse(name, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return name, []
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return name, []
    parts = [ast.get_source_segment(name, part) for part in (*call.args, *call.keywords)]
    return call.func.id, [part for part in parts if part]


def _forms(name: str, split: dict[str, tuple[str, list[str]]], width: int) -> Iterator[str]:
    """The name, then ever shorter ones."""
    yield name
    head, parts = split[name]
    kin = [set(own) for of, own in split.values() if of == head]
    telling = [len(kin) == 1 or not all(part in own for own in kin) for part in parts]
    kept = list(telling)
    for last in range(len(parts), -1, -1):
        yield _joined(head, parts, kept[:last] + [False] * (len(parts) - last))
    for place in range(len(parts)):
        yield _joined(head, parts, [number == place and telling[place] for number in range(len(parts))])
    for share in HEADS:
        yield _cut(name, width, share)


def _joined(head: str, parts: Sequence[str], kept: Sequence[bool]) -> str:
    shown: list[str] = []
    for part, keep in zip(parts, kept):
        if keep or shown[-1:] != [LEFT_OUT]:
            shown.append(part if keep else LEFT_OUT)
    return f"{head}({', '.join(shown)})" if parts else head


def _cut(name: str, width: int, share: float) -> str:
    """The name without letters in its middle."""
    head = int((width - 1) * share)
    beginning = chop_cells(name, head)[0] if head > 1 else ""
    tail = width - 1 - cell_len(beginning)
    end = ""
    for letter in reversed(name):
        if cell_len(letter + end) > tail:
            break
        end = letter + end
    return f"{beginning}{LEFT_OUT}{end}"
