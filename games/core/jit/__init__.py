"""The Numba glue: a game's methods, written as ordinary Python, compiled when a kernel calls them.

In a kernel, `game.play(state, move)` is the method of its first argument, compiled.

    kernels.py     `kernel`, `helper`, `inlined`: functions that are compiled, and kept on disk
    compilable.py  `Compilable`: objects whose methods kernels call, with Numba types of their own
    tables.py      games as tables of pointers and numbers, so that a kernel serves all games
    entries.py     a game's methods as what these pointers point to
    parts.py       Numba's compiler without what kernels do not need
    walk.py        one walk through all that code reaches, for digests
    identity.py    names of compiled code: the walk as the compiler reads
    extensions.py  what takes another function's place in compiled code
    bytecode.py    what code is made of, and whose it is
    kept.py        compiled code in files
    announcing.py  what is said while a script waits for the compiler

tests/games/test_numba.py lists what it uses of Numba's undocumented parts.  ARENA_WHOLE_NUMBA=1 does without parts.py,
ARENA_SPECIALIZE=always without tables.
"""

from arena.games.core.jit.announcing import announce_compiling
from arena.games.core.jit.compilable import Compilable, look_again
from arena.games.core.jit.identity import StaleCode, warn_of_changes
from arena.games.core.jit.kernels import COMPILED, Kernel, helper, inlined, kernel, kernels, uncompiled
from arena.games.core.jit.walk import Walk, code_digest

__all__ = [
    "COMPILED",
    "Compilable",
    "Kernel",
    "StaleCode",
    "Walk",
    "code_digest",
    "helper",
    "inlined",
    "kernel",
    "kernels",
    "look_again",
    "uncompiled",
    "warn_of_changes",
]

announce_compiling()
