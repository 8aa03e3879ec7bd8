"""How are tensors joined on the CPU?

Mirrors: aten/src/ATen/native/cpu/CatKernel.cpp
Differs: one assignment per tensor.
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.copies import assign
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.structured import check_no_overlap, structured
from glasstorch.operators.shapes import joining

CPU = KernelTable("CPU")


@structured(CPU, "cat")
def cat(keys: int, tensors: Sequence[Tensor], dim: int, out: Tensor | None = None) -> Tensor:
    """The tensors concatenated along a dimension."""
    described = joining.cat(tensors, dim)
    if out is not None:
        check_no_overlap(out, tensors)
    result = allocate_output(described) if out is None else out
    join.run(result, [tensor for tensor in tensors if tensor._shape != (0,)], dim)
    return result


@slot
def join(result: Tensor, tensors: Sequence[Tensor], dim: int) -> None:
    """Write the tensors one after another along a dimension, cast."""
    target, start = result.array(), 0
    before = (slice(None),) * (dim % target.ndim)
    for tensor in tensors:
        stop = start + tensor._shape[dim]
        assign(target[(*before, slice(start, stop))], tensor.array(), result.dtype, tensor.dtype)
        start = stop
