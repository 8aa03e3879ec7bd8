"""How do a launch's arguments become the bytes that a kernel reads?

Mirrors: the `kernelParams` of cuLaunchKernel; cupy/cuda/function.pyx (_pointer)
Differs: counts and types are compared with the kernel's signature, where CUDA copies whatever bytes it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from glasstorch.core.errors import ArgumentTypeError
from glasstorch.devices.driver import Argument, Parameter


class Packed(NamedTuple):
    """The bytes of all arguments, each aligned for its type, and their offsets."""

    values: bytes
    offsets: int  # the address of one 32-bit number for each argument; they live as long as the process


class _Layout(NamedTuple):
    """The part of packing that is computed once for a signature."""

    offsets: np.ndarray[tuple[int, ...], np.dtype[np.uint32]]
    address: int  # of the offsets
    pointers: tuple[bool, ...]
    types: tuple[type[np.generic] | None, ...]  # the usual type of an argument; None for an address
    widths: tuple[int, ...]  # bytes from one argument to the next


ALIGNMENT = 16  # bytes; no type of CUDA C++ wants more


@cache  # never emptied: `Packed` holds addresses into it
def _layout(signature: tuple[Parameter, ...]) -> _Layout:
    sizes = [8 if parameter.pointer else parameter.size for parameter in signature]
    widths = tuple(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes)
    offsets = np.array([sum(widths[:number]) for number in range(len(widths))], np.uint32)
    types = tuple(
        None if parameter.pointer or parameter.kind == "V" else np.dtype(f"{parameter.kind}{parameter.size}").type
        for parameter in signature
    )
    pointers = tuple(parameter.pointer for parameter in signature)
    return _Layout(offsets, offsets.ctypes.data, pointers, types, widths)


def pack(  # hot path: benchmarks/gpu.py
    name: str, signature: tuple[Parameter, ...], arguments: Sequence[Argument]
) -> Packed:
    """Copy the arguments of a launch of the kernel `name`. ArgumentTypeError where they do not fit its signature.

    A pointer is a Python int; a value is a NumPy scalar of exactly the parameter's type; a structure is a NumPy void
    scalar of its size.
    """
    if len(arguments) != len(signature):
        raise ArgumentTypeError(f"{name}: {len(arguments)} arguments were given, the kernel has {_listed(signature)}")
    _, address, pointers, types, widths = _layout(signature)
    pieces = []
    for number, argument in enumerate(arguments):
        if type(argument) is int and pointers[number]:
            pieces.append(argument.to_bytes(ALIGNMENT, "little"))
        elif type(argument) is types[number]:
            pieces.append(argument.tobytes().ljust(ALIGNMENT, b"\0"))
        else:
            pieces.append(_other(name, number, signature[number], argument).ljust(widths[number], b"\0"))
    return Packed(b"".join(pieces), address)


def _other(name: str, number: int, parameter: Parameter, argument: object) -> bytes:
    """The bytes of an argument that is neither an address nor of the usual type, if it fits all the same."""
    if isinstance(argument, np.generic) and not parameter.pointer and argument.dtype.itemsize == parameter.size:
        kind = "V" if argument.dtype.kind == "V" else argument.dtype.kind
        if parameter.kind in (kind, "V"):
            return argument.tobytes()
    given = f"{argument.dtype}" if isinstance(argument, np.generic) else f"a Python {type(argument).__name__}"
    accepted = "an address (int)" if parameter.pointer else _numpy_name(parameter)
    raise ArgumentTypeError(f"{name}: argument {number} is {given}, the parameter is {parameter}; expected {accepted}")


def _numpy_name(parameter: Parameter) -> str:
    if parameter.kind == "V":
        return f"a NumPy scalar of {parameter.size} bytes"
    return f"numpy.{np.dtype(f'{parameter.kind}{parameter.size}').name}"


def _listed(signature: tuple[Parameter, ...]) -> str:
    return f"{len(signature)} parameters ({', '.join(map(str, signature))})"
