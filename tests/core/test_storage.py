"""Does a storage hold, share, copy and resize its bytes as PyTorch's does?"""

from __future__ import annotations

import copy
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glasstorch.core.device import CPU, META
from glasstorch.core.dtype import complex64, int16
from glasstorch.core.errors import NoDataError, StorageError
from glasstorch.core.storage import Storage, UntypedStorage


def of(*values: int) -> UntypedStorage:
    """A storage of these bytes that nobody else knows."""
    return UntypedStorage(list(values))


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


def test_memory_in_use_elsewhere_is_not_resized() -> None:
    storage = Storage.over(np.zeros(2))
    assert not storage.resizable()
    with pytest.raises(StorageError, match="not resizable: asked for 32 bytes, it has 16 and its memory may be in use"):
        storage.resize_(32)
    assert storage.resize_(16) is storage


def test_a_size_is_not_negative() -> None:
    with pytest.raises(StorageError, match="cannot have -1 bytes"):
        UntypedStorage(-1)
    with pytest.raises(StorageError, match="invalid size -1"):
        of(1).resize_(-1)


def test_a_meta_storage_has_a_size_and_no_bytes() -> None:
    storage = Storage.allocate(1 << 60, META)
    assert (storage.nbytes(), storage.data_ptr(), storage.device) == (1 << 60, 0, META)
    assert storage.resize_(8).nbytes() == 8
    with pytest.raises(NoDataError, match="tolist: cannot read a storage on meta"):
        storage.tolist()
    with pytest.raises(NoDataError, match="cannot be written byte by byte"):
        storage[0] = 1
    assert storage.fill_(1) is storage
    assert storage.lazy_clone().nbytes() == 8


def test_a_storage_without_bytes_has_no_address() -> None:
    assert Storage.allocate(0).data_ptr() == 0


# What torch.UntypedStorage is, in both libraries -----------------------------------------------------------------


def test_a_storage_is_made_of_a_size_or_of_bytes(torch: Any) -> None:
    assert torch.UntypedStorage().nbytes() == 0
    assert torch.UntypedStorage(3).nbytes() == 3
    assert torch.UntypedStorage([1, 2, 255]).tolist() == [1, 2, 255]
    assert torch.UntypedStorage(3, device="meta").device == torch.device("meta")
    with pytest.raises(RuntimeError, match=r"from a sequence \(str\), but one of the items was of type str"):
        torch.UntypedStorage("a")


def test_a_tensors_storage_is_an_untyped_one(torch: Any) -> None:
    storage = torch.zeros(3).untyped_storage()
    assert type(storage) is torch.UntypedStorage
    assert storage.untyped() is storage
    assert (storage.element_size(), storage.is_cuda, storage.is_sparse, storage.get_device()) == (1, False, False, None)
    assert storage.type() == "torch.storage.UntypedStorage"


def test_a_storage_prints_its_bytes(torch: Any) -> None:
    about = "[torch.storage.UntypedStorage(device={}) of size 2]"
    assert repr(torch.UntypedStorage([1, 20])) == " 1\n 20\n" + about.format("cpu")
    assert repr(torch.UntypedStorage(2, device="meta")) == "...\n" + about.format("meta")


def test_a_storage_is_a_sequence_of_bytes(torch: Any) -> None:
    x = torch.tensor([1, 2], dtype=torch.int32)
    storage = x.untyped_storage()
    assert (storage[0], storage[-4], list(storage)[:5], 2 in storage) == (1, 2, [1, 0, 0, 0, 2], True)
    storage[4] = 7
    storage[0:2] = 3
    assert x.tolist() == [0x303, 7]
    part = storage[4:8]
    part.fill_(1)
    assert x.tolist() == [0x303, 0x1010101]
    assert part.data_ptr() == storage.data_ptr() + 4
    with pytest.raises(IndexError, match="index 8 out of range for storage of size 8"):
        storage[8]
    with pytest.raises(TypeError, match="can't index a"):
        storage["a"]
    with pytest.raises(RuntimeError, match="with a step of 2, but only a step of 1 is supported"):
        storage[0:4:2]


def test_bytes_are_filled_copied_and_swapped(torch: Any) -> None:
    storage = torch.UntypedStorage([1, 2, 3, 4])
    storage.byteswap(torch.int16)
    assert storage.tolist() == [2, 1, 4, 3]
    assert torch.UntypedStorage(4).copy_(storage).tolist() == [2, 1, 4, 3]
    assert storage.fill_(9).tolist() == [9] * 4
    assert storage.new().nbytes() == 0


def test_a_copy_of_a_storage_is_another(torch: Any) -> None:
    storage = torch.UntypedStorage([1, 2])
    for other in (storage.clone(), copy.copy(storage), copy.deepcopy(storage)):
        assert other.tolist() == [1, 2]
        assert other.data_ptr() != storage.data_ptr()
        assert other.resizable()
    first, second = copy.deepcopy([storage, storage])
    assert first is second


def test_a_storage_moves_between_devices(torch: Any) -> None:
    storage = torch.UntypedStorage([1, 2])
    assert storage.cpu() is storage
    assert storage.to(device="cpu") is storage


def test_parts_of_a_complex_number_are_swapped_apart() -> None:
    storage = of(*range(8))
    storage.byteswap(complex64)
    assert storage.tolist() == [3, 2, 1, 0, 7, 6, 5, 4]
    with pytest.raises(StorageError, match=r"multiple of 2, the size of an element of torch\.int16, but got 3"):
        of(1, 2, 3).byteswap(int16)


@pytest.mark.parametrize(("mine", "others"), [((1, 2, 3), (7,)), ((1,), (7, 8))])
def test_bytes_are_copied_from_a_storage_of_the_same_size(torch: Any, mine: Any, others: Any) -> None:
    storage = torch.UntypedStorage(list(mine))
    words = f"size does not match, self was {len(mine)} bytes but src was {len(others)} bytes"
    with pytest.raises(RuntimeError, match=words):
        storage.copy_(torch.UntypedStorage(list(others)))
    assert storage.tolist() == list(mine)


def test_of_an_int_the_lowest_eight_bits_are_kept(torch: Any) -> None:
    storage = torch.UntypedStorage([300, -1, 3, 4])
    assert storage.tolist() == [44, 255, 3, 4]
    storage[2] = -2
    storage[3:] = 257
    assert storage.tolist() == [44, 255, 254, 1]
    assert storage.fill_(-256 + 9).tolist() == [9] * 4
    assert torch.UntypedStorage(np.int64(3)).nbytes() == 3


@pytest.mark.parametrize("size", [True, 1.5, None])
def test_what_is_no_size_is_no_size_of_a_storage(torch: Any, size: Any) -> None:
    with pytest.raises(RuntimeError, match=f"Expected a sequence type, but got {type(size).__name__}"):
        torch.UntypedStorage(size)


@pytest.mark.parametrize("value", [1.5, "a", None])
def test_what_is_no_int_is_no_byte(torch: Any, value: Any) -> None:
    storage = torch.UntypedStorage([1, 2])
    with pytest.raises(RuntimeError, match="can only set storage content with"):
        storage[0] = value
    with pytest.raises(RuntimeError, match="can only set storage content with"):
        storage[0:1] = torch.UntypedStorage([7])
    with pytest.raises(RuntimeError, match="fill_"):
        storage.fill_(value)
    assert storage.tolist() == [1, 2]


def test_a_pickled_storage_is_another_on_the_same_device() -> None:
    first, second, third = pickle.loads(pickle.dumps([storage := of(1, 2), storage, of(1, 2)]))
    assert first is second is not third
    assert (first.tolist(), first.resizable()) == ([1, 2], True)
    first[0] = 3
    assert storage[0] == 1
    again = pickle.loads(pickle.dumps(UntypedStorage(1 << 50, device="meta")))
    assert (again.device, again.nbytes()) == (META, 1 << 50)


# Lazy copies -----------------------------------------------------------------------------------------------------


def test_a_lazy_clone_shares_the_bytes_until_a_write() -> None:
    first = of(1, 2, 3)
    second = first.lazy_clone()
    assert first.address() == second.address()
    assert first.lazy is second.lazy is not None
    second[0] = 9
    assert (first.tolist(), second.tolist()) == ([1, 2, 3], [9, 2, 3])
    assert second.lazy is None
    assert first.lazy is not None


@pytest.mark.parametrize("write", ["fill_", "copy_", "byteswap", "data_ptr", "slice", "resize_"])
def test_whatever_may_write_ends_the_sharing(write: str) -> None:
    first = of(1, 2, 3, 4)
    second = first.lazy_clone()
    match write:
        case "fill_":
            second.fill_(0)
        case "copy_":
            second.copy_(of(5, 5, 5, 5))
        case "byteswap":
            second.byteswap(int16)
        case "data_ptr":
            assert second.data_ptr() != first.address()
        case "slice":
            second[1:3].fill_(8)
        case "resize_":
            second.resize_(8)[0] = 7
    assert first.tolist() == [1, 2, 3, 4]
    assert second.lazy is None


def test_the_last_that_shares_gets_the_bytes_without_a_copy() -> None:
    first = of(1, 2)
    address, second = first.address(), first.lazy_clone()
    third = second.lazy_clone()
    del second, third
    assert first.data_ptr() == address
    first[0] = 5
    assert first.tolist() == [5, 2]


def test_who_has_a_copy_of_its_own_shares_no_more() -> None:
    first = of(1, 2)
    address, second = first.address(), first.lazy_clone()
    assert second.data_ptr() != address
    assert first.data_ptr() == address
    assert second.tolist() == [1, 2]


@pytest.mark.parametrize("replace", ["resize_", "share_memory_"])
def test_a_storage_with_other_memory_shares_no_more(replace: str) -> None:
    first = of(1, 2, 3)
    address = first.address()
    second = first.lazy_clone()
    if replace == "resize_":
        second.resize_(5)
    else:
        second.share_memory_()
    first[0] = 9
    assert first.address() == address, "nobody else has the bytes, which need no copy"
    del first
    second[second.nbytes() - 1] = 8
    assert second.tolist()[:2] + second.tolist()[-1:] == [1, 2, 8]


def test_a_storage_that_a_stranger_writes_to_is_cloned_at_once() -> None:
    first = of(1, 2)
    second = first.lazy_clone()
    first.clone_at_once()
    third = first.lazy_clone()
    assert (first.lazy, third.lazy) == (None, None)
    first[0] = 9
    assert (first.tolist(), second.tolist(), third.tolist()) == ([9, 2], [1, 2], [1, 2])


def test_a_storage_that_dies_leaves_the_bytes_to_the_others() -> None:
    first = of(1, 2)
    second = first.lazy_clone()
    address = first.address()
    del first
    assert second.tolist() == [1, 2]
    assert second.data_ptr() == address


def test_numpy_cannot_write_to_what_is_shared_lazily() -> None:
    first = of(1, 2)
    second = first.lazy_clone()
    for storage in (first, second):
        assert storage.buffer is not None
        with pytest.raises(ValueError, match="read-only"):
            storage.buffer[0] = 9
    first.materialize()
    assert first.buffer is not None
    first.buffer[0] = 9
    assert second.tolist() == [1, 2]


def test_memory_that_somebody_was_shown_is_copied_at_once() -> None:
    array = np.zeros(2, np.uint8)
    copied = UntypedStorage.over(array).lazy_clone()
    array[0] = 1
    assert copied.lazy is None
    assert copied.tolist() == [0, 0]


def test_making_lazy_and_writing_are_seen_by_the_generation() -> None:
    first = of(1, 2)
    second = first.lazy_clone()
    assert first.generation == 1
    first.materialize()
    assert first.generation == 2
    first.materialize()
    assert (first.generation, second.generation) == (2, 0)


def test_threads_may_clone_and_write_at_once() -> None:
    source = UntypedStorage.over(np.zeros(1 << 12, np.uint8), resizable=True)
    wrong: list[int] = []

    def work(mark: int) -> None:
        for _ in range(200):
            mine = source.lazy_clone()
            mine.fill_(mark)
            if set(mine.tolist()[::512]) != {mark}:
                wrong.append(mark)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert not any(source.tolist())


# Memory that others see ------------------------------------------------------------------------------------------


def test_sharing_moves_the_bytes_and_fixes_the_size(torch: Any) -> None:
    x = torch.arange(3, dtype=torch.uint8)
    view = x[1:]
    storage = x.untyped_storage()
    assert not storage.is_shared()
    assert storage.share_memory_() is storage
    assert storage.share_memory_().is_shared()
    view += 1
    assert (x.tolist(), x.is_shared(), storage.filename) == ([0, 2, 3], True, None)


def test_shared_memory_is_not_resized() -> None:
    storage = of(1).share_memory_()
    assert not storage.resizable()
    with pytest.raises(StorageError, match=r"in use elsewhere \(by another process\)"):
        storage.resize_(2)
    assert storage.lazy_clone().shared is None
    assert not UntypedStorage(2, device="meta").share_memory_().is_shared()


def test_a_file_is_the_memory_of_a_storage(tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(b"\x01\x02\x03\x04")
    private = UntypedStorage.from_file(str(path), False, 2)
    private[0] = 9
    assert (private.tolist(), path.read_bytes()) == ([9, 2], b"\x01\x02\x03\x04")
    shared = UntypedStorage.from_file(str(path), True, 6)
    shared[5] = 7
    assert path.read_bytes() == b"\x01\x02\x03\x04\x00\x07"
    assert shared.filename == str(path)


@pytest.mark.parametrize("shared", [False, True])
def test_a_storage_names_the_file_that_its_writes_reach(torch: Any, tmp_path: Path, shared: bool) -> None:
    path = str(tmp_path / "bytes")
    Path(path).write_bytes(b"abcd")
    assert torch.UntypedStorage.from_file(path, shared, 4).filename == (path if shared else None)


def test_pinning_needs_an_accelerator() -> None:
    storage = of(1)
    assert not storage.is_pinned()
    with pytest.raises(TypeError, match="only CPU memory can be pinned"):
        UntypedStorage(1, device="meta").pin_memory()
