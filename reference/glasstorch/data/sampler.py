"""In which order are the samples of a dataset drawn?

Mirrors: torch/utils/data/sampler.py
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import float64, int64
from glasstorch.core.random.generator import Generator
from glasstorch.operators.generated import functions as f
from glasstorch.outside_data.creation import as_tensor

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

T_co = TypeVar("T_co", covariant=True)
AT_ONCE = 32  # indices that are drawn at once with replacement


class Sampler(Generic[T_co]):
    """An order of indices, or of lists of them. A subclass defines `__iter__`, and may define `__len__`."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """The indices of a dataset from the first to the last."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """The indices of a dataset in random order: each once, or `num_samples` of them, or drawn with replacement.

    Without a generator, the order begins with a seed that is drawn from the default one.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        count: Any = self.num_samples
        if not isinstance(count, int) or count <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={count}")

    @property
    def num_samples(self) -> int:
        """How many indices there will be: as many as the dataset has, if none was given."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size = len(self.data_source)
        generator = self.generator
        if generator is None:
            generator = Generator().manual_seed(drawn_seed(None))
        whole, rest = divmod(self.num_samples, AT_ONCE if self.replacement else size)
        if self.replacement:
            for count in (*itertools.repeat(AT_ONCE, whole), rest):
                yield from f.randint(size, (count,), dtype=int64, generator=generator).tolist()
            return
        for _ in range(whole):
            yield from f.randperm(size, generator=generator).tolist()
        yield from f.randperm(size, generator=generator).tolist()[:rest]

    def __len__(self) -> int:
        return self.num_samples


def drawn_seed(generator: Generator | None) -> int:
    """A seed that a generator draws; the default one if None."""
    seed: Any = f.empty((), dtype=int64).random_(generator=generator).item()
    return int(seed)


class SubsetRandomSampler(Sampler[int]):
    """Some indices in random order, each once."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for place in f.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[place]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """`num_samples` indices, each drawn with a probability in proportion to its weight."""

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        _check_positive("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights: Tensor = as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = f.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[Any]]):
    """The indices of another sampler in lists of `batch_size`; `drop_last` leaves out a last list that is shorter."""

    def __init__(self, sampler: Sampler[Any] | Iterable[Any], batch_size: int, drop_last: bool) -> None:
        _check_positive("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler: Any = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[Any]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        whole, rest = divmod(len(self.sampler), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)


def _check_positive(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")
