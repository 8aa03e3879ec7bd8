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
from glasstorch.kernels.cpu.linalg.batches import identities, kernel
from glasstorch.kernels.quiet import quietly

LARGEST = 1.090863719290036  # the largest 1-norm for which the polynomial is exact to the last digit of a double

# The coefficients of the powers 0, 1, 2, 3 and 6 in each of five sums.
SHARES = (
    (0.0, -1.00365581030144618291e-01, -8.02924648241156932449e-03, -8.92138498045729985177e-04, 0.0),
    (
        *(0.0, 3.97849749499645077844e-01, 1.36783778460411720168e00),
        *(4.98289622525382669416e-01, -6.37898194594723280150e-04),
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
    """The Taylor polynomial of degree 18 of each matrix."""
    square = A @ A
    cube = A @ square
    powers = (identities(A.shape, A.dtype), A, square, cube, cube @ cube)
    first, second, third, fourth, fifth = np.tensordot(np.array(SHARES), np.stack(powers), 1)
    fourth += first @ fifth
    result: Array = second + (third + fourth) @ fourth
    return result


def exponential(A: Array) -> Array:
    """The exponential of each matrix."""
    norm = np.abs(A).sum(-2).max(-1, initial=0)
    finite = np.where(np.isfinite(norm), norm, 0)
    halved = np.ceil(np.log2(np.maximum(finite / LARGEST, 1))).astype(np.int64)
    result = polynomial(A / np.ldexp(1.0, halved)[..., None, None])
    for step in range(halved.max(initial=0)):
        again = halved > step
        result[again] = result[again] @ result[again]
    return result


@kernel("linalg_matrix_exp")
def matrix_exp(self: Tensor) -> Array:
    """The sum of all powers, each divided by its factorial."""
    array = self.array()
    found = quietly(exponential, array.astype(np.complex128 if self.dtype.is_complex else np.float64))
    return quietly(found.astype, array.dtype)
