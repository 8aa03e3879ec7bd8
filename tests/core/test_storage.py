"""Does a storage hold, share and resize its bytes as PyTorch's does?"""

from __future__ import annotations

import numpy as np
import pytest

from glasstorch.core.device import CPU, META
from glasstorch.core.errors import NoDataError, StorageError
from glasstorch.core.storage import Storage


def test_a_storage_counts_bytes() -> None:
    storage = Storage.allocate(12)
    assert storage.nbytes() == storage.size() == len(storage) == 12
    assert storage.device is CPU


def test_a_storage_over_an_array_shares_its_memory() -> None:
    array = np.arange(3, dtype=np.int32)
    storage = Storage.over(array)
    assert storage.data_ptr() == array.ctypes.data
    array[0] = 258
    assert storage.tolist()[:4] == [2, 1, 0, 0]


def test_growing_keeps_what_was_there() -> None:
    storage = Storage.over(np.arange(4, dtype=np.uint8), resizable=True)
    assert storage.resize_(6) is storage
    assert storage.tolist()[:4] == [0, 1, 2, 3]
    assert storage.nbytes() == 6
    assert storage.resize_(2).tolist() == [0, 1]


def test_resizing_changes_the_generation_and_only_resizing_does() -> None:
    storage = Storage.allocate(4)
    storage.resize_(4)
    assert storage.generation == 0
    storage.resize_(8)
    assert storage.generation == 1


def test_memory_of_somebody_else_is_not_resized() -> None:
    storage = Storage.over(np.zeros(2))
    with pytest.raises(StorageError, match="not resizable: asked for 32 bytes, it has 16 and its memory belongs"):
        storage.resize_(32)
    assert storage.resize_(16) is storage


def test_a_meta_storage_has_a_size_and_no_bytes() -> None:
    storage = Storage.allocate(1 << 60, META)
    assert (storage.nbytes(), storage.data_ptr(), storage.device) == (1 << 60, 0, META)
    assert storage.resize_(8).nbytes() == 8
    with pytest.raises(NoDataError, match="tolist: cannot read a storage on meta"):
        storage.tolist()


def test_a_storage_without_bytes_has_no_address() -> None:
    assert Storage.allocate(0).data_ptr() == 0
