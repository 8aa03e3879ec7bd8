"""Do other libraries read CUDA memory where it is, and we theirs?"""

from __future__ import annotations

import re
from typing import Any

import pytest

import glasstorch
from glasstorch.core.dtype import DTYPES
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.outside_data import dlpack
from glasstorch.outside_data.foreign_memory import over_cuda_interface
from tests.devices.devices import Devices


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_capsule_holds_the_memory_on_the_device(cuda: Devices, dtype: Dtype) -> None:
    x = glasstorch.zeros(2, 3, dtype=dtype, device=cuda.device).t()
    assert x.__dlpack_device__() == (2, 0)
    held = dlpack.consume(x.__dlpack__(max_version=(1, 0)))
    assert (held.memory.address, held.dtype, held.shape, held.strides) == (x.data_ptr(), dtype, (3, 2), (1, 3))
    assert held.on == cuda.device


def test_a_tensor_is_taken_over_on_its_device_and_keeps_the_memory(cuda: Devices) -> None:
    before = glasstorch.cuda.memory_allocated()
    x = glasstorch.arange(6.0, device=cuda.device).view(2, 3)
    y = glasstorch.from_dlpack(x.t())
    assert (y.device, y.stride(), y.data_ptr()) == (cuda.device, (1, 3), x.data_ptr())
    y += 1
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    del x
    assert glasstorch.cuda.memory_allocated() > before
    assert y.tolist() == [[1, 4], [2, 5], [3, 6]]
    del y
    assert glasstorch.cuda.memory_allocated() == before


def test_the_memory_is_no_longer_resized(cuda: Devices) -> None:
    x = glasstorch.zeros(3, device=cuda.device)
    x.__dlpack__()
    assert not x.untyped_storage().resizable()
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        x.resize_(9)


def test_memory_can_be_asked_for_elsewhere(cuda: Devices) -> None:
    x = glasstorch.arange(3.0, device=cuda.device)
    held = dlpack.consume(x.__dlpack__(max_version=(1, 0), dl_device=(1, 0)))
    assert (held.on.type, held.copied) == ("cpu", True)
    here = glasstorch.from_dlpack(x, device="cpu")
    assert (here.device.type, here.tolist()) == ("cpu", [0, 1, 2])
    assert glasstorch.from_dlpack(here, device=cuda.device).device == cuda.device
    with pytest.raises(ValueError, match="without copying"):
        glasstorch.from_dlpack(x, device="cpu", copy=False)
    with pytest.raises(ValueError, match=re.escape("cannot move (i.e. copy=False) tensor from cuda:0 to cpu")):
        x.__dlpack__(dl_device=(1, 0), copy=False)


def test_the_consumers_stream_waits_for_ours(cuda: Devices) -> None:
    side = glasstorch.cuda.Stream(device=cuda.device)
    consumer = glasstorch.cuda.Stream(device=cuda.device)
    for _ in range(5):
        with glasstorch.cuda.stream(side):
            x = glasstorch.zeros(1000, device=cuda.device)
            for _ in range(4):
                x += 1
            capsule = x.__dlpack__(stream=consumer.cuda_stream)
        with glasstorch.cuda.stream(consumer):
            y = glasstorch.from_dlpack(capsule) * 2
        consumer.synchronize()
        assert y.tolist() == [8] * 1000
        side.synchronize()


def test_a_stream_that_means_two_things_is_refused(cuda: Devices) -> None:
    x = glasstorch.zeros(1, device=cuda.device)
    with pytest.raises(BufferError, match="per-thread default stream is not supported"):
        x.__dlpack__(stream=2)
    with pytest.raises(AssertionError, match="unsupported stream on CUDA: 0"):
        x.__dlpack__(stream=0)
    for stream in (None, 1, -1):
        assert dlpack.is_capsule(x.__dlpack__(stream=stream))


def test_the_array_interface_says_where_the_elements_lie(cuda: Devices) -> None:
    x = glasstorch.zeros(2, 3, dtype=glasstorch.float16, device=cuda.device)
    told = x.__cuda_array_interface__
    assert told == {"typestr": "<f2", "shape": (2, 3), "strides": None, "data": (x.data_ptr(), False), "version": 2}
    assert x.t().__cuda_array_interface__["strides"] == (2, 6)
    assert x[:0].__cuda_array_interface__["data"] == (0, False)
    assert x.to(glasstorch.bfloat16).__cuda_array_interface__["typestr"] == "<V2"
    with pytest.raises(RuntimeError, match="on Variable that requires grad"):
        _ = glasstorch.ones(1, device=cuda.device, requires_grad=True).__cuda_array_interface__


class Foreign:
    """An array of another library."""

    def __init__(self, tensor: Any, **changed: Any) -> None:
        self.tensor = tensor
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__ | changed


def test_an_array_of_another_library_is_seen_where_it_is(cuda: Devices) -> None:
    x = glasstorch.arange(6.0, device=cuda.device).view(2, 3)
    y = over_cuda_interface(Foreign(x.t()))
    assert (y.data_ptr(), y.stride(), y.device) == (x.data_ptr(), (1, 3), cuda.device)
    y *= 2
    assert x.tolist() == [[0, 2, 4], [6, 8, 10]]
    del x
    assert y.tolist() == [[0, 6], [2, 8], [4, 10]]
    assert over_cuda_interface(Foreign(y.contiguous())).tolist() == y.tolist()
    with pytest.raises(RuntimeError, match="strides not a multiple of the element byte size"):
        over_cuda_interface(Foreign(y, strides=(3, 4)))


def test_a_lazy_clone_is_copied_on_the_device(cuda: Devices) -> None:
    x = glasstorch.zeros(4, device=cuda.device)
    y = x._lazy_clone()
    assert x.untyped_storage().address() == y.untyped_storage().address()
    y += 1
    assert (x.tolist(), y.tolist()) == ([0] * 4, [1] * 4)
    assert x.is_shared()


def test_a_cuda_tensor_is_not_sent_to_another_process(cuda: Devices) -> None:
    with pytest.raises(RuntimeError, match="cannot send a tensor on cuda:0 to another process"):
        glasstorch.multiprocessing.reductions.reduce_tensor(glasstorch.ones(1, device=cuda.device))
    with pytest.raises(RuntimeError, match="cannot send a storage on cuda:0 to another process"):
        glasstorch.multiprocessing.reductions.reduce_storage(glasstorch.ones(1, device=cuda.device).untyped_storage())


def test_pinned_memory_says_so(cuda: Devices) -> None:
    x = glasstorch.ones(3).pin_memory()
    assert x.__dlpack_device__() == (3, 0)
    assert x.untyped_storage().is_pinned()
    with pytest.warns(DeprecationWarning, match=r"argument 'device' of Tensor.is_pinned\(\) is deprecated"):
        assert x.is_pinned("cuda")
    with pytest.warns(DeprecationWarning, match=r"argument 'device' of Tensor.pin_memory\(\) is deprecated"):
        assert x.pin_memory("cuda") is x
    assert glasstorch.from_dlpack(x).data_ptr() == x.data_ptr()
    storage = glasstorch.UntypedStorage([1, 2]).pin_memory()
    assert (storage.is_pinned(), storage.tolist(), storage.pin_memory() is storage) == (True, [1, 2], True)


def test_storages_and_typed_ones_move(cuda: Devices) -> None:
    storage = glasstorch.UntypedStorage([1, 2]).cuda()
    assert (storage.device, storage[1], storage.tolist(), storage.cuda() is storage) == (cuda.device, 2, [1, 2], True)
    typed = glasstorch.ones(2, device=cuda.device)._typed_storage()
    typed[0] = 5
    assert (typed.tolist(), typed.double().device, typed.type()) == ([5, 1], cuda.device, "torch.cuda.FloatStorage")
    assert glasstorch.UntypedStorage([3, 4], device=cuda.device).tolist() == [3, 4]
    with pytest.raises(NotImplementedError, match="cannot be written byte by byte"):
        storage[0] = 1
    with pytest.raises(RuntimeError, match="must be cuda device; got cpu"):
        storage.cuda("cpu")
