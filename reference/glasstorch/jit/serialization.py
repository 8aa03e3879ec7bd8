"""How is a traced program saved to a file, and loaded without its source?

Mirrors: torch/jit/_serialization.py (save, load)
Differs: a file is written under a temporary name and then renamed, so that a reader sees either the old or the new
    archive. A saved function is loaded as a function. The records are in a folder `archive`, whatever the file is
    called, so that equal programs give equal files. An extra file that is asked for and is not there is an error.

What an archive holds is in `archive_writer`, what is made of one in `archive_reader`.
"""

from __future__ import annotations

import io
import os
from typing import IO, Any, Final

from glasstorch._tensor import empty
from glasstorch.core.device import device as Device
from glasstorch.core.device import device_from
from glasstorch.core.dtype import BY_NAME
from glasstorch.jit._script import Extra, set_archives
from glasstorch.jit.archive_reader import read_program, unreadable
from glasstorch.jit.archive_writer import ArchivedProgram, check_extra
from glasstorch.serialization.files import opened_to_write
from glasstorch.serialization.zip_format import ArchiveError
from glasstorch.serialization.zip_reader import ArchiveReader, Readable

FOLDER: Final = "archive"


def save(m: Any, f: str | os.PathLike[str] | IO[bytes], _extra_files: Extra | None = None) -> None:
    """Save a traced function or module to a path or a writable binary file object, for `load` and for PyTorch's.

    Parameters, buffers and constants are saved with their values, and modules with their names. Hooks and other Python
    attributes of the modules are not, and every buffer is a persistent one when it is loaded. `_extra_files` are
    additional texts to store in the archive, by name. A file that is replaced keeps its permissions.
    """
    program = ArchivedProgram(m, _extra_files)
    with opened_to_write(f) as file:
        program.write(file, FOLDER)


def archive_of(m: Any, extra_files: Extra | None = None) -> bytes:
    """The bytes that `save` writes."""
    buffer = io.BytesIO()
    save(m, buffer, extra_files)
    return buffer.getvalue()


def load(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: str | Device | None = None,
    _extra_files: dict[str, Any] | None = None,
) -> Any:
    """Load the function or module that `save`, or PyTorch's, wrote, from a path or a readable binary file object.

    Its tensors are on the devices that they were saved from, or all on `map_location`; devices named in the program, by
    factory functions, are not changed. The keys of `_extra_files` are names of extra files, whose bytes become the
    values. ArchiveError says why a file cannot be read; nothing is loaded then. Of PyTorch's programs those are read
    that `torch.jit.trace` makes, with operators that glasstorch has.
    """
    if isinstance(map_location, str):
        map_location = device_from(map_location)
    elif not (map_location is None or isinstance(map_location, Device)):
        raise ValueError(
            f"map_location should be either None, string or torch.device, but got type: {type(map_location)}"
        )
    if map_location is not None:
        empty((0,), BY_NAME["uint8"]).to(map_location)  # raises if there is no such device
    for name in _extra_files or ():
        check_extra(name)
    if isinstance(f, str | os.PathLike):
        if not os.path.exists(f):
            raise ValueError(f"The provided filename {f} does not exist")
        if os.path.isdir(f):
            raise ValueError(f"The provided filename {f} is a directory")
        with open(f, "rb") as file:
            return _read(file if file.seekable() else io.BytesIO(file.read()), map_location, _extra_files)
    content = f.read() if hasattr(f, "read") else f
    if not isinstance(content, bytes):
        raise TypeError(f"jit.load: expected a path, or something to read bytes from, got {_what(f, content)}")
    return _read(io.BytesIO(content), map_location, _extra_files)


def _what(f: Any, content: Any) -> str:
    return type(f).__name__ if f is content else f"{type(f).__name__}, which gives {type(content).__name__}"


def _read(file: Readable, on: Device | None, extra_files: dict[str, Any] | None) -> Any:
    try:
        archive = ArchiveReader(file)
        found = {name: archive.read_record(f"extra/{name}") for name in extra_files or {}}
    except (ArchiveError, ValueError) as error:
        raise unreadable(_what_is_wrong(file, error)) from error
    program = read_program(archive, on)
    if extra_files is not None:
        extra_files.update(found)
    return program


def _what_is_wrong(file: Readable, error: Exception) -> str:
    file.seek(0)
    begins = file.read(2)
    if not begins:
        return "it is empty"
    return str(error) if begins == b"PK" else f"it is not a zip file ({error})"


class _Archives:
    """Fills _script.Archives."""

    def save(self, m: Any, f: str | os.PathLike[str], extra_files: Extra | None) -> None:
        save(m, f, extra_files)

    def archive_of(self, m: Any, extra_files: Extra | None) -> bytes:
        return archive_of(m, extra_files)


set_archives(_Archives())
