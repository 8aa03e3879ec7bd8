"""How are sequences of several lengths given to a recurrent network?

See Note [Packed sequences].

Mirrors: torch/nn/utils/rnn.py
Differs: `nn/utils/rnn.py` shows these names; the layers, which nn/utils imports, need them first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self, TypeVar

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import float16, float32, float64, int8, int16, int32, int64, uint8
from glasstorch.operators.generated import functions as operators
from glasstorch.outside_data.creation import as_tensor

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

T = TypeVar("T")
R = TypeVar("R")


class PackedSequence_(NamedTuple):  # the name under which PyTorch pickles it
    """The fields of a packed sequence."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


def bind(optional: T | None, fn: Callable[[T], R]) -> R | None:
    """`fn(optional)`, or None for None."""
    return None if optional is None else fn(optional)


class PackedSequence(PackedSequence_):
    """Sequences without padding: `data` has the first steps of all, then the second steps of those that have one...

    `batch_sizes` says how many sequences have each step. `sorted_indices` is the order by length in which they lie,
    `unsorted_indices` the way back. Made by `pack_padded_sequence` and `pack_sequence`.
    """

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        return super().__new__(cls, *_packed_sequence_init_args(data, batch_sizes, sorted_indices, unsorted_indices))

    def pin_memory(self) -> Self:
        """The same in memory that CUDA copies from at once."""
        order, back = (bind(indices, lambda t: t.pin_memory()) for indices in self[2:])
        return type(self)(self.data.pin_memory(), self.batch_sizes, order, back)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """With data of another dtype or on another device, as `Tensor.to`; itself where nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        order, back = (bind(indices, lambda t: t.to(data.device)) for indices in self[2:])
        return type(self)(data, self.batch_sizes, order, back)

    def cuda(self, *args: Any, **kwargs: Any) -> Self:
        """On a CUDA device."""
        return self._on("cuda", *args, **kwargs)

    def cpu(self, *args: Any, **kwargs: Any) -> Self:
        """In the computer's memory."""
        return self._on("cpu", *args, **kwargs)

    def _on(self, kind: str, *args: Any, **kwargs: Any) -> Self:
        there = operators.empty(0, dtype=self.data.dtype, device=self.data.device).to(*args, **kwargs)
        if there.device.type != kind:
            kwargs["device"] = kind
        return self.to(*args, **kwargs)

    def double(self) -> Self:
        """With data of float64."""
        return self.to(dtype=float64)

    def float(self) -> Self:
        """With data of float32."""
        return self.to(dtype=float32)

    def half(self) -> Self:
        """With data of float16."""
        return self.to(dtype=float16)

    def long(self) -> Self:
        """With data of int64."""
        return self.to(dtype=int64)

    def int(self) -> Self:
        """With data of int32."""
        return self.to(dtype=int32)

    def short(self) -> Self:
        """With data of int16."""
        return self.to(dtype=int16)

    def char(self) -> Self:
        """With data of int8."""
        return self.to(dtype=int8)

    def byte(self) -> Self:
        """With data of uint8."""
        return self.to(dtype=uint8)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a CUDA device."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory."""
        return self.data.is_pinned()


def _packed_sequence_init_args(
    data: Any, batch_sizes: Tensor | None, sorted_indices: Tensor | None, unsorted_indices: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """The fields; data and sizes may be given as one pair, and the way back is found from the order."""
    if unsorted_indices is None:
        unsorted_indices = invert_permutation(sorted_indices)
    if batch_sizes is None:
        if not (isinstance(data, list | tuple) and len(data) == 2):
            raise AssertionError("Expected data to be a list or tuple of length 2")
        return data[0], data[1], sorted_indices, unsorted_indices
    if batch_sizes.device.type != "cpu":
        raise ValueError(
            "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They "
            "should be instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn. "
            "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
        )
    return data, batch_sizes, sorted_indices, unsorted_indices


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that takes the other one back."""
    if permutation is None:
        return None
    numbers = operators.arange(0, permutation.numel(), device=permutation.device)
    return operators.empty_like(permutation).scatter_(0, permutation, numbers)


# Packing --------------------------------------------------------------------------------------------------------------


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | list[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Padded sequences (T, N, ...), or (N, T, ...) with `batch_first`, without their padding.

    Unless `enforce_sorted` they may lie in any order; otherwise the longest must come first.
    """
    sizes = lengths.to(int64) if isinstance(lengths, Tensor) else as_tensor(lengths, dtype=int64, device="cpu")
    sorted_indices = None
    if not enforce_sorted:
        sizes, sorted_indices = operators.sort(sizes, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, batch_sizes = operators._pack_padded_sequence(input, sizes, batch_first)
    return PackedSequence(data, batch_sizes, sorted_indices, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The sequences of `pack_padded_sequence` as one padded tensor, in their first order, and their lengths."""
    length = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < length:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {length}"
            )
        length = total_length
    padded, lengths = operators._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, length
    )
    back = sequence.unsorted_indices
    if back is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, back), lengths[back.cpu()]


def pad_sequence(
    sequences: Tensor | list[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences (length, ...) as one tensor (longest, N, ...), or (N, longest, ...) with `batch_first`."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    return operators.pad_sequence(tuple(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """Each sequence of a padded tensor up to its length. As in PyTorch, a tensor (T, N, ...) is left transposed."""
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    steps = operators.arange(padded_sequences.shape[1], device=lengths.device)
    return [sequence[steps < length] for sequence, length in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (length, ...) as a packed sequence."""
    lengths = as_tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of `pack_sequence`."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
