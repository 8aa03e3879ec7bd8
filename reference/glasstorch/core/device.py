"""Where do a tensor's bytes live?

Mirrors: c10/core/Device.h, c10/core/DeviceType.h; torch/utils/_device.py, torch/__init__.py (set_default_device)
Differs: only `cpu`, `meta` and `cuda` hold tensors; a device of another of PyTorch's types can be named, compared and
    saved, and is refused when a tensor is to be there. The default device is not a
    mode over Python's functions: it is read where a factory chooses its backend (kernels/backend_select.py), also in
    factories that other operators call, and in `normal` and `range`, which PyTorch leaves on the CPU.
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import ClassVar, Final, NamedTuple

from glasstorch.core.errors import DeviceError

TYPES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip
DEVICE = re.compile(r"(?P<type>[a-z]+)(?::(?P<index>0|[1-9]\d*))?")


class device:
    """A device type with an optional index; equal descriptions are the same object.

    >>> device("cuda:1").index
    1
    >>> device("cpu") is device("cpu")
    True
    >>> device(1)
    device(type='cuda', index=1)
    >>> device("mps")  # which holds no tensors here
    device(type='mps')
    """

    __slots__ = ("index", "type")
    _interned: ClassVar[dict[tuple[str, int | None], device]] = {}

    type: str
    index: int | None

    def __new__(cls, type: str | device | int, index: int | None = None) -> device:  # noqa: PYI034  (interned, not made)
        if isinstance(type, device):
            return type
        if isinstance(type, int) and not isinstance(type, bool) and index is None:
            return cls("cuda", type)  # an index alone means an accelerator
        if not isinstance(type, str):
            raise TypeError(f"device(): expected a string such as 'cpu' or 'cuda:0', got {type!r}")
        match = DEVICE.fullmatch(type)
        if match is None:
            raise DeviceError(f"Invalid device string: '{type}'; expected a type with an optional index: 'cuda:0'")
        if match["index"] is not None and index is not None:
            raise DeviceError(f"device(): the index is given twice, in {type!r} and as {index}")
        if match["index"] is not None:
            index = int(match["index"])
        if match["type"] not in TYPES:
            raise DeviceError(
                f"Expected one of {', '.join(TYPES)} device type at start of device string: {match['type']}"
            )
        key = (match["type"], index)
        found = cls._interned.get(key)
        if found is None:
            found = object.__new__(cls)
            object.__setattr__(found, "type", match["type"])
            object.__setattr__(found, "index", index)
            found = cls._interned.setdefault(key, found)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"device is immutable: cannot set {name} to {value!r}")

    def __repr__(self) -> str:
        return (
            f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"
        )

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> tuple[object, ...]:
        return device, (self.type,) if self.index is None else (self.type, self.index)

    def __enter__(self) -> device:  # noqa: PYI034  (interned: there are no instances of subclasses)
        base, inner = _defaults.get()
        _defaults.set(Defaults(base, (*inner, self)))
        chosen.ever = True
        return self

    def __exit__(self, *raised: object) -> None:
        base, inner = _defaults.get()
        _defaults.set(Defaults(base, inner[:-1]))


CPU = device("cpu")
META = device("meta")
WITH_TENSORS = ("cpu", "cuda", "meta")


def no_tensors_on(type: str) -> DeviceError:
    """The error for a tensor on a device of a type that can only be named."""
    return DeviceError(f"there are no tensors on a device of type '{type}'; expected one of {', '.join(WITH_TENSORS)}")


# The device of a tensor that is made without saying it ------------------------------------------------------------


class Defaults(NamedTuple):
    """The default devices: the one that was set, and those of the `with` blocks around, of which the last one holds."""

    base: device | None
    inner: tuple[device, ...]


class Chosen:
    """Whether a default device was ever chosen in this process: nearly no program does, and then nobody need look."""

    ever = False


NOTHING_CHOSEN: Final = Defaults(None, ())
_defaults: Final[ContextVar[Defaults]] = ContextVar("default devices", default=NOTHING_CHOSEN)
chosen: Final = Chosen()


def chosen_device() -> device | None:
    """The device of new tensors, if one was chosen."""
    base, inner = _defaults.get()
    return inner[-1] if inner else base


def set_default_device(device: device | str | int | None) -> None:
    """Make tensors on this device where none is given, in this thread; None is the CPU again.

    For a while, `with torch.device("meta"):` does the same.
    """
    base = None if device is None else _Device(device)
    _defaults.set(Defaults(base, _defaults.get().inner))
    chosen.ever = True


_Device = device  # for the function above, which has a parameter of its name
