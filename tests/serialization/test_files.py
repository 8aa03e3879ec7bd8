"""Is a file written whole or not at all, and read from whatever can be read?"""

from __future__ import annotations

import errno
import gzip
import io
import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch.serialization import saving
from tests.serialization.exchange import saved


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A checkpoint that was saved before."""
    path = tmp_path / "checkpoint.pt"
    glasstorch.save({"epoch": 1}, path)
    return path


def is_as_before(path: Path) -> bool:
    """Whether the old checkpoint is there, and nothing beside it."""
    return list(path.parent.iterdir()) == [path] and glasstorch.load(path) == {"epoch": 1}


class Refuses:
    """An object that cannot be pickled."""

    def __reduce__(self) -> Any:
        raise KeyboardInterrupt


def test_a_path_is_replaced_when_all_is_written(old: Path) -> None:
    inode = old.stat().st_ino
    glasstorch.save({"epoch": 2}, old)
    assert glasstorch.load(old) == {"epoch": 2}
    assert old.stat().st_ino != inode
    assert list(old.parent.iterdir()) == [old]


@pytest.mark.parametrize("old_format", [False, True])
def test_ctrl_c_while_pickling_keeps_the_old_file(old: Path, old_format: bool) -> None:
    with pytest.raises(KeyboardInterrupt):
        glasstorch.save([Refuses()], old, _use_new_zipfile_serialization=not old_format)
    assert is_as_before(old)


def test_ctrl_c_while_writing_keeps_the_old_file(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = saving._write_storage

    def interrupted(archive: Any, name: str, storage: Any) -> None:
        write(archive, name, storage)
        if name == "data/1":
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(saving, "_write_storage", interrupted)
    with pytest.raises(KeyboardInterrupt):
        glasstorch.save([glasstorch.ones(1000) for _ in range(3)], old)
    assert is_as_before(old)


def test_a_full_disk_keeps_the_old_file(old: Path) -> None:
    """A limit on the size of files stands for the disk: the write fails in the same place, with another number."""
    program = (
        "import glasstorch, resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({1 << 16}, resource.RLIM_INFINITY))\n"
        "try:\n"
        f"    glasstorch.save([glasstorch.ones(5000) for _ in range(9)], {str(old)!r})\n"
        "except OSError as error:\n"
        "    print(type(error).__name__, error.errno, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("RuntimeError 27 "), done.stderr
    assert "PytorchStreamWriter failed writing file data/3: File too large" in done.stdout
    assert is_as_before(old)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1 << 16


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no device that is always full")
def test_a_full_device_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="failed writing file data/0: No space left on device"):
        glasstorch.save(glasstorch.ones(1 << 20), "/dev/full")


def test_a_new_file_can_be_read_by_whom_the_user_lets(tmp_path: Path) -> None:
    path = tmp_path / "new.pt"
    before = os.umask(0o027)
    try:
        glasstorch.save(1, path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        glasstorch.save(2, path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(before)


def test_a_file_that_may_not_be_written_is_not_replaced(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # root may write everything
    with pytest.raises(RuntimeError, match="cannot be opened: Permission denied"):
        glasstorch.save(1, old)
    assert is_as_before(old)


def test_a_link_is_kept_and_its_target_replaced(old: Path) -> None:
    link = old.parent / "latest.pt"
    link.symlink_to(old.name)
    glasstorch.save({"epoch": 3}, link)
    assert link.is_symlink()
    assert glasstorch.load(old) == {"epoch": 3}


def test_a_pipe_is_written_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as cat:
        glasstorch.save([1, 2], path)
        assert cat.stdout is not None
        assert glasstorch.load(io.BytesIO(cat.stdout.read())) == [1, 2]
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.parametrize("kind", [str, Path])
def test_a_folder_that_is_missing_is_named(torch: Any, tmp_path: Path, kind: type) -> None:
    with pytest.raises(RuntimeError, match=r"^Parent directory .*missing does not exist\.$"):
        torch.save(1, kind(tmp_path / "missing" / "a.pt"))


def test_a_folder_that_is_missing_is_pythons_error_too() -> None:
    with pytest.raises(FileNotFoundError, match=r"^Parent directory /no/such does not exist\.$") as raised:
        glasstorch.save(1, "/no/such/a.pt")
    assert raised.value.errno == errno.ENOENT


def test_a_folder_is_not_a_file(torch: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="open file failed with strerror: Is a directory"):
        torch.save(1, tmp_path)


def test_a_file_that_is_missing_is_pythons_error(torch: Any, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "missing.pt")


@pytest.mark.parametrize("name", ["a.pt", "a b.c.pt", "ohne", "größe.pt", "a" * 250 + ".pt", "漢" * 80])
def test_any_name_of_a_file_will_do(torch: Any, tmp_path: Path, name: str) -> None:
    torch.save({"a": 1}, tmp_path / name)
    assert glasstorch.load(tmp_path / name) == torch.load(str(tmp_path / name)) == {"a": 1}


class OnlyWrites:
    """A file that can be written to, and no more."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: Any) -> int:
        self.data += data
        return len(data)


class WritesPieces(OnlyWrites):
    """A raw file, which writes as much as it likes."""

    def write(self, data: Any) -> int:
        return super().write(bytes(data)[:1000])


class OnlyReads:
    """A file without `readinto`, which returns as much as it likes."""

    def __init__(self, data: bytes, most: int = 1 << 30) -> None:
        self.file = io.BytesIO(data)
        self.most = most

    def read(self, size: int = -1) -> bytes:
        return self.file.read(min(size, self.most) if size >= 0 else size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()


@pytest.mark.parametrize("kind", [OnlyWrites, WritesPieces])
def test_a_file_needs_only_write(kind: type[OnlyWrites]) -> None:
    file = kind()
    glasstorch.save(glasstorch.arange(10000), file)
    assert glasstorch.load(io.BytesIO(file.data)).sum() == 49995000


@pytest.mark.parametrize("most", [1 << 30, 700])
def test_a_file_needs_only_read_seek_and_tell(most: int) -> None:
    data = saved(glasstorch, glasstorch.arange(10000)).getvalue()
    assert glasstorch.load(OnlyReads(data, most)).sum() == 49995000


def test_a_file_in_python_is_read_where_it_stands(torch: Any, tmp_path: Path) -> None:
    with open(tmp_path / "two.bin", "w+b") as file:
        file.write(b"a header")
        torch.save([1, torch.ones(2)], file)
        file.seek(8)
        assert torch.load(file)[1].tolist() == [1, 1]
    with gzip.open(tmp_path / "packed.gz", "wb") as packed:
        packed.write(saved(torch, torch.ones(3)).getvalue())
    with gzip.open(tmp_path / "packed.gz", "rb") as packed:
        assert torch.load(packed).tolist() == [1, 1, 1]


@pytest.mark.parametrize("given", [3, None, [1]])
def test_what_is_no_file_is_refused(torch: Any, given: Any) -> None:
    with pytest.raises(AttributeError, match=r"You can only torch\.load from a file that is seekable"):
        torch.load(given)


def test_a_stream_is_refused() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    with (
        open(reading, "rb") as file,
        pytest.raises(OSError, match=r"You can only torch\.load from a file that is seek"),
    ):
        glasstorch.load(file)


def test_a_temporary_folder_is_deleted_with_its_files(torch: Any) -> None:
    with torch.serialization.mkdtemp() as folder:
        Path(folder, "a").touch()
    assert not os.path.exists(folder)
