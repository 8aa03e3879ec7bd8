"""How is a record of an archive found, read and checked?

Mirrors: caffe2/serialize/inline_container.cc (PyTorchStreamReader), third_party/miniz-3.0.2/miniz.c (mz_zip_reader_*)
Differs: checksums are checked, which PyTorch's reader is compiled without. An archive that was saved without checksums
    has zeros in their place and is not checked.

It knows nothing of pickles, and trusts nothing that stands in the file: every size and offset is compared with the
file's size before it is used.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from glasstorch.serialization import zip_format
from glasstorch.serialization.zip_format import (
    DEFLATED,
    ENCRYPTED,
    END,
    END64,
    END64_SIGNATURE,
    END_SIGNATURE,
    ENTRY,
    ENTRY_SIGNATURE,
    LOCAL,
    LOCAL_SIGNATURE,
    LOCATOR,
    LOCATOR_SIGNATURE,
    MOST_16,
    MOST_32,
    STORED,
    ZIP64,
    ArchiveError,
    Record,
)

CHUNK = 1 << 21  # bytes that are read and checked at a time: they are then still in a cache
ADVICE = "the file was not saved completely, was damaged in transfer, or was changed afterwards"


class Readable(Protocol):
    """What an archive is read from."""

    def read(self, size: int = ..., /) -> bytes: ...
    def seek(self, offset: int, whence: int = ..., /) -> Any: ...
    def tell(self) -> int: ...


class ArchiveReader:
    """Reads the records of an archive that begins at the file's position and extends to its end.

    `folder` is the name of the folder that holds the records; their names are given without it.
    """

    def __init__(self, file: Readable) -> None:
        self.file = file
        self.start = file.tell()  # of the archive in the file
        file.seek(0, 2)
        self.nbytes = file.tell() - self.start
        self.folder = ""
        self.records: dict[str, Record] = {}
        self._read_directory()
        self._check_version()

    def has_record(self, name: str) -> bool:
        """Whether there is a record of this name."""
        return name in self.records

    def record(self, name: str) -> Record:
        """What the directory says about a record; ArchiveError if there is none of this name."""
        found = self.records.get(name)
        if found is None:
            raise ArchiveError(
                f"PytorchStreamReader failed locating file {name}: file not found; the archive has "
                f"{', '.join(sorted(self.records)[:8])}{' ...' * (len(self.records) > 8)}"
            )
        return found

    def read_record(self, name: str) -> bytes:
        """The data of a record, checked."""
        record = self.record(name)
        # Sizes were compared with the file's, so that a false one cannot ask for more memory than the file has bytes.
        if record.method == DEFLATED:
            return self._inflated(record)
        data = bytearray(record.nbytes)
        self._fill(record, memoryview(data))
        return bytes(data)

    def read_record_into(self, name: str, memory: memoryview) -> None:
        """Copy the data of a record, checked, to memory of its size."""
        record = self.record(name)
        if record.nbytes != memory.nbytes:
            raise ArchiveError(
                f"PytorchStreamReader failed reading file {name}: it has {record.nbytes} bytes, and {memory.nbytes} "
                f"were expected"
            )
        if record.method == DEFLATED:
            memory[:] = self._inflated(record)
        else:
            self._fill(record, memory)

    def offset(self, name: str) -> int:
        """Where the data of a record begins in the file. It must be stored as it is, not compressed."""
        record = self.record(name)
        if record.method != STORED:
            raise self._damaged(record, "it is compressed, and has no place in the file where its bytes can be mapped")
        return self.start + self._data(record)

    # The data of a record -------------------------------------------------------------------------------------------

    def _data(self, record: Record) -> int:
        """Where a record's data begins in the archive, after its local header, which must agree with the directory."""
        header = self._bytes_at(record.header, LOCAL.size, record)
        signature, _, flags, method, _, _, _, _, _, name_size, extra_size = LOCAL.unpack(header)
        if signature != LOCAL_SIGNATURE:
            raise self._damaged(record, f"its header does not begin with PK\\3\\4 at byte {record.header}")
        path = f"{self.folder}/{record.name}".encode()
        named = self._bytes_at(record.header + LOCAL.size, name_size, record)
        if named != path or flags != record.flags or method != record.method:
            raise self._damaged(record, "its header and the archive's directory do not agree")
        data: int = record.header + LOCAL.size + name_size + extra_size
        if data + record.stored > self.nbytes:
            raise self._damaged(record, f"it would end at byte {data + record.stored} of {self.nbytes}")
        return data

    def _fill(self, record: Record, memory: memoryview) -> None:
        """Read a record that is stored as it is."""
        self.file.seek(self.start + self._data(record))
        into: Callable[[memoryview], int] | None = getattr(self.file, "readinto", None)
        crc = 0
        for begin in range(0, memory.nbytes, CHUNK):
            part = memory[begin : begin + CHUNK]
            filled = 0
            while filled < part.nbytes:  # a raw file may return less than it was asked for
                rest = part[filled:]
                count = into(rest) if into is not None else _copied(self.file.read(rest.nbytes), rest)
                if not count:
                    raise self._damaged(record, f"file read failed: the file ends after {begin + filled} of its bytes")
                filled += count
            crc = zlib.crc32(part, crc)
        self._check(record, crc)

    def _inflated(self, record: Record) -> bytes:
        """Read a record that was compressed, by another program than PyTorch or ours."""
        packed = self._bytes_at(self._data(record), record.stored, record)
        machine = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            data = machine.decompress(packed, record.nbytes + 1)  # never more than is stated
        except zlib.error as error:
            raise self._damaged(record, f"its compressed data cannot be read ({error})") from None
        if len(data) != record.nbytes:
            raise self._damaged(record, f"it is not the {record.nbytes} bytes that the directory states")
        self._check(record, zlib.crc32(data))
        return data

    def _check(self, record: Record, crc: int) -> None:
        if record.crc and crc != record.crc:
            raise self._damaged(record, f"its checksum is {crc:08x} and should be {record.crc:08x}")

    def _bytes_at(self, offset: int, count: int, record: Record | None = None) -> bytes:
        """Bytes of the archive, all of them or an error."""
        if offset + count <= self.nbytes:
            self.file.seek(self.start + offset)
            data = bytearray()
            while len(data) < count and (part := self.file.read(count - len(data))):
                data += part
            if len(data) == count:
                return bytes(data)
        what = f"bytes {offset} to {offset + count} are not in the file, which has {self.nbytes}"
        raise self._damaged(record, what) if record is not None else _no_archive(what)

    def _damaged(self, record: Record, what: str) -> ArchiveError:
        return ArchiveError(
            f"PytorchStreamReader failed reading file {record.name}: the record '{self.folder}/{record.name}' is "
            f"damaged: {what}; {ADVICE}"
        )

    # The directory --------------------------------------------------------------------------------------------------

    def _read_directory(self) -> None:
        start, nbytes, count = self._end()
        if start + nbytes > self.nbytes or count * ENTRY.size > nbytes:
            raise _no_archive(f"its end states {count} entries in bytes {start} to {start + nbytes} of {self.nbytes}")
        folders: set[str] = set()
        for folder, record in _entries(self._bytes_at(start, nbytes), count):
            if record.name in self.records:
                raise _no_archive(f"the directory lists the record '{record.name}' twice")
            if record.header + LOCAL.size + record.stored > start:
                raise _no_archive(f"the directory places the record '{record.name}' at byte {record.header} of {start}")
            if record.method not in (STORED, DEFLATED) or record.flags & ENCRYPTED:
                raise _no_archive(f"the record '{record.name}' is encrypted or packed by a method that is not known")
            if record.method == STORED and record.stored != record.nbytes:
                raise _no_archive(f"the record '{record.name}' has two sizes, {record.stored} and {record.nbytes}")
            self.records[record.name] = record
            folders.add(folder)
        self._check_places()
        if len(folders) != 1:
            raise _no_archive(f"its records are in {len(folders)} folders ({', '.join(sorted(folders))}), not in one")
        (self.folder,) = folders

    def _check_places(self) -> None:
        """Refuse records that lie over each other: a small file could stand for any number of bytes."""
        end, before = 0, ""
        for record in sorted(self.records.values(), key=lambda record: record.header):
            if record.header < end:
                raise _no_archive(f"the records '{before}' and '{record.name}' lie over each other")
            end, before = record.header + LOCAL.size + record.stored, record.name

    def _end(self) -> tuple[int, int, int]:
        """Where the directory is: its start, its size in bytes, and how many entries it has."""
        tail_size = min(self.nbytes, END.size + MOST_16)
        tail = self._bytes_at(self.nbytes - tail_size, tail_size)
        at = tail.rfind(END_SIGNATURE.to_bytes(4, "little"), 0, len(tail) - END.size + 4)
        if at < 0:
            raise _no_archive(f"failed finding central directory{self._last_record()}")
        _, _, _, _, count, nbytes, start, _ = END.unpack_from(tail, at)
        locator = self.nbytes - tail_size + at - LOCATOR.size
        if locator >= 0:
            signature, _, end64, _ = LOCATOR.unpack(self._bytes_at(locator, LOCATOR.size))
            if signature == LOCATOR_SIGNATURE:
                fields = END64.unpack(self._bytes_at(end64, END64.size))
                if fields[0] != END64_SIGNATURE:
                    raise _no_archive(f"there is no end of a directory at byte {end64}")
                wide = fields[7:]
                if (count, nbytes, start) != tuple(map(min, wide, (MOST_16, MOST_32, MOST_32))):
                    raise _no_archive("the two ends of its directory do not agree")
                count, nbytes, start = wide
        return start, nbytes, count

    def _last_record(self) -> str:
        """Which record a file without a directory ends in, as far as can be seen."""
        header = LOCAL_SIGNATURE.to_bytes(4, "little")
        end = self.nbytes
        while end > 0:
            start = max(end - CHUNK, 0)
            part = self._bytes_at(start, min(end - start + LOCAL.size + 256, self.nbytes - start))
            at = part.rfind(header)
            if at >= 0 and len(part) - at > LOCAL.size:
                size = LOCAL.unpack_from(part, at)[9]
                name = part[at + LOCAL.size :][:size].decode("utf-8", "replace")
                return f"; the file ends in or after the record '{name}', which begins at byte {start + at}"
            end = start
        return ""

    def _check_version(self) -> None:
        name = ".data/version" if self.has_record(".data/version") else "version"
        if self.record(name).nbytes > 20:
            raise self._damaged(self.record(name), "it has more bytes than a number of a version")
        text = self.read_record(name)
        try:
            version = int(text)
        except ValueError:
            raise self._damaged(self.record(name), f"it is {text!r}, which is no number") from None
        if version not in zip_format.SUPPORTED:
            raise ArchiveError(
                f"Attempted to read a PyTorch file with version {version}, but the versions that can be read are "
                f"{zip_format.SUPPORTED.start} to {zip_format.SUPPORTED.stop - 1}; the file was written by a newer one"
            )


def _entries(directory: bytes, count: int) -> Iterator[tuple[str, Record]]:
    """The entries of a directory, each with the folder of its record."""
    at = 0
    for number in range(count):
        if at + ENTRY.size > len(directory):
            raise _no_archive(f"its directory ends after {number} of {count} entries")
        signature, _, _, flags, method, _, _, crc, stored, nbytes, *sizes, _, _, _, header = ENTRY.unpack_from(
            directory, at
        )
        name_size, extra_size, comment_size = sizes
        if signature != ENTRY_SIGNATURE:
            raise _no_archive(f"entry {number} of its directory does not begin with PK\\1\\2")
        at += ENTRY.size
        path = directory[at : at + name_size]
        extra = directory[at + name_size : at + name_size + extra_size]
        at += name_size + extra_size + comment_size
        try:
            folder, slash, name = path.decode("utf-8").partition("/")
        except UnicodeDecodeError:
            raise _no_archive(f"entry {number} of its directory has the name {path!r}") from None
        if not slash or not name:
            raise _no_archive(f"file in archive is not in a subdirectory: {path!r}")
        nbytes, stored, header = _wide((nbytes, stored, header), extra, name)
        yield folder, Record(name, header, nbytes, stored, crc, flags, method)


def _wide(values: tuple[int, ...], extra: bytes, name: str) -> list[int]:
    """Sizes and an offset of 64 bits, of which those that do not fit into 32 stand in the extra field."""
    if MOST_32 not in values:
        return list(values)
    while len(extra) >= 4:
        kind, size = int.from_bytes(extra[:2], "little"), int.from_bytes(extra[2:4], "little")
        if kind == ZIP64:
            rest = extra[4 : 4 + size]
            found = iter([int.from_bytes(rest[i : i + 8], "little") for i in range(0, len(rest) - 7, 8)])
            return [next(found, value) if value == MOST_32 else value for value in values]
        extra = extra[4 + size :]
    raise _no_archive(f"the record '{name}' lacks the field with its size or place")


def _copied(data: bytes, memory: memoryview) -> int:
    memory[: len(data)] = data
    return len(data)


def _no_archive(what: str) -> ArchiveError:
    return ArchiveError(f"PytorchStreamReader failed reading zip archive: {what}; {ADVICE}")
