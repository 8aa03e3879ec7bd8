"""How are elements picked and placed along one dimension, with an index for each?

Mirrors: aten/src/ATen/native/cpu/ScatterGatherKernel.cpp, aten/src/ATen/native/TensorAdvancedIndexing.cpp
    (scatter_impl, scatter_reduce_two)
Differs: an index becomes a place in row-major memory, and NumPy picks and writes there; a tensor with gaps is copied to
    and from such memory. `scatter` with reduce= does not warn that it is deprecated.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import STORED_ONLY, Number, bool_
from glasstorch.core.errors import DtypeNotImplementedError, IndexValueError
from glasstorch.core.geometry import Shape, wrap_dim
from glasstorch.core.layout import contiguous_format
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.accumulation import reduce_at_wide
from glasstorch.kernels.cpu.copies import clone
from glasstorch.kernels.cpu.index_along import UFUNCS, identity
from glasstorch.kernels.cpu.indexing import COUNT, CPU, first_outside, refuse
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import check_no_overlap, structured
from glasstorch.operators.shapes import indexing as shapes
from glasstorch.operators.shapes import placing
from glasstorch.operators.shapes.scalars import number_as

SUMS: Final = {"sum": np.add, **UFUNCS}
OLD: Final = {"add": np.add, "multiply": np.multiply}


def places_of(shape: Shape, dim: int, index: Array) -> Array:
    """The place in row-major memory of the element that each index names; refused if one is out of range."""
    dim = wrap_dim(dim, len(shape))
    shape = shape or (1,)
    index = np.atleast_1d(index)
    outside = first_outside(index, 0, shape[dim])
    if outside is not None:
        raise IndexValueError(f"index {outside} is out of bounds for dimension {dim} with size {shape[dim]}")
    step = prod(shape[dim + 1 :])
    places = index.astype(np.int64, copy=False) if step == 1 else np.multiply(index, step, dtype=np.int64)
    others: Any = 0
    for d, size in enumerate(index.shape):
        if d != dim and size > 1:
            count = COUNT[:size] if size <= COUNT.size else np.arange(size)
            others = others + (count * prod(shape[d + 1 :])).reshape(-1, *[1] * (index.ndim - 1 - d))
    return places + others if np.ndim(others) else places


def gather(keys: int, self: Tensor, dim: int, index: Tensor, sparse_grad: bool, out: Tensor | None = None) -> Tensor:
    """result[i][j] = self[index[i][j]][j], for dim 0."""
    shapes.gather(self, dim, index, sparse_grad)
    if index.numel():
        refuse(STORED_ONLY, self, "scatter_gather_tensor_cpu")
        picked = self.array().reshape(-1).take(places_of(self._shape, dim, index.array())).reshape(index._shape)
    else:
        picked = np.empty(index._shape, self.dtype.numpy)
    if out is None:
        return wrap(picked, self.dtype)
    check_no_overlap(out, (self, index))
    out.array()[...] = picked
    return out


def scatter_src(keys: int, self: Tensor, dim: int, index: Tensor, src: Tensor, out: Tensor | None = None) -> Tensor:
    """result[index[i][j]][j] = src[i][j], for dim 0; of several for one place the last stays."""
    shapes.scatter_src(self, dim, index, src)
    return _scattered(self, dim, index, src, out, None)


def scatter_value(keys: int, self: Tensor, dim: int, index: Tensor, value: Number, out: Tensor | None = None) -> Tensor:
    """result[index[i][j]][j] = value, for dim 0."""
    shapes.scatter_value(self, dim, index, value)
    return _scattered(self, dim, index, number_as(value, self.dtype), out, None)


def scatter_add(keys: int, self: Tensor, dim: int, index: Tensor, src: Tensor, out: Tensor | None = None) -> Tensor:
    """result[index[i][j]][j] += src[i][j], for dim 0."""
    shapes.scatter_src(self, dim, index, src)
    return _scattered(self, dim, index, src, out, "sum")


def scatter_reduce(
    keys: int, self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, out: Tensor | None = None
) -> Tensor:
    """As `scatter_src`, adding to or multiplying what is there."""
    placing.scatter_reduce(self, dim, index, src, reduce)
    return _scattered(self, dim, index, src, out, reduce)


def scatter_value_reduce(
    keys: int, self: Tensor, dim: int, index: Tensor, value: Number, reduce: str, out: Tensor | None = None
) -> Tensor:
    """As `scatter_value`, adding to or multiplying what is there."""
    placing.scatter_value_reduce(self, dim, index, value, reduce)
    return _scattered(self, dim, index, number_as(value, self.dtype), out, reduce)


def scatter_reduce_two(
    keys: int,
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    include_self: bool,
    out: Tensor | None = None,
) -> Tensor:
    """As `scatter_src`, reducing with what is there, or with nothing where `include_self` is false."""
    placing.scatter_reduce_two(self, dim, index, src, reduce, include_self)
    if index.numel():
        if not include_self:
            refuse(STORED_ONLY, self, "scatter_reduce_exclude_input_init")
        refuse(STORED_ONLY, self, "scatter_gather_tensor_cpu")
        refused = (reduce == "mean" and self.dtype is bool_) or (reduce in ("amax", "amin") and self.dtype.is_complex)
        if refused:
            label = f"scatter_gather_tensor_cpu_reduce_{reduce}"
            raise DtypeNotImplementedError(f"\"{label}\" not implemented for '{self.dtype.scalar_name}'")
    return _scattered(self, dim, index, src, out, reduce, include_self)


def _scattered(
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor | Number,
    out: Tensor | None,
    reduce: str | None,
    include_self: bool = True,
) -> Tensor:
    """Write or reduce a source, larger than the index or a number, into `out` or a copy of the tensor."""
    places = None
    if index.numel():
        refuse(STORED_ONLY, self, f"scatter_gather_{'tensor' if isinstance(source, Tensor) else 'scalar'}_cpu")
        places = places_of(self._shape, dim, index.array())
    if out is None:
        out = clone(0, self, contiguous_format)
    else:
        check_no_overlap(out, (index, source))
        if out is not self:
            out.array()[...] = self.array()
    if places is None:
        return out
    target = out.array()
    flat = target.reshape(-1)  # a copy where the tensor has gaps
    values = np.asarray(source.array() if isinstance(source, Tensor) else source, target.dtype)
    if values.ndim:
        values = values[tuple(slice(size) for size in index._shape)].reshape(-1)
    place(flat, places.reshape(-1), values, reduce, include_self)
    if not target.flags.c_contiguous:
        target[...] = flat.reshape(target.shape)
    return out


def place(flat: Array, places: Array, values: Array, reduce: str | None, include_self: bool) -> None:
    """Write the values at their places, or reduce them there, one after the other."""
    if reduce is None:
        flat[places] = values
        return
    if not include_self:
        flat[places] = identity(reduce, flat.dtype)
    reduce_at_wide(SUMS[reduce] if reduce in SUMS else OLD[reduce], flat, places, values)
    if reduce == "mean":
        counts = np.maximum(np.bincount(places, minlength=flat.size) + include_self, 1).astype(flat.dtype)
        divide = np.floor_divide if flat.dtype.kind in "iu" else np.true_divide
        quietly(divide, flat, counts, out=flat)


structured(CPU, "gather", gather)
structured(CPU, "scatter.src", scatter_src)
structured(CPU, "scatter.value", scatter_value)
structured(CPU, "scatter_add", scatter_add)
structured(CPU, "scatter.reduce", scatter_reduce)
structured(CPU, "scatter.value_reduce", scatter_value_reduce)
structured(CPU, "scatter_reduce.two", scatter_reduce_two)
