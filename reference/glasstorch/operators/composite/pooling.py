"""How is pooling in one dimension, and without indices, composed of other operators?

Mirrors: aten/src/ATen/native/Pooling.cpp, MaxPooling.cpp, AdaptiveAveragePooling.cpp (adaptive_avg_pool2d_symint),
    AdaptiveAveragePooling3d.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS
from glasstorch.core.errors import ArgumentError, ShapeError, not_implemented_for
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.pooling.adaptive import check_average, check_spatial
from glasstorch.operators.shapes.pooling.windows import Windows

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Ints = Sequence[int]

# Sliding windows ------------------------------------------------------------------------------------------------


def max_pool2d(self: Tensor, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> Tensor:
    """The maxima without their places."""
    return f.max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]  # type: ignore[no-any-return]


def max_pool3d(self: Tensor, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> Tensor:
    """The maxima without their places."""
    return f.max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]  # type: ignore[no-any-return]


def max_pool1d_with_indices(
    self: Tensor, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> tuple[Tensor, Tensor]:
    """Those of an image of one row."""
    _check_dims("max_pool1d", self)
    values, indices = f.max_pool2d_with_indices(
        self.unsqueeze(-2), [1, *kernel_size], [1, *stride] if stride else [], [0, *padding], [1, *dilation], ceil_mode
    )
    return values.squeeze(-2), indices.squeeze(-2)


def max_pool1d(self: Tensor, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> Tensor:
    """The maxima without their places; integers are refused, although maxima with places have them."""
    check_max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode)
    if self.dtype not in FLOATS:
        raise not_implemented_for("max_pool1d_impl", self.dtype)
    return f.max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]  # type: ignore[no-any-return]


def check_max_pool1d(
    self: Tensor, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> None:
    """Refuse what PyTorch's check_max_pool1d refuses, in its order and words."""
    sizes = self._shape
    if len(sizes) not in (2, 3) or 0 in sizes[-2:]:
        raise ShapeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(sizes)}"
        )
    for what, numbers in (
        ("kernel_size", kernel_size),
        ("stride", stride),
        ("padding", padding),
        ("dilation", dilation),
    ):
        if len(numbers) != 1 and not (what == "stride" and not numbers):
            raise ArgumentError(
                f"max_pool1d() {what} must be an int, list of ints or tuple of ints of size 1 but got size "
                f"{len(numbers)}"
            )
    one = Windows(sizes[-1], kernel_size[0], (stride or kernel_size)[0], padding[0], dilation[0], ceil_mode)
    for what, number in (("kernel_size", one.kernel), ("stride", one.stride)):
        if number <= 0:
            raise ArgumentError(f"max_pool1d() {what} must be greater than zero, but got {number}")
    if one.padding < 0:
        raise ArgumentError(f"max_pool1d() padding must be non-negative, but got {one.padding}")
    if one.padding > one.kernel // 2:
        raise ArgumentError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={one.padding} and "
            f"kernel_size={one.kernel}"
        )
    if one.dilation <= 0:
        raise ArgumentError(f"max_pool1d() dilation must be greater than zero, but got {one.dilation}")
    if one.outputs <= 0:
        raise ShapeError(f"max_pool1d() Invalid computed output size: {one.outputs}")


def avg_pool1d(
    self: Tensor, kernel_size: Ints, stride: Ints, padding: Ints, ceil_mode: bool, count_include_pad: bool
) -> Tensor:
    """The averages of an image of one row."""
    stride = stride or kernel_size
    _check_dims("avg_pool1d", self)
    for what, numbers in (("kernel_size", kernel_size), ("stride", stride), ("padding", padding)):
        _check_one("avg_pool1d", what, numbers)
    return f.avg_pool2d(
        self.unsqueeze(-2), [1, *kernel_size], [1, *stride], [0, *padding], ceil_mode, count_include_pad
    ).squeeze(-2)


def _check_dims(name: str, self: Tensor) -> None:
    if len(self._shape) not in (2, 3):
        raise ShapeError(
            f"Expected 2 to 3 dimensions, but got {len(self._shape)}-dimensional tensor for argument #1 'self' "
            f"(while checking arguments for {name})"
        )


def _check_one(name: str, what: str, numbers: Ints) -> None:
    if len(numbers) != 1:
        raise ArgumentError(f"{name}() argument '{what}' should contain one int (got {len(numbers)})")


# Adaptive windows -----------------------------------------------------------------------------------------------


def adaptive_avg_pool1d(self: Tensor, output_size: Ints) -> Tensor:
    """The averages of an image of one row."""
    _check_dims("adaptive_avg_pool1d", self)
    _check_one("adaptive_avg_pool1d", "output_size", output_size)
    return f.adaptive_avg_pool2d(self.unsqueeze(-2), [1, *output_size]).squeeze(-2)


def adaptive_max_pool1d(self: Tensor, output_size: Ints) -> tuple[Tensor, Tensor]:
    """The maxima of an image of one row, and where each was found in it."""
    _check_dims("adaptive_max_pool1d", self)
    _check_one("adaptive_max_pool1d", "output_size", output_size)
    check_spatial("adaptive_max_pool1d()", "input", self._shape, len(self._shape) - 1)
    values, indices = f.adaptive_max_pool2d(self.unsqueeze(-2), [1, *output_size])
    return values.squeeze(-2), indices.squeeze(-2)


def adaptive_avg_pool2d(self: Tensor, output_size: Ints) -> Tensor:
    """An average for each place of the output; that of a whole plane is its mean."""
    return _adaptive_avg_pool(self, output_size, 2)


def adaptive_avg_pool3d(self: Tensor, output_size: Ints) -> Tensor:
    """An average for each place of the output; that of a whole volume is its mean."""
    return _adaptive_avg_pool(self, output_size, 3)


def _adaptive_avg_pool(self: Tensor, output_size: Ints, dims: int) -> Tensor:
    if len(output_size) == dims and min(output_size) < 0:
        check_average(self, output_size, dims)
    if list(output_size) == [1] * dims and len(self._shape) in (dims + 1, dims + 2):
        return self.mean(list(range(-1, -dims - 1, -1)), keepdim=True)
    pool = f._adaptive_avg_pool2d if dims == 2 else f._adaptive_avg_pool3d
    return pool(self, output_size)
