"""Decisions as text and as HTML for notebooks."""

from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from arena.agents.core.effort import Effort
from arena.games.core.boards.drawing import svg

if TYPE_CHECKING:
    from arena.agents.core.agent import Decision

ROWS = 12  # moves in a table


def decision_line(decision: "Decision") -> str:
    """`4: value +0.550, expects 4 5 3, playouts 100, 0.0119 s`."""
    expected = names_of(decision)
    line = [f"expects {' '.join(expected)}"] if len(expected) > 1 else []
    return f"{name_of(decision, decision.move)}: {', '.join([*valued(decision), *line, *counted(decision)])}"


def decision_page(decision: "Decision") -> str:
    """The move, the board after it if known, the counts, and a table of the root's moves."""
    move, line = name_of(decision, decision.move), names_of(decision)
    words = [f"<b>{escape(move)}</b>", *valued(decision), *counted(decision)]
    parts = [f"<p>{', '.join(words)}</p>"]
    if len(line) > 1:
        parts.append(f"<p>expects {escape(' '.join(line))}</p>")
    if decision.game is not None and decision.state is not None:
        parts.append(svg(decision.game, decision.game.after(decision.state, int(decision.move)), [move]))
    if decision.statistics is not None:
        parts.append(table(decision))
    return "".join(parts)


def valued(decision: "Decision") -> list[str]:
    """`value +0.550`; empty without a value."""
    return [] if decision.value is None else [f"value {decision.value:+.3f}"]


def counted(decision: "Decision") -> list[str]:
    """`playouts 1,000`, `0.012 s`: the effort, as far as counted."""
    given = {field.name: getattr(decision, field.name) for field in fields(Effort)}
    return [
        f"{value:.3g} s" if name == "seconds" else f"{name} {value:,}"
        for name, value in given.items()
        if value is not None
    ]


def name_of(decision: "Decision", move: int) -> str:
    """The move's name, or its number if the game is unknown."""
    known = decision.game is not None and decision.state is not None
    return decision.game.move_name(decision.state, int(move)) if known else str(move)  # type: ignore[union-attr, arg-type]


def names_of(decision: "Decision") -> list[str]:
    """The principal variation, up to the first illegal move."""
    if decision.game is None or decision.state is None:
        return [str(move) for move in decision.principal_variation]
    state, names = decision.state.copy(), list[str]()
    for move in map(int, decision.principal_variation):
        if move not in decision.game.moves(state):
            break
        names.append(decision.game.move_name(state, move))
        decision.game.play(state, move)
    return names


def table(decision: "Decision") -> str:
    """The statistics of the moves, the most visited first."""
    known = decision.statistics
    assert known is not None
    order = np.argsort(-known.playouts, kind="stable")
    rows = [
        f"<tr><td>{escape(name_of(decision, known.moves[i]))}</td><td>{known.playouts[i]:,}</td>"
        f"<td>{'-' if np.isnan(known.means[i]) else format(known.means[i], '+.3f')}</td></tr>"
        for i in order[:ROWS]
    ]
    more = f"<p>and {len(order) - ROWS} more moves</p>" if len(order) > ROWS else ""
    return f"<table><thead><tr><th>move</th><th>playouts</th><th>value</th></tr></thead>{''.join(rows)}</table>{more}"
