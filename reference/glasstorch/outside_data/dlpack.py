"""What does a DLPack capsule contain, and who frees it?

Mirrors: aten/src/ATen/dlpack.h, aten/src/ATen/DLConvertor.cpp
Differs: NumPy creates and frees the capsules that we export: it can do that even after the interpreter has shut
    down. A dtype or device that NumPy lacks is replaced by one it has (bfloat16 by uint16, a GPU by the CPU), and the
    capsule is corrected before it is handed out.
"""

from __future__ import annotations

import ctypes
import enum
from typing import Any, NamedTuple

import numpy as np

from glasstorch.core.device import CPU, device, device_from
from glasstorch.core.dtype import DTYPES, dtype
from glasstorch.core.errors import ArgumentError, ArgumentTypeError
from glasstorch.core.geometry import Shape, contiguous_strides

VERSION = (1, 0)  # the newest version of the capsule layout that is supported

READ_ONLY, IS_COPIED = 1, 2  # flags of versioned capsules: read-only; a copy that the consumer owns

INT, UNSIGNED, FLOAT, BFLOAT, COMPLEX, BOOL, FLOAT8_E4M3FN, FLOAT8_E5M2 = 0, 1, 2, 4, 5, 6, 10, 12  # DLDataTypeCode
OWN_CODES = {"bool": BOOL, "bfloat16": BFLOAT, "float8_e4m3fn": FLOAT8_E4M3FN, "float8_e5m2": FLOAT8_E5M2}
CODE_OF_KIND = {"i": INT, "u": UNSIGNED, "f": FLOAT, "c": COMPLEX}
# dtype -> (code, bits of an element)
CODES = {d: (OWN_CODES.get(d.name, CODE_OF_KIND.get(d.numpy.kind, -1)), 8 * d.itemsize) for d in DTYPES}
BY_CODE = {code: d for d, code in CODES.items()}


class DLDeviceType(enum.IntEnum):
    """The kinds of devices that DLPack numbers."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


ON_HOST = (DLDeviceType.kDLCPU, DLDeviceType.kDLCUDAHost)
ON_CUDA = (DLDeviceType.kDLCUDA, DLDeviceType.kDLCUDAManaged)


class _Tensor(ctypes.Structure):
    """DLTensor; its data type is two bytes and a count of lanes."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _ManagedVersioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


LAYOUTS: dict[bytes, type[ctypes.Structure]] = {b"dltensor": _Managed, b"dltensor_versioned": _ManagedVersioned}
USED = {b"dltensor": b"used_dltensor", b"dltensor_versioned": b"used_dltensor_versioned"}
_used_names = {name: ctypes.create_string_buffer(name) for name in USED.values()}  # a capsule keeps only the address

_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_int
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
_set_name = ctypes.pythonapi.PyCapsule_SetName
_set_name.argtypes, _set_name.restype = (ctypes.py_object, ctypes.c_void_p), ctypes.c_int
_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Lent:
    """Memory received in a capsule; the capsule's deleter is called once, when this object dies."""

    __slots__ = ("__array_interface__", "_delete", "_managed", "address", "nbytes")

    def __init__(self, managed: Any, address: int, nbytes: int, read_only: bool) -> None:
        self._managed = ctypes.addressof(managed)
        self._delete = _DELETER(managed.deleter) if managed.deleter else None
        self.address = address
        self.nbytes = nbytes
        self.__array_interface__ = {
            "data": (address, read_only),
            "shape": (nbytes,),
            "typestr": "|u1",
            "version": 3,
        }

    def record_stream(self, stream: int) -> None:
        """Do nothing: the producer was given the consumer's stream when it made the capsule."""

    def __del__(self) -> None:
        if self._delete is not None:
            self._delete(self._managed)


class Described(NamedTuple):
    """A tensor as a capsule describes it; strides and offset count elements from the first byte of `memory`."""

    memory: Lent
    dtype: dtype
    shape: Shape
    strides: Shape
    on: device
    copied: bool


def is_capsule(value: object) -> bool:
    """Whether a value is a DLPack capsule that has not been consumed yet."""
    return any(_is_valid(value, name) for name in LAYOUTS)


def consume(capsule: object) -> Described:
    """Take ownership of a capsule's contents; the capsule cannot be used again."""
    name = next((name for name in LAYOUTS if _is_valid(capsule, name)), None)
    if name is None:
        raise ArgumentError(
            f"from_dlpack received an invalid capsule: {capsule!r}. Note that DLTensor capsules can be consumed only "
            f"once, so you might have already constructed a tensor from it once."
        )
    managed: Any = LAYOUTS[name].from_address(_pointer(capsule, name))
    if name == b"dltensor_versioned" and managed.major > VERSION[0]:
        raise BufferError(f"from_dlpack: the capsule is of version {managed.major}, newer than {VERSION[0]}")
    held = managed.tensor
    wanted = BY_CODE.get((held.code, held.bits))
    if wanted is None or held.lanes != 1:
        raise BufferError(
            f"Unsupported DLPack dtype: code {held.code} with {held.bits} bits and {held.lanes} lanes; expected one of "
            f"{', '.join(d.name for d in CODES)}"
        )
    on = described_device(held.device_type, held.device_id)
    shape = tuple(held.shape[: held.ndim])
    strides = tuple(held.strides[: held.ndim]) if held.strides else contiguous_strides(shape)
    if any(step < 0 for step in strides):
        raise BufferError(f"from_dlpack: negative strides are not supported, got strides {list(strides)}")
    reach = 0 if 0 in shape else 1 + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
    address = (held.data or 0) + held.byte_offset
    flags = managed.flags if name == b"dltensor_versioned" else 0
    _set_name(capsule, ctypes.addressof(_used_names[USED[name]]))
    lent = Lent(managed, address, reach * wanted.itemsize, bool(flags & READ_ONLY))
    return Described(lent, wanted, shape, strides, on, bool(flags & IS_COPIED))


def produce(
    array: np.ndarray[Any, Any],
    of: dtype,
    on: tuple[int, int],
    versioned: bool,
    copied: bool = False,
    strides: Shape | None = None,
) -> object:
    """A capsule over an array's memory, which it keeps alive.

    `array` may have any dtype of the same size as `of`, and lie at device addresses. `strides`, in elements, are
    the array's own unless it has no elements.
    """
    name = b"dltensor_versioned" if versioned else b"dltensor"
    if of.name in OWN_CODES and of.name != "bool":
        array = array.view(f"u{of.itemsize}")
    capsule = array.__dlpack__(max_version=VERSION if versioned else None)
    managed: Any = LAYOUTS[name].from_address(_pointer(capsule, name))
    held = managed.tensor
    held.code, held.bits = CODES[of]
    held.device_type, held.device_id = on
    if strides is not None and held.strides:
        for dim, step in enumerate(strides):
            held.strides[dim] = step  # NumPy drops the strides of an empty array
    if versioned and copied:
        managed.flags |= IS_COPIED
    return capsule


def described_device(kind: int, index: int) -> device:
    """The device for DLPack's pair of device type and index."""
    if kind in ON_HOST:
        return CPU
    if kind in ON_CUDA:
        return device_from("cuda", index)
    raise ArgumentTypeError(f"Unsupported device_type: {kind}; expected a CPU (1, 3) or CUDA (2, 13) device of DLPack")
