"""AND-OR graph search (Russell & Norvig, section 4.3.2): a plan with an answer to every outcome of the agent's actions.

At an OR node one action must lead to the goal; at an AND node every outcome of the action must.  A state that is
already on the path counts as a failure, since a plan that works need not come back to it: so plans have no loops, and a
problem that needs loops has no plan.

    plan = andor.search(VacuumWorld())
    print(plan)
"""

from dataclasses import dataclass, field

from arena.games.core.problem import Problem


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


def search(problem: Problem) -> Plan | None:
    """A plan that reaches the goal whatever the outcomes; None if no plan without loops does."""
    return or_search(problem, problem.initial(), (), {})


def or_search(problem, state, path, known) -> Plan | None:
    """A plan from `state` without the states of `path`; `known` keeps plans, not failures, which the path causes."""
    if problem.is_goal(state):
        return Plan()
    if state in known:
        return known[state]
    if state in path:
        return None
    for action in problem.actions(state):
        plans = and_search(problem, problem.outcomes(state, action), (*path, state), known)
        if plans is not None:
            known[state] = Plan(action, plans)
            return known[state]
    return None


def and_search(problem, states, path, known) -> dict | None:
    """A plan from each of the states, or None."""
    plans = {}
    for state in states:
        plan = or_search(problem, state, path, known)
        if plan is None:
            return None
        plans[state] = plan
    return plans
