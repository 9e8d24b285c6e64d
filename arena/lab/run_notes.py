"""Tags and a note that a person gives a run: a small file in its folder, which nothing else reads."""

from pathlib import Path

import msgspec

from arena.games.core.shared.errors import UserError
from arena.games.core.shared.files import read_plain, write_whole

NOTES = "notes.json"
MOST_BYTES = 1 << 16


class Notes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the file has; a key that is not ours is refused, as it would be lost when the file is written again."""

    tags: list[str] = []
    note: str = ""


def read_notes(place: Path) -> Notes:
    """The notes of the run in a folder, empty where there are none; UserError if the file is not as we write it."""
    path = place / NOTES
    try:
        return msgspec.json.decode(read_plain(path, MOST_BYTES), type=Notes)
    except FileNotFoundError:
        return Notes()
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{path} cannot be read: {reason}; it is left as it is") from None


def write_notes(place: Path, new: Notes, old: Notes) -> None:
    """Write the notes of a run that were `old` when a page showed them; UserError if they cannot be, or are others."""
    if read_notes(place) != old:
        raise UserError(f"{place / NOTES} was changed meanwhile: load the page again")
    try:
        data = msgspec.json.format(msgspec.json.encode(new))
        if len(data) > MOST_BYTES:
            raise UserError(f"tags and note have {len(data):,} bytes, and may have {MOST_BYTES:,}")
        write_whole(place / NOTES, data, place)
    except UnicodeError as error:
        raise UserError(f"tags and note: {error}") from None
    except OSError as error:
        raise UserError(f"{place / NOTES}: {error.strerror}") from None


def tags_in(text: str) -> list[str]:
    """The tags of a text that has them between commas, each once."""
    return list(dict.fromkeys(filter(None, (" ".join(tag.split()) for tag in text.split(",")))))
