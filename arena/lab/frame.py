"""What all pages have around them: the heading, the ways to other pages, the style; and errors as sentences."""

import functools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode

from nicegui import Client, context, ui

from arena.games.core.errors import UserError
from arena.lab import folder
from arena.lab.apart import Apart
from arena.lab.searches import Search
from arena.results.printable import printable

T = TypeVar("T")
for field in (ui.input, ui.number, ui.select, ui.textarea):
    field.default_props("dense outlined")
PAGES = {"Play": "/play", "Analyse": "/analyse", "Runs": "/runs", "New run": "/new"}
MOST_CLIENTS = 32
WAITING = "Other pages are being read, which takes long: this one waits for them."
STYLE = """
.arena-lab-board svg { width: 100%; height: auto; max-height: 78vh; display: block; }
.arena-lab-board.turned svg { transform: rotate(180deg); }
.arena-lab-board.turned svg text { transform: rotate(180deg); transform-box: fill-box; transform-origin: center; }
.arena-lab-board .spot { cursor: pointer; }
.arena-lab-board .area { fill: transparent; }
.arena-lab-board .dot { fill: none; stroke: #1d7a3e; stroke-opacity: .7; stroke-width: 2.5; stroke-dasharray: 4 3; }
.arena-lab-board .spot:hover .area, .arena-lab-board .spot:focus .area { fill: #1d7a3e; fill-opacity: .3; }
.arena-lab-board .spot:focus { outline: none; }
.arena-lab-board .spot:focus-visible .area { stroke: #1d7a3e; stroke-width: 3; }
.body--dark .arena-lab-board .dot, .body--dark .arena-lab-board .picked { stroke: #8fe3ad; stroke-opacity: 1; }
.arena-lab-board .picked { fill: none; stroke: #1d7a3e; stroke-width: 3; }
.arena-lab-board .shade, .arena-lab-board .draw { fill: #3d8bd4; }
.arena-lab-board .win { fill: #2f9e57; }
.arena-lab-board .loss { fill: #cf4a3f; }
.arena-lab-board :is(.shade, .draw, .win, .loss) { fill-opacity: calc(.75 * var(--strength)); pointer-events: none; }
.search-a { --search: #0072b2; } .search-b { --search: #d55e00; } .search-c { --search: #8f4a9e; }
.arena-lab-board :is(.search-a, .search-b, .search-c) {
    fill: none; stroke: var(--search); stroke-width: 5; stroke-opacity: var(--strength); pointer-events: none;
}
.arena-lab-key { width: 16px; height: 16px; border-radius: 8px; border: 4px solid var(--search); flex: none; }
body { --q-primary: #1f5f99 !important; }
.q-btn, .nicegui-link { min-height: 32px; }
.nicegui-link { display: inline-flex; align-items: center; }
.q-btn, .q-table td, .q-table th, .q-tree { font-size: 14px; }
@media (max-width: 600px) { .q-btn { min-height: 44px; min-width: 44px; } }
body.body--dark { --q-primary: #8fc1f7 !important; }
.nicegui-row > .nicegui-column { min-width: 0; }
.arena-lab-wrap th { white-space: normal; }
.arena-lab-wide { overflow-x: auto; }
.arena-lab-wide .q-table__middle { overflow: visible; }
a.nicegui-link { color: var(--q-primary); text-decoration: underline; }
#popup::after {
    content: "If arena lab has ended, start it again, and this page goes on. Else open the address that it prints.";
    display: block;
}
.arena-lab-graph { width: 100%; height: auto; }
.arena-lab-graph line { stroke: #8a949e; stroke-width: 1; }
.arena-lab-graph polyline { fill: none; stroke-width: 1.5; }
.arena-lab-graph .first { stroke: #0072b2; } .arena-lab-graph circle.first { fill: #0072b2; }
.arena-lab-graph .second { stroke: #d55e00; } .arena-lab-graph circle.second { fill: #d55e00; }
"""


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
