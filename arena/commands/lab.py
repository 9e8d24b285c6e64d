"""`arena lab`: the laboratory in the browser."""

import importlib.util
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from arena.commands.application import Panel, command
from arena.commands.completion import complete_agent, complete_game
from arena.commands.output import say

Port = Annotated[int, typer.Option(min=0, max=65535, help="The port of this machine; 0: any free one.")]
NewToken = Annotated[bool, typer.Option("--new-token", help="Refuse bookmarks, and pages that are open, from before.")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address, and open no browser.")]
Runs = Annotated[
    Path | None, typer.Argument(help="A run, or a folder of runs. Default: runs.", metavar="[DIR]", show_default=False)
]
OfGame = Annotated[
    str, typer.Option("--game", "-g", metavar="GAME", help="Begin with this game.", autocompletion=complete_game)
]
OfAgent = Annotated[
    str, typer.Option("--agent", "-a", metavar="AGENT", help="Against this agent.", autocompletion=complete_agent)
]


@command(
    Panel.PLAY, examples='arena lab\narena lab --game othello --agent "uct(seconds=2)"\narena lab --port 0 --no-browser'
)
def lab(
    folder: Runs = None,
    game: OfGame = "",
    agent: OfAgent = "",
    port: Port = 8400,
    no_browser: NoBrowser = False,
    new_token: NewToken = False,
) -> None:
    """Open the laboratory in the browser.

    Play any game by clicks, watch searches think, and look into their trees.  The pages are for whoever opens the
    address that is printed, on this machine alone.  Ctrl-C ends them.
    """
    if importlib.util.find_spec("nicegui") is None:
        raise typer.BadParameter('the pages need NiceGUI: pip install "search-arena[web]"')
    from arena import agents, games
    from arena.lab.pages import serve

    given = {"game": game, "agent": agent}
    for kind, make in (("game", games.make), ("agent", agents.make)):
        if given[kind]:
            make(given[kind])  # a mistake is told here
    query = urlencode({name: spec for name, spec in given.items() if spec})
    shown = "/play" if folder is None else _shown(folder)
    first = f"/play?{query}" if query else shown
    serve(
        port, first, not no_browser, new_token, lambda address: say(f"The laboratory is at {address}\nCtrl-C ends it.")
    )


def _shown(place: Path) -> str:
    """Let the pages show the runs of a folder, or of the one that a run lies in; the address to begin with."""
    from arena.lab import folder
    from arena.runner.study_kinds import kind_of

    if not place.is_dir():
        raise typer.BadParameter(f"{place} is not a folder")
    if kind_of(place) is None:
        folder.use(place)
        return "/runs"
    place = place.absolute()
    folder.use(place.parent)
    return folder.address(place.name)
