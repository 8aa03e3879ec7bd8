"""How are maxima put back to the places that they were found at?

Mirrors: aten/src/ATen/native/cpu/MaxUnpoolKernel.cpp
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import IndexValueError
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.pooling.places import planes_of
from glasstorch.kernels.structured import Out, add_structured, finish_as, shape_function

CPU = KernelTable("CPU")


def register(dims: int) -> None:
    """Register max_unpool2d or max_unpool3d: zeros, and the input's elements where the indices say."""
    name = f"max_unpool{dims}d"
    shape = shape_function(name)

    def max_unpool(keys: int, self: Tensor, indices: Tensor, *rest: Any, out: Out = None) -> Tensor:
        result = shape(self, indices, *rest)
        found = np.zeros(result.shape, result.dtype.numpy)
        planes, places = planes_of(found, dims), planes_of(indices.array(), dims)
        if (wrong := places[(places < 0) | (places >= planes.shape[1])]).size:
            sizes = "x".join(map(str, result.shape[-dims:]))
            raise IndexValueError(f"Found an invalid max index: {wrong[0]} (output volumes are of size {sizes})")
        planes[np.arange(len(planes))[:, None], places] = planes_of(self.array(), dims)
        return finish_as(result, found, out)

    add_structured(CPU, name, max_unpool)


for _dims in (2, 3):
    register(_dims)
