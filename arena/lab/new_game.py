"""The form of a new game: game, agents, sides, and a position to begin with."""

import secrets

from nicegui import ui

from arena import agents, games
from arena.lab import consent
from arena.lab.forms import SpecField
from arena.lab.frame import address_of, tell, told
from arena.lab.line import Line

SIDES = {"first": "I move first", "second": "I move second", "both": "I play both sides", "none": "agents play both"}


def new_seed() -> int:
    """A seed of a game's dice and searches."""
    return secrets.randbelow(10**6) + 1


def misfit(game: str, specs: list[str]) -> str:
    """Why an agent does not play a game; "" if all do."""
    made = games.make(game)
    return next((reason for spec in specs if spec and (reason := agents.make(spec).refuses(made))), "")


def new_game(line: Line, agent: str, other: str, side: str) -> None:
    """A form, folded up, that begins another game; it shows what is played now."""
    with ui.expansion("New game").classes("w-full").props("dense"):
        game = SpecField("game", line.spec, "game")
        first = SpecField("agent", agent, "agent")
        second = SpecField("agent", other or agent, "second agent, where agents play both sides")
        sides = ui.select(SIDES, value=side, label="sides").classes("w-full")
        position = ui.input("moves or a position to begin with").classes("w-full")

        async def start() -> None:
            moves = str(position.value or "")
            if not await consent.agreed(game.spec, first.spec, second.spec):
                return
            seats = {"both": [], "none": [first, second]}.get(str(sides.value), [first])
            if fault := game.fault or first.fault or second.fault or misfit(game.spec, [one.spec for one in seats]):
                tell(fault)
            elif told(lambda: Line(game.spec, moves)):
                two = second.spec if second.spec != first.spec else ""
                query = {"game": game.spec, "agent": first.spec, "other": two, "side": str(sides.value), "moves": moves}
                ui.navigate.to(consent.begun(address_of("/play", **query, seed=new_seed())))

        ui.button("Start", on_click=start).props("no-caps outline")
