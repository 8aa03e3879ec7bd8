"""Does a storage on a CUDA device hold bytes as one in main memory does?"""

from __future__ import annotations

import gc

import pytest

import glasstorch
from glasstorch.core.errors import ArgumentTypeError, StorageError
from glasstorch.core.storage import Storage
from tests.devices.devices import Devices


def test_a_storage_is_read_copied_and_resized(cuda: Devices) -> None:
    x = glasstorch.tensor([1, 2, 3], dtype=glasstorch.uint8, device=cuda.device)
    storage = x.untyped_storage()
    assert (storage.nbytes(), storage.device, storage.tolist()) == (3, cuda.device, [1, 2, 3])
    assert storage.data_ptr() == x.data_ptr() != 0
    assert storage.buffer is storage.memory is None
    twin = storage.clone()
    assert (twin.tolist(), twin.device, twin.data_ptr() != storage.data_ptr()) == ([1, 2, 3], cuda.device, True)
    assert storage.cpu().device.type == "cpu"
    assert storage.cpu().tolist() == [1, 2, 3]
    storage.resize_(600)
    assert storage.tolist()[:3] == [1, 2, 3]
    storage.resize_(2)
    assert storage.tolist() == [1, 2]
    x.resize_(0)
    x[:0].copy_(x[:0])
    assert x.tolist() == []


def test_copying_another_number_of_bytes_is_refused(cuda: Devices) -> None:
    small, large = Storage.allocate(4, cuda.device), Storage.allocate(8)
    with pytest.raises(StorageError, match="self was 4 bytes but src was 8 bytes"):
        small.copy_(large)
    with pytest.raises(StorageError, match="self was 8 bytes but src was 4 bytes"):
        large.copy_(small)


def test_memory_goes_back_with_the_last_tensor(cuda: Devices) -> None:
    gc.collect()
    before = glasstorch.cuda.memory_allocated()
    x = glasstorch.empty(1000, device=cuda.device)
    view = x[10:]
    del x
    assert glasstorch.cuda.memory_allocated() >= before + 4000
    del view
    assert glasstorch.cuda.memory_allocated() == before


def test_memory_is_allocated_for_the_current_stream(cuda: Devices) -> None:
    side = glasstorch.cuda.Stream(device=cuda.device)
    with glasstorch.cuda.stream(side):
        x = glasstorch.empty(100, device=cuda.device)
    block = x.untyped_storage().block
    assert block is not None
    assert (block.stream, block.nbytes) == (side.cuda_stream, 400)


def test_record_stream_keeps_memory_for_the_stream_that_uses_it(cuda: Devices) -> None:
    side = glasstorch.cuda.Stream(device=cuda.device)
    x = glasstorch.full((3000,), 2.0, device=cuda.device)
    address = x.data_ptr()
    side.wait_stream(glasstorch.cuda.current_stream())
    with glasstorch.cuda.stream(side):
        doubled = x * 2
    x.record_stream(side)
    del x
    if cuda.driver.simulated:  # where the side stream has surely not run yet
        assert glasstorch.empty(3000, device=cuda.device).data_ptr() != address
    side.synchronize()
    assert glasstorch.empty(3000, device=cuda.device).data_ptr() == address or not cuda.driver.simulated
    assert doubled.sum().item() == 12000
    with pytest.raises(RuntimeError, match="record_stream: expected a CUDA tensor"):
        glasstorch.zeros(2).record_stream(side)
    with pytest.raises(ArgumentTypeError, match="record_stream: expected Stream, got 5"):
        doubled.record_stream(5)
