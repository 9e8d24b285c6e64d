"""Serves the pages on this machine, and opens the first one."""

import asyncio
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated

import uvicorn
from fastapi import FastAPI, Query, Request
from fastapi.responses import HTMLResponse
from nicegui import app as nicegui_app
from nicegui import ui

from arena.games.core.shared.errors import UserError
from arena.lab import (
    analyse_page,
    folder,
    frame,
    game_page,
    games_page,
    new_run_page,
    play_page,
    reading,
    run_page,
    runs_page,
)
from arena.lab.access import Guard, token_of
from arena.lab.apart import CHECKING, READING
from arena.lab.frame import unless_crowded
from arena.lab.searches import SPARES

HOST = "127.0.0.1"
_tasks = list[asyncio.Task]()  # which nothing else would keep
RECONNECT = 0.7  # seconds that a page may be gone before its searches end


def _open_games(name: str, request: Request) -> None:
    games_page.open_games(name, dict(request.query_params))


def _open_beside(run: Annotated[list[str] | None, Query()] = None) -> None:
    runs_page.open_beside(run or [])


PAGES: dict[str, Callable] = {  # the first that fits an address opens it
    "/": play_page.open_page,
    "/play": play_page.open_page,
    "/analyse": analyse_page.open_page,
    "/runs": runs_page.open_runs,
    "/beside": _open_beside,
    "/new": new_run_page.open_page,
    "/runs/{name:path}/games/{id}": game_page.open_game,
    "/runs/{name:path}/games": _open_games,
    "/runs/{name:path}": run_page.open_run,
}


async def _unknown(request: Request, error: Exception) -> HTMLResponse:
    """A page that there is not says where there are some."""
    links = " ".join(f'<a href="{address}">{name}</a>' for name, address in frame.PAGES.items())
    text = f"<!doctype html><html lang='en'><title>arena lab</title><p>There is no such page. There are: {links}"
    return HTMLResponse(text, 404)


async def _warm() -> None:
    """Let the processes that read runs and search load what they need before the first page asks."""

    async def read() -> None:
        with suppress(UserError):  # the server has ended meanwhile
            await READING.do(reading.listed, folder.at())
            SPARES.keep(2)  # the page Analyse has two searches

    _tasks.append(asyncio.create_task(read()))


def _end_processes() -> None:
    SPARES.close()
    READING.close()
    CHECKING.close()


def serve(port: int, first: str, browser: bool, new_token: bool, told: Callable[[str], object]) -> None:
    """Serve until Ctrl-C.

    port: 0 takes a free one; first: the page to open, such as /play?game=hex; new_token: refuse addresses, and pages
    that are open, from before; told: called with its address, which has the token, once it can be opened
    """
    listening = _listen(port)
    port = listening.getsockname()[1]
    token = token_of(folder.at(), new_token)
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    for path, opened in PAGES.items():
        ui.page(path)(unless_crowded(opened))
    nicegui_app.add_exception_handler(404, _unknown)
    app.router.on_startup.append(_warm)
    app.router.on_shutdown.append(_end_processes)
    ui.run_with(
        app, title="arena lab", dark=None, language="en-US", reconnect_timeout=RECONNECT, show_welcome_message=False
    )
    guarded = Guard(app, {f"{HOST}:{port}", f"localhost:{port}"}, token)
    server = uvicorn.Server(uvicorn.Config(guarded, log_level="warning", ws_max_size=1 << 20))
    address = f"http://{HOST}:{port}{first}{'&' if '?' in first else '?'}token={token}"

    told(address)
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # it may wait for the browser
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # uvicorn raises it again: Python ends as by Ctrl-C
    with suppress(KeyboardInterrupt):  # which ends it
        server.run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()  # from now on, who comes waits and is not refused
    except OSError as error:
        listening.close()
        raise UserError(f"port {port}: {error.strerror}; --port 0 takes a free one") from None
    return listening
