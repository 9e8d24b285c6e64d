"""What all pages have around them: the heading, the ways to other pages, the style; and errors as sentences."""

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode

from nicegui import Client, context, events, ui

from arena.games.core.shared.errors import UserError
from arena.lab import folder
from arena.lab.apart import Apart
from arena.lab.look import STYLE
from arena.lab.searches import Search
from arena.results.printable import printable

T = TypeVar("T")
for field in (ui.input, ui.number, ui.select, ui.textarea):
    field.default_props("dense outlined")
PAGES = {"Play": "/play", "Analyse": "/analyse", "Runs": "/runs", "New run": "/new"}
MOST_CLIENTS = 32
WAITING = "Other pages are being read, which takes long: this one waits for them."


def unless_crowded(opened: Callable[..., None]) -> Callable[..., None]:
    """A page that says so, and has nothing else, where more are open than this machine should serve."""

    @functools.wraps(opened)
    def answer(**query):
        if len(Client.instances) <= MOST_CLIENTS:
            return opened(**query)
        ui.label(f"{MOST_CLIENTS} pages are open already: close one, and load this one again.").classes("p-4")

    return answer


@contextmanager
def page(title: str) -> Iterator[None]:
    """The content of a page below its heading."""
    ui.page_title(f"{title} - arena lab")
    ui.add_css(STYLE)
    with ui.header().classes("items-center gap-4 py-2").style("background: #1f5f99"):
        ui.html("arena lab", tag="h1").classes("text-lg font-bold")
        for name, address in PAGES.items():
            ui.link(name, address).classes("text-white")
    with ui.row().classes("w-full gap-6 items-start"):
        yield


def address_of(path: str, **query: str | int) -> str:
    """A page's address, without what is empty."""
    given = {name: value for name, value in query.items() if value not in ("", 0)}
    return f"{path}?{urlencode(given)}" if given else path


def tell(text: str) -> None:
    """Show a sentence that goes away."""
    ui.notify(text, type="warning", multi_line=True, close_button="OK", timeout=8000)


def button(name: str, action: Callable[..., object], look: str = "outline") -> ui.button:
    """A button."""
    return ui.button(name, on_click=action).props(f"dense no-caps {look}").classes("px-2")


def buttons(actions: Mapping[str, Callable[..., object]]) -> ui.row:
    """Buttons beside each other."""
    with ui.row().classes("gap-2 items-center flex-wrap") as row:
        for name, action in actions.items():
            button(name, action)
    return row


def chosen_in(part: ui.html, name: str, called: Callable[[str], object], keys: bool = False) -> None:
    """Let `called` have the value of `data-NAME` of what is clicked in a part, or with `keys` chosen by Enter."""
    at = f"const at = event.target.closest('[data-{name}]');"
    at += f" if (at) {{ event.preventDefault(); emit(at.dataset.{name}); }}"

    async def heard(event: events.GenericEventArguments) -> None:
        if inspect.isawaitable(work := called(str(event.args))):
            await work

    part.on("click", heard, js_handler=f"(event) => {{ {at} }}")
    if keys:
        part.on("keydown", heard, js_handler=f"(event) => {{ if (event.key === 'Enter') {{ {at} }} }}")


def heading(text: str) -> None:
    """A heading of a page or of a part of it."""
    ui.label(printable(text)).classes("text-lg break-all").props("role=heading aria-level=2")


async def heard(work: Awaitable[T]) -> T | None:
    """What a process has answered; None, and a sentence that is shown, where it could not."""
    try:
        return await work
    except (UserError, ValueError) as error:
        tell(str(error))
        return None


def page_of_run(title: str, name: str, read: Callable[[Path], T], show: Callable[[Path, T], object], by: Apart) -> None:
    """A page of a run, with what a process has read of it once that is there; what is wrong is told."""
    with page(title), ui.column().classes("w-full gap-2"):
        heading(title)
        waiting = ui.label(WAITING if by.is_busy else "reading ...")
        box = ui.column().classes("w-full gap-2")

        async def load() -> None:
            try:
                place = folder.found(name)
                about = await by.do(read, place)
            finally:
                waiting.delete()
            with box:
                show(place, about)

        ui.timer(0.01, lambda: heard(load()), once=True)


def told(action: Callable[[], object]) -> bool:
    """Do something; an error that the user can mend becomes a sentence.  Whether it was done."""
    try:
        action()
    except (UserError, ValueError) as error:
        tell(str(error))
        return False
    return True


def with_page(search: Search) -> Search:
    """A search that ends with the page it belongs to."""
    context.client.on_delete(search.close)
    return search
