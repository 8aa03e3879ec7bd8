"""Does glasstorch.cuda answer a program's questions about devices as torch.cuda does?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

import glasstorch as torch
from glasstorch.devices import runtime

OURS = {"use_simulator"}  # what torch has no need of


@pytest.fixture(autouse=True)
def two_devices() -> Iterator[None]:
    torch.cuda.use_simulator(devices=2, memory=1 << 26)
    yield
    runtime.use_driver(None)


def test_every_name_is_one_of_torch(require: Callable[[str], ModuleType]) -> None:
    theirs = require("torch").cuda
    assert [name for name in torch.cuda.__all__ if not hasattr(theirs, name)] == sorted(OURS)


def test_a_name_that_is_missing_says_where_the_list_is() -> None:
    with pytest.raises(AttributeError, match=r"PyTorch 2.13 has torch\.cuda\.CUDAGraph, glasstorch does not; .*--list"):
        torch.cuda.CUDAGraph  # noqa: B018


def test_there_are_as_many_devices_as_were_asked_for() -> None:
    assert torch.cuda.is_available()
    assert torch.cuda.is_initialized()
    assert torch.cuda.device_count() == 2


def test_the_current_device_may_be_set_in_each_way() -> None:
    for device, index in ((1, 1), ("cuda:0", 0), (torch.device("cuda:1"), 1), (-1, 1)):
        torch.cuda.set_device(device)
        assert torch.cuda.current_device() == index


def test_what_a_device_is() -> None:
    properties = torch.cuda.get_device_properties("cuda:1")
    assert properties.total_memory == 1 << 26
    assert properties.warp_size == 32
    assert torch.cuda.get_device_name() == properties.name
    assert torch.cuda.get_device_capability() == (properties.major, properties.minor) == (9, 0)


def test_a_device_reaches_the_memory_of_another() -> None:
    assert torch.cuda.can_device_access_peer(0, 1)
    assert not torch.cuda.can_device_access_peer(0, 0)


def test_errors_are_offered_where_torch_has_them() -> None:
    with pytest.raises(torch.cuda.OutOfMemoryError, match=r"CUDA out of memory\. Tried to allocate"):
        torch.empty(1 << 27, device="cuda")
    with pytest.raises(torch.cuda.AcceleratorError):
        torch.cuda.set_device(2)
