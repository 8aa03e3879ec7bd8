"""Does the reader find, check and refuse what it should?"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.serialization.zip_format import ArchiveError
from glasstorch.serialization.zip_reader import ArchiveReader
from tests.serialization.exchange import saved

RECORDS = {"version": b"3\n", "data.pkl": b"\x80\x02K\x07.", "data/0": bytes(1000)}


def packed(records: dict[str, bytes], method: int = zipfile.ZIP_STORED, folder: str = "f/") -> io.BytesIO:
    """An archive that Python's zipfile made."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in records.items():
            archive.writestr(folder + name, data)
    file.seek(0)
    return file


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_of_another_program_is_read(method: int) -> None:
    reader = ArchiveReader(packed(RECORDS, method))
    assert (reader.folder, sorted(reader.records)) == ("f", sorted(RECORDS))
    assert {name: reader.read_record(name) for name in RECORDS} == RECORDS
    assert glasstorch.load(packed(RECORDS, method)) == 7


def test_what_torch_reads_from_a_packed_archive_is_the_same(require: Callable[[str], Any]) -> None:
    torch = require("torch")
    content = saved(torch, {"a": torch.arange(300)})
    with zipfile.ZipFile(content) as archive:
        records = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    repacked = packed(records, zipfile.ZIP_DEFLATED)
    assert glasstorch.load(repacked)["a"].tolist() == list(range(300))


def test_a_packed_record_cannot_be_mapped_and_can_be_copied() -> None:
    reader = ArchiveReader(packed(RECORDS, zipfile.ZIP_DEFLATED))
    with pytest.raises(ArchiveError, match="it is compressed, and has no place in the file"):
        reader.offset("data/0")
    memory = bytearray(1000)
    reader.read_record_into("data/0", memoryview(memory))
    assert memory == bytes(1000)
    with pytest.raises(ArchiveError, match="it has 1000 bytes, and 3 were expected"):
        reader.read_record_into("data/0", memoryview(bytearray(3)))


def test_a_record_that_says_less_than_it_unpacks_to_is_refused() -> None:
    data = bytearray(packed(RECORDS, zipfile.ZIP_DEFLATED).getvalue())
    place = data.rindex(b"f/data/0") - 22  # the size in the directory
    data[place : place + 4] = struct.pack("<I", 999)
    with pytest.raises(ArchiveError, match="it is not the 999 bytes that the directory states"):
        ArchiveReader(io.BytesIO(data)).read_record("data/0")


@pytest.mark.parametrize(
    ("records", "folder", "message"),
    [
        ({"a": b""}, "f/", "failed locating file version: file not found; the archive has a"),
        ({"version": b"x"}, "f/", "it is b'x', which is no number"),
        ({"version": b"1" * 30}, "f/", "more bytes than a number of a version"),
        ({"version": b"99"}, "f/", "file with version 99, but the versions that can be read are 1 to 10"),
        ({"version": b"3"}, "", "file in archive is not in a subdirectory: b'version'"),
        ({"f/version": b"3", "g/x": b""}, "", r"its records are in 2 folders \(f, g\), not in one"),
        ({}, "", "its records are in 0 folders"),
    ],
)
def test_an_archive_that_is_not_pytorchs_is_refused(records: dict[str, bytes], folder: str, message: str) -> None:
    with pytest.raises(ArchiveError, match=message):
        ArchiveReader(packed(records, folder=folder))


def test_records_that_lie_over_each_other_are_refused() -> None:
    data = bytearray(packed({"version": b"3", "a": bytes(500), "b": b""}).getvalue())
    place = data.rindex(b"f/b") - 4  # where the directory says that b begins
    data[place : place + 4] = struct.pack("<I", data.index(b"f/a") - 20)
    with pytest.raises(ArchiveError, match="the records 'a' and 'b' lie over each other"):
        ArchiveReader(io.BytesIO(data))


def test_a_record_listed_twice_is_refused() -> None:
    data = packed({"version": b"3", "another": b"4"}).getvalue().replace(b"another", b"version")
    with pytest.raises(ArchiveError, match="the directory lists the record 'version' twice"):
        ArchiveReader(io.BytesIO(data))


def test_an_encrypted_record_is_refused() -> None:
    data = bytearray(packed(RECORDS).getvalue())
    place = data.rindex(b"f/data/0") - 38  # the flags in the directory
    data[place] |= 1
    with pytest.raises(ArchiveError, match="the record 'data/0' is encrypted or packed by a method that is not known"):
        ArchiveReader(io.BytesIO(data))


def test_an_archive_may_follow_something_else_and_bytes_may_follow_it() -> None:
    file = io.BytesIO(b"before" + packed(RECORDS).getvalue() + b"after")
    file.seek(6)
    assert ArchiveReader(file).read_record("data.pkl") == RECORDS["data.pkl"]


@pytest.mark.parametrize("data", [b"", b"PK\3\4", b"PK\5\6" + bytes(18), b"PK\3\4" + bytes(1000)])
def test_what_has_no_directory_is_refused(data: bytes) -> None:
    with pytest.raises(ArchiveError, match="PytorchStreamReader failed reading zip archive"):
        ArchiveReader(io.BytesIO(data))
