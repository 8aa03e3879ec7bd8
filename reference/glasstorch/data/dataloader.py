"""How does a program ask for batches?

Mirrors: torch/utils/data/dataloader.py (DataLoader)
Differs: data pipes are loaded as the datasets that they are: they are neither seeded, shuffled nor sharded.
"""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from math import ceil
from multiprocessing.context import BaseContext
from typing import Any, Final, Generic, TypeVar

from glasstorch.core.random.generator import Generator
from glasstorch.data.collate import default_collate, default_convert
from glasstorch.data.dataset import Dataset, IterableDataset
from glasstorch.data.fetch import _DatasetKind
from glasstorch.data.iterators import _BaseDataLoaderIter, _SingleProcessDataLoaderIter
from glasstorch.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler
from glasstorch.data.workers import _MultiProcessingDataLoaderIter

__all__ = ["DataLoader"]

T_co = TypeVar("T_co", covariant=True)
FIXED: Final = frozenset(("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"))


class _InfiniteConstantSampler(Sampler[None]):
    """The sampler of an iterable dataset, which has no indices and determines itself when it ends."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """Batches of a dataset, one pass for each `iter`.

    The samples are drawn in order, in random order (`shuffle`), or as `sampler` or `batch_sampler` says; `batch_size`
    None asks for samples and not for batches. With `num_workers`, processes fetch the batches, `prefetch_factor` each
    ahead of time; `persistent_workers` keeps them for the next pass. Random numbers in worker k are seeded by k plus a
    seed that `generator`, or the default one, draws at each pass.
    """

    __initialized = False

    def __init__(
        self,
        dataset: Dataset[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: BaseContext | str | None = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset: Any = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        iterable = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if iterable else _DatasetKind.Map
        if iterable:
            _check_of_iterable(shuffle, sampler, batch_sampler)
        _check_batches(batch_size, bool(shuffle), sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        if sampler is None:
            sampler = _default_sampler(self.dataset, iterable, bool(shuffle), generator)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler: Any = sampler
        self.batch_sampler: Any = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn: Any = collate_fn
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called: int | None = None
        self._iterator: _MultiProcessingDataLoaderIter | None = None
        self.check_worker_number_rationality()

    @property
    def multiprocessing_context(self) -> BaseContext | None:
        """How workers are started: a context of `multiprocessing`; it may be set by the name of a start method."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, given: BaseContext | str | None) -> None:
        if given is not None and self.num_workers <= 0:
            raise ValueError(
                f"multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                f"num_workers={self.num_workers}"
            )
        context: Any = given
        if isinstance(given, str):
            methods = multiprocessing.get_all_start_methods()
            if given not in methods:
                raise ValueError(
                    f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                    f"multiprocessing_context={given!r}"
                )
            context = multiprocessing.get_context(given)
        if context is not None and not isinstance(context, BaseContext):
            raise TypeError(
                f"multiprocessing_context option should be a valid context object or a string specifying the start "
                f"method, but got multiprocessing_context={given}"
            )
        self.__multiprocessing_context: BaseContext | None = context

    def __setattr__(self, attr: str, val: Any) -> None:
        if self.__initialized and attr in FIXED:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    def __iter__(self) -> _BaseDataLoaderIter:
        if not self.persistent_workers:
            return self._get_iterator()
        if self._iterator is None or not self._iterator._is_open:
            made: Any = self._get_iterator()
            self._iterator = made
        else:
            self._iterator._reset(self)
        assert self._iterator is not None, "it has just been made"
        return self._iterator

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    @property
    def _auto_collation(self) -> bool:
        """Whether samples are collated to batches."""
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """What yields the indices of a batch, or the index of a sample."""
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self) -> int:
        """How many batches a pass has; for an iterable dataset, the number that its length suggests."""
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else ceil(length / self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn if there will be more workers than processors that this process may use."""
        if not self.num_workers:
            return
        checked = hasattr(os, "sched_getaffinity")
        processors = len(os.sched_getaffinity(0)) if checked else os.cpu_count()
        if processors is not None and self.num_workers <= processors:
            return
        suggested = "DataLoader is not able to compute a suggested max number of worker in current system."
        if processors is not None:
            suggested = (
                f"Our suggested max number of worker in current system is {processors}"
                f"{'' if checked else ' (`cpuset` is not taken into account)'}, which is smaller than what this "
                f"DataLoader is going to create."
            )
        warnings.warn(
            f"This DataLoader will create {self.num_workers} worker processes in total. {suggested} Please be aware "
            f"that excessive worker creation might get DataLoader running slow or even freeze, lower the worker number "
            f"to avoid potential slowness/freeze if necessary.",
            stacklevel=3,
        )


def _default_sampler(dataset: Any, iterable: bool, shuffle: bool, generator: Generator | None) -> Sampler[Any]:
    if iterable:
        return _InfiniteConstantSampler()
    return RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)


# Options that clash ---------------------------------------------------------------------------------------------------


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent: bool) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_of_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    """An iterable dataset has an order of its own."""
    given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
            )


def _check_batches(batch_size: Any, shuffle: bool, sampler: Any, batch_sampler: Any, drop_last: bool) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
