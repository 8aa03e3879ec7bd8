"""How are matrices multiplied on the CPU?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (bmm), Blas.cpp (dot, mv), cpu/BlasKernel.cpp
Differs: NumPy multiplies: floats and complex numbers with its BLAS, integers in loops that wrap around on overflow.
    Narrower floats are computed in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import NARROW_FLOATS, dtype
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.halves import as_dtype, as_single, cast
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import finish, structured
from glasstorch.operators.shapes import matmul as shapes

CPU = KernelTable("CPU")


@slot
def product(left: Array, right: Array, dtype: dtype, out: Array | None = None) -> Array:
    """The product of two matrices, or of two batches of them, in `out` or in a fresh row-major array."""
    if dtype in NARROW_FLOATS:
        left, right = as_single.run(left), as_single.run(right)
    result = np.matmul(left, right)
    if out is None:
        return as_dtype.run(result, dtype.numpy)
    cast.run(out, result)
    return out


def mm(keys: int, self: Tensor, mat2: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of two matrices."""
    return _multiplied(self, mat2, shapes.mm(self, mat2).dtype, out)


def bmm(keys: int, self: Tensor, mat2: Tensor, out: Tensor | None = None) -> Tensor:
    """The products of two batches of matrices."""
    return _multiplied(self, mat2, shapes.bmm(self, mat2).dtype, out)


def _multiplied(self: Tensor, mat2: Tensor, dtype: dtype, out: Tensor | None) -> Tensor:
    made = quietly(product.run, self.array(), mat2.array(), dtype, None if out is None else out.array())
    return wrap(made, dtype) if out is None else out


def mv(keys: int, self: Tensor, vec: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of a matrix and a vector."""
    return _dotted(np.ndarray.dot, self, vec, shapes.mv(self, vec).dtype, out)


def dot(keys: int, self: Tensor, tensor: Tensor, out: Tensor | None = None) -> Tensor:
    """The dot product of two vectors."""
    return _dotted(np.ndarray.dot, self, tensor, shapes.dot(self, tensor).dtype, out)


def vdot(keys: int, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The dot product of two vectors, the first conjugated."""
    return _dotted(np.vdot, self, other, shapes.dot(self, other).dtype, out)


def _dotted(function: Callable[..., Any], self: Tensor, vector: Tensor, dtype: dtype, out: Tensor | None) -> Tensor:
    left, right = self.array(), vector.array()
    if dtype in NARROW_FLOATS:
        left, right = as_single.run(left), as_single.run(right)
    return finish(quietly(function, left, right), dtype, out)


structured(CPU, "mm", mm)
structured(CPU, "bmm", bmm)
structured(CPU, "mv", mv)
structured(CPU, "dot", dot)
structured(CPU, "vdot", vdot)
