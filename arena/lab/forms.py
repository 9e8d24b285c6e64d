"""Forms for a game or an agent, made of what the registry knows: parameters, defaults, ranges and meanings."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from arena import agents, games
from arena.games.core.shared.describe import about, parameters
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.index import Parameter
from arena.games.core.shared.registry import parse_spec
from arena.lab import consent

MAKERS: dict[str, Callable[[str], Any]] = {"game": games.make, "agent": agents.make}


def registry_of(kind: str):
    """The registry of games or of agents."""
    from arena.agents.core.agent import registry as of_agents
    from arena.games.core.game import registry as of_games

    return of_games if kind == "game" else of_agents


class SpecField:
    """A text such as `uct(seconds=2)`, with a list of names, and a form for the parameters of the one chosen.

    kind: "game" or "agent"; `spec` is the text; `fault` says what is wrong with it, or is "".
    """

    def __init__(self, kind: str, spec: str, label: str, changed: Callable[[], object] = lambda: None):
        self.kind, self.changed = kind, changed
        self.known = ""  # the last text without a mistake
        with ui.column().classes("gap-1 w-full"):
            self.input = ui.input(label, value=spec, autocomplete=[]).classes("w-full")
            self.input.on("blur", self._typed).on("keydown.enter", self._typed)
            with ui.expansion("choose").classes("w-full").props("dense"):
                names = sorted(registry_of(kind).classes())
                self.name = ui.select(names, label=f"name of the {kind}", on_change=self._named, with_input=True)
                self.name.classes("w-full")
                self.about = ui.label().classes("text-sm")
                self.form = ui.column().classes("gap-1 w-full")
        self._typed()

    @property
    def spec(self) -> str:
        return str(self.input.value or "").strip()

    @property
    def fault(self) -> str:
        """What is wrong with the text, in a sentence; "" if nothing, or if it is not to be made unasked."""
        try:
            parse_spec(self.spec)
            if not consent.lacking(self.spec):
                MAKERS[self.kind](self.spec)
        except UserError as error:
            return str(error)
        except Exception as error:  # of a user's class
            return f"{type(error).__name__}: {error}"
        return ""

    def set(self, spec: str) -> None:
        """Show another text."""
        if spec != self.spec:
            self.input.set_value(spec)
            self._typed()

    def _typed(self) -> None:
        """Show what is wrong with the text, or the form of what it names."""
        fault = self.fault
        self.input.props(f"error={'true' if fault else 'false'}")
        self.input.props["error-message"] = fault
        self.input.update()
        if not fault:
            name, _, given = parse_spec(self.spec)
            if self.name.value != name:
                self.name.set_value(name)
            if self.spec != self.known:
                self.known = self.spec
                self._fill(given)
                self.changed()

    def _named(self, event) -> None:
        if event.value and event.value != parse_spec(self.spec or "x")[0]:
            self.input.set_value(event.value)
            self._typed()

    def _fill(self, given: dict[str, Any]) -> None:
        """Make the form of a class, with what the text gives."""
        cls = registry_of(self.kind).named(str(self.name.value))
        self.form.clear()
        if cls is None:
            return
        self.about.set_text(about(cls))
        with self.form:
            for one in parameters(cls):
                self._field(one, given)

    def _field(self, one: Parameter, given: dict[str, Any]) -> None:
        default = "" if one.default is None else str(one.default)
        hint = "; ".join(part for part in (one.meaning, one.range) if part)
        shown = repr(given[one.name]).strip("'") if one.name in given else ""
        field = ui.input(one.name, value=shown, placeholder=default or "none").classes("w-full")
        field.props("stack-label")
        ui.label(hint).classes("text-sm pb-1")

        def set_value() -> None:
            if str(field.value or "").strip() != shown:
                self.input.set_value(self._with(one, str(field.value or "").strip()))
                self._typed()

        field.on("blur", set_value).on("keydown.enter", set_value)

    def _with(self, one: Parameter, text: str) -> str:
        """The spec with another value of a parameter, or without it."""
        name, _, given = parse_spec(self.spec)
        given = {key: value for key, value in given.items() if key != one.name}
        parts = [f"{key}={value!r}" for key, value in given.items()]
        if text:
            parts.append(
                f"{one.name}={text!r}" if "str" in one.type and not text.startswith("[") else f"{one.name}={text}"
            )
        return f"{name}({', '.join(parts)})" if parts else name
