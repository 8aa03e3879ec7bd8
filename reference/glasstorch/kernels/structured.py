"""How does one kernel serve an operator, its in-place form and its out= form?

Mirrors: structured kernels (aten/src/ATen/TensorMeta.h, torchgen/dest/register_dispatch_key.py: functional,
inplace, out)
Differs: the kernel is a function with an `out` parameter; the shape function runs before it if a tensor is written to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from glasstorch._tensor import Tensor, empty_strided, wrap
from glasstorch.core.dtype import check_can_cast, dtype, int64
from glasstorch.core.errors import OverlapError, ShapeError
from glasstorch.core.geometry import Extent, Overlap, Shape, has_internal_overlap, overlap_status
from glasstorch.core.keys import SPARSE
from glasstorch.core.return_types import named_result
from glasstorch.core.user_line import warn_user
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.tags import Tag
from glasstorch.kernels.halves import as_dtype
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.generated.registry import OPERATORS
from glasstorch.operators.shapes.pointwise.broadcast import BESIDE_NUMBER, strides_beside_number
from glasstorch.operators.shapes.result import Result

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
ShapeFunction = Callable[..., Any]
Shortcut = Callable[[Callable[..., Any]], Callable[..., Any]]  # an in-place kernel that checks -> one in front of it
Out = Tensor | None  # what a kernel writes its result to; None for a new tensor
Outs = tuple[Tensor, Tensor] | None  # the same for two results

# functional form -> its in-place and out= forms; operator -> its shape function, and the names of its tags
FORMS: dict[str, list[str]] = {}
SHAPES: dict[str, str] = {}
TAGS: dict[str, tuple[str, ...]] = {}
ITERATED = frozenset([Tag.pointwise.name, Tag.iterated.name])  # what a TensorIterator computes
for _row in OPERATORS:
    _name = _row.name
    TAGS[_name] = _row.tags
    if _row.shape is not None:
        SHAPES[_name] = _row.shape
    if _row.functional is not None:
        FORMS.setdefault(_row.functional, []).append(_name)


def shape_function(name: str) -> ShapeFunction:
    """The shape function that an operator's declaration names."""
    module, _, function = SHAPES[name].rpartition(".")
    return getattr(import_module(f"glasstorch.operators.shapes.{module}"), function)  # type: ignore[no-any-return]


def structured(
    table: KernelTable, name: str, shortcut: Callable[[str, Callable[..., Any]], Shortcut] | None = None
) -> Callable[[Kernel], Kernel]:
    """A decorator: the function below is the kernel of an operator and of its forms; see `add_structured`.

    `shortcut(name, function)`, if given, makes the shortcut in front of the in-place form.
    """

    def decorate(kernel: Kernel) -> Kernel:
        add_structured(table, name, kernel, caller(1), shortcut(name, kernel) if shortcut else None)
        return kernel

    return decorate


def add_structured(
    table: KernelTable,
    name: str,
    kernel: Callable[..., Any],
    where: str | None = None,
    shortcut: Shortcut | None = None,
) -> None:
    """Register `kernel(keys, *arguments, out=None)` for an operator and for all forms that its declaration generates.

    With `out` the kernel writes its result to a tensor (or a tuple of tensors) of the right sizes, to whose dtype the
    result can be cast. Without `out` it returns a new tensor. `shortcut(checked)`, if given, makes the in-place kernel
    from `checked`, which checks its arguments: it computes directly if nothing needs to be checked, and otherwise calls
    `checked`.
    """
    where = where or caller(1)
    table.add(name, kernel, where)
    for form in FORMS.get(name, ()):
        inplace = form.partition(".")[0].endswith("_")
        made = inplace_form(name, kernel) if inplace else out_form(name, kernel)
        if inplace and shortcut is not None:
            made = shortcut(made)
        made.__qualname__ = made.__name__ = f"{getattr(kernel, '__name__', name)} ({'in place' if inplace else 'out='})"
        table.add(form, made, where)


def inplace_form(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel that writes to its first argument, after checking that the result fits."""
    shape: list[ShapeFunction] = []

    def inplace(keys: int, self: Tensor, *rest: Any) -> Tensor:
        if not shape:
            shape.append(shape_function(name))
        result: Result = judged(shape[0], (self, *rest), (self,))
        check_sizes(self, result.shape)
        check_can_cast(result.dtype, self.dtype)
        kernel(keys, self, *rest, out=self)
        return self

    return inplace


def written_where_expanded(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The shortcut of an in-place form that may write to an expanded tensor, with a warning: equal values coincide."""
    shape, function = shape_function(name), name.partition(".")[0]

    def shortcut(checked: Callable[..., Any]) -> Callable[..., Any]:
        def inplace(keys: int, self: Tensor, *arguments: Any) -> Any:
            if self._strides is None or not has_internal_overlap(self._shape, self._strides):
                return checked(keys, self, *arguments)
            check_sizes(self, shape(self, *arguments).shape)
            warn_user(
                f"Use of {function}_ on expanded tensors is deprecated. Please clone() the tensor before performing "
                f"this operation. This also applies to advanced indexing e.g. tensor[mask] = scalar"
            )
            return kernel(keys, self, *arguments, self)

        return inplace

    return shortcut


def out_form(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel that writes to the tensors given as out=, which are resized if necessary."""
    found: list[tuple[ShapeFunction, int]] = []  # at the first call: the shape function, and how many results there are
    tags = TAGS[name]
    iterates = not ITERATED.isdisjoint(tags)
    # Where PyTorch checks less, it reads elements that it has already overwritten; this library refuses the call.
    overlap_unjudged, overlap_with_input = Tag.overlap_unjudged.name in tags, Tag.overlap_with_input.name in tags
    lays_out = iterates or Tag.lays_out.name in tags

    def with_out(keys: int, *arguments: Any) -> Any:
        if not found:
            found.append((shape_function(name), len(registry.find(f"aten::{name}").schema.returns)))
        shape, count = found[0]
        inputs, outs = arguments[:-count], arguments[-count:]
        results = judged(shape, inputs, outs) if iterates else shape(*inputs)
        several = not isinstance(results, Result)
        pairs = tuple(zip(outs, results if several else (results,), strict=True))
        for out, result in pairs:  # check all before resizing any
            if iterates and any(out is argument for argument in inputs):
                check_sizes(out, result.shape)
            result.check_out(result.dtype, out.dtype)
        for out, result in pairs:
            if resize_output(out, result.shape) and lays_out:
                beside_number = shape in BESIDE_NUMBER
                strides = strides_beside_number(inputs[0], inputs[1], result) if beside_number else result.strides
                if strides is not None:
                    out.set_storage(out.untyped_storage(), result.shape, strides, out._offset)
            if not iterates and not overlap_unjudged:
                check_writable(out, () if overlap_with_input else inputs)
        kernel(keys, *inputs, out=outs if several else outs[0])
        return named_result(name, outs) if several else outs[0]

    return with_out


def finish(result: Any, dtype: dtype, out: Out) -> Tensor:
    """A computed array (or NumPy scalar) as a tensor of a dtype, or written into `out`."""
    if out is not None:
        quietly(np.copyto, out.array(), result, casting="unsafe")
        return out
    return wrap(quietly(as_dtype.run, result, dtype.numpy), dtype)


def finish_as(result: Result, array: Any, out: Out) -> Tensor:
    """As `finish`, in the dtype and the order of memory that a shape function says."""
    if out is None and result.strides is not None:
        out = empty_strided(result.shape, result.strides, result.dtype)
    return finish(array, result.dtype, out)


def finish_pair(
    name: str, first: Any, second: Any, dtype: dtype, out: Outs, second_dtype: dtype = int64
) -> tuple[Any, ...]:
    """Two results of an operator, mostly values and their indices, or both written into `out`; see `finish`."""
    to_first, to_second = out or (None, None)
    return named_result(name, (finish(first, dtype, to_first), finish(second, second_dtype, to_second)))


def judged(shape: ShapeFunction, arguments: Sequence[Any], outs: Sequence[Tensor]) -> Any:
    """The shape function's results for a call that writes to `outs`; of several errors, PyTorch's first one is raised.

    The order is that of TensorIteratorBase::build: errors of the operator itself, overlapping memory, sizes that do not
    broadcast. An out= tensor is checked as it was given, before it is resized.
    """
    fault = next((f for out in outs if (f := overlap_fault(out, arguments)) is not None), None)
    try:
        result = shape(*arguments)
    except ShapeError:
        if fault is not None:
            raise OverlapError(fault) from None
        raise
    if fault is not None:
        raise OverlapError(fault)
    return result


def check_sizes(out: Tensor, shape: Shape) -> None:
    """Refuse to write a result to a tensor of other sizes that cannot be resized, because it is also an input."""
    if out._shape != shape:
        raise ShapeError(f"output with shape {list(out._shape)} doesn't match the broadcast shape {list(shape)}")


def resize_output(out: Tensor, shape: Shape) -> bool:
    """Resize an out= tensor to the sizes of the result, with PyTorch's warning if it had elements.

    Mirrors: aten/src/ATen/native/Resize.cpp (resize_output)
    """
    if out._shape == shape:
        return False
    if out.numel():
        warn_user(
            f"An output with one or more elements was resized since it had shape {list(out._shape)}, which does "
            f"not match the required output shape {list(shape)}. This behavior is deprecated, and in a future "
            f"PyTorch release outputs will not be resized unless they have zero elements. You can explicitly reuse "
            f"an out tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
        )
    out.resize_(shape)
    return True


def check_writable(out: Tensor, inputs: Sequence[Any]) -> None:
    """Refuse to write to a tensor that overlaps itself, or partly overlaps an input.

    Mirrors: assert_no_internal_overlap and assert_no_partial_overlap in aten/src/ATen/MemoryOverlap.cpp
    """
    fault = overlap_fault(out, inputs)
    if fault is not None:
        raise OverlapError(fault)


def overlap_fault(out: Tensor, inputs: Sequence[Any]) -> str | None:
    """Why a tensor must not be written to while the inputs are read; None if it may be."""
    if out._strides is not None and has_internal_overlap(out._shape, out._strides):
        return None if out.key_set & SPARSE else OVERLAPS_ITSELF  # whose strides are zeros and stand for nothing
    if out._storage is not None and any(overlap(out, other) is Overlap.PARTIAL for other in inputs):
        return OVERLAPS_INPUT
    return None


def check_no_overlap(out: Tensor, inputs: Sequence[Any]) -> None:
    """Refuse to write to a tensor that overlaps itself or an input, even if it is exactly that input.

    Mirrors: assert_no_overlap in aten/src/ATen/MemoryOverlap.cpp
    Differs: two non-contiguous tensors of the same geometry are refused too; PyTorch accepts them as TOO_HARD.
    """
    check_writable(out, inputs)
    for other in inputs:
        status = overlap(out, other)
        if status is Overlap.FULL or (status is Overlap.TOO_HARD and extent(out) == extent(other)):
            raise OverlapError(OVERLAPS_INPUT)


OVERLAPS_ITSELF = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
    "Please clone() the tensor before performing the operation."
)
OVERLAPS_INPUT = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)


def overlap(out: Tensor, other: Any) -> Overlap:
    """How a tensor that is written to overlaps an argument of the operator, which need not be a tensor."""
    if other is out:
        return Overlap.FULL
    if not isinstance(other, Tensor) or other._storage is None or other._storage is not out._storage:
        return Overlap.NO
    if other.dtype.itemsize != out.dtype.itemsize:
        return overlap_status(extent_in_bytes(out), extent_in_bytes(other))
    return overlap_status(extent(out), extent(other))


def extent(tensor: Tensor) -> Extent:
    """Where a tensor's elements lie in its storage."""
    return Extent(tensor._shape, tensor.strides(), tensor._offset)


def extent_in_bytes(tensor: Tensor) -> Extent:
    """Where the bytes of a tensor's elements lie: the bytes of an element form an additional dimension."""
    size = tensor.dtype.itemsize
    return Extent((*tensor._shape, size), (*(step * size for step in tensor.strides()), 1), tensor._offset * size)
