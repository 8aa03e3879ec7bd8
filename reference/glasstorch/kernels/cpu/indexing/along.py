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
from glasstorch.core.errors import DimensionError, IndexValueError, OverlapError
from glasstorch.core.geometry import Overlap, wrap_dim
from glasstorch.core.layout import contiguous_format
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.copies import clone
from glasstorch.kernels.cpu.indexing.advanced import CPU, OUT_OF_BOUNDS, check_inside, with_dimension
from glasstorch.kernels.cpu.reductions.sums import UNORDERED
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import (
    OVERLAPS_INPUT,
    Out,
    check_no_overlap,
    overlap,
    structured,
    written_where_expanded,
)
from glasstorch.operators.shapes.indexing import along as shapes
from glasstorch.operators.shapes.scalars import number_as

UFUNCS: Final = {"prod": np.multiply, "mean": np.add, "amax": np.maximum, "amin": np.minimum}
REFUSALS: Final = {  # PyTorch's kernel that reduces matrices and larger tensors, and the dtypes it refuses
    "prod": ("mul_cpu", FLOAT8),
    "mean": ("div_floor_cpu", STORED_ONLY | {bool_}),
    "amax": ("maximum_cpu", UNORDERED),
    "amin": ("minimum_cpu", UNORDERED),
}
OUT_OF_RANGE: Final = "index out of range in self: {index} along dimension {dim}, which has size {size}"


def written(self: Tensor, out: Out, *inputs: Any) -> Tensor:
    """The tensor to write to: `out`, filled with the elements, or a copy. It shares no memory with the inputs."""
    if out is None:
        return clone.run(0, self, contiguous_format)
    check_no_overlap(out, inputs)
    if out is not self:
        out.array()[...] = self.array()
    return out


def at(dim: int, chosen: Array) -> tuple[Any, ...]:
    """The NumPy index of some indices of a dimension."""
    return (*[slice(None)] * dim, chosen)


# index_add, index_reduce ----------------------------------------------------------------------------------------


@slot
def reduce_slices(ufunc: np.ufunc, array: Array, dim: int, chosen: Array, values: Array) -> None:
    """`array[i] = ufunc(array[i], values[n])` for the n-th index i of a dimension, in order."""
    ufunc.at(array, at(dim, chosen), values)


@structured(CPU, "index_add")
def index_add(
    keys: int, self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Number, out: Out = None
) -> Tensor:
    """self[index[n]] += alpha * source[n], for dim 0, one index after another."""
    shapes.index_add(self, dim, index, source, alpha)
    ndim, chosen = len(self._shape), index.array().reshape(-1)
    dim, factor = wrap_dim(dim, ndim), number_as(alpha, self.dtype)
    # PyTorch hands these to scatter_add, which rounds a half precision sum once.
    scattered = ndim > 1 and dim in (0, ndim - 1) and factor == 1 and index.dtype is int64
    empty = ndim > 1 and not (self.numel() and chosen.size)
    if not empty:
        check_implemented("scatter_gather_tensor_cpu" if scattered else "index_add_", self.dtype, STORED_ONLY)
        refusal = (IndexValueError, OUT_OF_BOUNDS) if scattered else (DimensionError, OUT_OF_RANGE)
        check_inside(self._shape, dim, chosen, *refusal)
    out = written(self, out, index, source)
    if empty:
        return out
    target, values = with_dimension(out), with_dimension(source)
    if factor != 1:
        values = quietly(np.multiply, values, np.asarray(factor, values.dtype))
    if scattered and out.dtype in HALF_PRECISION:
        wide = target.astype(np.float32)
        quietly(reduce_slices.run, np.add, wide, dim, chosen, values.astype(np.float32))
        target[...] = quietly(wide.astype, target.dtype)
    else:
        quietly(reduce_slices.run, np.add, target, dim, chosen, values)
    return out


@structured(CPU, "index_reduce")
def index_reduce(
    keys: int, self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool, out: Out = None
) -> Tensor:
    """self[index[n]] reduced with source[n] by product, mean or extremum, for dim 0, one index after another."""
    shapes.index_reduce(self, dim, index, source, reduce, include_self)
    dim, chosen = wrap_dim(dim, len(self._shape)), index.array().reshape(-1)
    empty = include_self and len(self._shape) > 1 and not chosen.size
    if not empty:
        label, refused = REFUSALS[reduce]
        if len(self._shape) < 2 or not include_self:
            label = "index_func_" if include_self else "index_reduce_func_exclude_input_init"
            refused = UNORDERED | {bool_}
        check_implemented(label, self.dtype, refused)
    check_inside(self._shape, dim, chosen, DimensionError, OUT_OF_RANGE)
    out = written(self, out, index, source)
    if empty:
        return out
    target = with_dimension(out)
    if not include_self:
        target[at(dim, chosen)] = identity(reduce, target.dtype)
    quietly(reduce_slices.run, UFUNCS[reduce], target, dim, chosen, with_dimension(source))
    if reduce == "mean":
        counts = np.bincount(chosen, minlength=target.shape[dim]) + include_self
        divide_by(target, counts.reshape(-1, *[1] * (target.ndim - 1 - dim)))
    return out


def divide_by(sums: Array, counts: Array) -> None:
    """Divide sums by counts in place; the counts have the sums' dtype, in which integers wrap around to 0."""
    divisors = quietly(counts.astype, sums.dtype)
    np.copyto(divisors, 1, where=divisors == 0)
    quietly(np.floor_divide if sums.dtype.kind in "iu" else np.true_divide, sums, divisors, out=sums)


def identity(reduce: str, dtype: np.dtype[Any]) -> object:
    """The identity element of a reduction."""
    if reduce not in ("amax", "amin"):
        return int(reduce == "prod")
    least = reduce == "amax"
    if dtype.kind == "b":
        return not least
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if least else np.iinfo(dtype).max
    return -np.inf if least else np.inf


# index_copy, index_fill -----------------------------------------------------------------------------------------


@slot
def write_slices(array: Array, dim: int, chosen: Array, values: Array) -> None:
    """`array[i] = values[n]` for the n-th index i of a dimension, in order."""
    array[at(dim, chosen)] = values


@structured(CPU, "index_copy")
def index_copy(keys: int, self: Tensor, dim: int, index: Tensor, source: Tensor, out: Out = None) -> Tensor:
    """self[index[n]] = source[n], for dim 0; where an index repeats, the last write wins."""
    shapes.index_copy(self, dim, index, source)
    dim, chosen = wrap_dim(dim, len(self._shape)), index.array().reshape(-1)
    if source.numel():
        check_implemented("index_copy_cpu", self.dtype, STORED_ONLY)
        check_inside(self._shape, dim, chosen, DimensionError, f"index_copy_(): {OUT_OF_BOUNDS}")
    out = written(self, out, index, source)
    if source.numel():
        write_slices.run(with_dimension(out), dim, chosen, with_dimension(source))
    return out


@structured(CPU, "index_fill.int_Scalar", written_where_expanded)
def index_fill(keys: int, self: Tensor, dim: int, index: Tensor, value: Number, out: Out = None) -> Tensor:
    """self[index[n]] = value, for dim 0; a negative index counts from the end."""
    shapes.index_fill(self, dim, index, value)
    check_implemented("index_fill_cpu", self.dtype, STORED_ONLY)
    dim, chosen = wrap_dim(dim, len(self._shape)), index.array().reshape(-1)
    empty = 0 in shapes.without(self._shape, dim)
    if not empty:
        check_inside(self._shape, dim, chosen, DimensionError, negative=True)
    if out is None:
        out = clone.run(keys, self, None)
    elif overlap(out, index) in (Overlap.PARTIAL, Overlap.FULL):
        raise OverlapError(OVERLAPS_INPUT)
    if not empty:
        with_dimension(out)[at(dim, chosen)] = number_as(value, self.dtype)
    return out
