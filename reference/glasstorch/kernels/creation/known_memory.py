"""What does new memory hold, where a program asks for the same results in every run?

Mirrors: aten/src/ATen/native/TensorFactories.h (fill_empty_deterministic_), Resize.cpp (fill_resize_deterministic_)
Differs: PyTorch's kernels look at the setting in each call. Here others stand in front of them while it is on, so that
    nothing looks at it while it is off; and memory on CUDA devices is not filled.

The known value is NaN; of integers it is their greatest, and of bools True.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number, bool_
from glasstorch.core.keys import DispatchKey
from glasstorch.core.type_info import iinfo
from glasstorch.dispatch.library import Library, caller
from glasstorch.dispatch.operator import registry
from glasstorch.operators.direct import on_tensors

NEW: Final = ("empty.memory_format", "empty_strided")

fill_ = on_tensors("fill_.Scalar")
_lock: Final = Lock()
_in_front: Library | None = None  # holds the kernels while they are


class Determinism:
    """Whether the same results in every run were asked for, and whether an operator that may give others only warns."""

    asked = False
    warn_only = False


determinism: Final = Determinism()


def fill_unwritten(is_on: bool) -> None:
    """Let new memory hold a known value from now on, or whatever was there before."""
    global _in_front
    with _lock:
        if is_on and _in_front is None:
            _in_front = Library("aten", "IMPL")
            for name in NEW:
                _put_in_front(_in_front, name, _filled)
            _put_in_front(_in_front, "resize_", _filled_behind)
        elif not is_on and _in_front is not None:
            _in_front.close()
            _in_front = None


def _put_in_front(library: Library, name: str, made: Callable[..., Any]) -> None:
    """Register what `made` makes of an operator's kernel."""
    kernel = registry.find(f"aten::{name}").kernels[DispatchKey.CPU][-1]
    function = made(kernel.fast or kernel.function)
    front = replace(kernel, function=function, fast=None, where=caller(0), calls_operators=True)
    library.register(name, front, allow_override=True)


def _filled(kernel: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A kernel that fills what another makes."""

    def filled(keys: int, *arguments: Any) -> Tensor:
        made = kernel(keys, *arguments)
        fill_(made, known_value(made))
        return made

    return filled


def _filled_behind(kernel: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A kernel that fills what `resize_` adds to a storage."""

    def filled_behind(keys: int, self: Tensor, *arguments: Any) -> Tensor:
        before = self.untyped_storage().nbytes() // self.itemsize
        kernel(keys, self, *arguments)
        added = self.untyped_storage().nbytes() // self.itemsize - before
        if added > 0:
            fill_(self.as_strided((added,), (1,), before), known_value(self))
        return self

    return filled_behind


def known_value(tensor: Tensor) -> Number:
    """What unwritten elements of a tensor's dtype are."""
    kind = tensor.dtype
    if kind.is_floating_point or kind.is_complex:
        return math.nan
    return True if kind is bool_ else iinfo(kind).max
