"""Which code an agent is: one rule for whatever goes on with a run, or puts runs together.

An agent in a table is a name and one code.  Its code is what its class and the classes that its text names are made of,
the files that it reads, and of an outside program what it says of itself and the files that its command names.  Of this
package's own agents a user may say that a change of the code has not changed them.
"""

import hashlib
import inspect
import platform
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from arena.games.core.shared.prepared_file import checksums
from arena.workers.machine import PROJECT, classes_of_made, version

RULES = ""  # in place of an agent's name: the games
Codes = Mapping[str, Mapping[str, str]]


def codes_of(config) -> dict[str, dict[str, str]]:
    """The code of each agent by its name, and of the games by RULES, as they are in this process.

    python: the version of Python; code: a digest of bytecode, which differs between these; text: one of source files
    """
    known: dict[frozenset[type], dict[str, str]] = {}
    made = {RULES: config.instances} | {name: [agent] for name, agent in config.agents}
    return {name: _code_of(ones, known) for name, ones in made.items()}


def _code_of(made: Iterable[Any], known: dict[frozenset[type], dict[str, str]]) -> dict[str, str]:
    from arena.games.core.jit import code_digest

    classes = frozenset(classes_of_made(made))
    if classes not in known:
        known[classes] = {"code": code_digest(*classes), "text": _texts(classes)}
    beside = [f"{path} {sum}" for one in made for path, sum in checksums(one.files()).items()]
    beside += [text for one in made if (text := getattr(one, "outside", str)())]
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python} | {kind: _digest([text, *beside]) for kind, text in known[classes].items()}


def _texts(classes: Iterable[type]) -> str:
    """What modules hold as text; this package's as its version."""
    texts = set()
    for module in {cls.__module__ for cls in classes}:
        file = None if module.startswith("arena.") else inspect.getsourcefile(sys.modules[module])
        is_here = file is not None and Path(file).is_file()
        texts.add(Path(str(file)).read_text(errors="replace") if is_here else f"{module} {version(PROJECT)}")
    return _digest(sorted(texts))


def _digest(texts: list[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


def is_same(one: Codes | None, other: Codes | None, name: str, also: str | None = None) -> bool | None:
    """Whether an agent of that name is of one code in both; `also`: its name in the other.  None if that is not known.

    Of other versions of Python the texts are compared.
    """
    was, now = (one or {}).get(name), (other or {}).get(name if also is None else also)
    if was is None or now is None:
        return None
    kind = "code" if was["python"] == now["python"] else "text"
    return was[kind] == now[kind]


def is_ours(agent: Any) -> bool:
    """Whether an agent, with all that its text names, is of this package, and neither a file nor a program."""
    classes = classes_of_made([agent])
    own = all(cls.__module__.startswith("arena.") and not getattr(cls, "program_fields", ()) for cls in classes)
    return own and not agent.files()


def numbered(name: str, taken: Iterable[str]) -> str:
    """A name for another code of an agent: `mine (2)`, `mine (3)`, the first that is not taken."""
    base, number = name, 2
    while (found := f"{base} ({number})") in set(taken):
        number += 1
    return found
