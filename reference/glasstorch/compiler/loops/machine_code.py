"""How does the C++ of kernels become functions that Python calls?

Mirrors: torch/_inductor/codecache.py (CppCodeCache), torch/_inductor/cpp_builder.py
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from glasstorch.compiler.loops.wrapper import Kernel
from glasstorch.devices.cpp_compiler import library
from glasstorch.jit.codegen.cpp_loop import HEAD, options

THREADS: Final = ("-fopenmp",)


@cache
def prelude() -> str:
    """What each source begins with."""
    return HEAD + Path(__file__).with_name("elementary.h").read_text(encoding="utf-8")


def source(kernels: Sequence[Kernel]) -> str:
    """The C++ of all kernels of a graph."""
    return "\n\n".join(["", *(kernel.text() for kernel in kernels)]) + "\n"


def compiled(kernels: Sequence[Kernel], text: str) -> dict[str, Callable[..., Any]]:
    """The kernels as functions of pointers. CompileError if there is no compiler, or it fails."""
    path = library(prelude() + text, (*options(), *THREADS), "compiled")
    loaded = ctypes.CDLL(str(path))
    functions = {}
    for kernel in kernels:
        function = getattr(loaded, kernel.name)
        count = len(kernel.parameters) + bool(kernel.workspace)
        function.argtypes = [ctypes.c_void_p] * count + [ctypes.c_int64]
        function.restype = None
        functions[kernel.name] = function
    return functions
