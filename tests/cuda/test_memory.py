"""Does glasstorch.cuda answer about memory as torch.cuda does?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

import glasstorch
from glasstorch import cuda
from glasstorch.devices import runtime
from glasstorch.devices.allocator import allocate
from glasstorch.devices.blocks import MIB
from glasstorch.devices.driver_sim import SimDriver


@pytest.fixture
def two_devices() -> Iterator[SimDriver]:
    """Two simulated devices with 64 MiB each."""
    driver = SimDriver(devices=2, memory=64 * MIB)
    runtime.use_driver(driver)
    yield driver
    runtime.use_driver(None)


@pytest.mark.usefixtures("two_devices")
def test_memory_is_told_by_device() -> None:
    held = [allocate(1000, 0, 0), allocate(3 * MIB, 1, 0)]
    assert [cuda.memory_allocated(), cuda.memory_allocated(1)] == [1024, 3 * MIB]
    assert [cuda.memory_reserved("cuda"), cuda.memory_reserved("cuda:1")] == [2 * MIB, 20 * MIB]
    assert cuda.mem_get_info() == (62 * MIB, 64 * MIB)
    assert cuda.mem_get_info(glasstorch.device("cuda:1")) == (44 * MIB, 64 * MIB)
    held.clear()
    assert [cuda.memory_allocated(0), cuda.max_memory_allocated(0)] == [0, 1024]
    cuda.empty_cache()
    assert [cuda.memory_reserved(device) for device in range(2)] == [0, 0]
    assert [cuda.max_memory_reserved(device) for device in range(2)] == [2 * MIB, 20 * MIB]
    cuda.reset_peak_memory_stats()
    assert [cuda.max_memory_reserved(device) for device in range(2)] == [0, 20 * MIB]
    cuda.reset_accumulated_memory_stats(1)
    assert cuda.memory_stats(1)["segment.all.freed"] == 0
    assert cuda.memory_stats(0)["segment.all.freed"] == 1


@pytest.mark.usefixtures("two_devices")
def test_the_counts_have_the_names_that_torch_documents(require: Callable[[str], ModuleType]) -> None:
    text = require("torch").cuda.memory_stats.__doc__
    flat, nested = cuda.memory_stats(), cuda.memory_stats_as_nested_dict()
    assert list(flat) == sorted(flat)
    assert flat["reserved_bytes.small_pool.peak"] == nested["reserved_bytes"]["small_pool"]["peak"] == 0
    for name in nested:
        # `allocation` is what PyTorch's code and summary say; its text says `allocated`.
        assert f'``"{"allocated" if name == "allocation" else name}' in text
    documented = {line.split('"')[1].split(".")[0] for line in text.splitlines() if line.strip().startswith('- ``"')}
    left_out = {"max_split_size", "oversize_allocations", "oversize_segments", "num_oom_rejections"}
    assert documented - left_out - {"allocated", "reserved_bytes_by_private_pools"} == set(nested) - {"allocation"}


def test_where_cuda_was_not_used_nothing_is_counted() -> None:
    runtime.use_driver(None)
    assert not cuda.is_initialized()
    assert cuda.memory_stats() == {}
    assert [cuda.memory_allocated(), cuda.max_memory_allocated(), cuda.memory_reserved()] == [0, 0, 0]
    assert cuda.max_memory_reserved() == 0
    cuda.empty_cache()
    assert not cuda.is_initialized()


@pytest.mark.usefixtures("two_devices")
def test_the_summary_says_that_the_device_is_simulated() -> None:
    head = cuda.memory_summary(1).splitlines()[1]
    assert head.strip("| ") == "glasstorch CUDA memory summary, device ID 1: simulated CUDA device (CPU)"
    assert "from large pool" in cuda.memory_summary()
    assert "from large pool" not in cuda.memory_summary(abbreviated=True)


@pytest.mark.usefixtures("two_devices")
def test_the_snapshot_tells_the_segments() -> None:
    held = allocate(1000, 1, 0)
    (segment,) = cuda.memory_snapshot()
    assert (segment["device"], segment["blocks"][0]["address"]) == (1, held.address)


def test_the_errors_have_torchs_two_places(require: Callable[[str], ModuleType]) -> None:
    for name in ("OutOfMemoryError", "AcceleratorError"):
        assert getattr(glasstorch, name) is getattr(cuda, name)
        torch = require("torch")
        assert getattr(torch, name) is getattr(torch.cuda, name)
        assert getattr(torch, name).__bases__ == getattr(glasstorch, name).__bases__ == (RuntimeError,)


@pytest.mark.usefixtures("two_devices")
def test_a_part_of_the_memory_can_be_forbidden() -> None:
    assert cuda.get_per_process_memory_fraction() == 1.0
    cuda.set_per_process_memory_fraction(0.25, 1)
    assert [cuda.get_per_process_memory_fraction(device) for device in range(2)] == [1.0, 0.25]
    with pytest.raises(cuda.OutOfMemoryError, match=r"64.00 MiB is free. 16.00 MiB allowed; "):
        allocate(3 * MIB, 1, 0)
    assert allocate(3 * MIB, 0, 0).address


@pytest.mark.usefixtures("two_devices")
def test_a_fraction_that_is_none_is_refused_in_torchs_words() -> None:
    for fraction, kind in ((1, TypeError), (1.5, ValueError), (-0.5, ValueError)):
        with pytest.raises(kind) as caught:
            cuda.set_per_process_memory_fraction(fraction)
        assert str(caught.value) in (
            "Invalid type for fraction argument, must be `float`",
            f"Invalid fraction value: {fraction}. Allowed range: 0~1",
        )


@pytest.mark.usefixtures("two_devices")
def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(cuda.AcceleratorError, match=r"cuda:7 was asked for; there are cuda:0 to cuda:1"):
        cuda.memory_allocated(7)
