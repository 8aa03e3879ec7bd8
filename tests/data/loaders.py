"""What tests of loaders share: datasets for either library, and what a loader yields as plain Python values."""

from __future__ import annotations

import importlib
import random
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

# How many processors there are, and whether a thread runs, is no matter of these tests.
QUIET = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


def data_of(torch: Any) -> Any:
    """`torch.utils.data` of either library."""
    return importlib.import_module(f"{torch.__name__}.utils.data")


def plain(value: Any) -> Any:
    """A batch as Python's own values, with the types of its parts."""
    if hasattr(value, "tolist"):
        return type(value).__name__, str(value.dtype).replace("glasstorch", "torch"), value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value).__name__, [plain(item) for item in value]
    if isinstance(value, list | tuple | deque):
        return type(value).__name__, [plain(item) for item in value]
    return value


def numbered(torch: Any, count: int = 20) -> Any:
    """A TensorDataset whose samples can be told apart."""
    return data_of(torch).TensorDataset(torch.arange(2.0 * count).view(count, 2), torch.arange(count))


def drawing(torch: Any, count: int = 12) -> Any:
    """A dataset that draws from the three generators which a worker seeds."""

    class Drawing(data_of(torch).Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return count

        def __getitem__(self, index: int) -> Any:
            return index, torch.rand(2), random.random(), np.random.rand()  # noqa: NPY002  # a worker seeds this one

    return Drawing()


def stream(torch: Any, count: int = 20, sharded: bool = True, length: int | None = None) -> Any:
    """An iterable dataset; each worker takes its share of it, or all of it."""
    data = data_of(torch)

    class Stream(data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[int]:
            info = data.get_worker_info()
            if info is None or not sharded:
                return iter(range(count))
            return iter(range(info.id, count, info.num_workers))

    class Sized(Stream):
        def __len__(self) -> int:
            assert length is not None
            return length

        def __repr__(self) -> str:
            return "Sized()"

    return Stream() if length is None else Sized()
