"""The page of a stored game: its board at every ply, and what its agents thought."""

from functools import partial
from pathlib import Path

from nicegui import events, ui

from arena.lab import folder
from arena.lab.apart import CHECKING
from arena.lab.cells_view import CellsView
from arena.lab.frame import address_of, buttons, heard, page_of_run
from arena.lab.moves_view import MovesView
from arena.lab.replaying import Replayed, board, game_file, replayed
from arena.lab.shown import ValueBar
from arena.lab.variations import Variations, by_side

KEYS = {"ArrowLeft": -1, "ArrowRight": 1}


class GamePage:
    """A board, the moves, and the decision that led to what is shown."""

    def __init__(self, name: str, place: Path, id: str, game: Replayed, ply: int):
        self.name, self.place, self.id, self.game, self.ply = name, place, id, game, ply
        self.values = by_side(game.values, game.sides)
        self.tried = Variations()
        with ui.row().classes("w-full gap-6 items-start"):
            with ui.column().classes("w-full max-w-xl grow"):
                ui.label(f"{game.players}, {game.game}. {game.result}")
                self.status = ui.label().props("role=status")
                with ui.element("div").classes("arena-lab-beside w-full"):
                    self.bar = ValueBar()
                    self.board = ui.html("", sanitize=False).classes("arena-lab-board")
                self._steps()
                self.slider = ui.slider(min=0, max=len(game.moves), value=ply, on_change=self._slid)
                self.slider.props('aria-label="ply"')
            with ui.column().classes("grow gap-2 max-w-xl"):
                self.decision = ui.label()
                self.candidates = CellsView()
                self.moves = MovesView(self.go)
        ui.keyboard(self._pressed)
        ui.timer(0.01, partial(self.go, ply), once=True)

    def _steps(self) -> None:
        steps = {
            "First": lambda: self.go(0),
            "Back": lambda: self.go(self.ply - 1),
            "Forward": lambda: self.go(self.ply + 1),
            "Last": lambda: self.go(len(self.game.moves)),
            "Analyse from here": lambda: ui.navigate.to(self._elsewhere("/analyse")),
            "Play from here": lambda: ui.navigate.to(self._elsewhere("/play")),
        }
        buttons(steps | {f"Save {suffix}": partial(self.save, suffix) for suffix in self.game.suffixes})

    def _elsewhere(self, path: str) -> str:
        words = [self.game.position] * bool(self.game.position) + self.game.moves[: self.ply]
        return address_of(path, game=self.game.game, moves=" ".join(words))

    async def _slid(self, event: events.ValueChangeEventArguments) -> None:
        if int(event.value) != self.ply:
            await self.go(int(event.value))

    async def _pressed(self, event: events.KeyEventArguments) -> None:
        if event.action.keydown and (step := KEYS.get(str(event.key.name))):
            await self.go(self.ply + step)

    async def go(self, ply: int) -> None:
        """Show the position after so many plies, if there is one."""
        if not 0 <= ply <= len(self.game.moves):
            return
        self.ply = ply
        drawn = await heard(CHECKING.do(board, self.place, self.id, ply))
        if drawn is None or ply != self.ply:
            return  # another one is wanted by now
        self.board.set_content(drawn)
        self.slider.set_value(ply)
        self._say(ply)
        ui.navigate.history.replace(folder.address(self.name, "games", self.id, ply=ply))

    def _say(self, ply: int) -> None:
        opening = ", in the opening" if 0 < ply <= self.game.opening else ""
        self.status.set_text(f"After {ply} of {len(self.game.moves)} plies{opening}")
        self.decision.set_text(self.game.decisions[ply - 1] if ply else "The beginning.")
        found = self.game.candidates[ply - 1] if ply else None
        self.candidates.table.set_visibility(found is not None)
        if found is not None:
            self.candidates.show(found)
        self.tried.go(self.game.moves, self.game.sides)
        self.tried.here = ply  # the moves are numbered by ply
        self.moves.show(self.tried, self.game.of, self.values)
        self.bar.show(self.game.values[ply] if self.game.of == 2 and ply < len(self.game.moves) else None)

    async def save(self, suffix: str) -> None:
        """Give the game as a file."""
        if (data := await heard(CHECKING.do(game_file, self.place, self.id, suffix))) is not None:
            ui.download.content(data, f"{self.place.name}-{self.id}.{suffix}")


def open_game(name: str, id: str, ply: int = 0) -> None:
    """The page of a game."""

    def show(place: Path, game: Replayed) -> None:
        with ui.row().classes("gap-4"):
            ui.link("All games", folder.address(name, "games"))
            ui.link("The run", folder.address(name))
        GamePage(name, place, id, game, max(0, min(ply, len(game.moves))))

    page_of_run(f"Game {id} of {name}", name, partial(replayed, id=id), show, CHECKING)
