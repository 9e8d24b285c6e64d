"""The page to analyse on: a position, up to three searches of it side by side, and the tree that one searches."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import takewhile

from nicegui import ui

from arena.games.core.game import CHANCE
from arena.lab import consent
from arena.lab.clicks import SEARCHES, BoardView
from arena.lab.forms import SpecField
from arena.lab.frame import address_of, button, buttons, page, tell, told, with_page
from arena.lab.line import Line, Place
from arena.lab.moves_view import MovesView
from arena.lab.play_page import TICK, line_of
from arena.lab.searcher import Drawn, Found, Solved
from arena.lab.searches import Search
from arena.lab.shown import EVALUATED, FoundView, evaluations_of, rules_of, shares, solved_in_words
from arena.lab.tree_view import TreeView
from arena.lab.variations import Variations

AGENTS = ("uct", "alphabeta")  # of the first panels
MOST = len(SEARCHES)  # panels
FEW = 6  # moves of a panel
VALUES = 1.0  # seconds between drawings of what searches think along the line
KINDS = {1: "win", 0: "draw", -1: "loss"}  # of shades
SHOWN = {"thought": "_found", "decided": "_found", "solved": "_solved", "tree": "_drawn"}  # of answers


class Panel:
    """One search of the position, which thinks until it is stopped."""

    def __init__(self, page: "AnalysePage", agent: str):
        self.page = page
        taken = {panel.kind for panel in page.panels}
        self.kind: str = next(kind for kind in SEARCHES if kind not in taken)  # of its rings on the board
        self.search: Search | None = None
        self.card = ui.card().classes("arena-lab-panel gap-1 p-3")
        with self.card:
            with ui.row().classes("items-start gap-2 no-wrap w-full"):
                key = ui.element("span").classes(f"arena-lab-key mt-3 {self.kind}")
                key.props('role=img aria-label="the rings of this search on the board"')
                self.agent = SpecField("agent", agent, "agent", self.end)
            with ui.row().classes("gap-1"):
                self.button = button("Search", self.toggle)
                button("Tree", self.tree)
                button("Solve", self.solve)
                button("Remove", lambda: page.remove(self), "flat")
            self.doing = ui.label().classes("text-sm")
            self.found = FoundView(page.try_line, FEW)

    async def toggle(self) -> None:
        """Search, or stop."""
        if self.search is not None and self.search.busy:
            self.search.stop()
        elif search := await self._started():
            search.go(self.page.line.names, 1, endless=True)

    async def tree(self) -> None:
        """Ask for the tree that the agent searches."""
        self.page.drawn = self
        if search := await self._started():
            search.tree(self.page.line.names, self.page.iterations)

    async def solve(self) -> None:
        """Ask for the exact value."""
        if search := await self._started():
            search.solve(self.page.line.names)

    async def _started(self) -> Search | None:
        line = self.page.line
        if line.is_over or line.side == CHANCE:
            tell("There is nothing to search: the game is over, or dice are to be thrown.")
            return None
        if not await consent.agreed(self.agent.spec):
            return None
        if fault := self.agent.fault:
            tell(fault)
            return None
        if self.search is not None and (self.search.fault or self.search.game != str(line.game)):
            self.end()
        if self.search is None:
            told(self._start)
        return self.search

    def _start(self) -> None:
        self.search = with_page(Search(self.agent.spec, str(self.page.line.game)))

    def moved(self) -> None:
        """The position is another one: go on there."""
        going = self.search is not None and self.search.busy
        self.found.show(None)
        if going and self.search is not None and not self.page.line.is_over and self.page.line.side != CHANCE:
            self.search.go(self.page.line.names, 1, endless=True)

    def tick(self) -> None:
        """Show what the search has said."""
        if self.search is None:
            return
        for kind, *what in self.search.hear():
            if kind == "error":
                tell(what[0])
                self.found.words.set_text(what[0])
            elif kind in SHOWN and what[0].position == tuple(self.page.line.names):  # or it belongs to another position
                getattr(self, SHOWN[kind])(what[0])
        self.doing.set_text(self.search.state)
        self.button.set_text("Stop" if self.search.busy else "Search")

    def _drawn(self, drawn: Drawn) -> None:
        self.page.tree.show(drawn)

    def _solved(self, solved: Solved) -> None:
        self.found.words.set_text(solved_in_words(solved))
        if solved.value is not None:
            self.page.shade(KINDS[solved.value], dict.fromkeys(solved.best, 1.0))

    def _found(self, found: Found) -> None:
        self.found.show(found)
        self.page.note(self, found.value)
        self.page.shade(self.kind, shares(found) or {found.move: 1.0})

    def end(self) -> None:
        """End the process: the agent is another one, or the panel goes."""
        if self.search is not None:
            self.search.close()
            self.search = None
            self.page.forget(self.kind)


class AnalysePage:
    """A position, and panels that search it."""

    def __init__(self, line: Line):
        self.line = line
        self.tried = Variations()
        self.stale = False  # whether values are known that are not shown yet
        self.panels: list[Panel] = []
        self.drawn: Panel | None = None  # whose tree is shown
        with ui.column().classes("arena-lab-left gap-2"):
            self.status = ui.label().classes("text-lg").props("role=status")
            self.board = BoardView(line, self.picked)
            self.buttons = ui.row().classes("gap-1 flex-wrap arena-lab-moves")
            buttons(
                {
                    "First": lambda: self.go_to(0),
                    "Back": lambda: self.go_to(self.tried.before[self.tried.here]),
                    "Forward": lambda: self.go_to(self.tried.latest.get(self.tried.here, self.tried.here)),
                    "Last": lambda: self.go_to(self.tried.whole()[-1]),
                    "Flip": self.flip,
                    "Play from here": lambda: ui.navigate.to(self._address("/play")),
                }
            )
            self.variations = MovesView(self.go_to)
            rules_of(line.game)
            self._position()
            self.evaluations = (
                ui.table(columns=EVALUATED, rows=[]).props("dense flat").classes("w-full max-w-md arena-lab-wrap")
            )
        with ui.column().classes("arena-lab-right gap-2"):
            self.row = ui.row().classes("gap-2 items-stretch w-full")
            for agent in AGENTS:
                self.add(agent)
            with ui.row().classes("items-center gap-2"):
                button("Another search", lambda: self.add(AGENTS[0]))
                button("One less", lambda: self.step(-1))
                button("One more", lambda: self.step(1))
                self.count = ui.number("iterations of a tree", value=30, min=1, max=100_000, precision=0)
                self.count.classes("w-40")
            self.tree = TreeView(self.try_line)
        self.draw()
        ui.timer(TICK, self.tick)
        ui.timer(VALUES, self.show_values)

    def tick(self) -> None:
        """Hear the searches."""
        for panel in self.panels:
            panel.tick()

    def show_values(self) -> None:
        """Show what searches have thought along the line."""
        if self.stale:
            self.stale = False
            self.variations.show(self.tried, self.line.game.players, self.tried.series())

    def note(self, panel: Panel, value: float | None) -> None:
        """A search thinks so of the position: the topmost that has a value has the bar beside the board."""
        if value is None or not math.isfinite(value) or self.line.game.players == 1:
            return
        self.stale = True
        values = self.tried.values[self.tried.here]
        values[panel.kind] = value
        if panel.kind == next(iter(sorted(values))):
            self.board.bar.show(value, panel.agent.spec)

    @property
    def iterations(self) -> int | None:
        return int(self.count.value) if self.count.value else None

    async def step(self, more: int) -> None:
        """Show the tree after one iteration more or less, of the panel that showed the last one."""
        self.count.set_value(max(1, (self.iterations or 1) + more))
        await (self.drawn or self.panels[0]).tree()

    def _position(self) -> None:
        with ui.expansion("Another game or position").classes("w-full").props("dense"):
            self._set_up()

    def _set_up(self) -> None:
        self.moves = ui.textarea("moves, or a position and moves").props("autogrow").classes("w-full")
        self.game = SpecField("game", self.line.spec, "game")

        async def go() -> None:
            if not await consent.agreed(self.game.spec):
                return
            if fault := self.game.fault:
                tell(fault)
                return
            text = str(self.moves.value or "")
            if told(lambda: Line(self.game.spec, text)):
                ui.navigate.to(address_of("/analyse", game=self.game.spec, moves=text))

        button("Set up", go)

    def add(self, agent: str) -> None:
        """Add a panel."""
        if len(self.panels) == MOST:
            tell(f"There are {MOST} searches at most: remove one.")
            return
        with self.row:
            self.panels.append(Panel(self, agent))

    def remove(self, panel: Panel) -> None:
        """Remove a panel, and end its search."""
        panel.end()
        self.drawn = None if self.drawn is panel else self.drawn
        self.panels.remove(panel)
        panel.card.delete()
        if self.board.shades.pop(panel.kind, None):
            self.board.draw(clickable=True)

    def forget(self, kind: str) -> None:
        """Drop the values of a search: its colour may be another one's next."""
        for values in self.tried.values:
            values.pop(kind, None)
        self.stale = True

    def draw(self) -> None:
        """Show the position, and make the address that of it."""
        line = self.line
        self.board.shades = {}
        self.board.bar.show(None)
        self.tried.go(line.names, line.sides)
        self.stale = True
        self.show_values()
        self.tree.show_at(line.names)
        self.board.draw(clickable=True)
        turn = "dice" if line.side == CHANCE else f"the {('first', 'second')[max(line.side, 0)]} player"
        self.status.set_text(
            f"Over: {line.result}." if line.is_over else f"After {len(line.names)} plies, {turn} to move"
        )
        self.moves.set_value(" ".join(line.words))
        self.evaluations.rows = evaluations_of(line)
        self.evaluations.set_visibility(bool(self.evaluations.rows))
        self.evaluations.update()
        self.buttons.clear()
        with self.buttons:
            for name in (line.complete() or line.unclicked)[:60]:
                button(name, partial(self.play, name))
            if line.side == CHANCE:
                button("throw", self.throw)
        ui.navigate.history.replace(self._address("/analyse"))

    def _address(self, path: str) -> str:
        return address_of(path, game=str(self.line.game), moves=" ".join(self.line.names))

    def shade(self, kind: str, moves: dict[str, float]) -> None:
        """Mark moves on the board, as a search has found them or as their exact value is."""
        self.board.shades[kind] = moves
        self.board.draw(clickable=True)

    def _moved(self) -> None:
        self.draw()
        for panel in self.panels:
            panel.moved()

    async def picked(self, place: Place) -> None:
        """A square was clicked."""
        if move := self.line.pick(place):
            self.play(move)
        else:
            self.draw()

    def play(self, name: str) -> None:
        """Make a move."""
        if told(lambda: self.line.play(name)):
            self._moved()

    def throw(self) -> None:
        """Throw the dice."""
        self.line.throw()
        self._moved()

    def try_line(self, names: Sequence[str]) -> None:
        """Go to where these moves lead from the game's beginning."""
        here = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(self.line.names, names)))
        self.line.back_to(here)
        for name in names[here:]:
            if not told(partial(self.line.play, name)):
                break
        self._moved()

    def go_to(self, number: int) -> None:
        """Go to the position after a move that was tried."""
        if number != self.tried.here:
            self.try_line(self.tried.moves(number))

    def flip(self) -> None:
        """Turn the board round."""
        self.board.turned = not self.board.turned
        self.draw()


def open_page(game: str = "", moves: str = "") -> None:
    """The page to analyse on; what is wrong in its address is told."""

    def fill() -> None:
        AnalysePage(line_of(game, moves))

    with page("Analyse"):
        consent.when_agreed(game, fill)
