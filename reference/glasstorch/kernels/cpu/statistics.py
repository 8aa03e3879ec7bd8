"""How are products, variances and counts computed on the CPU?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (prod, std_var_out, count_nonzero_cpu), cpu/ReduceOpsKernel.cpp
    (prod_kernel_impl, std_var_kernel_impl with SharedReduceOps.h's WelfordOps)
Differs: a variance takes two passes in float64, the mean first, where Welford's formula takes one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import FLOAT8, STORED_ONLY, Number, dtype, int64
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import Shape, wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions import check_implemented, finish, widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import statistics as shapes
from glasstorch.operators.shapes.reductions import reduced_dims

CPU = KernelTable("CPU")
multiply_reduction: Callable[..., Any] = np.multiply.reduce

# Products -------------------------------------------------------------------------------------------------------


def prod(keys: int, self: Tensor, dtype: dtype | None) -> Tensor:
    """The product of everything, which has no out= form."""
    return _product(self, None, False, dtype, None)


def prod_dim(
    keys: int, self: Tensor, dim: int, keepdim: bool, dtype: dtype | None, out: Tensor | None = None
) -> Tensor:
    """The product over one dimension."""
    return _product(self, wrap_dim(dim, self.dim()), keepdim, dtype, out)


def _product(self: Tensor, dim: int | None, keepdim: bool, dtype: dtype | None, out: Tensor | None) -> Tensor:
    computed = out.dtype if out is not None else shapes.prod(self, dtype).dtype
    check_implemented("prod_out_cpu", computed, FLOAT8)
    array = self.array()
    if array.dtype != computed.numpy:
        array = quietly(array.astype, computed.numpy)
    array = widened(array, computed)
    return finish(
        quietly(multiply_reduction, array, dim if array.ndim else None, array.dtype, None, keepdim), computed, out
    )


# Variances ------------------------------------------------------------------------------------------------------


def var(
    keys: int,
    self: Tensor,
    dim: Sequence[int] | None,
    correction: Number | None,
    keepdim: bool,
    out: Tensor | None = None,
) -> Tensor:
    """The mean squared distance from the mean."""
    return _variance("var", self, dim, correction, keepdim, out)


def std(
    keys: int,
    self: Tensor,
    dim: Sequence[int] | None,
    correction: Number | None,
    keepdim: bool,
    out: Tensor | None = None,
) -> Tensor:
    """The square root of the variance."""
    return _variance("std", self, dim, correction, keepdim, out)


def _variance(
    name: str, self: Tensor, dim: Sequence[int] | None, correction: Number | None, keepdim: bool, out: Tensor | None
) -> Tensor:
    result = shapes.VARIANCES[name](self, dim, correction, keepdim)
    if self.dtype in FLOAT8:
        raise DtypeError(f"std_var_all: Unsupported dtype {self.dtype.scalar_name}")
    array = self.array()
    dims = reduced_dims(dim, array.ndim)
    wide = array.astype(np.complex128 if self.dtype.is_complex else np.float64)
    count = math.prod(array.shape[d] for d in dims)
    shapes.check_degrees_of_freedom(name, count, result.shape, correction)
    found = quietly(_mean_square, wide, dims, keepdim, count, shapes.correction_of(correction))
    return finish(quietly(np.sqrt, found) if name == "std" else found, result.dtype if out is None else out.dtype, out)


def _mean_square(array: Array, dims: Shape, keepdim: bool, count: int, correction: float) -> Any:
    """The squared distances from the mean, added up and divided."""
    distance = array - np.true_divide(array.sum(dims, keepdims=True), count)
    squares = (distance * distance.conj()).real if array.dtype.kind == "c" else distance * distance
    return np.true_divide(squares.sum(dims, keepdims=keepdim), max(count - correction, 0))


# Counts ---------------------------------------------------------------------------------------------------------


def count_nonzero(keys: int, self: Tensor, dim: Sequence[int]) -> Tensor:
    """How many elements are not 0; NaN is not."""
    if not dim:  # along dimensions PyTorch compares with 0 and adds
        check_implemented("nonzero_count_cpu", self.dtype, STORED_ONLY)
    array = self.array()
    return finish(np.count_nonzero(array, axis=reduced_dims(dim, array.ndim)), int64, None)


CPU.add("prod", prod)
structured(CPU, "prod.dim_int", prod_dim)
structured(CPU, "var.correction", var)
structured(CPU, "std.correction", std)
structured(CPU, "count_nonzero.dim_IntList", count_nonzero)
