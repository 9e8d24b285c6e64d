"""The page to play on: a person, or a second agent, against an agent, by clicks."""

from functools import partial

from nicegui import ui

from arena.games.core.game import CHANCE
from arena.games.core.shared.errors import UserError
from arena.lab import consent, saving
from arena.lab.clicks import BoardView
from arena.lab.frame import address_of, button, buttons, page, tell, told, with_page
from arena.lab.line import Line, Place, furthest
from arena.lab.moves_view import MovesView
from arena.lab.new_game import SIDES, misfit, new_game, new_seed
from arena.lab.searches import Search
from arena.lab.shown import FoundView, rules_of, shares
from arena.lab.variations import Variations, by_side
from arena.play.duel import PERSON

GAME, AGENT, ALONE = "breakthrough(rows=6, columns=6)", "uct(seconds=1)", "nmcs(seconds=1)"
TICK = 0.1  # seconds between looks at the searches
MANY = 250  # moves without squares, beyond which there is a list instead of buttons


class PlayPage:
    """One game on one page."""

    def __init__(self, line: Line, agent: str, other: str, side: str, begun: bool, usual: bool = False):
        self.line, self.agent, self.other, self.side = line, agent, other, side
        self.begun = begun  # whether a person wants searches: an address alone begins none
        self.searches: dict[str, Search] = {}  # by agent
        self.hinting = self.paused = False
        self.shown = -1  # plies when the page was last drawn
        with ui.column().classes("w-full max-w-2xl grow"):
            self.board = BoardView(line, self.picked)
            self.buttons = ui.row().classes("gap-1 flex-wrap max-h-48 overflow-auto arena-lab-moves")
            self._typing()
        with ui.column().classes("w-full max-w-md gap-2") as self.questions:
            self.status = ui.label().classes("text-lg").props("role=status")
            self._tools()
            self.doing = ui.label().classes("text-sm")
            self.found = FoundView()
            rules_of(line.game)
            self.moves = MovesView(self.look_at)
            new_game(line, self.agent, self.other, self.side)
        self.draw()
        if begun or usual:  # no address has named the agent: it starts while a person thinks
            self._searching()
        ui.timer(TICK, self.tick)

    # -- What is on it ----------------------------------------------------------------------------------------------

    def _typing(self) -> None:
        self.typed = ui.input("a move, typed").classes("w-48")
        self.typed.on("keydown.enter", self._enter)

    async def _enter(self) -> None:
        name = str(self.typed.value or "").strip()
        if name and self._is_mine() and told(lambda: self.line.play(name)):
            self.typed.set_value("")
            await self.moved()
        elif name and not self._is_mine():
            tell("It is not your turn.")

    def _tools(self) -> None:
        tools = {
            "Take back": self.take_back, "Hint": self.hint, "Move now": self.move_now, "Pause": self.pause,
            "Resign": self.resign, "Swap sides": self.swap, "Flip": self.flip,
            "Analyse": lambda: ui.navigate.to(self._address("/analyse")),
        }  # fmt: skip
        self.begins = button("Begin", self.begin)
        with buttons(tools), button("Save", lambda: None), ui.menu():
            for suffix in saving.suffixes(self.line.game):
                ui.menu_item(suffix.upper(), partial(self.save, suffix))

    def draw(self) -> None:
        """Show the position and whose turn it is."""
        line = self.line
        self.board.draw(clickable=self._is_mine())
        self.status.set_text(self._status())
        self.begins.set_visibility(not (self.begun or line.is_over or self._is_mine()))
        made = Variations()
        made.go(line.names, line.sides)
        self.moves.show(made, line.game.players, by_side(line.values, line.sides))
        self._draw_buttons()
        if len(line.names) != self.shown:
            self.shown = len(line.names)
            ui.navigate.history.replace(self._address("/play"))

    def _draw_buttons(self) -> None:
        """Moves that no square names, and those between which the squares picked leave a choice."""
        choices = self.line.complete() or self.line.unclicked if self._is_mine() else []
        self.buttons.clear()
        with self.buttons:
            if len(choices) > MANY:
                picked = ui.select(choices, label=f"{len(choices)} moves", with_input=True)
                picked.on_value_change(lambda event: self.play(event.value) if event.value else None)
                return
            for name in choices:
                button(name, partial(self.play, name))

    def _status(self) -> str:
        line = self.line
        if line.is_over:
            return f"Over: {line.result}.{line.counted()}"
        if self._is_mine():
            return "Your move." if line.game.players == 1 else f"Your move ({self._colour()}).{line.counted()}"
        return "Paused." if self.paused else f"{self._on_turn()} is to move.{line.counted()}"

    def _colour(self) -> str:
        """What the side to move has on the board, in words."""
        side = self.line.side
        colour = self.line.colours[side]
        return f"{('first', 'second')[side]}{f', {colour}' if colour else ''}"

    def _address(self, path: str) -> str:
        query = {"game": str(self.line.game), "moves": " ".join(self.line.names), "agent": self.agent}
        return address_of(path, **query, other=self.other, side=self.side, seed=self.line.seed)

    # -- What a person does -----------------------------------------------------------------------------------------

    def _is_mine(self) -> bool:
        own = {"first": (0,), "second": (1,), "both": (0, 1), "none": ()}[self.side]
        return self.line.side in own

    def look_at(self, ply: int) -> None:
        """Show an earlier position, until something happens or the last move is chosen."""
        self.board.draw(clickable=self._is_mine(), ply=None if ply == len(self.line.names) else ply)
        self.status.set_text(self._status() if ply == len(self.line.names) else f"As it was after {ply} plies.")

    async def begin(self) -> bool:
        """Let agents search from now on, if a person agrees to what they run; whether they may."""
        with self.questions:  # what was clicked may be gone by now
            if not self.begun and await consent.agreed(str(self.line.game), self.agent, self.other):
                self.begun = told(self._check_agents)
        self.draw()
        return self.begun

    def _check_agents(self) -> None:
        if fault := misfit(str(self.line.game), [self.agent, self.other]):
            raise ValueError(fault)

    async def picked(self, place: Place) -> None:
        """A square was clicked."""
        if not self._is_mine():
            return
        if move := self.line.pick(place):
            await self.play(move)
        else:
            self.draw()

    async def play(self, name: str) -> None:
        """A move was chosen."""
        if self._is_mine() and told(lambda: self.line.play(name)):
            await self.moved()

    async def moved(self) -> None:
        """The position is another one: hints are of the past."""
        self.board.shades = {}
        self.draw()
        if self.hinting:
            await self.move_now()
        if not self._is_mine() and not self.line.is_over:
            await self.begin()
        self.tick()
        self.draw()

    async def take_back(self) -> None:
        """Take back the person's last move, and all since."""
        own = {"first": (0,), "second": (1,)}.get(self.side, (0, 1))
        ply = self.line.last_of(own)
        if ply is None:
            tell("There is no move to take back.")
            return
        self._drop_searches()
        self.line.back_to(ply)
        self.found.show(None)
        await self.moved()

    async def hint(self) -> None:
        """Let the agent think in the person's place."""
        if self._is_mine() and await self.begin() and (search := self._searching()) and not search.busy:
            self.hinting = True
            search.go(self.line.names, self._seed_here())

    async def move_now(self) -> None:
        """Let the search decide with what it has found; where agents wait, let one make its move."""
        waits = self.paused and not self._is_mine() and await self.begin()
        if waits and (search := self._searching()) and not search.busy:
            search.go(self.line.names, self._seed_here())
            return
        for search in self.searches.values():
            search.stop()

    def pause(self) -> None:
        """Let the agents wait, or go on."""
        self.paused = not self.paused
        self.draw()

    async def resign(self) -> None:
        """Give up the person's game, if it is meant."""
        line = self.line
        if line.is_over or line.game.players != 2 or self.side == "none":
            return
        with self.questions:
            meant = await consent.confirmed("Give up this game?", "Resign")
        if meant and not line.is_over:
            line.resign({"first": 0, "second": 1}.get(self.side, line.side))
            self._drop_searches()
            self.draw()

    async def swap(self) -> None:
        """Let the agent play the person's side, and the person the agent's."""
        self.side = {"first": "second", "second": "first", "both": "none", "none": "both"}[self.side]
        self._drop_searches()
        await self.moved()

    def flip(self) -> None:
        """Turn the board round."""
        self.board.turned = not self.board.turned
        self.draw()

    def save(self, suffix: str) -> None:
        """Give the game as a file."""
        other = self.other or self.agent
        players = {"first": (PERSON, self.agent), "second": (self.agent, PERSON), "none": (self.agent, other)}
        record = self.line.record(players.get(self.side, (PERSON, PERSON)))
        ui.download.content(saving.text_of(self.line.game, record, suffix), f"game.{suffix}")

    # -- What the agents do -----------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Hear the searches; let chance and the agents move."""
        for search in list(self.searches.values()):
            for answer in search.hear():
                self._heard(*answer)
            if search.fault:
                self._lost(search)
        while self.line.side == CHANCE:
            self.line.throw()
            self.draw()
        if self.begun and not self.line.is_over and not self._is_mine() and not self.paused:
            asked = self._searching()
            if asked is not None and not asked.busy:
                asked.go(self.line.names, self._seed_here())
        states = [search.state for search in self.searches.values()]
        self.doing.set_text("; ".join(filter(None, states)))

    def _heard(self, kind: str, *what) -> None:
        if kind == "error":
            tell(what[0])
            self.paused = True
            self.draw()
            return
        found = what[0]
        if found.position != tuple(self.line.names) or self.line.is_over:
            return  # of a position that was left
        self.found.show(found)
        self.board.bar.show(found.value if self.line.game.players == 2 else None, self._on_turn())
        if not self._is_mine() and kind == "decided":
            self.line.decide(found)
            self.board.shades = {}
            self.draw()
        elif self.hinting or not self._is_mine():
            self.board.shades = {"shade": shares(found) or {found.move: 1.0}}
            self.hinting &= kind != "decided"
            self.board.draw(clickable=self._is_mine())

    def _on_turn(self) -> str:
        """The agent that moves, or gives hints, for the side to move."""
        return self.other if self.other and self.side == "none" and self.line.side == 1 else self.agent

    def _lost(self, search: Search) -> None:
        """A search has died or hung: wait, until *Pause* begins another one."""
        tell(search.fault)
        self.searches.pop(search.agent, None)
        self.hinting = False
        self.paused = True
        self.draw()

    def _searching(self) -> Search | None:
        """That agent's process."""
        agent = self._on_turn()
        if agent not in self.searches:

            def start() -> None:
                self.searches[agent] = with_page(Search(agent, str(self.line.game)))

            self.paused |= not told(start)
        return self.searches.get(agent)

    def _drop_searches(self) -> None:
        self.hinting = False
        for search in self.searches.values():
            search.close()
        self.searches = {}

    def _seed_here(self) -> int:
        return self.line.seed * 1009 + len(self.line.names)


def line_of(game: str, moves: str, seed: int = 0) -> Line:
    """The line of an address, as far as it goes; what is wrong with it is told."""
    try:
        line, fault = furthest(game or GAME, moves, seed or new_seed())
    except (UserError, ValueError) as error:
        line, fault = Line(GAME, seed=seed or new_seed()), str(error)
    if fault:
        tell(fault)
    return line


def open_page(game: str = "", agent: str = "", other: str = "", side: str = "", moves: str = "", seed: int = 0) -> None:
    """The page to play on; what is wrong in its address is told."""
    given: dict[str, str | int] = {
        "game": game,
        "agent": agent,
        "other": other,
        "side": side,
        "moves": moves,
        "seed": seed,
    }
    begun = consent.has_begun(address_of("/play", **given))

    def fill() -> None:
        line = line_of(game, moves, seed)
        usual = ALONE if line.game.players == 1 else AGENT
        unasked = not (game or moves or agent or other)
        PlayPage(line, agent or usual, other, side if side in SIDES else "first", begun, unasked)

    with page("Play"):
        consent.when_agreed(game, fill)
