"""Which Python functions and modules ran around the operators?

Mirrors: torch/csrc/autograd/profiler_python.cpp (PythonTracer)
Differs: the layers that are C++ in PyTorch are Python here. Their functions are left out, with those of Python's and
    NumPy's that they call, and so are built-in functions; but Python reports each of them, which makes the times of
    operators longer. PyTorch records modules only together with all functions (with_stack); here `with_modules` alone
    records modules.
"""

from __future__ import annotations

import sys
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns as clock
from types import CodeType, FrameType
from typing import Any, Final

import numpy as np

from glasstorch.dispatch.record import thread_number

PACKAGE: Final = str(Path(__file__).parents[1])
# What stands below the modules: the folders and files that PyTorch has in C++, and this one.
BELOW_MODULES: Final = (
    "core", "dispatch", "devices", "calls", "operators", "outside_data", "python_forms", "printing", "_tensor",
    "kernels", "autograd", "profiler", "jit",
)  # fmt: skip
# Functions of these files are left out too where one that is left out calls them.
HELPERS: Final = ("<", sysconfig.get_path("stdlib"), str(Path(np.__file__).parent))
MODULE: Final = str(Path(PACKAGE, "nn", "modules", "module.py"))


class PythonCall:
    """One call of a Python function, or of a module: `nn.Module: Linear_0`."""

    __slots__ = ("end", "module", "name", "number", "parent", "start", "thread")

    def __init__(self, name: str, module: int | None, number: int, parent: PythonCall | None, thread: int) -> None:
        self.name = name
        self.module = module  # the number of the module among those of its class; None for a function
        self.number = number
        self.parent = parent
        self.thread = thread
        self.end = 0
        self.start = clock()

    def stack(self) -> list[str]:
        """The calls around this one, innermost first."""
        names = []
        call = self.parent
        while call is not None:
            names.append(call.name)
            call = call.parent
        return names


class PythonCalls:
    """The calls of one thread while a profile is on, found by `sys.setprofile`."""

    def __init__(self, everything: bool) -> None:
        self.everything = everything
        self.calls: list[PythonCall] = []
        self._open: dict[int, PythonCall] = {}  # id of a frame -> the call
        self._left_out: set[int] = set()  # ids of running frames
        self._innermost: PythonCall | None = None
        self._modules: dict[str, dict[int, int]] = {}  # class -> id of a module -> its number
        self._kept: list[Any] = []  # the modules, so that no id is used twice
        self._names: dict[CodeType, str | None] = {}
        self._before: Callable[..., Any] | None = None
        self._thread = 0

    def start(self) -> None:
        self._before = sys.getprofile()
        self._thread = threading.get_ident()
        sys.setprofile(self._event)

    def stop(self) -> None:
        if threading.get_ident() == self._thread:
            sys.setprofile(self._before)

    def finished(self, end: int) -> list[PythonCall]:
        """All calls; those that have not returned end with the profile."""
        for call in self.calls:
            call.end = call.end or end
        return self.calls

    def _event(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            shown = self._named(frame)
            if shown is not None:
                call = PythonCall(*shown, len(self.calls) + 1, self._innermost, thread_number(threading.get_ident()))
                self.calls.append(call)
                self._open[id(frame)] = self._innermost = call
        elif event == "return":
            self._left_out.discard(id(frame))
            if (ended := self._open.pop(id(frame), None)) is not None:
                ended.end = clock()
                self._innermost = ended.parent

    def _named(self, frame: FrameType) -> tuple[str, int | None] | None:
        """The name under which a call is shown, and a module's number; None for one that is left out."""
        code = frame.f_code
        if code.co_name == "__call__" and code.co_filename == MODULE:
            return self._module(frame.f_locals["self"])
        if not self.everything:
            return None
        if code not in self._names:
            self._names[code] = _shown(code)
        name = self._names[code]
        if name is None or (id(frame.f_back) in self._left_out and code.co_filename.startswith(HELPERS)):
            self._left_out.add(id(frame))
            return None
        return name, None

    def _module(self, module: Any) -> tuple[str, int]:
        kind = type(module).__name__
        numbers = self._modules.setdefault(kind, {})
        if id(module) not in numbers:
            numbers[id(module)] = len(numbers)
            self._kept.append(module)
        return f"nn.Module: {kind}_{numbers[id(module)]}", numbers[id(module)]


def _shown(code: CodeType) -> str | None:
    """The file, from the folder that it is imported from, with line and function; None if the function is left out."""
    file = code.co_filename
    if file.startswith(PACKAGE):
        inside = file[len(PACKAGE) + 1 :].replace("\\", "/")
        if inside.partition("/")[0].removesuffix(".py") in BELOW_MODULES:
            return None
    name = f"({code.co_firstlineno}): {code.co_name}"
    for folder in sorted((p for p in sys.path if p and file.startswith(p.rstrip("/\\") + "/")), key=len, reverse=True):
        return file[len(folder.rstrip("/\\")) + 1 :] + name
    return file + name
