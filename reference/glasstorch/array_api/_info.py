"""What does the namespace say about itself?

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
    """What the namespace can do, on which devices, with which dtypes."""

    def capabilities(self) -> dict[str, bool | int]:
        """What it can do that the standard leaves open."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Where arrays are made unless one says otherwise."""
        return CPU

    def devices(self) -> tuple[Device, ...]:
        """Where arrays can be made; a CUDA device is in it if there is one."""
        return (CPU, *(Device(f"cuda:{i}") for i in range(cuda.device_count())))

    def default_dtypes(self, *, device: Device | None = None) -> dict[str, dtype]:
        """The dtypes of arrays made from Python numbers, and of indices."""
        return {
            "real floating": get_default_dtype(),
            "complex floating": get_default_complex_dtype(),
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(self, *, device: Device | None = None, kind: str | tuple[str, ...] | None = None) -> dict[str, dtype]:
        """The dtypes of the standard, or those of a kind."""
        return {name: BY_NAME[name] for name in NAMES if kind is None or isdtype(BY_NAME[name], kind)}
