"""The page that starts a run: a form and the TOML that it makes, what is wrong, how long it takes.

The text is what counts: fields change single keys of it, and show those that it has.
"""

import re
import tomllib
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import tomlkit
from nicegui import ui

from arena.formats.base import formats
from arena.games.core.shared.files import TEXT_BYTES, read_plain, write_whole
from arena.games.core.shared.system import cores
from arena.lab import asking, consent, folder, launching
from arena.lab.apart import CHECKING
from arena.lab.asking import KINDS, Checked
from arena.lab.forms import SpecField
from arena.lab.frame import button, heading, heard, page, tell, told
from arena.lab.trial import trial
from arena.runner.study_kinds import kind_of

SPECS = {"game": "connect4", "agent": "uct"}  # and what they begin with
LISTS = ("agents", "schemes", "openings", "plugins")
TABLES = ("budget", "parameters", "confirm")
NUMBERS = ("games", "opening_plies", "seed", "playouts", "move_seconds")
HINTS = {
    "agents": "agents, one a line", "schemes": "schemes, one a line", "budget": "budget, such as playouts = 1000",
    "openings": "openings, one a line", "plugins": "files of agents, one a line", "workers": "numbers of workers",
    "playouts": "playouts of each worker", "move_seconds": "seconds for a move, at most",
    "parameters": "ranges, one a line, such as exploration = [0.1, 2.0]", "confirm": "match that confirms",
}  # fmt: skip
LOOK = 0.3  # seconds between looks whether a run has begun


class NewRunPage:
    """A form beside a text."""

    def __init__(self) -> None:
        self.kind, self.fields, self.specs = next(iter(KINDS)), dict[str, Any](), dict[str, SpecField]()
        self.checked: Checked | None = None
        self.starting: Path | None = None
        with ui.column().classes("w-full max-w-md gap-2 grow"):
            heading("New run")
            kinds = ui.select(list(KINDS), label="purpose", value=self.kind)
            kinds.classes("w-full").on_value_change(lambda event: self.choose(event.value))
            self.name = ui.input("name of its folder, by default the game's and a number").classes("w-full")
            self.form = ui.column().classes("w-full gap-2")
            with ui.row().classes("gap-2"):
                self.workers = ui.number("cores", value=cores(), min=1, precision=0)
                self.cluster = ui.input("or address of a cluster")
        with ui.column().classes("grow gap-2 max-w-2xl w-full"):
            self.text = ui.textarea("configuration (TOML)").props("autogrow debounce=400", remove="dense")
            self.text.classes("w-full font-mono").on_value_change(self.typed)
            self.faults = ui.column().classes("gap-0")
            self.about = ui.label().props("role=status")
            self.said = ui.label().classes("whitespace-pre-wrap break-all").props("role=log")
            with ui.row().classes("gap-2 items-center"):
                self.long = ui.button("How long?", on_click=self.ask_long).props("dense no-caps outline")
                self.start_button = ui.button("Start", on_click=self.start).props("no-caps")
        self.choose(self.kind)
        ui.timer(LOOK, self.look)

    def choose(self, kind: str) -> None:
        """Begin a run for another purpose."""
        self.kind, self.fields, self.specs = kind, {}, {}
        self.form.clear()
        with self.form:
            for key in KINDS[kind].keys:
                self._field(key)
            with ui.expansion("More").props("dense").classes("w-full") as self.more:
                for key in KINDS[kind].more:
                    self._field(key)
        self.long.set_visibility(KINDS[kind].played)
        self.text.set_value(KINDS[kind].text)

    def _field(self, key: str) -> None:
        if key in SPECS:
            self.specs[key] = SpecField(key, SPECS[key], key, lambda: self.entered(key))
            self.fields[key] = self.specs[key].input.props("hide-bottom-space")
            return
        label = HINTS.get(key, key.replace("_", " "))
        if key == "format":
            field: Any = ui.select(["", *formats()], label=label, on_change=lambda: self.entered(key))
        elif key in (*LISTS, *TABLES):
            field = ui.textarea(label).props("autogrow").on("blur", lambda: self.entered(key))
        else:
            field = ui.input(label).on("blur", lambda: self.entered(key)).on("keydown.enter", lambda: self.entered(key))
        self.fields[key] = field.classes("w-full").props("hide-bottom-space").without_auto_validation()
        if key in ("agents", "schemes"):
            with ui.expansion(f"choose one of the {key}").props("dense").classes("w-full"):
                chosen = SpecField("agent", "tree" if key == "schemes" else "uct(playouts=1000)", "agent")
                button("Add", lambda: self.add(key, chosen))

    def add(self, key: str, chosen: SpecField) -> None:
        """Add an agent to the list."""
        if chosen.fault:
            tell(chosen.fault)
            return
        lines = [*str(self.fields[key].value or "").splitlines(), chosen.spec]
        self.fields[key].set_value("\n".join(filter(None, lines)))
        self.entered(key)

    # -- Fields and text --------------------------------------------------------------------------------------------

    def values(self) -> dict[str, Any] | None:
        """What the text says; None if it is not TOML."""
        try:
            return tomllib.loads(str(self.text.value or ""))
        except (ValueError, RecursionError):
            return None

    def entered(self, key: str) -> None:
        """A field has changed: so does its key in the text."""
        if key not in self.fields:
            return  # which is being made
        values, text = self.values(), str(self.fields[key].value or "").strip()
        if values is None or text == asking.field_text(values.get(key, "")):
            return
        self.text.set_value(with_key(str(self.text.value or ""), key, _value(key, text)))

    async def typed(self) -> None:
        """The text has changed: so do the fields, and what is said of it."""
        values = self.values() or {}
        if self.starting is None:
            self.said.set_text("")  # it was of another text
        for key, field in self.fields.items():
            field.set_enabled(not _has_tables(values.get(key)))
            if key in self.specs and values:
                self.specs[key].set(str(values.get(key, "")))
            elif not _has_tables(values.get(key)) and values:
                field.set_value(asking.field_text(values.get(key, "")))
        await self.check()

    async def check(self) -> None:
        """Ask what the text means, and show it."""
        text = str(self.text.value or "")
        if unasked := consent.lacking({"plugins": (self.values() or {}).get("plugins")}):
            self._show(Checked([f"{one}: it is asked for before it runs" for one in unasked]))
            self.start_button.set_enabled(True)
            self.long.set_enabled(True)
            return
        found = await heard(CHECKING.do(asking.checked, self.kind, text, self.path))
        if found is None or text != str(self.text.value or ""):
            return
        self._show(found)

    def _show(self, found: Checked) -> None:
        self.checked = found
        self.about.set_text(found.about)
        beside: dict[str | None, list[str]] = {None: []}
        for fault in found.faults:
            beside.setdefault(asking.key_of(fault, self.fields), []).append(fault)
        for key, field in self.fields.items():
            spec_fault = self.specs[key].fault if key in self.specs else ""
            field.error = "; ".join(beside.get(key, ())) or spec_fault or None
        if beside.keys() & {*KINDS[self.kind].more}:
            self.more.set_value(True)
        self.faults.clear()
        with self.faults:
            for fault in beside[None]:
                ui.label(fault).classes("text-negative break-all")
        self.start_button.set_enabled(not found.faults)
        self.long.set_enabled(not found.faults)

    # -- Trials and starts ------------------------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """The file that the text is written to."""
        return folder.at() / f"{self.chosen_name()}.toml"

    def chosen_name(self) -> str:
        """The name that was typed, or the game's with the first number that is free."""
        if name := str(self.name.value or "").strip():
            return name
        base = re.sub(r"\W.*", "", str((self.values() or {}).get("game") or "")) or "run"
        names = (f"{base}-{number}" for number in count(1))
        return next(name for name in names if not (folder.at() / name).exists() and not _taken(name))

    def where(self) -> list[str]:
        """The options of where games are played."""
        if cluster := str(self.cluster.value or "").strip():
            return ["--cluster", cluster]
        return ["--workers", str(int(self.workers.value or 1))]

    async def ask_long(self) -> None:
        """Play a while, and say how long the whole would take."""
        if not await self._is_agreed() or self.checked is None or self.checked.games is None:
            return
        self.said.set_text("playing for a while ...")
        self.long.set_enabled(False)
        beside, text = folder.at() / f".{self.path.name}", str(self.text.value)
        try:
            write_whole(beside, asking.placed(text, folder.at()).encode(), folder.at())
            found = await heard(trial(beside, self.where(), self.checked.games, KINDS[self.kind].command))
            if text == self.text.value:
                self.said.set_text(found or "")
        except OSError as error:
            tell(f"{beside}: {error.strerror}")
        finally:
            beside.unlink(missing_ok=True)
            self.long.set_enabled(True)

    async def _is_agreed(self) -> bool:
        """Whether a person lets run what the text names, which is then checked."""
        yes = await consent.agreed(self.values())
        if yes:
            await self.check()
        return yes

    async def start(self) -> None:
        """Write the file, and start its run."""
        if not await self._is_agreed() or self.checked is None or self.checked.faults:
            return
        name, text = self.chosen_name(), asking.placed(str(self.text.value), folder.at())
        if not told(lambda: folder.check_name(name)):
            return
        place, path = folder.at() / name, folder.at() / f"{name}.toml"
        if place.exists():
            tell(f"{place} is there already: give another name")
        elif told(lambda: _write(path, text)):
            arguments = [*KINDS[self.kind].command, str(path), "--out", str(place), *self.where()]
            if told(lambda: launching.start(place, arguments)):
                self.starting = place
                self.said.set_text("starting ...")

    def look(self) -> None:
        """Go to the run once it has begun, or say why it has not."""
        if self.starting is None:
            return
        if kind_of(self.starting) is not None:
            ui.navigate.to(folder.address(folder.name_of(self.starting)))
        elif not launching.is_starting(self.starting):
            self.said.set_text(launching.fault(self.starting) or "it has ended")
        else:
            return
        self.starting = None


def with_key(text: str, key: str, value: Any) -> str:
    """A configuration with another value of a key, or without it where that is empty; all else stays as it is."""
    document = tomlkit.parse(text)
    if value in ("", [], {}):
        document.pop(key, None)
    elif isinstance(value, list) and all(isinstance(one, str) for one in value):
        document[key] = tomlkit.array()
        document[key].extend(value)  # type: ignore[union-attr]
        document[key].multiline(len(value) > 2)  # type: ignore[union-attr]
    else:
        document[key] = value
    return tomlkit.dumps(document)


def _value(key: str, text: str) -> Any:
    """What a field's text means; as it is where it means nothing, which the check then says."""
    if key in LISTS:
        return [line.strip() for line in text.splitlines() if line.strip()]
    with suppress(ValueError):
        if key in TABLES:
            return tomlkit.parse(text)
        if key in NUMBERS:
            return tomllib.loads(f"value = {text}")["value"]
        if key == "workers" and text:
            return tomllib.loads(f"value = [{text}]")["value"]
    return text


def _taken(name: str) -> bool:
    """Whether a configuration of that name is there."""
    return (folder.at() / f"{name}.toml").exists()


def _has_tables(value: Any) -> bool:
    """Whether a list has tables, which a field of lines cannot show."""
    return isinstance(value, list) and any(isinstance(one, dict) for one in value)


def _write(path: Path, text: str) -> None:
    """Write a new file; ValueError if there is another one."""
    try:
        with suppress(FileNotFoundError):
            if read_plain(path, TEXT_BYTES).decode(errors="replace") != text:
                raise ValueError(f"{path} is there already, with another text: give another name")
        write_whole(path, text.encode(), folder.at())
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None


def open_page() -> None:
    """The page."""
    with page("New run"):
        NewRunPage()
