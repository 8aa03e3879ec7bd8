"""How are slices along a dimension filled, copied, accumulated and reduced at a vector of indices?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (index_add_cpu_, index_reduce_func_impl, index_copy_out,
    index_fill_), aten/src/ATen/native/cpu/IndexKernel.cpp (index_fill_kernel, index_copy_kernel)
Differs: an index out of range is refused before anything is written; index_reduce does not warn that it is in beta.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import FLOAT8, HALF_PRECISION, STORED_ONLY, Number, bool_, check_implemented, int64
from glasstorch.core.errors import DimensionError, OverlapError, not_implemented_for
from glasstorch.core.geometry import Overlap, Shape, wrap_dim
from glasstorch.core.layout import contiguous_format
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.copies import clone
from glasstorch.kernels.cpu.indexing.accumulation import reduce_slices, write_slices
from glasstorch.kernels.cpu.indexing.advanced import CPU, check_inside, first_outside
from glasstorch.kernels.iterator import in_blocks
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import OVERLAPS_INPUT, check_no_overlap, overlap, structured, written_where_expanded
from glasstorch.operators.shapes.indexing import along as shapes
from glasstorch.operators.shapes.scalars import number_as

UFUNCS: Final = {"prod": np.multiply, "mean": np.add, "amax": np.maximum, "amin": np.minimum}
LABELS: Final[dict[np.ufunc, str]] = {np.multiply: "mul_cpu", np.maximum: "maximum_cpu", np.minimum: "minimum_cpu"}


def written(self: Tensor, out: Tensor | None, *inputs: Tensor) -> Tensor:
    """The tensor to write to: `out`, filled with the elements, or a copy. It shares no memory with the inputs."""
    if out is None:
        return clone(0, self, contiguous_format)
    check_no_overlap(out, inputs)
    if out is not self:
        out.array()[...] = self.array()
    return out


def with_dimension(tensor: Tensor) -> Array:
    """The elements as an array; a 0-dim tensor gets a dimension of size 1."""
    return np.atleast_1d(tensor.array())


def at(dim: int, chosen: Array) -> tuple[slice | Array, ...]:
    """The NumPy index of some indices of a dimension."""
    return (*[slice(None)] * dim, chosen)


def check_in_self(shape: Shape, dim: int, index: Array) -> None:
    """Refuse an index that is negative or too large, as PyTorch does where it selects one slice after another."""
    size = shape[dim] if shape else 1
    outside = first_outside(index, 0, size)
    if outside is not None:
        raise DimensionError(f"index out of range in self: {outside} along dimension {dim}, which has size {size}")


# index_add, index_reduce ----------------------------------------------------------------------------------------


def index_add(
    keys: int, self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Number, out: Tensor | None = None
) -> Tensor:
    """self[index[n]] += alpha * source[n], for dim 0, one index after another."""
    shapes.index_add(self, dim, index, source, alpha)
    ndim = len(self._shape)
    dim = wrap_dim(dim, ndim)
    factor = number_as(alpha, self.dtype)
    # PyTorch hands these to scatter_add, which rounds a half precision sum once.
    scattered = ndim > 1 and dim in (0, ndim - 1) and factor == 1 and index.dtype is int64
    empty = ndim > 1 and not (self.numel() and index.numel())
    if not empty:
        check_implemented("scatter_gather_tensor_cpu" if scattered else "index_add_", self.dtype, STORED_ONLY)
        chosen = index.array().reshape(-1)
        (check_inside if scattered else check_in_self)(self._shape, dim, chosen)
    out = written(self, out, index, source)
    if empty:
        return out
    target, values = with_dimension(out), with_dimension(source)
    if factor != 1:
        values = quietly(np.multiply, values, np.asarray(factor, values.dtype))
    if scattered and out.dtype in HALF_PRECISION:
        wide = target.astype(np.float32)
        quietly(reduce_slices, np.add, wide, dim, chosen, values.astype(np.float32))
        target[...] = quietly(wide.astype, target.dtype)
    else:
        quietly(reduce_slices, np.add, target, dim, chosen, values)
    return out


def index_reduce(
    keys: int,
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    include_self: bool,
    out: Tensor | None = None,
) -> Tensor:
    """self[index[n]] reduced with source[n] by product, mean or extremum, for dim 0, one index after another."""
    shapes.index_reduce(self, dim, index, source, reduce, include_self)
    empty = include_self and len(self._shape) > 1 and not index.numel()
    if not empty:
        _check_reduced(self, reduce, include_self)
    dim = wrap_dim(dim, len(self._shape))
    chosen = index.array().reshape(-1)
    check_in_self(self._shape, dim, chosen)
    out = written(self, out, index, source)
    if empty:
        return out
    target, values = with_dimension(out), with_dimension(source)
    if not include_self:
        target[at(dim, chosen)] = identity(reduce, target.dtype)
    quietly(reduce_slices, UFUNCS[reduce], target, dim, chosen, values)
    if reduce == "mean":
        counts = np.bincount(chosen, minlength=target.shape[dim]) + include_self
        divide_by(target, counts.reshape(-1, *[1] * (target.ndim - 1 - dim)))
    return out


def divide_by(sums: Array, counts: Array) -> None:
    """Divide sums by counts in place; the counts have the sums' dtype, in which integers wrap around to 0."""
    divide = np.floor_divide if sums.dtype.kind in "iu" else np.true_divide

    def divide_block(out: Array, totals: Array, divisors: Array) -> None:
        divide(totals, np.where(divisors == 0, divisors.dtype.type(1), divisors), out=out)

    quietly(in_blocks.run, divide_block, sums, (sums, np.broadcast_to(counts, sums.shape)), (sums.dtype,) * 3)


def _check_reduced(self: Tensor, reduce: str, include_self: bool) -> None:
    """Raise PyTorch's error where one of the kernels that it calls is not implemented for a dtype."""
    vector = len(self._shape) < 2
    if not include_self:
        label, refused = "index_reduce_func_exclude_input_init", STORED_ONLY | {bool_}
    elif vector:
        label, refused = "index_func_", STORED_ONLY | {bool_}
    elif reduce == "mean":
        label, refused = "div_floor_cpu", STORED_ONLY | {bool_}
    else:
        label, refused = LABELS[UFUNCS[reduce]], FLOAT8 if reduce == "prod" else STORED_ONLY
    complex_too = not include_self or vector or reduce in ("amax", "amin")
    if self.dtype in refused or (self.dtype.is_complex and complex_too):
        raise not_implemented_for(label, self.dtype)


def identity(reduce: str, dtype: np.dtype[Any]) -> object:
    """The identity element of a reduction."""
    if reduce in ("amax", "amin"):
        sign = -1 if reduce == "amax" else 1
        if dtype.kind == "b":
            return sign > 0
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            return limits.max if sign > 0 else limits.min
        return sign * np.inf
    return 1 if reduce == "prod" else 0


structured(CPU, "index_add", index_add)
structured(CPU, "index_reduce", index_reduce)


# index_copy, index_fill -----------------------------------------------------------------------------------------


def index_copy(keys: int, self: Tensor, dim: int, index: Tensor, source: Tensor, out: Tensor | None = None) -> Tensor:
    """self[index[n]] = source[n], for dim 0; where an index repeats, the last write wins."""
    shapes.index_copy(self, dim, index, source)
    dim = wrap_dim(dim, len(self._shape))
    empty = not source.numel()
    if not empty:
        check_implemented("index_copy_cpu", self.dtype, STORED_ONLY)
        size = self._shape[dim] if self._shape else 1
        outside = first_outside(index.array(), 0, size)
        if outside is not None:
            raise DimensionError(
                f"index_copy_(): index {outside} is out of bounds for dimension {dim} with size {size}"
            )
    out = written(self, out, index, source)
    if not empty:
        write_slices(with_dimension(out), dim, index.array().reshape(-1), with_dimension(source))
    return out


def index_fill(keys: int, self: Tensor, dim: int, index: Tensor, value: Number, out: Tensor | None = None) -> Tensor:
    """self[index[n]] = value, for dim 0; a negative index counts from the end."""
    shapes.index_fill(self, dim, index, value)
    check_implemented("index_fill_cpu", self.dtype, STORED_ONLY)
    dim = wrap_dim(dim, len(self._shape))
    size = self._shape[dim] if self._shape else 1
    empty = 0 in shapes.without(self._shape, dim)
    outside = None if empty else first_outside(index.array(), -size, size)
    if outside is not None:
        raise DimensionError(f"index {outside} is out of bounds for dimension {dim} with size {size}")
    if out is None:
        out = clone(keys, self, None)
    elif overlap(out, index) in (Overlap.PARTIAL, Overlap.FULL):
        raise OverlapError(OVERLAPS_INPUT)
    if not empty:
        with_dimension(out)[at(dim, index.array().reshape(-1))] = number_as(value, self.dtype)
    return out


structured(CPU, "index_copy", index_copy)
structured(
    CPU, "index_fill.int_Scalar", index_fill, shortcut=written_where_expanded("index_fill.int_Scalar", index_fill)
)
