"""Which functions bring images to another size, and read them at the places of a grid?

Mirrors: torch/nn/functional.py (interpolate, grid_sample, affine_grid)
Differs: the operator of a mode is found in a table.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary, has_torch_function_variadic
from glasstorch.core.plain_types import PLAIN
from glasstorch.nn.functions.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from glasstorch.operators.generated import functions as operators

__all__ = [
    "upsample",
    "interpolate",
    "upsample_nearest",
    "upsample_bilinear",
    "grid_sample",
    "affine_grid",
    "GRID_SAMPLE_INTERPOLATION_MODES",
    "GRID_SAMPLE_PADDING_MODES",
]

Sizes = int | Sequence[int] | None
Factors = float | Sequence[float] | None

GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}

# The operators that do not align corners, and those that do: (number of dimensions, mode) -> operator.
UNALIGNED = {
    (3, "nearest"): operators.upsample_nearest1d,
    (4, "nearest"): operators.upsample_nearest2d,
    (5, "nearest"): operators.upsample_nearest3d,
    (3, "nearest-exact"): operators._upsample_nearest_exact1d,
    (4, "nearest-exact"): operators._upsample_nearest_exact2d,
    (5, "nearest-exact"): operators._upsample_nearest_exact3d,
}
ALIGNED = {
    (3, "linear"): operators.upsample_linear1d,
    (4, "bilinear"): operators.upsample_bilinear2d,
    (5, "trilinear"): operators.upsample_trilinear3d,
    (4, "bicubic"): operators.upsample_bicubic2d,
}
ANTIALIASED = {
    "bilinear": operators._upsample_bilinear2d_aa,
    "bicubic": operators._upsample_bicubic2d_aa,
    "lanczos": operators._upsample_lanczos2d_aa,
}
AREA = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}
NEEDS = {"linear": 3, "bilinear": 4, "trilinear": 5}

# Another size ---------------------------------------------------------------------------------------------------


def interpolate(
    input: Tensor,
    size: Sizes = None,
    scale_factor: Factors = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """A signal (N, C, W), an image (N, C, H, W) or a volume (N, C, D, H, W) at another size.

    The size is given, or the factor by which the input grows; with `recompute_scale_factor` what is computed follows
    from the sizes alone, after rounding. The modes: "nearest", "nearest-exact" and "area" for all, "linear" for
    signals, "bilinear", "bicubic" and, with `antialias` alone, "lanczos" for images, "trilinear" for volumes.
    """
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            interpolate,
            (input,),
            input,
            size=size,
            scale_factor=scale_factor,
            mode=mode,
            align_corners=align_corners,
            recompute_scale_factor=recompute_scale_factor,
            antialias=antialias,
        )
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
                "trilinear"
            )
    elif align_corners is None:
        align_corners = False
    sizes, factors = _sizes_or_factors(input, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if factors is not None and (recompute_scale_factor or mode == "area"):
        sizes = [int(length * factor) for length, factor in zip(input.shape[2:], factors, strict=True)]
        factors = None
    dims = input.dim()
    if antialias and not (mode in ANTIALIASED and dims == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if (dims, mode) in UNALIGNED:
        return UNALIGNED[dims, mode](input, sizes, factors)
    if mode == "area" and dims in AREA:
        return AREA[dims](input, sizes)
    if mode == "lanczos" and dims == 4:
        _check_lanczos(align_corners, antialias)
    if antialias:
        return ANTIALIASED[mode](input, sizes, align_corners, factors)
    if (dims, mode) in ALIGNED:
        return ALIGNED[dims, mode](input, sizes, align_corners, factors)
    if mode in NEEDS and dims in (3, 4, 5):
        raise NotImplementedError(f"Got {dims}D input, but {mode} mode needs {NEEDS[mode]}D input")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dims}D) for the modes: nearest | linear | "
        f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


def _sizes_or_factors(input: Tensor, size: Sizes, factor: Factors) -> tuple[Any, Any]:
    """One number for each spatial dimension: of the sizes, or of the factors; the other one is None."""
    dims = input.dim() - 2
    if size is not None and factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, (list, tuple)):
            return [size] * dims, None
        if len(size) != dims:
            raise ValueError(
                f"Input and output must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {list(input.shape[2:])} and output size of {size}. Please provide input tensor in "
                f"(N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format."
            )
        if not all(_is_integer(each) for each in size):
            raise TypeError(
                f"expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got "
                f"size with types {[type(each) for each in size]}"
            )
        return size, None
    if factor is not None:
        if not isinstance(factor, (list, tuple)):
            return None, [factor] * dims
        if len(factor) != dims:
            raise ValueError(
                f"Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {list(input.shape[2:])} and scale_factor of shape {factor}. Please provide input "
                f"tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format."
            )
        return None, factor
    raise ValueError("either size or scale_factor should be defined")


def _is_integer(size: object) -> bool:
    """Whether a size is an int, one of NumPy's, or a tensor of integers."""
    if isinstance(size, Tensor):
        return not size.is_floating_point()
    return isinstance(size, (int, np.integer))


def _check_lanczos(align_corners: bool | None, antialias: bool) -> None:
    if align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if not antialias:
        raise ValueError("Lanczos mode requires antialias=True")


def upsample(
    input: Tensor,
    size: Sizes = None,
    scale_factor: Factors = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """An old name of `interpolate`."""
    _warn_deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Sizes = None, scale_factor: Factors = None) -> Tensor:
    """An old name of `interpolate` with the mode "nearest"."""
    _warn_deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Sizes = None, scale_factor: Factors = None) -> Tensor:
    """An old name of `interpolate` with the mode "bilinear" and aligned corners."""
    _warn_deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _warn_deprecated(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=3,
    )


# Grids ----------------------------------------------------------------------------------------------------------

ALIGNMENT_CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
    "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """(N, C, H, W) read at a grid (N, height, width, 2) of places x, y, or a volume at a grid with x, y, z.

    -1 and 1 are the borders, or with `align_corners` the middles of border elements. The modes: "bilinear", "nearest"
    and, for images, "bicubic"; outside there are zeros, the "border" again and again, or the "reflection".
    """
    if has_torch_function_variadic(input, grid):
        return handle_torch_function(
            grid_sample, (input, grid), input, grid, mode=mode, padding_mode=padding_mode, align_corners=align_corners
        )
    if mode not in GRID_SAMPLE_INTERPOLATION_MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in GRID_SAMPLE_PADDING_MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(ALIGNMENT_CHANGED, stacklevel=2)
        align_corners = False
    return operators.grid_sampler(
        input, grid, GRID_SAMPLE_INTERPOLATION_MODES[mode], GRID_SAMPLE_PADDING_MODES[padding_mode], align_corners
    )


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The places (N, H, W, 2) that the maps `theta` (N, 2, 3) give those of a result of size (N, C, H, W).

    For volumes (N, D, H, W, 3), of maps (N, 3, 4) and a size (N, C, D, H, W).
    """
    if type(theta) not in PLAIN and has_torch_function_unary(theta):
        return handle_torch_function(affine_grid, (theta,), theta, size, align_corners=align_corners)
    if align_corners is None:
        warnings.warn(ALIGNMENT_CHANGED, stacklevel=2)
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    if theta.dim() != 3 or theta.shape[1:] != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. Got "
            f"{theta.shape}."
        )
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. "
            "This is not an intended use case of affine_grid. See the documentation of affine_grid for details.",
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return operators.affine_grid_generator(theta, size, align_corners)
