"""How does the C++ of kernels become functions that Python calls?

Mirrors: torch/_inductor/codecache.py (CppCodeCache), torch/_inductor/cpp_builder.py

# Note [Threads that wait]
Between two kernels OpenMP's threads wait busily, for up to a second, and take the CPU from whoever computes the product
of matrices that comes next. Unless the environment says how they wait, they are told to give up soon, in the moment in
which OpenMP is loaded. A process that was forked has none of them, and computes in one thread.
"""

from __future__ import annotations

import _ctypes
import ctypes
import os
import re
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from glasstorch.compiler.loops.cache import machine_code
from glasstorch.compiler.loops.wrapper import Kernel
from glasstorch.core.parallel import get_num_threads
from glasstorch.core.symbols import about
from glasstorch.devices.cpp_compiler import CompileError
from glasstorch.jit.codegen.cpp_loop import HEAD, options

THREADS: Final = ("-fopenmp",)
WAITING: Final = "GOMP_SPINCOUNT"
COMMENT: Final = re.compile(r"^ *// .*\n", re.MULTILINE)
TURNS: Final = "1000"  # some tens of microseconds

_forked = False


@cache
def prelude() -> str:
    """What each source begins with."""
    return HEAD + Path(__file__).with_name("elementary.h").read_text(encoding="utf-8")


def source(kernels: Sequence[Kernel]) -> str:
    """The C++ of all kernels of a graph."""
    return "\n\n".join(["", *(kernel.text() for kernel in kernels)]) + "\n"


def compiled(
    kernels: Sequence[Kernel], text: str, symbols: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Callable[..., Any]]:
    """The kernels as functions of pointers, and of the numbers that their symbols stand for.

    CompileError if there is no compiler, or it fails.
    """
    if not kernels:
        return {}
    code = COMMENT.sub("", prelude() + text)  # which say for whom it was written, and need not be the same
    loaded = load(machine_code(code, (*options(), *THREADS)))
    functions = {}
    for kernel in kernels:
        function = getattr(loaded, kernel.name)
        count = len(kernel.parameters) + bool(about(kernel.workspace))
        sizes = len((symbols or {}).get(kernel.name, ()))
        function.argtypes = [ctypes.c_void_p] * count + [ctypes.c_int64] * (3 if kernel.product else sizes + 1)
        function.restype = None
        function.library = loaded  # which is unloaded when no function of it is left
        functions[kernel.name] = function
    return functions


def load(path: Path) -> ctypes.CDLL:
    """A shared library. CompileError if the system refuses it, as where a folder's programs must not run."""
    with threads_give_up_soon():
        try:
            loaded = ctypes.CDLL(str(path))
        except OSError as error:
            raise CompileError(f"what the compiler made cannot be loaded: {error}") from None
    weakref.finalize(loaded, _ctypes.dlclose, loaded._handle).atexit = False
    return loaded


@contextmanager
def threads_give_up_soon() -> Iterator[None]:
    """See Note [Threads that wait]."""
    if any(name in os.environ for name in (WAITING, "OMP_WAIT_POLICY")):
        yield
        return
    os.environ[WAITING] = TURNS
    try:
        yield
    finally:
        os.environ.pop(WAITING, None)  # another thread may have done so


def threads() -> int:
    """How many threads a kernel uses. See Note [Threads that wait]."""
    return 1 if _forked else get_num_threads()


def _after_fork() -> None:
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
