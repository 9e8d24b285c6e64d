"""Names as short as a place has room for, all different: `uct(…, exploration=0.3)`.

What names agree on is left out first, then later parameters; at last letters in the middle.  `…` stands for it.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, chop_cells

LEFT_OUT = "…"
HEADS = (1 / 2, 3 / 4, 1 / 4, 0, 1)  # shares of a cut name that come from its beginning


def short_names(names: Iterable[str], width: int) -> dict[str, str]:
    """Each name's form of at most `width` columns; a name that has none of its own stays whole."""
    names = dict.fromkeys(names)
    long = {name: name.partition("(")[0] for name in names if cell_len(name) > width}
    heads, kin = set(long.values()), defaultdict[str, list[set[str]]](list)
    for name in names:
        if (head := name.partition("(")[0]) in heads:
            kin[head].append(set(_split(name)[1]))
    agreed = {head: set.intersection(*own) if len(own) > 1 else set[str]() for head, own in kin.items()}
    forms = {name: list(dict.fromkeys(_forms(name, agreed[head], width))) for name, head in long.items()}
    used = Counter(form for own in forms.values() for form in own)
    fitting = {
        name: [form for form in own if cell_len(form) <= width and used[form] == 1 and form not in names]
        for name, own in forms.items()
    }
    return {name: next(iter(fitting.get(name, ())), name) for name in names}


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


def _forms(name: str, agreed: set[str], width: int) -> Iterator[str]:
    """Ever shorter forms of a name; `agreed` are the parameters that it shares with all of its kind."""
    head, parts = _split(name)
    telling = [part not in agreed for part in parts]
    for last in range(len(parts), -1, -1):
        yield _joined(head, parts, telling[:last] + [False] * (len(parts) - last))
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
