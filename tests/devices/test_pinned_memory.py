"""Is pinned memory given out again only when no copy uses it any more?"""

from __future__ import annotations

import glasstorch
from glasstorch.devices import pinned_memory
from tests.devices.devices import Devices


def test_a_pinned_tensor_is_a_cpu_tensor_with_the_same_elements(cuda: Devices) -> None:
    x = glasstorch.arange(6).view(2, 3).t()
    pinned = x.pin_memory()
    assert (pinned.is_pinned(), x.is_pinned(), pinned.device.type) == (True, False, "cpu")
    assert (pinned.tolist(), pinned.stride()) == (x.tolist(), x.stride())
    assert pinned.pin_memory() is pinned
    assert pinned[1:].is_pinned()
    assert not glasstorch.zeros(2, device=cuda.device).is_pinned()


def test_factories_pin_when_asked(cuda: Devices) -> None:
    for made in (
        glasstorch.empty(3, pin_memory=True),
        glasstorch.zeros(2, 2, pin_memory=True),
        glasstorch.arange(3, pin_memory=True),
        glasstorch.randperm(3, pin_memory=True),
        glasstorch.empty_strided((2, 2), (1, 2), pin_memory=True),
        glasstorch.tensor([1.0, 2.0], pin_memory=True),
        glasstorch.rand(3, pin_memory=True),
    ):
        assert made.is_pinned()
    assert not glasstorch.empty(3).is_pinned()


def test_memory_that_nobody_holds_is_given_out_again(cuda: Devices) -> None:
    first = glasstorch.zeros(1000).pin_memory()
    address = first.data_ptr()
    view = first.numpy()
    del first
    assert glasstorch.empty(1000, pin_memory=True).data_ptr() != address, "an array over it is alive"
    del view
    assert glasstorch.empty(900, pin_memory=True).data_ptr() == address


def test_memory_waits_for_a_copy_that_does_not_block(cuda: Devices) -> None:
    side = glasstorch.cuda.Stream(device=cuda.device)
    pinned = glasstorch.full((5000,), 3.0).pin_memory()
    address = pinned.data_ptr()
    with glasstorch.cuda.stream(side):
        there = pinned.to(cuda.device, non_blocking=True)
    waits = not side.query()
    del pinned
    other = glasstorch.empty(5000, pin_memory=True).fill_(9)
    assert not waits or other.data_ptr() != address
    side.synchronize()
    assert there.tolist() == [3.0] * 5000
    assert not cuda.driver.simulated or waits, "the simulator copies only when somebody waits"
    del other


def test_an_address_is_found_in_the_piece_that_it_lies_in(cuda: Devices) -> None:
    allocator = pinned_memory.PinnedAllocator(cuda.driver)
    memory = allocator.allocate(700)
    start = memory.ctypes.data
    for address, inside in ((start - 1, False), (start, True), (start + 1023, True), (start + 1024, False)):
        assert (allocator.find(address) is not None) == inside
    assert pinned_memory.is_pinned(start) is False  # of another allocator
