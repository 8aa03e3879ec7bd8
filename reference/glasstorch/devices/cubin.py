"""Which facts about a kernel are read from its cubin?

A cubin is an ELF file (64 bit, little-endian). Its section `.nv.info.KERNEL` is a list of attributes: one byte of
form, one of attribute, then 16 bits of value; in the sized form these are the number of bytes that follow.

Mirrors: nothing in PyTorch; `cuobjdump --dump-elf` and `nvdisasm` print the same (EIATTR_KPARAM_INFO,
    EIATTR_MAX_THREADS)
Differs: only what a launch needs is read: the parameters, and the maximum number of threads per block.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import NamedTuple

SIZED = 0x04  # a form
MAX_THREADS, PARAMETER = 0x05, 0x17  # attributes
PREFIX = ".nv.info."


class Attribute(NamedTuple):
    """One fact about one kernel."""

    kernel: str
    kind: int
    value: bytes


class Slot(NamedTuple):
    """The offset and size, in bytes, of one parameter among the kernel's parameters."""

    offset: int
    size: int


def attributes(cubin: bytes) -> Iterator[Attribute]:
    """The sized attributes of all kernels."""
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    width, count, names = struct.unpack_from("<3H", cubin, 0x3A)
    sections = [struct.unpack_from("<2I4Q", cubin, table + index * width) for index in range(count)]
    text = sections[names][4]
    for name_at, _, _, _, position, size in sections:
        name = cubin[text + name_at : cubin.index(b"\0", text + name_at)].decode()
        end = position + size if name.startswith(PREFIX) else position
        while position < end:
            form, kind, number = struct.unpack_from("<2BH", cubin, position)
            position += 4
            if form == SIZED:
                yield Attribute(name.removeprefix(PREFIX), kind, cubin[position : position + number])
                position += number


def max_threads(cubin: bytes) -> dict[str, int]:
    """The maximum number of threads per block of each kernel with `__launch_bounds__`."""
    return {a.kernel: math.prod(struct.unpack("<3I", a.value)) for a in attributes(cubin) if a.kind == MAX_THREADS}


def parameters(cubin: bytes, kernel: str) -> tuple[Slot, ...]:
    """The parameters of one kernel, in their order."""
    found = {}
    for attribute in attributes(cubin):
        if attribute.kernel == kernel and attribute.kind == PARAMETER:
            _, position, offset, flags = struct.unpack("<I2HI", attribute.value)
            found[position] = Slot(offset, flags >> 18)
    return tuple(found[position] for position in range(len(found)))
