"""What of Numba the glue in games/core/jit touches that no documentation promises: which name a new version lacks."""

import inspect
import os
import subprocess
import sys

import pytest
from llvmlite.binding import ffi
from numba.core import callconv, codegen, cpu, datamodel, dispatcher, event, extending, imputils, pythonapi
from numba.core.compiler import Compiler, CompileResult
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typing import templates as typing_templates
from numba.core.typing import typeof
from numba.np import arrayobj, linalg

# (where, name, what it is for)
NAMES = [
    (dispatcher.Dispatcher, "_compile_for_args", "kernels.py: tables get the methods that a new kernel calls"),
    (linalg, "ensure_blas", "parts.py: SciPy is imported for code that needs it alone"),
    (dispatcher.Dispatcher, "add_overload", "kernels.py: which methods a kernel calls"),
    (dispatcher.Dispatcher, "get_call_template", "parts.py: one compilation for all literal numbers"),
    (codegen.JITCodeLibrary, "_optimize_final_module", "parts.py: parts are optimised in what they become part of"),
    (codegen.JITCodeLibrary, "_finalize_final_module", "parts.py: no machine code of parts"),
    (codegen.JITCodeLibrary, "_finalize_dynamic_globals", "parts.py: what it does besides"),
    (codegen.JITCodeLibrary, "add_llvm_module", "entries.py: linking"),
    (codegen.JITCodeLibrary, "serialize_using_bitcode", "entries.py: keeping what is compiled for a class"),
    (codegen.JITCodeLibrary, "serialize_using_object_code", "entries.py: keeping what is linked for a game"),
    (codegen.JITCPUCodegen, "unserialize_library", "entries.py: loading it"),
    (codegen.JITCPUCodegen, "magic_tuple", "entries.py: the processor that code is for"),
    (cpu.CPUContext, "push_code_library", "entries.py: the code of an entry"),
    (callconv.CPUCallConv, "call_function", "entries.py: an entry calls a method"),
    (callconv.CPUCallConv, "return_status_propagate", "tables.py: what a method raises"),
    (callconv.CPUCallConv, "_get_return_status", "tables.py: what a method raises"),
    (callconv.CPUCallConv, "_get_excinfo_argument", "tables.py: what a method raises"),
    (callconv, "excinfo_ptr_t", "tables.py: what a method raises"),
    (Compiler, "define_pipelines", "parts.py: parts have libraries of their own"),
    (arrayobj, "populate_array", "entries.py: arrays over what a kernel passes"),
    (event, "trigger_event", "entries.py: that compiling takes time is noticed"),
    (codegen.JITCodeLibrary, "_ensure_finalized", "parts.py: no machine code of parts"),
    (codegen.JITCodeLibrary, "enable_object_caching", "parts.py, entries.py: code that is kept"),
    (CompileResult, "_reduce", "kernels.py: what is kept of a kernel"),
    (CompileResult, "_rebuild", "kernels.py: what is kept of a kernel"),
    (extending, "_Intrinsic", "identity.py: instructions of a plug-in's own"),
    (typing_templates.builtin_registry, "globals", "extensions.py: what takes a function's place in kernels"),
    (imputils.builtin_registry, "functions", "extensions.py: modules with instructions of their own"),
    *((typing_templates.builtin_registry, name, "extensions.py") for name in ("functions", "attributes")),
    *((imputils.builtin_registry, name, "extensions.py") for name in ("getattrs", "setattrs", "casts")),
    (imputils.builtin_registry, "constants", "extensions.py"),
    (typeof.typeof_impl, "registry", "extensions.py"),
    (datamodel.registry.default_manager, "_handlers", "extensions.py"),
    (pythonapi._boxers, "functions", "extensions.py"),
    (pythonapi._unboxers, "functions", "extensions.py"),
    (ffi.lib._lock, "_cblist", "parts.py: nobody listens to each call of LLVM"),
]


@pytest.mark.parametrize("place, name, use", NAMES, ids=[f"{name}" for _, name, _ in NAMES])
def test_numba_has_what_the_glue_uses(place, name, use):
    assert hasattr(place, name), f"this version of Numba has no {name}, which serves {use}"


def test_compiled_kernels_say_what_runs_when_they_are_loaded():
    assert "reload_init" in CompileResult._fields
    library = cpu_target.target_context.codegen().create_library("canary")
    assert isinstance(library._reload_init, set) and isinstance(library._linking_libraries, (list, set))


@pytest.mark.slow
def test_kernels_are_the_same_by_the_whole_of_numba(tmp_path):
    script = """
from arena import games, agents
game = games.make("hex(size=3)")
print(games.playouts(game, 50, seed=1), agents.make("uct(playouts=50)").choose(game, game.initial(), seed=1).move)
"""
    environment = os.environ | {"ARENA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    told = [
        subprocess.run(
            [sys.executable, "-c", script], env=environment | more, stdout=subprocess.PIPE, check=True
        ).stdout
        for more in ({"ARENA_WHOLE_NUMBA": "1"}, {"ARENA_CACHE_DIR": str(tmp_path / "lean")})
    ]
    assert told[0] == told[1] != b""


def test_a_dispatcher_is_made_as_kernels_are():
    parameters = inspect.signature(CPUDispatcher.__init__).parameters
    assert {"py_func", "targetoptions"} <= set(parameters)
    assert "_cache" in vars(CPUDispatcher(lambda game: 1, targetoptions={"nopython": True}))


@pytest.mark.slow
def test_a_decision_imports_no_linear_algebra_and_other_code_finds_it():
    code = """
import sys
import numpy as np
from numba import njit
from arena import agents, games
game = games.make("tictactoe")
agents.make("uct(playouts=10)").choose(game, game.initial(), seed=1)
print("scipy.linalg" in sys.modules)
print(njit(lambda a: np.linalg.inv(a) @ a)(2.0 * np.eye(2)).tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["False", "[[1.0, 0.0], [0.0, 1.0]]"]
