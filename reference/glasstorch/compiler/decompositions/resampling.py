"""Of what is resampling made?

Mirrors: torch/_decomp/decompositions.py (upsample_compute_output_size, _upsample_nearest, _upsample_linear)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.decompositions.shared import cast, wide, with_rank
from glasstorch.compiler.decompositions.table import decomposes
from glasstorch.core.dtype import float32, float64, int64
from glasstorch.operators.generated import functions as f

Sizes = Sequence[int]


def _nearest(self: Tensor, output_size: Sizes, scales: Sequence[float | None], exact: bool) -> Tensor:
    places: list[Any] = []
    for i, (size, scale) in enumerate(zip(output_size, scales, strict=True)):
        given = self.shape[2 + i]
        step = given / size if scale is None else 1.0 / scale
        position = f.arange(size, dtype=float32, device=self.device)
        index = f.clamp(((position + 0.5 if exact else position) * step).to(int64), max=given - 1)
        places.append(with_rank(index, len(output_size) - i))
    return f.index(self, [None, None, *places])


@decomposes("upsample_nearest1d", fuses=False)
def upsample_nearest1d(self: Tensor, output_size: Sizes, scales: float | None = None) -> Tensor:
    """The element that lies below each place."""
    return _nearest(self, output_size, [scales], False)


@decomposes("_upsample_nearest_exact1d", fuses=False)
def upsample_nearest_exact1d(self: Tensor, output_size: Sizes, scales: float | None = None) -> Tensor:
    """The element nearest to the middle of each place."""
    return _nearest(self, output_size, [scales], True)


@decomposes("upsample_nearest2d", fuses=False)
def upsample_nearest2d(
    self: Tensor, output_size: Sizes, scales_h: float | None = None, scales_w: float | None = None
) -> Tensor:
    """The same in two dimensions."""
    return _nearest(self, output_size, [scales_h, scales_w], False)


@decomposes("_upsample_nearest_exact2d", fuses=False)
def upsample_nearest_exact2d(
    self: Tensor, output_size: Sizes, scales_h: float | None = None, scales_w: float | None = None
) -> Tensor:
    """The same in two dimensions."""
    return _nearest(self, output_size, [scales_h, scales_w], True)


@decomposes("upsample_nearest3d", fuses=False)
def upsample_nearest3d(
    self: Tensor,
    output_size: Sizes,
    scales_d: float | None = None,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    """The same in three dimensions."""
    return _nearest(self, output_size, [scales_d, scales_h, scales_w], False)


@decomposes("_upsample_nearest_exact3d", fuses=False)
def upsample_nearest_exact3d(
    self: Tensor,
    output_size: Sizes,
    scales_d: float | None = None,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    """The same in three dimensions."""
    return _nearest(self, output_size, [scales_d, scales_h, scales_w], True)


def _linear(self: Tensor, output_size: Sizes, align: bool, scales: Sequence[float | None]) -> Tensor:
    x = wide(self)
    for i, (size, scale) in enumerate(zip(output_size, scales, strict=True)):
        dim, given = 2 + i, self.shape[2 + i]
        computed = float64 if x.dtype is float64 else float32
        position = f.arange(size, dtype=computed, device=self.device)
        if align:
            position = position * ((given - 1) / (size - 1) if size > 1 else 0.0)
        else:
            step = given / size if scale is None or scale <= 0 else 1.0 / scale
            position = f.clamp((position + 0.5) * step - 0.5, min=0.0)
        low = f.clamp(position.to(int64), max=given - 1)
        high = f.clamp(low + 1, max=given - 1)
        weight = with_rank(f.clamp(position - low, 0.0, 1.0).to(x.dtype), self.dim() - dim)
        before = [None] * dim
        first, second = f.index(x, [*before, low]), f.index(x, [*before, high])
        x = first + (second - first) * weight
    return cast(x, self.dtype)


@decomposes("upsample_linear1d", fuses=False)
def upsample_linear1d(self: Tensor, output_size: Sizes, align_corners: bool, scales: float | None = None) -> Tensor:
    """Between the two nearest elements, by their distance."""
    return _linear(self, output_size, align_corners, [scales])


@decomposes("upsample_bilinear2d", fuses=False)
def upsample_bilinear2d(
    self: Tensor,
    output_size: Sizes,
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    """The same in two dimensions, one after the other."""
    return _linear(self, output_size, align_corners, [scales_h, scales_w])


@decomposes("upsample_trilinear3d", fuses=False)
def upsample_trilinear3d(
    self: Tensor,
    output_size: Sizes,
    align_corners: bool,
    scales_d: float | None = None,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    """The same in three dimensions."""
    return _linear(self, output_size, align_corners, [scales_d, scales_h, scales_w])
