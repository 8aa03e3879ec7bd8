"""Which autograd kernels are written by hand?

Mirrors: torch/csrc/autograd/VariableTypeManual.cpp (resize_, resize_as_), tools/autograd/derivatives.yaml (set_)
Differs: PyTorch's other handwritten kernels follow from formulas here. `set_` on a tensor that requires grad is refused
    immediately; in PyTorch the result has a node that raises an error when it runs.
"""

from __future__ import annotations

from typing import Any

from glasstorch.autograd.history import check_inplace, requires_grad
from glasstorch.autograd.modes import grad_mode
from glasstorch.core.errors import AutogradError
from glasstorch.core.keys import BELOW_AUTOGRAD
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.generated.registry import table

AUTOGRAD = KernelTable("Autograd")

_resize_ = table("resize_")
_resize_as_ = table("resize_as_")
_set_ = table("set_")
_set_source_storage = table("set_.source_Storage")
_set_geometry = table("set_.source_Storage_storage_offset")
_set_source_tensor = table("set_.source_Tensor")


@AUTOGRAD.impl("resize_")
def resize_(keys: int, self: Any, size: Any, memory_format: Any) -> Any:
    """Refuse to resize a tensor that requires grad."""
    _refuse_resizing(self)
    below = keys & BELOW_AUTOGRAD
    return with_another_accumulator(_resize_[below](below, self, size, memory_format))


@AUTOGRAD.impl("resize_as_")
def resize_as_(keys: int, self: Any, the_template: Any, memory_format: Any) -> Any:
    """Refuse to resize a tensor that requires grad."""
    _refuse_resizing(self)
    below = keys & BELOW_AUTOGRAD
    return with_another_accumulator(_resize_as_[below](below, self, the_template, memory_format))


def _refuse_resizing(tensor: Any) -> None:
    if requires_grad(tensor):
        raise AutogradError("cannot resize variables that require grad")


@AUTOGRAD.impl("set_")
def set_(keys: int, self: Any) -> Any:
    """Refuse tensors that require grad: no derivative is defined."""
    _refuse_setting(self)
    below = keys & BELOW_AUTOGRAD
    return with_another_accumulator(_set_[below](below, self))


@AUTOGRAD.impl("set_.source_Storage")
def set_source_storage(keys: int, self: Any, source: Any) -> Any:
    """Refuse tensors that require grad."""
    _refuse_setting(self)
    below = keys & BELOW_AUTOGRAD
    return with_another_accumulator(_set_source_storage[below](below, self, source))


@AUTOGRAD.impl("set_.source_Storage_storage_offset")
def set_geometry(keys: int, self: Any, source: Any, storage_offset: Any, size: Any, stride: Any) -> Any:
    """Refuse tensors that require grad."""
    _refuse_setting(self)
    below = keys & BELOW_AUTOGRAD
    return with_another_accumulator(_set_geometry[below](below, self, source, storage_offset, size, stride))


@AUTOGRAD.impl("set_.source_Tensor")
def set_source_tensor(keys: int, self: Any, source: Any) -> Any:
    """Refuse if the tensor or the source requires grad."""
    _refuse_setting(self, source)
    below = keys & BELOW_AUTOGRAD
    return with_another_accumulator(_set_source_tensor[below](below, self, source))


def with_another_accumulator(tensor: Any) -> Any:
    """A tensor whose next graph has another AccumulateGrad: that of a graph before still expects the old sizes.

    Mirrors: reset_grad_accumulator in torch/csrc/autograd/VariableTypeUtils.h
    """
    if (meta := tensor._autograd_meta) is not None:
        meta.accumulator = None
    return tensor


def _refuse_setting(tensor: Any, *others: Any) -> None:
    if grad_mode.get() and (requires_grad(tensor) or any(map(requires_grad, others))):
        check_inplace(tensor)
        raise AutogradError(
            "the derivative for 'set_' is not implemented: neither the tensor nor the source may require grad; use "
            "detach() or .data"
        )
