"""Which bytes make up the archive that a checkpoint is?

Mirrors: third_party/miniz-3.0.2/miniz.c (the structures of a zip file),
    caffe2/serialize/inline_container.cc (getPadding), inline_container.h (the versions)

A zip file is a row of records and a directory of them at the end:

    local header, name, extra field, data, descriptor     once for each record
    directory entry, name, extra field                    once for each record
    end64, locator, end                                   where the directory is, and how many entries it has

PyTorch's archives put all records in one folder, store data as it is, and fill the extra field so that the data of each
record begins at a multiple of 64 bytes: a mapped file then is a row of aligned storages. Size and checksum stand in the
descriptor and in the directory, not in the local header.
"""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from glasstorch.core.errors import Rule

LOCAL: Final = Struct("<IHHHHHIIIHH")
ENTRY: Final = Struct("<IHHHHHHIIIHHHHHII")
END: Final = Struct("<IHHHHIIH")
END64: Final = Struct("<IQHHIIQQQQ")
LOCATOR: Final = Struct("<IIQI")
DESCRIPTOR: Final = Struct("<IIII")
DESCRIPTOR64: Final = Struct("<IIQQ")

LOCAL_SIGNATURE: Final = 0x04034B50  # "PK\3\4"
ENTRY_SIGNATURE: Final = 0x02014B50
END_SIGNATURE: Final = 0x06054B50
END64_SIGNATURE: Final = 0x06064B50
LOCATOR_SIGNATURE: Final = 0x07064B50
DESCRIPTOR_SIGNATURE: Final = 0x08074B50

ENCRYPTED: Final = 1 << 0  # flags of a record
HAS_DESCRIPTOR: Final = 1 << 3
UTF8_NAME: Final = 1 << 11
STORED, DEFLATED = 0, 8  # methods of compression

MOST_16: Final = 0xFFFF  # a field of the directory with this value is continued in an extra field or in end64
MOST_32: Final = 0xFFFFFFFF
ZIP64: Final = 1  # the kind of extra field that holds sizes and offsets of 64 bits
PADDING: Final = 0x4246  # "FB", the kind that PyTorch pads with

SUPPORTED: Final = range(1, 11)  # versions of PyTorch's file format that can be read
PRODUCED: Final = b"3\n"
SERIALIZATION_ID: Final = ".data/serialization_id"


class ArchiveError(Rule, RuntimeError):
    """An archive is damaged, is not one of PyTorch's, or lacks a record."""


class Record(NamedTuple):
    """What the directory says about one record; sizes and offsets in bytes from the start of the archive."""

    name: str  # without the folder
    header: int
    nbytes: int
    stored: int  # how many bytes it takes in the file
    crc: int
    flags: int
    method: int


def mixed(seed: int, value: int) -> int:
    """Two hashes as one (c10::hash_combine).

    >>> mixed(0, 1) == 0x9E3779BA
    True
    """
    return seed ^ ((value + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & 0xFFFF_FFFF_FFFF_FFFF)


def zip64_field(nbytes: int, header: int) -> bytes:
    """The extra field for a record whose size or place does not fit into 32 bits; empty for others."""
    values = [nbytes, nbytes] * (nbytes >= MOST_32) + [header] * (header >= MOST_32)
    return Struct(f"<HH{len(values)}Q").pack(ZIP64, 8 * len(values), *values) if values else b""


def padding_field(start: int, alignment: int) -> bytes:
    """The extra field after which data begins at a multiple of `alignment`, if the field begins at `start`."""
    padding = -(start + 4) % alignment
    return Struct("<HH").pack(PADDING, padding) + b"Z" * padding
