"""How is the exponential of matrices computed on the CPU?

A Taylor polynomial of degree 18, in five products. A matrix of larger norm is halved until its norm is small enough,
and the result is squared as many times (Bader, Blanes and Casas, "Computing the Matrix Exponential with an Optimized
Taylor Polynomial Approximation", Mathematics 2019, 7, 1174).

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (linalg_matrix_exp, compute_T18_scale_square)
Differs: always degree 18, where PyTorch takes lower ones for small norms; always in double precision, where PyTorch
    loses digits of the small elements of a large result.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.linalg import factors as shapes

CPU = KernelTable("CPU")

LARGEST = 1.090863719290036  # the largest 1-norm for which the polynomial is exact to the last digit of a double

# The coefficients of the powers 0, 1, 2, 3 and 6 in each of five sums.
SHARES = (
    (0.0, -1.00365581030144618291e-01, -8.02924648241156932449e-03, -8.92138498045729985177e-04, 0.0),
    (
        0.0,
        3.97849749499645077844e-01,
        1.36783778460411720168e00,
        4.98289622525382669416e-01,
        -6.37898194594723280150e-04,
    ),
    (
        *(-1.09676396052962061844e01, 1.68015813878906206114e00, 5.71779846478865511061e-02),
        *(-6.98210122488052056106e-03, 3.34975017086070470649e-05),
    ),
    (
        *(-9.04316832390810593223e-02, -6.76404519071381882256e-02, 6.75961301770459654925e-02),
        *(2.95552570429315521194e-02, -1.39180257516060693404e-05),
    ),
    (0.0, 0.0, -9.23364619367118555360e-02, -1.69364939002081722752e-02, -1.40086798182036094347e-05),
)


def polynomial(A: Array) -> Array:
    """The Taylor polynomial of degree 18 of each matrix of a batch (count, n, n)."""
    square = A @ A
    cube = A @ square
    powers = (np.broadcast_to(np.eye(A.shape[-1], dtype=A.dtype), A.shape), A, square, cube, cube @ cube)
    first, second, third, fourth, fifth = np.tensordot(np.array(SHARES), np.stack(powers), 1)
    fourth += first @ fifth
    result: Array = second + (third + fourth) @ fourth
    return result


def exponential(A: Array) -> Array:
    """The exponential of each matrix of a batch (count, n, n)."""
    norm = np.abs(A).sum(-2).max(-1)
    finite = np.where(np.isfinite(norm), norm, 0)
    halved = np.ceil(np.log2(np.maximum(finite / LARGEST, 1))).astype(np.int64)
    result = polynomial(A / np.ldexp(1.0, halved)[:, None, None])
    for step in range(halved.max(initial=0)):
        again = halved > step
        result[again] = result[again] @ result[again]
    return result


def matrix_exp(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
    """The sum of all powers, each divided by its factorial."""
    made = allocate_output(shapes.matrix_exp(self)) if out is None else out
    array = self.array()
    if array.size:
        wide = array.astype(np.complex128 if self.dtype.is_complex else np.float64)
        found = quietly(exponential, wide.reshape(-1, *wide.shape[-2:])).reshape(array.shape)
        made.array()[...] = quietly(found.astype, made.dtype.numpy)
    return made


structured(CPU, "linalg_matrix_exp", matrix_exp)
