"""Does simulated memory begin unusable, end at a forbidden page, and go back?"""

from __future__ import annotations

import ctypes
import gc
import mmap
import subprocess
import sys

import numpy as np
import pytest

from glasstorch.core.errors import DeviceError
from glasstorch.devices.simulator import guarded_memory
from glasstorch.devices.simulator.guarded_memory import GuardedMemory


def bytes_of(memory: GuardedMemory) -> np.ndarray:
    return np.frombuffer((ctypes.c_char * memory.nbytes).from_address(memory.address), np.uint8)


@pytest.mark.parametrize("nbytes", [1, 255, 256, 4096, 4097, 100_000])
def test_memory_is_aligned_and_ends_less_than_256_bytes_before_a_page(nbytes: int) -> None:
    memory = GuardedMemory(nbytes)
    assert memory.address % 256 == 0
    assert -(memory.address + nbytes) % mmap.PAGESIZE < 256


def test_fresh_memory_is_not_a_number_in_every_width() -> None:
    memory = GuardedMemory(64)
    for dtype in ("f2", "f4", "f8"):
        assert np.isnan(bytes_of(memory).view(dtype)).all()


def test_what_is_written_can_be_tracked() -> None:
    memory = GuardedMemory(5000, track=True)
    assert memory.written
    assert not any((ctypes.c_char * 5000).from_address(memory.written).raw)
    assert GuardedMemory(5000).written == 0


@pytest.mark.parametrize("beyond", [256, -4096, 1 << 29, -(1 << 29)])
def test_a_touch_beyond_the_memory_ends_the_process(beyond: int) -> None:
    program = (
        "import ctypes\nfrom glasstorch.devices.simulator.guarded_memory import GuardedMemory\n"
        f"memory = GuardedMemory(256)\nctypes.memset(memory.address + {beyond}, 0, 1)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode < 0


def test_a_system_without_mmap_is_told_what_the_simulator_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(name: None, use_errno: bool) -> None:
        raise TypeError("no library is called None on this system")

    monkeypatch.setattr(guarded_memory.ctypes, "CDLL", no_library)
    with pytest.raises(DeviceError, match="needs mmap and mprotect: Linux, macOS or WSL on Windows"):
        guarded_memory._system.__wrapped__()


def test_the_addresses_go_back_to_the_system_with_the_object() -> None:
    memory = GuardedMemory(1 << 20)
    address = memory.address

    def is_mapped() -> bool:
        with open("/proc/self/maps", encoding="ascii") as lines:
            ranges = [[int(end, 16) for end in line.split()[0].split("-")] for line in lines]
        return any(low <= address < high for low, high in ranges)

    assert is_mapped()
    del memory
    gc.collect()
    assert not is_mapped()
