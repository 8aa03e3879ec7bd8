"""Where does a kernel come from?

From a `.cu` file of this folder, compiled by the driver that is on, once for each set of defines.

Mirrors: aten/src/ATen/native/cuda/jit_utils.cpp (jit_pwise_function)
Differs: every kernel is compiled when it is first asked for; PyTorch's are compiled with PyTorch, but for a few.
"""

from __future__ import annotations

import re
import weakref
from functools import cache
from importlib.resources import files

from glasstorch.kernels.cuda.driver import Driver, Kernel, Module
from glasstorch.kernels.cuda.runtime import driver

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)".*$', re.MULTILINE)
Defines = tuple[str, ...]

_modules: weakref.WeakKeyDictionary[Driver, dict[tuple[str, Defines, str], Module]] = weakref.WeakKeyDictionary()
_kernels: weakref.WeakKeyDictionary[Driver, dict[tuple[str, str, Defines], Kernel]] = weakref.WeakKeyDictionary()


def kernel(file: str, expression: str, defines: Defines = ()) -> Kernel:  # hot path
    """The kernel that `expression` names in a file: "sum_rows", or an instance of a template, "copy<float>".

    `defines` are macros for the whole file, such as "ELEMENT=float". Kernels in `extern "C"` with the same defines
    share one compilation; each instance of a template has its own.
    """
    on = driver()
    known = _kernels.get(on)
    if known is None:
        known = _kernels[on] = {}
    key = (file, expression, defines)
    found = known.get(key)
    if found is None:
        found = known[key] = _module(on, file, expression, defines).kernel(expression)
    return found


def _module(on: Driver, file: str, expression: str, defines: Defines) -> Module:
    instances = () if expression.isidentifier() else (expression,)
    known = _modules.setdefault(on, {})
    key = (file, defines, *instances) if instances else (file, defines, "")
    module = known.get(key)
    if module is None:
        module = known[key] = on.load(source(file), file, instances, tuple(f"-D{define}" for define in defines))
    return module


@cache
def source(file: str) -> str:
    """The text of a `.cu` file, with the `.cuh` files of this folder in the place of their includes."""
    return _inlined(file, set())


def _inlined(file: str, seen: set[str]) -> str:
    """The text, each header of ours once; `#line` says where the lines come from."""
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
    place = files(__package__).joinpath(file)
    if not place.is_file():
        raise FileNotFoundError(f"there is no {file} among the CUDA kernels")
    return place.read_text(encoding="utf-8")
