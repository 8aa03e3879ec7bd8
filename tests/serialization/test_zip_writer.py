"""Does the writer write the bytes that PyTorch writes?"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.serialization.zip_format import MOST_32
from glasstorch.serialization.zip_reader import ArchiveReader
from glasstorch.serialization.zip_writer import ArchiveWriter

RECORDS = {
    "data.pkl": b"some pickle",
    ".format_version": b"1",
    "data/0": bytes(range(256)) * 9,
    "data/1": b"",
    "x": b"y",
}


def written(records: dict[str, bytes], **options: Any) -> bytes:
    """An archive with these records."""
    file = io.BytesIO()
    writer = ArchiveWriter(file, **options)
    for name, data in records.items():
        writer.write_record(name, data)
    writer.finish()
    return file.getvalue()


@pytest.mark.parametrize("checksums", [True, False])
@pytest.mark.parametrize("alignment", [64, 1, 4096])
def test_all_bytes_but_the_id_of_the_names_are_those_of_torch(
    require: Callable[[str], Any], alignment: int, checksums: bool
) -> None:
    torch = require("torch")
    file = io.BytesIO()
    theirs = torch._C.PyTorchFileWriter(file, checksums, alignment)
    for name, data in RECORDS.items():
        theirs.write_record(name, data, len(data))
    theirs.write_end_of_file()
    expected = file.getvalue()
    ours = written(RECORDS, checksums=checksums, alignment=alignment)
    assert len(ours) == len(expected)
    place = expected.index(b"archive/.data/serialization_idFB")
    start = place + 34 + int.from_bytes(expected[place + 32 : place + 34], "little")
    assert ours[:start] == expected[:start]
    if checksums:
        assert ours[start + 20 : start + 40] == expected[start + 20 : start + 40]  # what stands for the content
        without = zlib.crc32(expected[start : start + 40]).to_bytes(4, "little")
        with_ours = zlib.crc32(ours[start : start + 40]).to_bytes(4, "little")
        assert ours[start + 40 :].replace(with_ours, without) == expected[start + 40 :]


def test_torch_reads_what_is_written(require: Callable[[str], Any]) -> None:
    reader = require("torch")._C.PyTorchFileReader(io.BytesIO(written(RECORDS)))
    assert {name: reader.get_record(name) for name in RECORDS} == RECORDS
    assert (
        reader.serialization_id()
        == ArchiveReader(io.BytesIO(written(RECORDS))).read_record(".data/serialization_id").decode()
    )


def test_other_programs_find_nothing_wrong() -> None:
    archive = zipfile.ZipFile(io.BytesIO(written(RECORDS, name="model")))
    assert archive.testzip() is None
    assert archive.namelist()[:2] == ["model/data.pkl", "model/.format_version"]


def test_data_begins_at_multiples_of_the_alignment() -> None:
    reader = ArchiveReader(io.BytesIO(written(RECORDS, alignment=256)))
    assert [reader.offset(name) % 256 for name in RECORDS] == [0] * len(RECORDS)


def test_two_archives_with_the_same_records_are_the_same_bytes() -> None:
    assert written(RECORDS) == written(RECORDS)
    assert written(RECORDS)[-600:] != written({**RECORDS, "x": b"z"})[-600:]


def test_a_record_is_written_once_and_the_alignment_is_checked() -> None:
    writer = ArchiveWriter(io.BytesIO())
    writer.write_record("a", b"1")
    with pytest.raises(RuntimeError, match="the archive has a record 'a' already"):
        writer.write_record("a", b"1")
    with pytest.raises(ValueError, match="the alignment of records must be from 1 to 65534 bytes, got 0"):
        ArchiveWriter(io.BytesIO(), alignment=0)


class Sparse(io.RawIOBase):
    """A file that remembers only what was written, so that gigabytes that were skipped take no memory."""

    def __init__(self) -> None:
        self.pieces: dict[int, bytes] = {}
        self.place = self.end = 0

    def write(self, data: Any) -> int:
        self.pieces[self.place] = bytes(data)
        self.place += len(data)
        self.end = max(self.end, self.place)
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        self.place = offset + {0: 0, 1: self.place, 2: self.end}[whence]
        self.end = max(self.end, self.place)
        return self.place

    def tell(self) -> int:
        return self.place

    def readinto(self, buffer: Any) -> int:
        size = len(buffer)
        found = bytearray(size)
        for start, piece in self.pieces.items():
            first, last = max(start, self.place), min(start + len(piece), self.place + size)
            if first < last:
                found[first - self.place : last - self.place] = piece[first - start : last - start]
        self.place += size
        buffer[:] = found
        return size


@pytest.mark.parametrize("nbytes", [MOST_32 - 1, MOST_32, MOST_32 + 5])
def test_records_and_places_beyond_four_gigabytes_can_be_found(require: Callable[[str], Any], nbytes: int) -> None:
    file = Sparse()
    writer = ArchiveWriter(file, fresh=True)
    writer.write_record("data.pkl", b"begin")
    writer.reserve_record("data/0", nbytes)
    writer.write_record("data/1", b"the end")
    writer.finish()
    file.seek(0)
    ours = ArchiveReader(file)
    assert ours.record("data/0").nbytes == nbytes
    assert ours.read_record("data/1") == b"the end"
    file.seek(0)
    theirs = require("torch")._C.PyTorchFileReader(file)
    assert theirs.get_record_offset("data/0") == ours.offset("data/0")
    assert theirs.get_record("data/1") == b"the end"
    expected = theirs.get_record_offset("data/1")
    data = ours.offset("data/0")
    assert (
        theirs.get_record_offset_no_read(data + nbytes + (16 if nbytes < MOST_32 else 24), "data/1", 7, 64) == expected
    )


def test_many_records_are_more_than_sixteen_bits_count() -> None:
    records = {f"data/{number}": b"" for number in range(70_000)}
    reader = ArchiveReader(io.BytesIO(written(records, alignment=1)))
    assert len(reader.records) == 70_003
    assert reader.read_record("data/69999") == b""


def test_a_checkpoint_can_be_written_with_another_alignment(require: Callable[[str], Any]) -> None:
    settings = glasstorch.serialization.settings.save
    settings.storage_alignment = 4096
    try:
        file = io.BytesIO()
        glasstorch.save(glasstorch.arange(5), file)
    finally:
        settings.storage_alignment = 64
    file.seek(0)
    assert ArchiveReader(file).offset("data/0") % 4096 == 0
    file.seek(0)
    assert require("torch").load(file).tolist() == [0, 1, 2, 3, 4]
