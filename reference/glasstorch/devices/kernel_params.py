"""How are a kernel's arguments passed to cuLaunchKernel?

Mirrors: the `kernelParams` of cuLaunchKernel; torch/cuda/_utils.py (_CudaKernel.__call__), cupy/cuda/function.pyx
Differs: their number and sizes are compared with those of the compiled kernel. A cubin has no types, so an int in place
    of a float is detected only on the simulated device.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from glasstorch.core.errors import ArgumentTypeError
from glasstorch.devices.cubin import Slot
from glasstorch.devices.driver import Argument

ADDRESS_SIZE = 8  # bytes


class KernelParams:
    """Copies of the arguments of one launch, as cuLaunchKernel takes them: an array of pointers to the values.

    ArgumentTypeError if their number or a size differs from the kernel's parameters.
    """

    __slots__ = ("_pointers", "_values", "address")

    def __init__(self, kernel: str, slots: Sequence[Slot], arguments: Sequence[Argument]) -> None:
        if len(arguments) != len(slots):
            raise ArgumentTypeError(
                f"{kernel}: {len(arguments)} arguments were given, the kernel has {len(slots)} parameters"
            )
        end = slots[-1].offset + slots[-1].size if slots else 0
        self._values = ctypes.create_string_buffer(end)
        base = ctypes.addressof(self._values)
        for index, (slot, argument) in enumerate(zip(slots, arguments, strict=True)):
            value = (
                argument.tobytes() if isinstance(argument, np.generic) else argument.to_bytes(ADDRESS_SIZE, "little")
            )
            if len(value) != slot.size:
                what = argument.dtype if isinstance(argument, np.generic) else "an address"
                raise ArgumentTypeError(
                    f"{kernel}: argument {index} is {what} ({len(value)} bytes), the parameter has {slot.size} bytes"
                )
            ctypes.memmove(base + slot.offset, value, slot.size)
        self._pointers = (ctypes.c_void_p * len(slots))(*(base + slot.offset for slot in slots))
        self.address = ctypes.addressof(self._pointers)
