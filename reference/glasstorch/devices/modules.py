"""How is a kernel loaded from its `.cu` file?

The active driver compiles a `.cu` file from the kernels' folder, once for each set of defines.

Mirrors: aten/src/ATen/native/cuda/jit_utils.cpp (jit_pwise_function)
Differs: every kernel is compiled on first use; most of PyTorch's are compiled when PyTorch is built.
"""

from __future__ import annotations

import re
import threading
from functools import cache

from glasstorch.devices import kernel_room
from glasstorch.devices.driver import Driver, Kernel, Module
from glasstorch.devices.runtime import driver

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)".*$', re.MULTILINE)
Defines = tuple[str, ...]

# The modules loaded by the current driver; another driver starts empty.
_owner: Driver | None = None
_modules: dict[tuple[str, Defines, str], Module] = {}
_kernels: dict[tuple[str, str, Defines], Kernel] = {}
_lock = threading.RLock()


def kernel(file: str, expression: str, defines: Defines = ()) -> Kernel:  # hot path: benchmarks/gpu.py
    """The kernel that `expression` names in a file: "sum_rows", or an instance of a template, "copy<float>".

    `defines` are macros for the whole file, such as "ELEMENT=float". Kernels in `extern "C"` with the same defines
    share one compilation; each instance of a template has its own. FileNotFoundError if there is no such file,
    RuntimeError with the compiler's messages if it does not compile.
    """
    on = driver()
    found = _kernels.get((file, expression, defines)) if on is _owner else None
    return _loaded(on, file, expression, defines) if found is None else found


def _loaded(on: Driver, file: str, expression: str, defines: Defines) -> Kernel:
    global _owner
    with _lock:
        if on is not _owner:
            _modules.clear()
            _kernels.clear()
            _owner = on
        found = _kernels[file, expression, defines] = _module(on, file, expression, defines).kernel(expression)
        return found


def _module(on: Driver, file: str, expression: str, defines: Defines) -> Module:
    """The module that a kernel is in; see `kernel` for which kernels share one."""
    instance = "" if expression.isidentifier() else expression
    module = _modules.get((file, defines, instance))
    if module is None:
        options = tuple(f"-D{define}" for define in defines)
        module = on.load(source(file), file, (instance,) if instance else (), options)
        _modules[file, defines, instance] = module
    return module


@cache
def source(file: str) -> str:
    """The text of a `.cu` file, with its includes of `.cuh` files replaced by their text."""
    return _inlined(file, set())


def _inlined(file: str, seen: set[str]) -> str:
    """The text with each of our headers inserted once; `#line` directives keep the original line numbers."""
    text = _read(file)

    def content(match: re.Match[str]) -> str:
        name = match[1]
        after = text.count("\n", 0, match.start()) + 2
        if name in seen:
            return ""
        seen.add(name)
        return f'#line 1 "{name}"\n{_inlined(name, seen)}\n#line {after} "{file}"'

    return INCLUDE.sub(content, text).replace("#pragma once", "")


def _read(file: str) -> str:
    return kernel_room.kernel_room.read(file)
