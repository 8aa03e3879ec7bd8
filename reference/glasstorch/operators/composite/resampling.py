"""How are sizes found from scales, grids made of affine maps, and samplers chosen?

Mirrors: aten/src/ATen/native/UpSample.cpp (compute_output_size), UpSampleBilinear2d.cpp (upsample_bilinear2d) and the
    files beside it, GridSampler.cpp (grid_sampler), AffineGridGenerator.cpp
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.operators.direct import on_tensor
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Ints = Sequence[int]
Floats = Sequence[float]
SIZES_OR_SCALES = "Must specify exactly one of output_size and scale_factors"

# Another size ---------------------------------------------------------------------------------------------------


def _output_size(sizes: Ints, output_size: Ints | None, scale_factors: Floats | None) -> Ints:
    """The sizes asked for, or those of the input times the factors, rounded towards zero."""
    if (output_size is None) == (scale_factors is None):
        raise ArgumentError(SIZES_OR_SCALES)
    given = output_size if output_size is not None else scale_factors
    assert given is not None
    if len(given) != len(sizes) - 2:
        name = "output_size" if output_size is not None else "scale_factors"
        raise ShapeError(
            f"expected {len(sizes) - 2} numbers as {name}, one for each spatial dimension of an input with sizes "
            f"{list(sizes)}, got {len(given)}"
        )
    if output_size is not None:
        return output_size
    return [int(size * factor) for size, factor in zip(sizes[2:], given, strict=True)]


def _by_scales(name: str, dims: int, aligns: bool) -> Callable[..., Tensor]:
    """The operator that takes sizes or scales, made of the one that takes sizes and perhaps scales."""
    operator = on_tensor(name)

    def scales(factors: Floats | None) -> Sequence[float | None]:
        return [None] * dims if factors is None else factors

    def upsample(input: Tensor, output_size: Ints | None, align_corners: bool, scale_factors: Floats | None) -> Tensor:
        sizes = _output_size(input._shape, output_size, scale_factors)
        return operator(input, sizes, align_corners, *scales(scale_factors))

    def upsample_nearest(input: Tensor, output_size: Ints | None, scale_factors: Floats | None) -> Tensor:
        sizes = _output_size(input._shape, output_size, scale_factors)
        return operator(input, sizes, *scales(scale_factors))

    return upsample if aligns else upsample_nearest


upsample_nearest1d = _by_scales("upsample_nearest1d", 1, aligns=False)
upsample_nearest2d = _by_scales("upsample_nearest2d", 2, aligns=False)
upsample_nearest3d = _by_scales("upsample_nearest3d", 3, aligns=False)
_upsample_nearest_exact1d = _by_scales("_upsample_nearest_exact1d", 1, aligns=False)
_upsample_nearest_exact2d = _by_scales("_upsample_nearest_exact2d", 2, aligns=False)
_upsample_nearest_exact3d = _by_scales("_upsample_nearest_exact3d", 3, aligns=False)
upsample_linear1d = _by_scales("upsample_linear1d", 1, aligns=True)
upsample_bilinear2d = _by_scales("upsample_bilinear2d", 2, aligns=True)
upsample_trilinear3d = _by_scales("upsample_trilinear3d", 3, aligns=True)
upsample_bicubic2d = _by_scales("upsample_bicubic2d", 2, aligns=True)
_upsample_bilinear2d_aa = _by_scales("_upsample_bilinear2d_aa", 2, aligns=True)
_upsample_bicubic2d_aa = _by_scales("_upsample_bicubic2d_aa", 2, aligns=True)
_upsample_lanczos2d_aa = _by_scales("_upsample_lanczos2d_aa", 2, aligns=True)

# Grids ----------------------------------------------------------------------------------------------------------


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """The sampler of images for four dimensions, that of volumes for others."""
    sampler = f.grid_sampler_2d if len(input._shape) == 4 else f.grid_sampler_3d
    return sampler(input, grid, interpolation_mode, padding_mode, align_corners)


def affine_grid_generator(theta: Tensor, size: Ints, align_corners: bool) -> Tensor:
    """The affine map of each place of the result: (N, H, W, 2), or (N, D, H, W, 3)."""
    base = _base_grid(theta, size, align_corners)
    return base.flatten(1, -2).bmm(theta.transpose(1, 2)).view(*base.shape[:-1], base.shape[-1] - 1)


def affine_grid_generator_backward(grad: Tensor, size: Ints, align_corners: bool) -> Tensor:
    """The gradient of the maps, one for each of the batch."""
    expected = (size[0], *size[2:], len(size) - 2)
    if grad._shape != expected:
        raise ShapeError(f"expected a gradient of sizes {list(expected)}, those of the grid, got {list(grad._shape)}")
    base = _base_grid(grad, size, align_corners)
    return base.flatten(1, -2).transpose(1, 2).bmm(grad.flatten(1, -2)).transpose(1, 2)


def _base_grid(like: Tensor, size: Ints, align_corners: bool) -> Tensor:
    """x, y, perhaps z, and 1 at each place, from -1 to 1: between the borders, or the middles of border elements."""
    if len(size) not in (4, 5):
        raise ShapeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    spatial = size[2:]
    base: Tensor = f.empty((size[0], *spatial, len(spatial) + 1), dtype=like.dtype, device=like.device)
    for axis, steps in enumerate(reversed(spatial)):
        line = _line(like, steps, align_corners)
        for _ in range(axis):
            line = line.unsqueeze_(-1)
        base.select(-1, axis).copy_(line)
    base.select(-1, len(spatial)).fill_(1)
    return base


def _line(like: Tensor, steps: int, align_corners: bool) -> Tensor:
    """Evenly spaced numbers from -1 to 1, or the middles of as many squares between them."""
    if steps <= 1:
        return f.zeros((steps,), dtype=like.dtype, device=like.device)
    line = f.linspace(-1, 1, steps, dtype=like.dtype, device=like.device)
    return line if align_corners else line * (steps - 1) / steps
