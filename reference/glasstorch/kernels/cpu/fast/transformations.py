"""How are elements rolled, and kept in triangles, fast?

Mirrors: aten/src/ATen/native/TensorTransformations.cpp (roll)
    and TriangularOps.cpp (apply_triu_tril)
Differs: PyTorch rolls one dimension after another, each by joining two parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu import transformations as plain
from glasstorch.kernels.cpu.transformations import Triangle
from glasstorch.kernels.iterator import allocate_output
from glasstorch.operators.shapes.transformations import order as shapes


@fast("roll", when="dimensions are given", benchmark="1e6: roll along rows", exact="bits")
def roll(keys: int, self: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Tensor:
    """Each run of elements that stay together is moved once, to its place in the result."""
    array = self.array()
    if not dims or not array.size:
        return plain.roll(keys, self, shifts, dims)
    tensor = allocate_output(shapes.roll(self, shifts, dims))
    every = [[(slice(None), slice(None))] for _ in array.shape]  # the slices of each dimension's runs
    for d in {dim % array.ndim for dim in dims}:  # the shape function has checked the range
        shift = sum(by for by, dim in zip(shifts, dims, strict=True) if dim % array.ndim == d) % array.shape[d]
        stay = array.shape[d] - shift
        every[d] = [(slice(stay), slice(shift, None)), (slice(stay, None), slice(shift))]
    for runs in product(*every):
        sources, targets = zip(*runs, strict=True)
        tensor.array()[targets] = array[sources]
    return tensor


@fast(plain.keep, when="always", benchmark="1e6: tril of matrices", exact="bits")
def keep(triangle: Triangle, source: Array, diagonal: int, target: Array) -> None:
    """Zeros overwrite the other elements of a copy; beside it only the mask is allocated."""
    rows, columns = source.shape[-2:]
    if target is not source:
        target[...] = source
    below = triangle is np.tril
    at_or_below = np.tri(rows, columns, diagonal if below else diagonal - 1, dtype=np.bool_)
    np.copyto(target, target.dtype.type(0), where=~at_or_below if below else at_or_below)
