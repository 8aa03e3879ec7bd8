"""How are norms, renormalization, cross products and traces computed on the CPU?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (linalg_vector_norm_out), aten/src/ATen/native/cpu/ReduceOpsKernel.cpp
    (norm_kernel), aten/src/ATen/native/cpu/CrossKernel.cpp, aten/src/ATen/native/Normalization.cpp (renorm_out),
    aten/src/ATen/native/ReduceOps.cpp (trace_cpu)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import STORED_ONLY, Number, bool_, check_implemented, dtype
from glasstorch.core.geometry import Shape, wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions.sums import ACCUMULATED_IN
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import finish, structured
from glasstorch.operators.shapes.linalg import norms as shapes
from glasstorch.operators.shapes.reductions.sums import reduced_dims

CPU = KernelTable("CPU")
NOT_MULTIPLIED = STORED_ONLY | {bool_}


@structured(CPU, "linalg_vector_norm")
def vector_norm(
    keys: int,
    self: Tensor,
    ord: Number,
    dim: Sequence[int] | None,
    keepdim: bool,
    dtype: dtype | None,
    out: Tensor | None = None,
) -> Tensor:
    """`sum(abs(x) ** ord) ** (1 / ord)`; for order 0 the number of nonzero elements."""
    result = shapes.vector_norm(self, ord, dim, keepdim, dtype)
    array: Array = self.array()
    dims, order = reduced_dims(dim, array.ndim), float(ord.real)
    if order and all(array.shape[d] == 1 for d in dims):
        order = 1.0  # the norm of one element is its absolute value, without rounded powers
    return finish(quietly(norm.run, array, (dtype or self.dtype).numpy, order, dims, keepdim), result.dtype, out)


@slot
def norm(array: Array, dtype: np.dtype[Any], order: float, dims: Shape, keepdim: bool) -> Array:
    """The norm over dimensions of an array that `dtype` holds too, computed in double precision.

    The absolute values are rounded to the dtype first: the gradient looks for the element whose size is the extremum.
    """
    sizes = np.absolute(widened(array.astype(dtype, copy=False))).astype(np.float64)
    return np.asarray(np.linalg.vector_norm(sizes, axis=dims, keepdims=keepdim, ord=order))


@structured(CPU, "renorm")
def renorm(keys: int, self: Tensor, p: Number, dim: int, maxnorm: Number, out: Tensor | None = None) -> Tensor:
    """Each slice along a dimension, scaled down so that its norm is at most `maxnorm`."""
    shapes.renorm(self, p, dim, maxnorm)
    array: Array = self.array()
    axis = wrap_dim(dim, array.ndim)
    others = tuple(d for d in range(array.ndim) if d != axis)
    shapes.vector_norm(self, p, others, True, None)  # which it refuses too
    wide = np.dtype(ACCUMULATED_IN.get(array.dtype.char, array.dtype))
    found = quietly(norm.run, array, wide, float(p.real), others, True)
    factor = np.where(found > maxnorm, quietly(np.true_divide, maxnorm, found + 1e-7), 1).astype(found.dtype)
    return finish(quietly(np.multiply, array, factor.astype(array.dtype)), self.dtype, out)


@structured(CPU, "linalg_cross")
def cross(keys: int, self: Tensor, other: Tensor, dim: int, out: Tensor | None = None) -> Tensor:
    """The cross product along a dimension of size 3."""
    result = shapes.cross(self, other, dim)
    check_implemented("cross", self.dtype, NOT_MULTIPLIED)
    x, y = (np.broadcast_to(widened(tensor.array()), result.shape) for tensor in (self, other))
    axis = wrap_dim(dim, x.ndim)
    x, y = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0)
    # Indices count modulo 3, since -1 and -2 do.
    product = [quietly(lambda i: x[i - 2] * y[i - 1] - x[i - 1] * y[i - 2], i) for i in range(3)]
    return finish(np.stack(product, axis), result.dtype, out)


@structured(CPU, "trace")
def trace(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
    """The sum of the diagonal."""
    result = shapes.trace(self)
    check_implemented("trace", self.dtype, NOT_MULTIPLIED)
    diagonal = np.diagonal(self.array()).astype(result.dtype.numpy)
    return finish(quietly(np.sum, widened(diagonal)), result.dtype, out)
