"""How are packed sequences padded to one length, and the padding taken away again, on a CUDA device?

Mirrors: aten/src/ATen/native/nested/cuda/NestedTensorTransformerFunctions.cu (_fbgemm_jagged_to_padded_dense_forward,
    _fbgemm_dense_to_jagged_forward_symint)
Differs: one copy for each sequence, where PyTorch launches one kernel for all; the offsets are read by the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.generated.functions import cat

CUDA = KernelTable("CUDA", calls_operators=True)


@CUDA.impl("_jagged_to_padded_dense_forward")
def jagged_to_padded(
    keys: int, values: Tensor, offsets: Sequence[Tensor], max_lengths: Sequence[int], padding_value: float
) -> Tensor:
    """Each sequence from the front of its row on; what is longer than the row is left out."""
    if len(offsets) != 1 or len(max_lengths) != 1:
        raise ArgumentError("_jagged_to_padded_dense_forward(): only a single jagged dim is supported for now")
    starts, longest = offsets[0].tolist(), max_lengths[0]
    padded: Tensor = values.new_full((len(starts) - 1, longest, *values._shape[1:]), padding_value)
    for i, start in enumerate(starts[:-1]):
        count = min(starts[i + 1] - start, longest)
        padded.select(0, i).narrow(0, 0, count).copy_(values.narrow(0, start, count))
    return padded


@CUDA.impl("_padded_dense_to_jagged_forward")
def padded_to_jagged(keys: int, dense: Tensor, offsets: Sequence[Tensor], total_L: int | None) -> Tensor:
    """The first elements of each row, as many as its sequence has, one after the other."""
    if len(offsets) != 1:
        raise ArgumentError("_padded_dense_to_jagged_forward(): only a single jagged dim is supported for now")
    starts = offsets[0].tolist()
    if total_L is not None and total_L != starts[-1]:
        raise ShapeError("_padded_dense_to_jagged_forward(): final offset should match total_L value")
    lengths = [end - start for start, end in pairwise(starts)]
    rows: list[Tensor] = [dense.select(0, i).narrow(0, 0, length) for i, length in enumerate(lengths)]
    return cat(rows, 0)
