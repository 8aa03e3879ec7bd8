"""How are tensors joined on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/Shape.cu (cat_out_cuda, parallel_cat)
Differs: one launch for up to four tensors. Non-contiguous ones are copied first; PyTorch's kernel reads up to four
    strided dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, make_view
from glasstorch.core.geometry import wrap_dim
from glasstorch.devices.launch import BLOCK, grid_for, launch
from glasstorch.devices.modules import kernel
from glasstorch.devices.stream import device as on_device
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cuda.copies import contiguous, copy_elements
from glasstorch.kernels.cuda.tensors import common_device, output
from glasstorch.kernels.cuda.units import UNIT, widest
from glasstorch.kernels.structured import check_no_overlap, structured
from glasstorch.operators.shapes import joining

CUDA = KernelTable("CUDA")

TENSORS_PER_LAUNCH = 4  # as in joining.cu

PIECES = np.dtype(  # struct Pieces of joining.cu
    [("rows", np.int64), ("row", np.int64), ("start", np.int64), ("width", np.int64, (TENSORS_PER_LAUNCH,))]
)


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as arguments of `modules.kernel`: file, expression, defines.

    The tests compile all of them with NVRTC.
    """
    for unit in UNIT.values():
        yield "joining.cu", f"cat<{unit}>", ()


@structured(CUDA, "cat")
def cat(keys: int, tensors: Sequence[Tensor], dim: int, out: Tensor | None = None) -> Tensor:
    """The tensors concatenated along a dimension."""
    result = joining.cat(tensors, dim)
    device = common_device(*tensors, out, numbers=False)
    if out is not None:
        check_no_overlap(out, tensors)
    target = output(result, device) if out is None else out
    joined = [tensor for tensor in tensors if tensor.numel()]
    if not joined:
        return target
    dim = wrap_dim(dim, len(result.shape))
    if target.is_row_major() and all(tensor.dtype is target.dtype for tensor in joined):
        join_rows([contiguous(tensor) for tensor in joined], dim, target)
    else:
        copy_one_by_one(joined, dim, target)
    return target


def join_rows(tensors: Sequence[Tensor], dim: int, target: Tensor) -> None:
    """Join contiguous tensors of one dtype; see `Pieces` in joining.cu."""
    itemsize = target.dtype.itemsize
    widths = [prod(tensor._shape[dim:]) * itemsize for tensor in tensors]
    addresses = [tensor.data_ptr() for tensor in tensors]
    unit = widest(target.data_ptr(), *addresses, *widths)
    rows, start = prod(target._shape[:dim]), 0
    for i in range(0, len(tensors), TENSORS_PER_LAUNCH):
        width = widths[i : i + TENSORS_PER_LAUNCH]
        absent = TENSORS_PER_LAUNCH - len(width)
        pieces: Any = np.zeros((), PIECES)
        pieces["rows"], pieces["row"], pieces["start"] = rows, sum(widths) // unit, start // unit
        pieces["width"] = [n // unit for n in width] + [0] * absent
        with on_device(target.device):
            launch(
                kernel("joining.cu", f"cat<{UNIT[unit]}>"),
                (grid_for(rows * max(width) // unit, BLOCK), len(width)),
                BLOCK,
                (*addresses[i : i + TENSORS_PER_LAUNCH], *[0] * absent, target.data_ptr(), pieces[()]),
            )
        start += sum(width)


def copy_one_by_one(tensors: Sequence[Tensor], dim: int, target: Tensor) -> None:
    """Copy each tensor to its part of the target, which may have any strides and another dtype."""
    offset, strides = target._offset, target.strides()
    for tensor in tensors:
        copy_elements(make_view(target, tensor._shape, strides, offset), tensor)
        offset += tensor._shape[dim] * strides[dim]
