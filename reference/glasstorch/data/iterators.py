"""How does a loader go through its dataset, in one process?

Mirrors: torch/utils/data/dataloader.py (_BaseDataLoaderIter, _SingleProcessDataLoaderIter)
"""

from __future__ import annotations

import warnings
from typing import Any, NoReturn, Self

from glasstorch.core import private_use
from glasstorch.data.fetch import _DatasetKind
from glasstorch.data.pin_memory import pin_memory
from glasstorch.data.sampler import drawn_seed
from glasstorch.devices import runtime
from glasstorch.dispatch.record_block import recorded_as


class _BaseDataLoaderIter:
    """One pass through a dataset, as the options of a loader say."""

    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._persistent_workers = loader.persistent_workers
        self._pin_memory = loader.pin_memory and _can_pin(loader.pin_memory_device)
        self._sampler_iter = iter(self._index_sampler)
        # Drawn without workers too, so that the numbers that follow do not depend on how many there are.
        self._base_seed = drawn_seed(loader.generator)
        self._begin(loader)

    def _begin(self, loader: Any) -> None:
        """Count from the start of a pass."""
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def __iter__(self) -> Self:
        return self

    @recorded_as(lambda iterator: f"enumerate(DataLoader)#{type(iterator).__name__}.__next__")
    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        promised = self._IterableDataset_len_called
        if promised is not None and self._dataset_kind == _DatasetKind.Iterable and self._num_yielded > promised:
            self._warn_of_length(promised)
        return data

    def _next_data(self) -> Any:
        raise NotImplementedError

    def _warn_of_length(self, promised: int) -> None:
        message = (
            f"Length of IterableDataset {self._dataset} was reported to be {promised}(when accessing len(dataloader)), "
            f"but {self._num_yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            message += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
            )
        warnings.warn(message, stacklevel=3)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")


def _can_pin(device: str) -> bool:
    """Whether there is a device for which memory can be pinned; warns if there is none."""
    if device:
        warnings.warn(
            f"pin_memory_device is deprecated, the current accelerator will be used as the device,ignore "
            f"pin_memory_device='{device}'.",
            stacklevel=6,
        )
    own = private_use.registered.hooks
    if runtime.is_available() if own is None else own.is_available():
        return True
    warnings.warn(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.",
        stacklevel=6,
    )
    return False


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """A pass in which the process that iterates fetches the batches itself."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )

    def _next_data(self) -> Any:
        data = self._dataset_fetcher.fetch(next(self._sampler_iter))  # StopIteration of either ends the pass
        return pin_memory(data) if self._pin_memory else data
