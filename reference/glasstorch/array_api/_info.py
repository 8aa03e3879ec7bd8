"""What can a program ask about the namespace: capabilities, devices, dtypes?

Mirrors: nothing in torch; the standard's inspection functions
"""

from __future__ import annotations

from glasstorch import cuda
from glasstorch.array_api._dtypes import isdtype
from glasstorch.core.device import CPU
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import BY_NAME, dtype, get_default_complex_dtype, get_default_dtype, int64

NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)


class __array_namespace_info__:
    """The namespace's capabilities, devices and dtypes."""

    def capabilities(self) -> dict[str, bool | int]:
        """Which of the standard's optional features exist."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """The device of arrays that are made without naming one."""
        return CPU

    def devices(self) -> list[Device]:
        """The devices on which arrays can be made, with CUDA devices if there are any."""
        return [CPU, *(Device(f"cuda:{i}") for i in range(cuda.device_count()))]

    def default_dtypes(self, *, device: Device | None = None) -> dict[str, dtype]:
        """The default dtypes of arrays made from Python numbers, and of indices."""
        return {
            "real floating": get_default_dtype(),
            "complex floating": get_default_complex_dtype(),
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(self, *, device: Device | None = None, kind: str | tuple[str, ...] | None = None) -> dict[str, dtype]:
        """The dtypes of the standard, all or of one kind."""
        return {name: BY_NAME[name] for name in NAMES if kind is None or isdtype(BY_NAME[name], kind)}
