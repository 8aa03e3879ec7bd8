"""Which device is meant, where a program names the accelerator by an index, a device or not at all?

Mirrors: torch/accelerator/_utils.py, c10/core/impl/VirtualGuardImpl.h
"""

from __future__ import annotations

from glasstorch import cuda
from glasstorch.core.device import device as Device

On = Device | str | int | None


def require() -> None:
    """RuntimeError where there is no accelerator."""
    if not cuda.is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")


def index_of(device: On, optional: bool = True) -> int:
    """The index of a device, by default the current one; a device of another kind is refused."""
    require()
    if device is None and optional:
        return cuda.current_device()
    if isinstance(device, int):
        return device
    on = Device(device)  # type: ignore[arg-type]
    if on.type != "cuda":
        raise ValueError(f"{on.type} doesn't match the current accelerator cuda.")
    return cuda.current_device() if on.index is None else on.index
