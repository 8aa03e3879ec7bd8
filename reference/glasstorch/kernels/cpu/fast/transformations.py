"""How are elements rolled fast?

Mirrors: aten/src/ATen/native/TensorTransformations.cpp (roll)
Differs: PyTorch rolls one dimension after another, each by joining two parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from glasstorch._tensor import Tensor
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.transformations import order
from glasstorch.kernels.iterator import allocate_output
from glasstorch.operators.shapes.transformations import order as shapes


@fast("roll", when="dimensions are given", benchmark="1e6: roll along rows", exact="bits")
def roll(keys: int, self: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Tensor:
    """Each run of elements that stay together is moved once, to its place in the result."""
    array = self.array()
    if not dims or not array.size:
        return order.roll(keys, self, shifts, dims)
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
