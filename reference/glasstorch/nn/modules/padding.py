"""Which layers pad?

Mirrors: torch/nn/modules/padding.py
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor
from glasstorch.nn import functional as F
from glasstorch.nn.functions.tuples import for_each
from glasstorch.nn.modules.module import Module
from glasstorch.nn.modules.utils import _ntuple as _ntuple
from glasstorch.nn.modules.utils import _pair as _pair
from glasstorch.nn.modules.utils import _quadruple as _quadruple

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

Padding = int | Sequence[int]


class _PadNd(Module):
    """Padding of the last `dims` dimensions: one number for all borders, or two for each, the last dimension first."""

    __constants__: tuple[str, ...] = ("padding",)
    dims: int
    mode: str

    def __init__(self, padding: Padding) -> None:
        super().__init__()
        self.padding = for_each(2 * self.dims, padding)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    __constants__ = ("padding", "value")
    mode = "constant"

    def __init__(self, padding: Padding, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pad (..., W) with a number."""

    dims = 1


class ConstantPad2d(_ConstantPadNd):
    """Pad (..., H, W) with a number."""

    dims = 2


class ConstantPad3d(_ConstantPadNd):
    """Pad (..., D, H, W) with a number."""

    dims = 3


class ZeroPad1d(ConstantPad1d):
    """Pad (..., W) with zeros."""

    def __init__(self, padding: Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Pad (..., H, W) with zeros."""

    def __init__(self, padding: Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Pad (..., D, H, W) with zeros."""

    def __init__(self, padding: Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReflectionPadNd(_PadNd):
    mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Continue (C, W) or (N, C, W) with itself, mirrored at the border."""

    dims = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Continue (C, H, W) or (N, C, H, W) with itself, mirrored at the border."""

    dims = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Continue (C, D, H, W) or (N, C, D, H, W) with itself, mirrored at the border."""

    dims = 3


class _ReplicationPadNd(_PadNd):
    mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Continue (C, W) or (N, C, W) with the elements at its border."""

    dims = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Continue (C, H, W) or (N, C, H, W) with the elements at its border."""

    dims = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Continue (C, D, H, W) or (N, C, D, H, W) with the elements at its border."""

    dims = 3


class _CircularPadNd(_PadNd):
    mode = "circular"

    def _check_input_dim(self, input: Tensor) -> None:
        least = self.dims + 1
        if input.dim() not in (least, least + 1):
            raise ValueError(f"expected {least}D or {least + 1}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """Continue (C, W) or (N, C, W) with its other end."""

    dims = 1


class CircularPad2d(_CircularPadNd):
    """Continue (C, H, W) or (N, C, H, W) with its other ends."""

    dims = 2


class CircularPad3d(_CircularPadNd):
    """Continue (C, D, H, W) or (N, C, D, H, W) with its other ends."""

    dims = 3
