"""How are the distances between the rows of two matrices computed on the CPU?

Mirrors: aten/src/ATen/native/Distance.cpp (_cdist_forward, _cdist_backward), cpu/DistanceOpsKernel.cpp
Differs: the differences of all pairs are one array. Their sums are float64 and rounded once.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, finish, structured
from glasstorch.operators.shapes import distances as shapes

CPU = KernelTable("CPU")


@structured(CPU, "_cdist_forward")
def cdist_forward(keys: int, x1: Tensor, x2: Tensor, p: float, compute_mode: int | None, out: Out = None) -> Tensor:
    """The p-norm of the difference between each row of `x1` and each row of `x2`."""
    dtype = shapes.cdist_forward(x1, x2, p, compute_mode).dtype
    return finish(quietly(lengths.run, x1.array(), x2.array(), p), dtype, out)


@slot
def lengths(left: Array, right: Array, p: float) -> Array:
    """The p-norms (..., n, m) of the differences between rows (..., n, k) and rows (..., m, k)."""
    gaps = left[..., :, None, :] - right[..., None, :, :]
    return np.linalg.norm(gaps.astype(np.float64), p, -1)  # type: ignore[no-any-return]


@structured(CPU, "_cdist_backward")
def cdist_backward(keys: int, grad: Tensor, x1: Tensor, x2: Tensor, p: float, cdist: Tensor, out: Out = None) -> Tensor:
    """The gradient of `x1`; pairs of rows at distance 0 contribute nothing."""
    dtype = shapes.cdist_backward(grad, x1, x2, p, cdist).dtype
    return finish(quietly(pulled.run, x1.array(), x2.array(), p, grad.array(), cdist.array()), dtype, out)


@slot
def pulled(left: Array, right: Array, p: float, weights: Array, distances: Array) -> Array:
    """The gradient (..., n, k) of the left rows, summed over their differences from all right rows.

    Each distance (..., n, m) changes with each of its k differences by their sign times |difference / distance|^(p-1).
    """
    gaps = left[..., :, None, :] - right[..., None, :, :]
    signs, gaps = np.sign(gaps), np.abs(gaps)
    weights, distances = weights[..., None], distances[..., None]
    pulls: Any
    if p == 0:
        pulls = np.zeros_like(gaps)
    elif p == 1:
        pulls = signs * weights
    elif p == inf:
        pulls = np.where(gaps == distances, signs * weights, 0)
    else:
        steepness = np.where(gaps == 0, 0, gaps ** (p - 1))
        pulls = steepness * signs * np.where(distances == 0, 0, weights / distances ** (p - 1))
    return np.add.reduce(pulls, -2, np.float64)  # type: ignore[no-any-return]
