"""How do gather and scatter read and write along one dimension, with an index for each element?

Half precision is summed in float32 and rounded once.

Mirrors: aten/src/ATen/native/cpu/ScatterGatherKernel.cpp, aten/src/ATen/native/TensorAdvancedIndexing.cpp
    (scatter_impl, scatter_reduce_two)
Differs: NumPy reads and writes by an index for each dimension. `scatter` with reduce= does not warn that it is
    deprecated.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import HALF_PRECISION, STORED_ONLY, Number, bool_, check_implemented
from glasstorch.core.errors import not_implemented_for
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.indexing.advanced import CPU, check_inside, with_dimension
from glasstorch.kernels.cpu.indexing.along import UFUNCS as SLICE_UFUNCS
from glasstorch.kernels.cpu.indexing.along import divide_by, identity, written
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, check_no_overlap, shape_function, structured
from glasstorch.operators.shapes.indexing import advanced as shapes
from glasstorch.operators.shapes.indexing import placing
from glasstorch.operators.shapes.scalars import number_as

UFUNCS: Final[dict[str, np.ufunc]] = {"sum": np.add, "add": np.add, "multiply": np.multiply, **SLICE_UFUNCS}

MOST_IN_INT32: Final = 2**31 - 1


def places(dim: int, index: Array) -> tuple[Array, ...]:
    """NumPy's index of the elements that an index of one dimension selects: a vector for each other dimension."""
    every = np.indices(index.shape, sparse=True)
    return (*every[:dim], index, *every[dim + 1 :])


@slot
def gathered(source: Array, dim: int, index: Array) -> Array:
    """The elements that an index selects, row-major."""
    return np.ascontiguousarray(source[places(dim, index)])


@structured(CPU, "gather")
def gather(keys: int, self: Tensor, dim: int, index: Tensor, sparse_grad: bool, out: Out = None) -> Tensor:
    """result[i][j] = self[index[i][j]][j], for dim 0."""
    shapes.gather(self, dim, index, sparse_grad)
    if index.numel():
        check_implemented("scatter_gather_tensor_cpu", self.dtype, STORED_ONLY)
        dim, at = wrap_dim(dim, len(self._shape)), with_dimension(index)
        check_inside(self._shape, dim, at)
        picked = gathered.run(with_dimension(self), dim, at).reshape(index._shape)
    else:
        picked = np.empty(index._shape, self.dtype.numpy)
    if out is None:
        return wrap(picked, self.dtype)
    check_no_overlap(out, (self, index))
    out.array()[...] = picked
    return out


@slot
def place(target: Array, dim: int, index: Array, values: Array, ufunc: np.ufunc | None) -> None:
    """Write values where an index selects in a row-major array, or reduce them there by a ufunc, one after another."""
    at = places(dim, index)
    if ufunc is None:
        target[at] = values
    else:
        ufunc.at(target, at, np.broadcast_to(values, index.shape))


def scattered(
    self: Tensor, dim: int, index: Tensor, source: Tensor | Number, reduce: str | None, include_self: bool, out: Out
) -> Tensor:
    """Write or reduce a source (a number, or a tensor at least as large as the index) into `out` or a copy."""
    if not index.numel():
        return written(self, out, index, source)
    dim, at = wrap_dim(dim, len(self._shape)), with_dimension(index)
    label = f"scatter_gather_{'tensor' if isinstance(source, Tensor) else 'scalar'}_cpu"
    check_implemented(label, self.dtype, STORED_ONLY)
    check_inside(self._shape, dim, at)
    out = written(self, out, index, source)
    target, ufunc = with_dimension(out), UFUNCS.get(reduce or "")
    computed = np.float32 if ufunc is not None and self.dtype in HALF_PRECISION else target.dtype
    wide = np.asarray(target, computed, order="C")
    if isinstance(source, Tensor):
        values = with_dimension(source)[tuple(map(slice, at.shape))].astype(wide.dtype, copy=False)
    else:
        values = np.asarray(source, target.dtype).astype(wide.dtype, copy=False)
    if not include_self:
        place.run(wide, dim, at, np.asarray(identity(str(reduce), wide.dtype), wide.dtype), None)
    quietly(place.run, wide, dim, at, values, ufunc)
    if wide is not target:
        target[...] = quietly(wide.astype, target.dtype)
    if reduce == "mean":
        counts = np.full(target.shape, int(include_self), np.int32 if at.size < MOST_IN_INT32 else np.int64)
        place.run(counts, dim, at, np.ones((), counts.dtype), np.add)
        divide_by(target, counts)
    return out


def register_scatter(name: str, implied: str | None = None) -> None:
    """Register result[index[i][j]][j] = source[i][j], for dim 0, or another reduction than replacement.

    Where an index repeats, the last write wins. Some forms take the reduction as an argument.
    """
    shape = shape_function(name)

    @structured(CPU, name)
    def scatter(
        keys: int, self: Tensor, dim: int, index: Tensor, source: Tensor | Number, *reduction: str, out: Out = None
    ) -> Tensor:
        shape(self, dim, index, source, *reduction)
        if not isinstance(source, Tensor):
            source = number_as(source, self.dtype)
        return scattered(self, dim, index, source, reduction[0] if reduction else implied, True, out)


@structured(CPU, "scatter_reduce.two")
def scatter_reduce_two(
    keys: int, self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool, out: Out = None
) -> Tensor:
    """The source reduced by sum, product, mean or extremum with the elements there, or by itself alone."""
    placing.scatter_reduce_two(self, dim, index, src, reduce, include_self)
    reduce = placing.EXTREMA.get(reduce, reduce)
    if index.numel():
        if not include_self:
            check_implemented("scatter_reduce_exclude_input_init", self.dtype, STORED_ONLY)
        check_implemented("scatter_gather_tensor_cpu", self.dtype, STORED_ONLY)
        refused = (reduce == "mean" and self.dtype is bool_) or (reduce in ("amax", "amin") and self.dtype.is_complex)
        if refused:
            raise not_implemented_for(f"scatter_gather_tensor_cpu_reduce_{reduce}", self.dtype)
    elif reduce == "mean":
        check_implemented("div_floor_cpu", self.dtype, (bool_,))
    return scattered(self, dim, index, src, reduce, include_self, out)


register_scatter("scatter.src")
register_scatter("scatter.value")
register_scatter("scatter_add", "sum")
register_scatter("scatter.reduce")
register_scatter("scatter.value_reduce")
