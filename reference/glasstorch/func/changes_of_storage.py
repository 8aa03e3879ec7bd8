"""What becomes of `resize_` and `set_`, which give a tensor another storage, where nothing may be written to?

Mirrors: aten/src/ATen/FunctionalizeFallbackKernel.cpp (resize__functionalization, set__functionalize),
    aten/src/ATen/FunctionalTensorWrapper.cpp (maybe_replace_storage, set__impl)
Differs: `set_` to a storage, or with sizes of its own, is refused by name; PyTorch gives a tensor without memory, or
    takes the operator for a user's.

A tensor that is made smaller becomes a view of what it was. One that is made larger gets a base of its own, and is
refused if there are views of it; a tensor that is set to nothing gets one, too, and its views stay with the old base. A
tensor that is set to another is one more alias of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import getrefcount
from typing import Any

from glasstorch.core.geometry import row_major, span
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.library import KernelTable
from glasstorch.dispatch.operator import registry
from glasstorch.func.functional_tensor import Base, View, inside, refresh, step
from glasstorch.func.functionalization import current_level
from glasstorch.func.layers import call
from glasstorch.func.view_inverses import inverse_of

FUNCTIONALIZE = KernelTable("Functionalize", calls_operators=True)


@FUNCTIONALIZE.impl("resize_")
def resize_(keys: int, self: TensorImpl, size: Sequence[int], memory_format: Any) -> TensorImpl:
    """A view of what the tensor was, or a new tensor where that has too few elements."""
    level = current_level()
    value = level.value(self)
    shape = tuple(size)
    strides = row_major(shape)
    if not level.owns(self):
        level.below(call, registry.find("aten::resize_"), [value, list(size), memory_format])
    elif span(shape, strides) * value.dtype.itemsize > inside(self).base.value.untyped_storage().nbytes():
        if inside(self).path or _has_aliases(self):
            raise RuntimeError(
                "Attempted to resize a view tensor to a larger size. This is not allowed in the functionalization pass"
            )
        _set_alone(self, level.below(_resized, value, list(size), memory_format))
    elif shape != value._shape or memory_format is not None:
        operator = registry.find("aten::as_strided")
        view = View(operator, (list(shape), list(strides), None), None, inverse_of(operator), level.views)
        step(self, level.below(view.make, value), view)
    return self


@FUNCTIONALIZE.impl("resize_as_")
def resize_as_(keys: int, self: TensorImpl, the_template: TensorImpl, memory_format: Any) -> TensorImpl:
    """As `resize_` to the sizes of another tensor."""
    return resize_(keys, self, the_template._shape, memory_format)


@FUNCTIONALIZE.impl("set_.source_Tensor")
def set_to_tensor(keys: int, self: TensorImpl, source: TensorImpl) -> TensorImpl:
    """One more alias of another functional tensor."""
    level = current_level()
    if not level.owns(self):
        if level.owns(source):
            raise RuntimeError(
                "set__functionalize: Tried to mutate a non-functional tensor with a functional tensor, which is not "
                "allowed: wrap the tensor that is set"
            )
        level.below(call, registry.find("aten::set_.source_Tensor"), [self, source])
        return self
    if not level.owns(source):
        raise RuntimeError(
            "set__functionalize: We do not currently support x.set_(y) where y is not a FunctionalTensor: make y "
            "inside of the function, or pass it as an argument"
        )
    found, other = inside(self), inside(source)
    found.base, found.path, found.seen, found.value = other.base, other.path, other.seen, other.value
    _changed(self)
    return self


@FUNCTIONALIZE.impl("set_")
def set_to_nothing(keys: int, self: TensorImpl) -> TensorImpl:
    """A tensor without elements."""
    level = current_level()
    if level.owns(self):
        _set_alone(self, level.below(_empty, level.value(self)))
    else:
        level.below(call, registry.find("aten::set_"), [self])
    return self


def _has_aliases(wrapper: TensorImpl) -> bool:
    """Whether there is another functional tensor with the same base."""
    return getrefcount(inside(wrapper).base) > 2  # the field of this one, and the argument


def _resized(value: Any, size: list[int], memory_format: Any) -> Any:
    return value.clone().resize_(size, **({} if memory_format is None else {"memory_format": memory_format}))


def _empty(value: Any) -> Any:
    return value.new_empty(0)


def _set_alone(wrapper: TensorImpl, value: Any) -> None:
    """Give a functional tensor a value with a base of its own."""
    found = inside(wrapper)
    found.base, found.path, found.seen, found.value = Base(value), (), 0, value
    _changed(wrapper)


def _changed(wrapper: TensorImpl) -> None:
    """Note that a functional tensor has another storage."""
    found = inside(wrapper)
    found.count += 1
    found.changed_storage = found.changed_shape = True
    refresh(wrapper)
