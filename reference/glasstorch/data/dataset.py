"""What is a dataset, and how are datasets joined, cut and split?

Mirrors: torch/utils/data/dataset.py
"""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, cast

from glasstorch._tensor import Tensor
from glasstorch.core.random.generator import Generator, default_generator
from glasstorch.operators.generated import functions as f

__all__ = [
    "Dataset",
    "IterableDataset",
    "TensorDataset",
    "StackDataset",
    "ConcatDataset",
    "ChainDataset",
    "Subset",
    "random_split",
]

T_co = TypeVar("T_co", covariant=True)
Indices = list[Any]


class Dataset(Generic[T_co]):
    """Samples by index, or by any other key that a sampler yields.

    A subclass defines `__getitem__`, and `__len__` for the samplers that a loader uses by default. It may define
    `__getitems__(indices)`, which returns the samples of a whole batch in a list.
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> Dataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples in the order in which they come, from a stream for instance.

    A subclass defines `__iter__`. Each worker of a loader iterates over a copy of its own: `get_worker_info` tells it
    which part to take; otherwise every worker yields every sample.
    """

    def __add__(self, other: Dataset[Any]) -> ChainDataset:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors with the same first size; a sample is the tuple of their elements at one index, which are views."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class StackDataset(Dataset[Any]):
    """Datasets of the same length side by side: a sample is a tuple of theirs, or a dict if they are given by name."""

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Dataset[Any], **kwargs: Dataset[Any]) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        members: list[Any] = [*args, *kwargs.values()]
        self._length = len(members[0])
        if any(len(member) != self._length for member in members):
            raise ValueError("Size mismatch between datasets")
        self.datasets = args or kwargs

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: Indices) -> list[Any]:
        """The samples at some indices; a member that has `__getitems__` is asked for all of its part at once."""
        if isinstance(self.datasets, dict):
            columns = [_column(dataset, indices) for dataset in self.datasets.values()]
            return [dict(zip(self.datasets, row, strict=True)) for row in zip(*columns, strict=True)]
        return list(zip(*(_column(dataset, indices) for dataset in self.datasets), strict=True))

    def __len__(self) -> int:
        return self._length


def _column(dataset: Any, indices: Indices) -> list[Any]:
    """What one member of a StackDataset has at some indices."""
    if not callable(getattr(dataset, "__getitems__", None)):
        return [dataset[index] for index in indices]
    items: list[Any] = dataset.__getitems__(indices)
    if len(items) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}")
    return items


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other, as one. Negative indices count from the end."""

    def __init__(self, datasets: Iterable[Dataset[T_co]]) -> None:
        self.datasets: list[Any] = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Where each dataset ends."""
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: Any) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        start = self.cumulative_sizes[which - 1] if which else 0
        return cast(T_co, self.datasets[which][idx - start])

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old spelling of `cumulative_sizes`."""
        message = "`cummulative_sizes` attribute is renamed to `cumulative_sizes`"
        warnings.warn(message, FutureWarning, stacklevel=2)
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other; each is begun when the one before it has ended."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            yield from _iterable(dataset)

    def __len__(self) -> int:
        return sum(len(_iterable(dataset)) for dataset in self.datasets)


def _iterable(dataset: Dataset[Any]) -> Any:
    if not isinstance(dataset, IterableDataset):
        raise AssertionError("ChainDataset only supports IterableDataset")
    return dataset


class Subset(Dataset[T_co]):
    """A dataset at some of its indices.

    A subclass that defines `__getitem__` must define `__getitems__` too, since loaders call that one.
    """

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[Any]) -> None:
        self.dataset: Any = dataset
        self.indices = indices
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{kind.__name__} overrides __getitem__ but not __getitems__. When subclassing Subset and overriding "
                f"__getitem__, you must also override __getitems__ to ensure DataLoader works correctly with your "
                f"custom logic. A simple implementation:\n\ndef __getitems__(self, indices):\n"
                f"    return [self.__getitem__(idx) for idx in indices]"
            )

    def __getitem__(self, idx: Any) -> T_co:
        if isinstance(idx, list):
            return cast(T_co, self.dataset[[self.indices[one] for one in idx]])
        return cast(T_co, self.dataset[self.indices[idx]])

    def __getitems__(self, indices: Indices) -> list[T_co]:
        """The samples at some indices, from the dataset's own `__getitems__` where it has one."""
        return _column(self.dataset, [self.indices[one] for one in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset[Any], lengths: Sequence[int | float], generator: Generator | None = default_generator
) -> list[Subset[Any]]:
    """Subsets of a dataset that share no sample, of these lengths or fractions, drawn by a generator.

    Fractions must add up to 1. Their lengths are rounded down, and the remaining samples are distributed one by one,
    beginning with the first subset.
    """
    sized: Any = dataset
    counts = lengths
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        counts = _counts(len(sized), lengths)
    if sum(counts) != len(sized):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    total = int(sum(counts))
    order = f.randperm(total, generator=generator).tolist()
    sizes = cast(Sequence[int], counts)
    ends = itertools.accumulate(sizes)
    return [Subset(dataset, order[end - size : end]) for end, size in zip(ends, sizes, strict=True)]


def _counts(total: int, fractions: Sequence[float]) -> list[int]:
    """How many samples each fraction of a dataset has."""
    for place, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {place} is not between 0 and 1")
    counts = [math.floor(total * fraction) for fraction in fractions]
    for left in range(total - sum(counts)):
        counts[left % len(counts)] += 1
    for place, count in enumerate(counts):
        if count == 0:
            message = f"Length of split at index {place} is 0. This might result in an empty dataset."
            warnings.warn(message, stacklevel=3)
    return counts
