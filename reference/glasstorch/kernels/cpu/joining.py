"""How are tensors joined on the CPU?

Mirrors: aten/src/ATen/native/cpu/CatKernel.cpp
Differs: np.concatenate where all tensors have one dtype, otherwise one assignment per tensor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glasstorch._tensor import Tensor, empty, empty_strided
from glasstorch.core.geometry import wrap_dim
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.copies import assign
from glasstorch.kernels.structured import check_no_overlap, structured
from glasstorch.operators.shapes import joining

CPU = KernelTable("CPU")


def cat(keys: int, tensors: Sequence[Tensor], dim: int, out: Tensor | None = None) -> Tensor:
    """The tensors concatenated along a dimension."""
    shape, dtype, strides, _ = joining.cat(tensors, dim)
    if out is not None:
        check_no_overlap(out, tensors)
        result = out
    elif strides is None:
        result = empty(shape, dtype)
    else:
        result = empty_strided(shape, strides, dtype)
    target = result.array()
    joined = [tensor for tensor in tensors if tensor._shape != (0,)]
    if not joined:
        return result
    dim = wrap_dim(dim, len(shape))
    if all(tensor.dtype is result.dtype for tensor in joined):
        np.concatenate([tensor.array() for tensor in joined], dim, out=target)
        return result
    start = 0
    part = [slice(None)] * len(shape)
    for tensor in joined:
        stop = start + tensor._shape[dim]
        part[dim] = slice(start, stop)
        assign(target[tuple(part)], tensor.array(), result.dtype, tensor.dtype)
        start = stop
    return result


structured(CPU, "cat", cat)
