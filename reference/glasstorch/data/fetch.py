"""How are the samples of a batch fetched from a dataset?

Mirrors: torch/utils/data/_utils/fetch.py
Differs: a batch of a TensorDataset that is collated in the default way is read from its tensors at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.data.collate import collate_tensor_fn, default_collate, default_collate_fn_map
from glasstorch.data.dataset import Subset, TensorDataset

Collate = Callable[[Any], Any]


class _DatasetKind:
    """Whether samples are asked for by index or taken as they come."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind: int, dataset: Any, auto_collation: bool, collate_fn: Collate, drop_last: bool) -> Any:
        """The fetcher for a kind of dataset."""
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


class _BaseDatasetFetcher:
    """Makes a batch from a list of indices, or a sample from one index if batches are not collated."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Collate, drop_last: bool) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Takes as many samples as there are indices, until the dataset has ended."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Collate, drop_last: bool) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The next batch, or the next sample; StopIteration when none is left."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        samples = []
        for _ in possibly_batched_index:
            try:
                samples.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if not samples or (self.drop_last and len(samples) < len(possibly_batched_index)):
            raise StopIteration
        return self.collate_fn(samples)


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Asks for the samples at indices: all at once where the dataset has `__getitems__`."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The batch at these indices, or the sample at this one."""
        if not self.auto_collation:
            return self.collate_fn(self.dataset[possibly_batched_index])
        if self.collate_fn is default_collate:
            batch = gathered(self.dataset, possibly_batched_index)
            if batch is not None:
                return batch
        return self.collate_fn(samples_at(self.dataset, possibly_batched_index))


def samples_at(dataset: Any, indices: Any) -> Any:
    """The samples at some indices, in a list."""
    if hasattr(dataset, "__getitems__") and dataset.__getitems__:
        return dataset.__getitems__(indices)
    return [dataset[index] for index in indices]


def gathered(dataset: Any, indices: Any) -> list[Tensor] | None:  # hot path: benchmarks/dataloader.py
    """What `default_collate(samples_at(dataset, indices))` returns, read from the tensors of a TensorDataset at once.

    None where the result may differ: for a subclass that defines its own samples, for indices other than ints, for
    tensors that require a gradient or are of a subclass, and if a program collates tensors by a function of its own.
    """
    while isinstance(dataset, Subset):
        if type(dataset).__getitems__ is not Subset.__getitems__ or type(dataset.indices) is not list:
            return None
        dataset, indices = dataset.dataset, [dataset.indices[index] for index in indices]
    if type(dataset) is not TensorDataset or type(indices) is not list or set(map(type, indices)) != {int}:
        return None
    for tensor in dataset.tensors:
        if type(tensor) is not Tensor or tensor.requires_grad or not tensor.is_cpu:
            return None
    if default_collate_fn_map.get(Tensor) is not collate_tensor_fn:
        return None
    return [tensor[indices] for tensor in dataset.tensors]
