"""AND-OR graph search (Russell & Norvig, section 4.3.2): a plan with an answer to every outcome of the agent's actions.

At an OR node one action must lead to the goal; at an AND node every outcome of the action must.  A state that is
already on the path counts as a failure, since a plan that works need not come back to it: so plans have no loops, and a
problem that needs loops has no plan.

    plan = andor.search(VacuumWorld())
    print(plan)
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from arena.agents.core.tree_node import Node, Said
from arena.agents.minimax.trace import TooLarge
from arena.games.core.interface.problem import Problem

NODES = 200_000  # visited by default at most
FREE = 1 << 60  # the place on the path of what rests on no state of it


@dataclass(frozen=True)
class Plan:
    """An action, and a plan for each of its outcomes; no action: the goal is reached."""

    action: object = None
    after: dict = field(default_factory=dict)  # outcome -> Plan

    def depth(self) -> int:
        """The most actions that it may take."""
        return 0 if self.action is None else 1 + max(plan.depth() for plan in self.after.values())

    def __str__(self):
        return "\n".join(self.lines("")) or "nothing is left to do"

    def lines(self, indent: str):
        """The plan as text: one action a line, then the rest, by outcome if there are several."""
        if self.action is None:
            return
        yield f"{indent}{self.action}"
        for outcome, plan in self.after.items():
            if len(self.after) > 1:
                yield f"{indent}  if {outcome}:{'' if plan.action is not None else ' done'}"
            yield from plan.lines(indent + ("    " if len(self.after) > 1 else ""))

    def data(self) -> dict[str, Any] | None:
        """The plan as plain values for JSON; None where nothing is left to do."""
        if self.action is None:
            return None
        return {"action": str(self.action), "after": {str(state): plan.data() for state, plan in self.after.items()}}


class End(StrEnum):
    """How a visit ended; it also says why nothing is below a node."""

    FOUND = "plan"
    GOAL = "goal"
    LOOP = "loop"
    KNOWN = "known"
    KNOWN_FAILURE = "known failure"
    FAILURE = "failure"


@dataclass
class Visit(Node):
    """A visit of an OR node, the agent's, or of an AND node, the world's."""

    kind: str = "or"
    text: str = ""
    end: End | None = None

    legend = (
        "Square: OR, the agent acts; round: AND, the world answers. Green has a plan, red has none. Loop: the "
        "state is on the path already. Known: it was searched before. Orange: the plan."
    )

    @property
    def role(self) -> str:
        return self.kind.upper()

    @property
    def said(self):
        data = {"kind": self.kind, "state": self.text, "end": self.end and str(self.end)}
        note = "" if self.end in (None, End.FOUND, End.FAILURE) else str(self.end)
        state = "" if self.end is None else "proved" if self.works else "disproved"
        return Said(self.text, data, note, state=state)

    @property
    def works(self) -> bool:
        return self.end in (End.FOUND, End.GOAL, End.KNOWN)


@dataclass
class Search:
    """The search, and what it visited."""

    problem: Problem
    limit: int = NODES
    plans: dict = field(default_factory=dict)
    failures: set = field(default_factory=set)  # that rest on no state of a path
    visits: int = 0

    def run(self) -> tuple[Plan | None, Visit]:
        """The plan or None, and the tree of visits.  TooLarge if the limit of nodes or Python's stack is too small."""
        state = self.problem.initial()
        root = self.visit("", "or", str(state))
        try:
            plan, _ = self.or_search(state, {}, root)
        except RecursionError:
            raise TooLarge("the paths of this problem are too long for Python's stack") from None
        mark(root)
        return plan, root

    def visit(self, move: str, kind: str, text: str) -> Visit:
        self.visits += 1
        if self.visits > self.limit:
            raise TooLarge(f"no plan after {self.limit:,} nodes")
        return Visit(move, None, kind=kind, text=text)

    def or_search(self, state, path: dict, node: Visit) -> tuple[Plan | None, int]:
        """A plan from `state` without the states of `path`, and the first place on it that a failure rests on."""
        if self.problem.is_goal(state):
            node.end = End.GOAL
            return Plan(), FREE
        if state in self.plans:
            node.end = End.KNOWN
            return self.plans[state], FREE
        if state in path:
            node.end = End.LOOP
            return None, path[state]
        if state in self.failures:
            node.end = End.KNOWN_FAILURE
            return None, FREE
        path[state] = here = len(path)
        plan, rests = self.choose(state, path, node)
        del path[state]
        node.end = End.FOUND if plan else End.FAILURE
        if plan:
            self.plans[state] = plan
        elif rests >= here:  # whatever leads here, it fails again
            self.failures.add(state)
            rests = FREE
        return plan, rests

    def choose(self, state, path: dict, node: Visit) -> tuple[Plan | None, int]:
        """A plan that begins with the first action that works."""
        rests = FREE
        for action in self.problem.actions(state):
            below = self.visit(str(action), "and", "")
            node.children.append(below)
            plans, first = self.and_search(self.problem.outcomes(state, action), path, below)
            if plans is not None:
                return Plan(action, plans), FREE
            rests = min(rests, first)
        return None, rests

    def and_search(self, states, path: dict, node: Visit) -> tuple[dict | None, int]:
        """A plan from each of the states, or None and the place that the failure rests on."""
        plans = {}
        for state in states:
            below = self.visit("", "or", str(state))
            node.children.append(below)
            plans[state], first = self.or_search(state, path, below)
            if plans[state] is None:
                node.end = End.FAILURE
                return None, first
        node.end = End.FOUND
        return plans, FREE


def mark(node: Visit) -> None:
    """Mark the branches of the plan below a node, up to states that were known."""
    for child in node.children:
        if node.works and child.works:
            child.marked = True
            mark(child)


def search(problem: Problem) -> Plan | None:
    """A plan that reaches the goal whatever the outcomes; None if no plan without loops does."""
    return Search(problem).run()[0]
