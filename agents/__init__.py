"""Agents: search algorithms that choose moves.

agent = agents.make("uct(exploration=0.4, playouts=1000)")
agent.choose(game, game.initial(), seed=1)
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the names that `__getattr__` imports
    from arena.agents.core.agent import Agent as Agent
    from arena.agents.core.agent import Budget as Budget
    from arena.agents.core.agent import Decision as Decision
    from arena.agents.core.agent import Player as Player
    from arena.agents.core.agent import Unsuited as Unsuited
    from arena.agents.core.agent import playing as playing
    from arena.agents.core.agent_check import check as check
    from arena.agents.core.solve import solve as solve
    from arena.agents.core.solve import solve_all as solve_all
    from arena.agents.core.solve import solver_of as solver_of
    from arena.agents.minimax.alphabeta import AlphaBeta as AlphaBeta
    from arena.agents.minimax.expectiminimax import Expectimax as Expectimax
    from arena.agents.minimax.expectiminimax import Expectiminimax as Expectiminimax
    from arena.agents.minimax.minimax import Minimax as Minimax
    from arena.agents.minimax.negamax import Negamax as Negamax
    from arena.agents.minimax.trace import explore as explore
    from arena.agents.minimax.ubfm import UBFM as UBFM
    from arena.agents.montecarlo.flat import Flat as Flat
    from arena.agents.montecarlo.grown import grow as grow
    from arena.agents.montecarlo.methods.presets import GRAVE as GRAVE
    from arena.agents.montecarlo.methods.presets import MAST as MAST
    from arena.agents.montecarlo.methods.presets import PPA as PPA
    from arena.agents.montecarlo.parallel.distributed import Distributed as Distributed
    from arena.agents.montecarlo.parallel.leaf import LeafParallel as LeafParallel
    from arena.agents.montecarlo.parallel.one_tree import GSCPM as GSCPM
    from arena.agents.montecarlo.parallel.one_tree import TreeParallel as TreeParallel
    from arena.agents.montecarlo.parallel.pipeline import Pipeline as Pipeline
    from arena.agents.montecarlo.parallel.root import RootParallel as RootParallel
    from arena.agents.montecarlo.uct import UCT as UCT
    from arena.agents.nested.nmcs import NMCS as NMCS
    from arena.agents.nested.nrpa import NRPA as NRPA
    from arena.agents.nested.nrpa import BeamNRPA as BeamNRPA
    from arena.agents.nested.sp_mcts import SPMCTS as SPMCTS
    from arena.agents.outside.external import External as External
    from arena.agents.pictures import View as View
    from arena.agents.pictures import show as show
    from arena.agents.proof.dfpn import DFPN as DFPN
    from arena.agents.proof.jlpns import JLPNS as JLPNS
    from arena.agents.proof.parapds import ParaPDS as ParaPDS
    from arena.agents.proof.pds import PDS as PDS
    from arena.agents.proof.pdspn import PDSPN as PDSPN
    from arena.agents.proof.pn2 import PN2 as PN2
    from arena.agents.proof.pns import PNS as PNS
    from arena.agents.proof.pnstar import PNStar as PNStar
    from arena.agents.proof.ppn2 import PPN2 as PPN2
    from arena.agents.proof.rppns import RPPNS as RPPNS
    from arena.agents.proof.spdfpn import SPDFPN as SPDFPN
    from arena.agents.random import Random as Random

_HOMES = dict.fromkeys(("Agent", "Budget", "Decision", "Player", "Unsuited", "playing"), "arena.agents.core.agent")
_HOMES |= {
    "check": "arena.agents.core.agent_check",
    "explore": "arena.agents.minimax.trace",
    "grow": "arena.agents.montecarlo.grown",
}
_HOMES |= dict.fromkeys(("solve", "solve_all", "solver_of"), "arena.agents.core.solve")
_HOMES |= dict.fromkeys(("View", "show"), "arena.agents.pictures")

__all__ = [*_HOMES, "make", "names"]


def make(spec: str) -> "Agent":
    """The agent that `spec` describes; SpecError (of the games package) names the mistake in it."""
    from arena.agents.core.agent import registry

    return registry.make(spec)


def names() -> list[str]:
    """The names of all agents."""
    from arena.agents.core.agent import registry

    return list(registry.classes())


if not TYPE_CHECKING:  # for a type checker, unknown names stay mistakes

    def __getattr__(name):
        # Numba is loaded with the first name that needs it: commands that need none start quickly
        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name]), name)
        from arena.agents.core.agent import registry

        return registry.class_called(name)


def __dir__() -> list[str]:
    return __all__
