"""How is a file opened, and written whole or not at all?

Mirrors: torch/serialization.py (_open_file_like, _check_seekable, _check_save_filelike)
Differs: a path is written under a temporary name beside it, which replaces the old file when all is written. PyTorch
    empties the old file first, so that a full disk or Ctrl-C leaves a part of the new one.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, TypeGuard

from glasstorch.core.errors import FileError, MissingFileError, Rule

PRELOAD = (
    "You can only torch.load from a file that is seekable. Please pre-load the data into a buffer like io.BytesIO and "
    "try to load from it instead."
)


class NotAFileError(Rule, AttributeError):
    """An object is used as a file and lacks a method that files have."""


def is_path(file: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a file is given by its path."""
    return isinstance(file, str | os.PathLike)


@contextmanager
def mkdtemp() -> Iterator[str]:
    """A temporary folder, which is deleted with all that is in it when the block ends."""
    import shutil  # here, as few programs ask for it
    import tempfile

    path = tempfile.mkdtemp()
    try:
        yield path
    finally:
        shutil.rmtree(path)


@contextmanager
def opened_to_read(file: Any) -> Iterator[Any]:
    """A file at a path, which is closed again; or an object with `read`, `seek` and `tell`, which stays open."""
    if is_path(file):
        with open(file, "rb") as opened:
            yield opened
        return
    for method in ("seek", "tell", "read"):
        if not hasattr(file, method):
            raise NotAFileError(f"'{type(file).__name__}' object has no attribute '{method}'. {PRELOAD}")
    try:
        file.seek(file.tell())
    except OSError as error:  # of a pipe, or of a file that says so itself
        raise io.UnsupportedOperation(f"{error}. {PRELOAD}") from None
    yield file


@contextmanager
def opened_to_write(file: Any) -> Iterator[Any]:
    """A new file that takes its place at a path when the block ends well; or an object with `write`, which is flushed.

    After an error in the block, Ctrl-C included, whatever was at the path is as before.
    """
    if is_path(file):
        with _written_whole(os.fsdecode(file)) as opened:
            yield opened
        return
    if not hasattr(file, "write"):
        raise NotAFileError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    yield file
    flush = getattr(file, "flush", None)
    if flush is not None:
        flush()


@contextmanager
def _written_whole(path: str) -> Iterator[IO[bytes]]:
    target = os.path.realpath(path)  # a link is kept, and what it points to is replaced
    old = _mode(target)
    if old is not None and not stat.S_ISREG(old):  # a device or a pipe cannot be replaced
        try:
            opened: IO[bytes] = open(target, "wb")  # noqa: SIM115  (its errors are told apart from those of the block)
        except OSError as error:
            raise FileError(error.errno, f"open file failed with strerror: {error.strerror}: '{path}'") from error
        with _closed(opened):
            yield opened
        return
    if old is not None and not os.access(target, os.W_OK):  # which a new name in its place would not ask
        raise FileError(errno.EACCES, f"File {path} cannot be opened: {os.strerror(errno.EACCES)}")
    temporary = os.path.join(os.path.dirname(target), f".{os.path.basename(target)[:40]}.{os.urandom(4).hex()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise _cannot_create(path, target, error) from error
    try:
        with _closed(open(descriptor, "wb")) as opened:
            if old is not None:
                os.chmod(temporary, stat.S_IMODE(old))
            yield opened
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):  # Ctrl-C may come when all is done
            os.unlink(temporary)
        raise


@contextmanager
def _closed(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Close a file; after an error, without raising a second one for data that could not be written."""
    try:
        yield file
    except BaseException:
        with suppress(OSError):
            file.close()
        raise
    file.close()


def _mode(path: str) -> int | None:
    """The type and permissions of what is at a path; None where nothing is."""
    try:
        return os.stat(path).st_mode
    except OSError:
        return None


def _cannot_create(path: str, target: str, error: OSError) -> FileError:
    folder = os.path.dirname(target)
    kind = MissingFileError if error.errno == errno.ENOENT else FileError
    if not os.path.isdir(folder):
        return kind(error.errno, f"Parent directory {os.path.dirname(path) or folder} does not exist.")
    return kind(error.errno, f"File {path} cannot be opened: {error.strerror} ({folder})")
