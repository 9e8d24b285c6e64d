"""What to type instead of a command line that cannot be read."""

import difflib
import re
from typing import Any

MEANT = {  # words for commands, in other programs or in the names of what they do
    "tournament": "run tournament.toml",
    "match": 'run --game connect4 --agent random --agent "uct(playouts=100)" --games 20',
    "compete": "run tournament.toml",
    "rate": "elo RUN",
    "ratings": "table RUN --kind ratings",
    "standings": "table RUN",
    "games": "list games",
    "agents": "list agents",
    "learners": "list learners",
    "benchmark": "bench",
    "train": "learn GAME",
    "analyse": "tree GAME",
    "analyze": "tree GAME",
    "serve": "lab RUN",
    "uci": "serve-agent alphabeta chess --protocol uci",
    "gtp": 'serve-agent "uct(seconds=1)" "go(size=9)" --protocol gtp',
}
EXAMPLE = re.compile(r"Examples:\n\s*(arena .*)")


def hint_for(error: Any) -> str:
    """A line to type after an error of usage, or ""."""
    context = error.ctx
    if context is None:
        return ""
    kind = type(error).__name__  # typer does not export these
    if kind == "MissingParameter" or error.message.startswith("Got unexpected extra argument"):
        return _example(context)
    if kind == "NoSuchOption":
        name = error.option_name.lstrip("-")
        arguments = [one.name for one in context.command.params if one.param_type_name == "argument"]
        return f"{name} is written without --{name}. {_example(context)}".strip() if name in arguments else ""
    if choice := re.match(r"'(.*?)' is not one of (.*)\.", error.message):
        close = difflib.get_close_matches(choice[1], re.findall("'(.*?)'", choice[2]), 1)
        return f"Did you mean {close[0]}?" if close else ""
    unknown = re.match(r"No such command '(.*?)'", error.message)
    if unknown is None:
        return ""
    word = unknown[1]
    if context.info_name == "list":
        return f"For its parameters: arena list {_kind_of(word)} {word}"
    return f"Did you mean: arena {MEANT[word]}" if word in MEANT else ""


def _example(context: Any) -> str:
    found = EXAMPLE.search(context.command.help or "")
    return f"For example: {found[1]}" if found else ""


def _kind_of(name: str) -> str:
    from arena.games.core.shared.index import read

    kinds = {"games": "arena.games", "learners": "arena.agents.learning"}
    return next((kind for kind, package in kinds.items() if name in (read(package) or {})), "agents")
