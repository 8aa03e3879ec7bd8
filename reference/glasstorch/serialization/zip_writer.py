"""How is an archive written, record after record?

Mirrors: caffe2/serialize/inline_container.cc (PyTorchStreamWriter),
    third_party/miniz-3.0.2/miniz.c (mz_zip_writer_add_mem_ex_v2)
Differs: the half of the serialization id that stands for the names is mixed from their CRC-32, where PyTorch takes the
    hash of its C++ library. All other bytes are the same.

It knows nothing of pickles: `save` writes a pickle and storages with it, and any other program may write other records.
"""

from __future__ import annotations

import sys
import zlib
from typing import Any

from glasstorch.core.errors import ArgumentError, ArgumentValueError, FileError
from glasstorch.serialization import zip_format
from glasstorch.serialization.zip_format import (
    DESCRIPTOR,
    DESCRIPTOR64,
    DESCRIPTOR_SIGNATURE,
    END,
    END64,
    END64_SIGNATURE,
    END_SIGNATURE,
    ENTRY,
    ENTRY_SIGNATURE,
    HAS_DESCRIPTOR,
    LOCAL,
    LOCAL_SIGNATURE,
    LOCATOR,
    LOCATOR_SIGNATURE,
    MOST_16,
    MOST_32,
    UTF8_NAME,
    mixed,
)

MADE_BY, NEEDED = 0x031E, 45  # in end64: zip 3.0 on Unix; zip64 is needed
CHUNK = 1 << 21  # bytes that are written, and their checksum computed, at a time: they are then still in a cache
ZEROS = bytes(1 << 20)

Data = bytes | bytearray | memoryview | Any  # what has a buffer: a NumPy array too


class ArchiveWriter:
    """Writes records one after the other; `finish` adds version, byte order, serialization id and directory.

    `name` is the folder that holds the records. Every record's data begins at a multiple of `alignment` bytes. `fresh`
    says that the file is a new one, in which a place that is skipped holds zeros.
    """

    def __init__(
        self, file: Any, name: str = "archive", checksums: bool = True, alignment: int = 64, fresh: bool = False
    ) -> None:
        if not 0 < alignment < MOST_16:
            raise ArgumentValueError(f"the alignment of records must be from 1 to {MOST_16 - 1} bytes, got {alignment}")
        self.file = file
        self.name = name
        self.checksums = checksums
        self.alignment = alignment
        self.fresh = fresh
        self.written: dict[str, int | None] = {}  # the checksums of the records by name; None of an empty one
        self._record = ""  # the one that is being written
        self._position = 0
        self._directory = bytearray()

    def write_record(self, name: str, data: Data) -> None:
        """Append a record."""
        view = memoryview(data)
        view = view.cast("B") if view.nbytes else memoryview(b"")  # an empty view of another form cannot be cast
        header, crc = self._begin(name, view.nbytes), 0
        for start in range(0, view.nbytes, CHUNK):
            part = view[start : start + CHUNK]
            self._write(part)
            crc = zlib.crc32(part, crc) if self.checksums else 0
        self._end(name, view.nbytes, header, crc)

    def reserve_record(self, name: str, nbytes: int) -> None:
        """Append a record of zeros without a checksum, for another program to fill in."""
        header = self._begin(name, nbytes)
        if self.fresh:
            self.file.seek(nbytes, 1)
            self._position += nbytes
        else:
            for start in range(0, nbytes, len(ZEROS)):
                self._write(ZEROS[: nbytes - start])
        self._end(name, nbytes, header, 0)

    def finish(self) -> None:
        """Write the records that close an archive, and its directory."""
        for name, content in (("version", zip_format.PRODUCED), ("byteorder", sys.byteorder.encode())):
            if name not in self.written:
                self.write_record(name, content)
        self.write_record(zip_format.SERIALIZATION_ID, self._serialization_id())
        start, nbytes, count = self._position, len(self._directory), len(self.written)
        self._record = "(the directory)"
        self._write(self._directory)
        end64 = self._position
        self._write(
            END64.pack(END64_SIGNATURE, END64.size - 12, MADE_BY, NEEDED, 0, 0, count, count, nbytes, start)
            + LOCATOR.pack(LOCATOR_SIGNATURE, 0, end64, 1)
            + END.pack(
                *(END_SIGNATURE, 0, 0, min(count, MOST_16), min(count, MOST_16)),
                *(min(nbytes, MOST_32), min(start, MOST_32), 0),
            )
        )

    def _serialization_id(self) -> bytes:
        """Forty digits, equal for files with the same records."""
        names = content = 0
        for name, crc in self.written.items():
            names = mixed(names, zlib.crc32(name.encode()))
            content = content if crc is None else mixed(content, crc)
        return f"{names:020}{content:020}".encode()

    def _begin(self, name: str, nbytes: int) -> int:
        """Write the local header; returns where it stands."""
        if name in self.written:
            raise ArgumentError(f"the archive has a record {name!r} already; each is written once")
        self._record = name
        header, path = self._position, f"{self.name}/{name}".encode()
        extra = zip_format.zip64_field(nbytes, header)
        extra += zip_format.padding_field(header + LOCAL.size + len(path) + len(extra), self.alignment)
        flags = _flags(nbytes)
        self._write(LOCAL.pack(LOCAL_SIGNATURE, 0, flags, 0, 0, 0, 0, 0, 0, len(path), len(extra)) + path + extra)
        return header

    def _end(self, name: str, nbytes: int, header: int, crc: int) -> None:
        """Write the descriptor and note the entry of the directory."""
        path, extra = f"{self.name}/{name}".encode(), zip_format.zip64_field(nbytes, header)
        if nbytes:
            descriptor = DESCRIPTOR64 if extra else DESCRIPTOR
            self._write(descriptor.pack(DESCRIPTOR_SIGNATURE, crc, nbytes, nbytes))
        size = min(nbytes, MOST_32)
        self._directory += ENTRY.pack(
            *(ENTRY_SIGNATURE, 0, 0, _flags(nbytes), 0, 0, 0, crc, size, size),
            *(len(path), len(extra), 0, 0, 0, 0, min(header, MOST_32)),
        )
        self._directory += path + extra
        self.written[name] = crc if nbytes else None

    def _write(self, data: Data) -> None:
        rest = memoryview(data)
        while rest.nbytes:
            try:
                count = self.file.write(rest)
            except OSError as error:
                if error.errno is None:  # not of the system, but of a file in Python
                    raise
                what = f"PytorchStreamWriter failed writing file {self._record}: {error.strerror}"
                raise FileError(error.errno, what) from error
            count = rest.nbytes if count is None else count  # a file of Python's raw kind may write a part
            self._position += count
            rest = rest[count:]


def _flags(nbytes: int) -> int:
    return UTF8_NAME | HAS_DESCRIPTOR if nbytes else UTF8_NAME
