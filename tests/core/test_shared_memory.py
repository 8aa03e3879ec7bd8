"""Is shared memory freed when the last user is gone, and never before?"""

from __future__ import annotations

import gc
import mmap
import os
import re
from pathlib import Path
from typing import Any

import pytest

from glasstorch.core.errors import ArgumentError
from glasstorch.core.shared_memory import SharedMemory


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def test_new_memory_is_zero_and_has_no_name() -> None:
    shared = SharedMemory.allocate(5000)
    assert (shared.memory.nbytes, shared.memory.any(), shared.filename) == (5000, False, None)
    assert SharedMemory.allocate(0).memory.nbytes == 0


def test_a_temporary_file_does_where_memory_without_a_name_is_not_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    shared = SharedMemory.allocate(6)
    shared.memory[5] = 1
    assert SharedMemory(os.dup(shared.descriptor), 6).memory.tolist() == [0, 0, 0, 0, 0, 1]
    assert os.fstat(shared.descriptor).st_nlink == 0


def test_two_maps_of_one_descriptor_are_one_memory() -> None:
    first = SharedMemory.allocate(8)
    second = SharedMemory(os.dup(first.descriptor), 8)
    first.memory[3] = 7
    assert second.memory.tolist() == [0, 0, 0, 7, 0, 0, 0, 0]
    assert first.identity == second.identity != SharedMemory.allocate(8).identity


def test_the_descriptor_closes_with_the_object_and_the_bytes_live_with_the_array() -> None:
    shared = SharedMemory.allocate(8)
    descriptor, array = shared.descriptor, shared.memory[2:]
    array[0] = 5
    assert is_open(descriptor)
    del shared
    assert not is_open(descriptor)
    assert array[0] == 5


def test_nothing_is_left_open() -> None:
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    for _ in range(50):
        SharedMemory.allocate(100).memory[0] = 1
    after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    assert after == before


def test_a_private_map_leaves_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abcd")
    private = SharedMemory.of_file(str(path), 4, shared=False)
    private.memory[0] = 0
    assert path.read_bytes() == b"abcd"
    shared = SharedMemory.of_file(str(path), 6, shared=True)
    shared.memory[0] = ord("x")
    assert path.read_bytes() == b"xbcd\0\0"


def test_a_file_that_is_too_short_is_refused_and_closed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abcd")
    with pytest.raises(
        ArgumentError, match=r"asked for 5 bytes of .*, which has 4; a file that is not shared does not grow"
    ):
        SharedMemory.of_file(str(path), 5, shared=False)
    with pytest.raises(FileNotFoundError):
        SharedMemory.of_file(str(tmp_path / "missing"), 1, shared=False)


def test_a_file_that_cannot_be_mapped_is_closed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any, **kwargs: Any) -> Any:
        raise OSError("no room")

    path = tmp_path / "file"
    path.write_bytes(b"abcd")
    closed: list[int] = []
    close = os.close
    monkeypatch.setattr(mmap, "mmap", fails)
    monkeypatch.setattr(os, "close", lambda descriptor: (closed.append(descriptor), close(descriptor)))
    for opened in (lambda: SharedMemory.of_file(str(path), 4, shared=False), lambda: SharedMemory.allocate(4)):
        closed.clear()
        with pytest.raises(OSError, match="no room"):
            opened()
        gc.collect(0)
        assert len(closed) == 1


@pytest.mark.parametrize("shared", [False, True])
def test_a_negative_size_of_a_file_is_refused(torch: Any, tmp_path: Path, shared: bool) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abcd")
    with pytest.raises(RuntimeError, match=f"unable to mmap -4 bytes from file <{re.escape(str(path))}>"):
        torch.from_file(str(path), shared=shared, size=-1, dtype=torch.float32)


def test_a_file_is_not_made_for_a_negative_size(tmp_path: Path) -> None:
    """PyTorch makes it."""
    with pytest.raises(ArgumentError, match="the size must be 0 or more"):
        SharedMemory.of_file(str(tmp_path / "file"), -1, shared=True)
    assert not (tmp_path / "file").exists()


def test_a_file_that_cannot_be_opened_is_named(torch: Any, tmp_path: Path) -> None:
    missing = tmp_path / "no" / "file"
    with pytest.raises(RuntimeError, match=r"unable to open file <.*> in read-only mode: No such file or directory"):
        torch.from_file(str(missing), size=1)
    with pytest.raises(RuntimeError, match=r"unable to open file <.*> in read-write mode: No such file or directory"):
        torch.from_file(str(missing), shared=True, size=1)
    with pytest.raises(RuntimeError, match=r"unable to open file <.*> in read-write mode: Is a directory"):
        torch.from_file(str(tmp_path), shared=True, size=1)
