"""Numba's compiler without what kernels have no use for, which is a third of the time that compilation takes.

Left out: machine code and C entries for each function, though it becomes part of a kernel; announcements of LLVM calls;
versions for literal numbers; SciPy, unless code needs it.  ARENA_WHOLE_NUMBA=1 leaves nothing out, for other Numba
versions.
"""

import functools
import importlib
import os
from typing import Any

from llvmlite.binding import ffi
from numba import config, njit, types
from numba.core.codegen import JITCodeLibrary, get_host_cpu_features
from numba.core.compiler import Compiler
from numba.extending import register_jitable
from numba.np import linalg

from arena.games.core.jit.identity import digest_or_unique
from arena.games.core.jit.walk import Compiled

LEAN = os.environ.get("ARENA_WHOLE_NUMBA") != "1"
if LEAN:  # announced around each call of LLVM, only for Numba's own measurements
    for begin, end in list(ffi.lib._lock._cblist):
        ffi.unregister_lock_callback(begin, end)
    # numba.np.arraymath imports scipy.linalg, for 0.15 s, to see whether it is there; code that needs it looks again
    linalg.ensure_blas, _ensure_blas = lambda: None, linalg.ensure_blas
    importlib.import_module("numba.np.arraymath")
    linalg.ensure_blas = _ensure_blas

WITHOUT_CALLBACK = {"no_cfunc_wrapper": True}


class PartLibrary(JITCodeLibrary):
    """A function that is only ever part of kernels: no machine code is made of it."""

    def _optimize_final_module(self):
        """Optimised as a whole with what it becomes part of."""

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        """0: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self):
        return self

    def set_env(self, name, environment):
        """The kernel has an environment of its own."""


class NamingCompiler(Compiler):
    """Gives other code another name, also across processes."""

    def define_pipelines(self):
        function = self.state.func_id
        function.func_qualname += f"@{digest_or_unique(function.func)}"
        return super().define_pipelines()


class PartCompiler(NamingCompiler):
    """Compiles for kernels that call it, not for Python."""

    def define_pipelines(self):
        if self.state.library is None:
            self.state.library = PartLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
        return super().define_pipelines()


PART: dict[str, Any] = {"pipeline_class": PartCompiler, "no_cpython_wrapper": True, **WITHOUT_CALLBACK}
if not LEAN:
    PART = {"pipeline_class": NamingCompiler}
UNCOUNTED: dict[str, Any] = {"_nrt": False, **PART}  # functions that allocate nothing, which is faster: see `helper`
part = register_jitable(**UNCOUNTED)


class Helper(Compiled):
    """A part of kernels; if Python calls it, compiled again with an entry for Python."""

    def __init__(self, function, **options):
        functools.update_wrapper(self, function)
        self.py_func = function
        self._part = njit(**PART, **options)(function)
        self.targetoptions = options
        if not LEAN:
            return
        compiled = self._part.get_call_template  # a literal is a number like others
        self._part.get_call_template = lambda arguments, named: compiled(
            [types.unliteral(one) for one in arguments], {name: types.unliteral(one) for name, one in named.items()}
        )

    @property
    def _numba_type_(self):
        return types.Dispatcher(self._part)

    @functools.cached_property
    def _compiled(self):
        return njit(**WITHOUT_CALLBACK, **self.targetoptions)(self.py_func)

    def __call__(self, *arguments):
        return self._compiled(*arguments)


@functools.cache
def processor_features() -> frozenset[str]:
    """What Numba compiles for, in LLVM's words; NUMBA_CPU_NAME may be a lesser processor."""
    given = config.CPU_FEATURES  # type: ignore[attr-defined]
    words = (get_host_cpu_features() if given is None else given).split(",")
    return frozenset(word[1:] for word in words if word.startswith("+"))
