"""What shape has an input that is read at the places of a grid, and which grids are refused?

Mirrors: aten/src/ATen/native/GridSamplerUtils.h (check_grid_sampler_common, check_grid_sampler_2d,
    check_grid_sampler_3d)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS
from glasstorch.core.errors import DimensionError, DtypeError, ShapeError, not_implemented_for
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

BICUBIC = 2  # the number of that mode of interpolation


def _check(input: Tensor, grid: Tensor, dims: int, mode: int) -> None:
    """One place for each element of the result: as many coordinates as the input has spatial dimensions."""
    sizes, places = input._shape, grid._shape
    given = f"but got input with sizes {list(sizes)} and grid with sizes {list(places)}"
    if not sizes or not places:
        raise DimensionError("Dimension specified as 0 but tensor has no dimensions")
    if sizes[0] != places[0]:
        raise ShapeError(f"grid_sampler(): expected grid and input to have same batch size, {given}")
    if places[-1] != len(sizes) - 2:
        raise ShapeError(
            f"grid_sampler(): expected grid to have size {len(sizes) - 2} in last dimension, but got grid with sizes "
            f"{list(places)}"
        )
    for dim in range(2, len(sizes)):
        if not sizes[dim]:
            raise ShapeError(
                f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(sizes)} with dimension {dim} being empty"
            )
    if len(sizes) != dims + 2 or len(places) != dims + 2:
        raise ShapeError(f"grid_sampler(): expected {dims + 2}D input and grid with same number of dimensions, {given}")
    if dims == 3 and mode == BICUBIC:
        raise ShapeError("grid_sampler(): bicubic interpolation only supports 4D input")


def _check_dtypes(kernel: str, input: Tensor, *others: Tensor) -> None:
    if input.dtype not in FLOATS:
        raise not_implemented_for(kernel, input.dtype)
    for other in others:
        if other.dtype is not input.dtype:
            raise DtypeError(f"expected scalar type {input.dtype.scalar_name} but found {other.dtype.scalar_name}")


def _sampled(input: Tensor, grid: Tensor, dims: int, mode: int, kernel: str) -> Result:
    _check(input, grid, dims, mode)
    _check_dtypes(kernel, input, grid)
    return Result((*input._shape[:2], *grid._shape[1:-1]), input.dtype, None, same_dtype)


def _gradients(
    grad_output: Tensor, input: Tensor, grid: Tensor, dims: int, mode: int, kernel: str, mask: Sequence[bool]
) -> tuple[Result | None, Result]:
    """The gradient of the grid is always computed."""
    _check(input, grid, dims, mode)
    sizes = (*input._shape[:2], *grid._shape[1:-1])
    if grad_output._shape != sizes:
        raise ShapeError(
            f"expected a gradient of sizes {list(sizes)}, those of the result, got {list(grad_output._shape)}"
        )
    _check_dtypes(kernel, input, grid, grad_output)
    to_input = Result(input._shape, input.dtype, None, same_dtype)
    return to_input if mask[0] else None, Result(grid._shape, grid.dtype, None, same_dtype)


def grid_sampler_2d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Result:
    """(N, C, H, W) at (N, height, width, 2)."""
    return _sampled(input, grid, 2, interpolation_mode, "grid_sampler_2d_cpu_kernel_impl")


def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Result:
    """(N, C, D, H, W) at (N, depth, height, width, 3)."""
    return _sampled(input, grid, 3, interpolation_mode, "grid_sampler3d_cpu")


def grid_sampler_2d_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Result | None, Result]:
    """The shapes of input, or None, and grid."""
    kernel = "grid_sampler_2d_backward_cpu_kernel_impl"
    return _gradients(grad_output, input, grid, 2, interpolation_mode, kernel, output_mask)


def grid_sampler_3d_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Result | None, Result]:
    """The shapes of input, or None, and grid."""
    kernel = "grid_sampler_3d_backward_cpu"
    return _gradients(grad_output, input, grid, 3, interpolation_mode, kernel, output_mask)
