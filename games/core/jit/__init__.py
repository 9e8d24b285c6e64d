"""The Numba glue: a game's methods, written as ordinary Python, compiled when a kernel calls them.

In a kernel, `game.play(state, move)` is the method of its first argument, compiled.

    kernels.py     `kernel`, `helper`, `inlined`: functions that are compiled, and kept on disk
    compilable.py  `Compilable`: objects whose methods kernels call, with Numba types of their own
    tables.py      games as tables of pointers and numbers, so that a kernel serves all games
    entries.py     a game's methods as what these pointers point to
    parts.py       Numba's compiler without what kernels do not need
    identity.py    names of compiled code: digests of what the compiler is given
    classes.py     digests of what classes are made of, for runs
    bytecode.py    what code is made of, for both
    kept.py        compiled code in files
    announcing.py  what is said while a script waits for the compiler

tests/games/test_numba.py lists what it uses of Numba's undocumented parts.  ARENA_WHOLE_NUMBA=1 does without parts.py,
ARENA_SPECIALIZE=always without tables.
"""

from arena.games.core.jit.announcing import announce_compiling
from arena.games.core.jit.classes import Sources, code_digest, code_of
from arena.games.core.jit.compilable import Compilable, look_again
from arena.games.core.jit.identity import StaleCode, warn_of_changes
from arena.games.core.jit.kernels import COMPILED, Kernel, helper, inlined, kernel, kernels, uncompiled

__all__ = [
    "COMPILED",
    "Compilable",
    "Kernel",
    "Sources",
    "StaleCode",
    "code_digest",
    "code_of",
    "helper",
    "inlined",
    "kernel",
    "kernels",
    "look_again",
    "uncompiled",
    "warn_of_changes",
]

announce_compiling()
