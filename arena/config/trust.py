"""Decides whether to import the plug-ins that a stored run names, since importing runs their code.

Whoever wrote a run's file chose them.  So a plug-in is imported only if it is installed, is loaded already, or has the
files that this user played with, or trusted, by a digest in the user's cache folder.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arena.games.core.shared import cache, plugins
from arena.games.core.shared.errors import UserError

OURS = __name__.partition(".")[0]
_looked_in: set[str] = set()  # that runs have added to sys.path
_imported: dict[str, str] = {}  # by this process: place -> digest when it was
_trusted: dict[str, str] = {}  # of this process: place -> digest; without a cache folder it is all there is


class TrustError(UserError):
    """A plug-in of a stored run that is not imported unasked."""


def import_plugins(values: Mapping[str, Any]) -> None:
    """Import the plug-ins of resolved values."""
    look_in(values["plugin_path"] if values["plugins"] else None)
    for plugin in values["plugins"]:
        import_plugin(plugin)


def import_plugin(name: str) -> None:
    """Import a plug-in, and note its files as they are."""
    plugins.load(name)
    source = plugins.source_of(name)
    if not source.is_plain:
        if not source.revision:  # which does not change
            _imported.setdefault(str(source.file()), _digest(source.file()))
    elif (spec := _spec(name.partition(".")[0], None)) and (place := _place(spec)):
        _imported.setdefault(place, _digest(Path(place)))


def changed() -> bool:
    """Whether the files of a plug-in that this process has imported are others now: it goes on with the old code."""
    return any(not Path(place).exists() or _digest(Path(place)) != was for place, was in _imported.items())


def look_in(folder: str | None) -> None:
    """Let Python also find modules in a folder."""
    if folder and folder not in sys.path:
        _looked_in.add(folder)
        sys.path.append(folder)


def import_stored(values: Mapping[str, Any]) -> None:
    """Import the plug-ins of a stored run's values; TrustError if one of them is to be asked for."""
    doubtful = list(_doubtful(values))
    for plugin, place, digest in doubtful:
        kept = _kept(place)
        if plugins.source_of(plugin).module not in sys.modules and kept != digest:
            why = "has changed since you last played with it" if kept else "is not installed, nor played with here"
            raise TrustError(
                f"this needs the plug-in {plugin} of the run, whose code {place} {why}. To read that run anyway, "
                "which runs this code: --trust"
            )
    try:
        import_plugins({**values, "plugin_path": values.get("plugin_path") if doubtful else None})
    except ModuleNotFoundError as error:
        lay = f"; it was in {own}" if (own := values.get("plugin_path")) else ""
        raise UserError(f"{error}: this needs the plug-ins {', '.join(values['plugins'])} of the run{lay}") from None


def trust(values: Mapping[str, Any]) -> None:
    """Let `import_stored` import these values' plug-ins while their files stay as they are."""
    for _, place, digest in _doubtful(values):
        if _kept(place) != digest:
            _trusted[place] = digest
            with suppress(OSError):
                cache.write(_file(place), json.dumps({"plugin": place, "digest": digest}).encode())


def _doubtful(values: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    own = values.get("plugin_path")
    unsure = {os.path.abspath(folder) for folder in (*_looked_in, own or ".", ".")}
    for plugin in values["plugins"]:
        if not (source := plugins.source_of(plugin)).is_plain:
            look_in(own)
            where, text = source.text()
            yield plugin, where, hashlib.sha256(text.encode()).hexdigest()
            continue
        spec = _spec(plugin.partition(".")[0], own)
        if spec and spec.name != OURS and (place := _place(spec)) and os.path.dirname(place) in unsure:
            yield plugin, place, _digest(Path(place))


def _spec(name: str, folder: str | None) -> ModuleSpec | None:
    try:
        found = find_spec(name)
    except ValueError:  # a module made by hand
        return None
    return found or (PathFinder.find_spec(name, [folder]) if folder else None)


def _place(spec: ModuleSpec) -> str:
    """A module's file or a package's folder; "" for neither."""
    if spec.submodule_search_locations:
        return os.path.abspath(next(iter(spec.submodule_search_locations)))
    return os.path.abspath(spec.origin) if spec.has_location and spec.origin else ""


def _digest(place: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
        digest.update(f"{path.relative_to(place.parent)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _file(place: str) -> str:
    return f"plugin-{hashlib.sha256(place.encode()).hexdigest()[:16]}{cache.INDEX}"


def _kept(place: str) -> str:
    """The trusted digest of a place, or ""."""
    if place in _trusted:
        return _trusted[place]
    path = cache.find(_file(place))
    try:
        found = json.loads(path.read_bytes()) if path else {}
        return str(found["digest"]) if found.get("plugin") == place else ""
    except (OSError, ValueError, AttributeError, KeyError):
        return ""
