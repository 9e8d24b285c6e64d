"""What a person is asked before it runs or is read: programs, plug-ins and files that the texts of a page name.

Anybody can write an address, and send it.  So an address may fill fields, and nothing that it names is made, run or
read before a click; a program, a plug-in or a file then begins with a question that shows it.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from nicegui import ui

from arena.agents.core.agent import registry as agents
from arena.games.core.game import registry as games
from arena.games.core.shared.parameters import parameters_of
from arena.games.core.shared.prepared_file import FILE
from arena.games.core.shared.registry import SpecError, parse_spec
from arena.results.printable import printable

NESTED = 30  # specs in specs, at most
_agreed = set[str]()  # by whoever has the token, since the server began
_begun = set[str]()  # addresses that a click on a page of ours leads to


def reached(value: Any, depth: int = 0) -> Iterator[str]:
    """What a text, a list of texts or a configuration names that is not of this package, in words."""
    if isinstance(value, Mapping):
        named = value.get("plugins") or []
        yield from (f"the code of the plug-in {name}" for name in (named if isinstance(named, list) else [named]))
        for one in value.values():
            yield from reached(one, depth)
    elif isinstance(value, (list, tuple, set)):
        for one in value:
            yield from reached(one, depth)
    elif isinstance(value, str) and value.startswith(FILE):
        yield f"the file {value.removeprefix(FILE)}"
    elif isinstance(value, str) and "(" in value:
        yield from _of_spec(value, depth)


def _of_spec(text: str, depth: int) -> Iterator[str]:
    try:
        name, arguments, keywords = parse_spec(text)
    except SpecError:  # it may stand for several, or be no spec: what it hides is not known
        hidden = not text.isascii() or "\\" in text or FILE in text
        if hidden or any(map(_is_a_programs, re.findall(r"\w+", text))):
            yield f"what {text} names"
        return
    if depth == NESTED:
        yield f"what {text} names"
        return
    cls = agents.named(name) or games.named(name)
    given = dict(zip((one.name for one in parameters_of(cls)), arguments)) | keywords if cls else keywords
    yield from (f"the file {given[field]}" for field in getattr(cls, "file_fields", ()) if given.get(field))
    for field in getattr(cls, "program_fields", ()):
        if command := given.pop(field, ""):  # what else is given, such as its environment, may change what it does
            yield ", ".join([f"the program {command}", *(f"{name}={value!r}" for name, value in given.items())])
    for one in (*arguments, *keywords.values()):
        yield from reached(one, depth + 1)


def _is_a_programs(name: str) -> bool:
    return bool(name in agents and getattr(agents.named(name), "program_fields", ()))


def lacking(*values: Any) -> list[str]:
    """What of `reached` nobody has agreed to yet."""
    return [one for one in dict.fromkeys(reached(values)) if one not in _agreed]


async def agreed(*wanted: Any) -> bool:
    """Whether a person agrees to what these values name; who has agreed once is not asked again."""
    if not (asked := lacking(*wanted)):
        return True
    yes = await confirmed("On this computer, as you, this would run or read:", "Go on", asked)
    if yes:
        _agreed.update(asked)
    return yes


async def confirmed(
    question: str, yes: str, about: Iterable[str] = (), more: Callable[[], object] = lambda: None
) -> bool:
    """Whether a person means it, by a click on `yes`; about: texts to look at; more: makes what is asked besides."""
    with ui.dialog() as dialog, ui.card():
        dialog.props["aria-label"] = question
        ui.label(question)
        for one in about:
            ui.label(printable(one)).classes("font-mono break-all whitespace-pre-wrap")
        more()
        with ui.row():
            ui.button(yes, on_click=lambda: dialog.submit(True)).props("no-caps outline")
            ui.button("No", on_click=lambda: dialog.submit(False)).props("no-caps")
    answer = bool(await dialog)
    if dialog.is_deleted:  # with its page
        raise asyncio.CancelledError
    dialog.delete()
    return answer


def when_agreed(wanted: Any, made: Callable[[], object]) -> None:
    """Fill what a page holds, at once or after a click where an address names what is asked for."""
    if not lacking(wanted):
        made()
        return
    with ui.row().classes("w-full gap-6 items-start") as box:
        ui.label("This address names what is read or run on this computer.")

        async def ask() -> None:
            if await agreed(wanted):
                box.clear()
                with box:
                    made()

        ui.button("Look at it", on_click=ask).props("no-caps outline")


def begun(address: str) -> str:
    """An address, which a click that was agreed to leads to: its page begins by itself, once."""
    _begun.add(address)
    return address


def has_begun(address: str) -> bool:
    """Whether a click has led to this address."""
    found = address in _begun
    _begun.discard(address)
    return found
