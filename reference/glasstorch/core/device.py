"""Where do a tensor's bytes live?

Mirrors: c10/core/Device.h, c10/core/DeviceType.h
Differs: `cpu`, `meta` and `cuda` only; other names of PyTorch are refused with a message.
"""

from __future__ import annotations

import re
from typing import ClassVar

from glasstorch.core.errors import DeviceError

TYPES = ("cpu", "cuda", "meta")
DEVICE = re.compile(r"(?P<type>[a-z]+)(?::(?P<index>0|[1-9]\d*))?")


class device:
    """A device type with an optional index; equal descriptions are the same object.

    >>> device("cuda:1").index
    1
    >>> device("cpu") is device("cpu")
    True
    >>> device(1)
    device(type='cuda', index=1)
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


CPU = device("cpu")
META = device("meta")
