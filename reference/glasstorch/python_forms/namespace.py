"""Which methods of the array API standard does a tensor have?

Mirrors: nothing in torch; the standard's array object (__array_namespace__, to_device)
Differs: the facade provides the namespace (core/hooks.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.core import hooks

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


def array_namespace(self: Tensor, /, *, api_version: str | None = None) -> Any:
    """The module `glasstorch.array_api`, which follows the array API standard.

    `api_version` may name an edition of it: the namespace has the functions of all editions up to 2024.12.
    """
    if api_version is not None and api_version not in VERSIONS:
        raise ValueError(f"array API version {api_version!r} is not supported; expected one of {', '.join(VERSIONS)}")
    return hooks.array_namespace()


def to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """The tensor on another device; itself if it is already there. Only the current stream is supported."""
    if stream is not None:
        raise ValueError(f"to_device copies on the current stream; expected stream=None, got {stream!r}")
    return self.to(device)
