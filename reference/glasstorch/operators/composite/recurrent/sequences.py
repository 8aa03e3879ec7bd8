"""How are sequences of several lengths padded, packed, and padded again?

See Note [Packed sequences].

Mirrors: aten/src/ATen/native/PackedSequence.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from glasstorch.core.dtype import Number, int64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def _check_long_cpu(name: str, tensor: Tensor) -> None:
    if tensor.dim() != 1 or tensor.device.type != "cpu" or tensor.dtype is not int64:
        raise DtypeError(
            f"'{name}' argument should be a 1D CPU int64 tensor, but got {tensor.dim()}D {tensor.device.type} "
            f"{tensor.dtype.scalar_name} tensor"
        )


def pack_padded_sequence(input: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Tensor, Tensor]:
    """The first steps of all sequences, then the second steps, and so on; and how many sequences have each step."""
    _check_long_cpu("lengths", lengths)
    steps = input.transpose(0, 1) if batch_first else input
    if not input.numel():
        raise ShapeError("Cannot pack empty tensors.")
    wanted, batch = lengths.tolist(), steps.size(1)
    if len(wanted) != batch:
        raise ShapeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(wanted)} (batch_size={batch})"
        )
    if wanted[-1] <= 0:
        raise ArgumentError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if any(longer < shorter for longer, shorter in pairwise(wanted)):
        raise ArgumentError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    sizes = [sum(length > step for length in wanted) for step in range(wanted[0])]
    data = f.cat([steps[step, :size] for step, size in zip(range(steps.size(0)), sizes, strict=False)])
    return data, f.scalar_tensor(0, dtype=int64).new_tensor(sizes)


def pack_padded_sequence_backward(
    grad: Tensor, input_size: Sequence[int], batch_sizes: Tensor, batch_first: bool
) -> Tensor:
    """The gradient of each packed step in its place, 0 in the places of padding."""
    first, second, *rest = input_size
    steps = (second, first, *rest) if batch_first else (first, second, *rest)
    padded = _placed(grad, batch_sizes.tolist(), steps, 0)
    return padded.transpose(0, 1) if batch_first else padded


def pad_packed_sequence(
    data: Tensor, batch_sizes: Tensor, batch_first: bool, padding_value: Number, total_length: int
) -> tuple[Tensor, Tensor]:
    """The sequences as one padded tensor, and their lengths."""
    _check_long_cpu("batch_sizes", batch_sizes)
    sizes = batch_sizes.tolist()
    if not sizes:
        raise ShapeError("batch_sizes can not be empty")
    length = len(sizes)
    if total_length > 0:
        if total_length < length:
            raise ArgumentError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {length}"
            )
        length = total_length
    padded = _placed(data, sizes, (length, sizes[0], *data.shape[1:]), padding_value)
    lengths = batch_sizes.new_tensor([sum(size > place for size in sizes) for place in range(sizes[0])])
    return padded.transpose(0, 1) if batch_first else padded, lengths


def _placed(data: Tensor, sizes: list[int], shape: Sequence[int], padding_value: Number) -> Tensor:
    """The packed steps in a tensor (T, N, ...) that is padded elsewhere."""
    length, batch, *rest = shape
    rows = [step * batch + place for step, size in enumerate(sizes) for place in range(size)]
    padded = f.full((length * batch, *rest), padding_value, dtype=data.dtype, device=data.device)
    places = f.scalar_tensor(0, dtype=int64, device=data.device).new_tensor(rows[: data.size(0)])
    return padded.index_copy(0, places, data).view((length, batch, *rest))


def pad_sequence(sequences: Sequence[Tensor], batch_first: bool, padding_value: float, padding_side: str) -> Tensor:
    """Sequences (length, ...) as one tensor (longest, N, ...), padded after or before."""
    if not sequences:
        raise ArgumentError("received an empty list of sequences")
    first = sequences[0]
    if not first.dim():
        raise ShapeError("pad_sequence: expected sequences of at least one dimension, got a scalar")
    longest = max(sequence.size(0) for sequence in sequences)
    sizes = (len(sequences), longest) if batch_first else (longest, len(sequences))
    if padding_side not in ("left", "right"):
        raise ArgumentError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    shape = (*sizes, *first.shape[1:])
    padded = f.full(shape, padding_value, dtype=first.dtype, device=first.device)
    for place, sequence in enumerate(sequences):
        start = longest - sequence.size(0) if padding_side == "left" else 0
        length = sequence.size(0)
        if batch_first:
            padded.select(0, place).narrow(0, start, length).copy_(sequence)
        else:
            padded.narrow(0, start, length).select(1, place).copy_(sequence)
    return padded
