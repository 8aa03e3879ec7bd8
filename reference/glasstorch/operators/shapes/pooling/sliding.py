"""What shape have the maxima and the averages of sliding windows, and which inputs are refused?

Mirrors: aten/src/ATen/native/DilatedMaxPool2d.cpp, DilatedMaxPool3d.cpp, AveragePool2d.cpp, AveragePool3d.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import COMPLEX_DTYPES, DTYPES, FLOATS, STORED_ONLY, bool_, dtype, float32, float64, int64
from glasstorch.core.errors import ArgumentError, DimensionError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import Shape
from glasstorch.operators.shapes.pooling.windows import (
    Windows,
    check_gradient,
    check_images,
    check_volumes,
    check_windows,
    expanded,
    laid_out_as,
    pooled_sizes,
    windows,
)
from glasstorch.operators.shapes.result import C_NAMES, Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Ints = Sequence[int]
AVERAGED2, AVERAGED3 = FLOATS | {int64}, frozenset({float32, float64, int64})
COMPARED = frozenset(DTYPES) - COMPLEX_DTYPES - STORED_ONLY - {bool_}

# Maxima ---------------------------------------------------------------------------------------------------------


def max_windows(
    self: Tensor, dims: int, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> tuple[Windows, ...]:
    """The windows along the last two or three dimensions, after all checks."""
    name = f"max_pool{dims}d"
    kernel = expanded(f"{name}: kernel_size must either be", kernel_size, dims)
    step = expanded(f"{name}: stride must either be omitted,", stride, dims) if len(stride) else kernel
    around = expanded(f"{name}: padding must either be", padding, dims)
    apart = expanded(f"{name}: dilation must be either", dilation, dims)
    sizes = self._shape
    if len(sizes) not in (dims + 1, dims + 2):
        raise ShapeError(f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")
    _check_dilation(apart)
    found = windows(sizes, kernel, step, around, apart, ceil_mode)
    check_windows(found)
    if dims == 2:
        check_images(sizes)
    else:
        check_volumes("max_pool3d_with_indices_out_cpu_template()", sizes)
    return found


def _check_dilation(dilation: Ints) -> None:
    """A dilation of 0 is refused before windows are counted, as none would have an end."""
    if min(dilation) <= 0:
        axes = "HW" if len(dilation) == 2 else "THW"
        listed = " ".join(f"dilation{axis}: {n}" for axis, n in zip(axes, dilation, strict=True))
        raise ArgumentError(f"dilation should be greater than zero, but got {listed}")


def _max_pool(
    self: Tensor, dims: int, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> tuple[Result, Result]:
    found = max_windows(self, dims, kernel_size, stride, padding, dilation, ceil_mode)
    shape = pooled_sizes(self._shape, found)
    check_kernel_dtype(f"max_pool{dims}d", self, COMPARED)
    strides = laid_out_as(self, shape)
    return Result(shape, self.dtype, strides, same_dtype), Result(shape, int64, strides, same_dtype)


def max_pool2d_with_indices(
    self: Tensor, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> tuple[Result, Result]:
    """The maxima, and where each was found in its plane."""
    return _max_pool(self, 2, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d_with_indices(
    self: Tensor, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> tuple[Result, Result]:
    """The maxima, and where each was found in its volume."""
    return _max_pool(self, 3, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    indices: Tensor,
) -> Result:
    """The shape of the input."""
    found = max_windows(self, 2, kernel_size, stride, padding, dilation, ceil_mode)
    return _max_gradient(grad_output, self, indices, pooled_sizes(self._shape, found), 2)


def max_pool3d_with_indices_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    indices: Tensor,
) -> Result:
    """The shape of the input."""
    found = max_windows(self, 3, kernel_size, stride, padding, dilation, ceil_mode)
    return _max_gradient(grad_output, self, indices, pooled_sizes(self._shape, found), 3)


def _max_gradient(grad_output: Tensor, self: Tensor, indices: Tensor, pooled: Shape, dims: int) -> Result:
    """The shape of the input; the gradient and the indices have that of the result."""
    check_gradient_dtype("gradOutput", self, grad_output)
    check_gradient(grad_output._shape, pooled, dims)
    check_gradient(indices._shape, pooled, dims)
    check_indices(indices)
    check_kernel_dtype(f"max_pool{dims}d_backward", self, FLOATS)
    return Result(self._shape, self.dtype, laid_out_as(self, self._shape), same_dtype)


def check_gradient_dtype(parameter: str, self: Tensor, grad_output: Tensor) -> None:
    """The gradient has the input's dtype."""
    if grad_output.dtype is not self.dtype:
        raise DtypeError(
            f"expected dtype {C_NAMES[self.dtype.name]} for `{parameter}` but got dtype "
            f"{C_NAMES[grad_output.dtype.name]}"
        )


def check_indices(indices: Tensor) -> None:
    """Indices are int64."""
    if indices.dtype is not int64:
        raise DtypeError(f"expected scalar type Long but found {indices.dtype.scalar_name}")


# Averages -------------------------------------------------------------------------------------------------------


def average_windows(
    self: Tensor, dims: int, kernel_size: Ints, stride: Ints, padding: Ints, ceil_mode: bool, divisor: int | None
) -> tuple[Windows, ...]:
    """The windows along the last two or three dimensions, after all checks."""
    name, either = f"avg_pool{dims}d", "either " if dims == 2 else ""
    kernel = expanded(f"{name}: kernel_size must {either}be", kernel_size, dims)
    step = expanded(f"{name}: stride must {either}be omitted,", stride, dims) if len(stride) else kernel
    around = expanded(f"{name}: padding must {either}be", padding, dims)
    sizes = self._shape
    if dims == 3 and len(sizes) not in (4, 5):
        raise ShapeError("non-empty 4D or 5D (batch mode) tensor expected for input")
    if divisor == 0:
        raise ArgumentError("divisor must be not zero")
    if len(sizes) <= dims:
        raise DimensionError(
            f"Dimension out of range (expected to be in range of [{-len(sizes)}, {len(sizes) - 1}], but got "
            f"{-dims - 1})"
        )
    found = windows(sizes, kernel, step, around, (1,) * dims, ceil_mode)
    check_windows(found)
    if dims == 2:
        check_images(sizes)
    else:
        check_volumes("avg_pool3d()", sizes)
        _check_kernel_fits(sizes, kernel)
    return found


def _check_kernel_fits(sizes: Shape, kernel: Ints) -> None:
    """Refuse a window that is larger than a volume, whatever the padding is."""
    if any(size < k for size, k in zip(sizes[-3:], kernel, strict=True)):
        image = " ".join(f"{axis}: {n}" for axis, n in zip("THW", sizes[-3:], strict=True))
        window = " ".join(f"k{axis}: {n}" for axis, n in zip("THW", kernel, strict=True))
        raise ShapeError(f"input image ({image}) smaller than kernel size ({window})")


def _avg_pool(
    self: Tensor, dims: int, kernel_size: Ints, stride: Ints, padding: Ints, ceil_mode: bool, divisor: int | None
) -> Result:
    found = average_windows(self, dims, kernel_size, stride, padding, ceil_mode, divisor)
    shape = pooled_sizes(self._shape, found)
    _check_average_dtype("avg_pool2d" if dims == 2 else "avg_pool3d_out_frame", self)
    return Result(shape, self.dtype, laid_out_as(self, shape), same_dtype)


def avg_pool2d(
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Result:
    """An average for each window."""
    return _avg_pool(self, 2, kernel_size, stride, padding, ceil_mode, divisor_override)


def avg_pool3d(
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Result:
    """An average for each window."""
    return _avg_pool(self, 3, kernel_size, stride, padding, ceil_mode, divisor_override)


def avg_pool2d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Result:
    """The shape of the input."""
    found = average_windows(self, 2, kernel_size, stride, padding, ceil_mode, divisor_override)
    return _average_gradient(grad_output, self, pooled_sizes(self._shape, found), 2, "avg_pool2d_backward")


def avg_pool3d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Result:
    """The shape of the input."""
    found = average_windows(self, 3, kernel_size, stride, padding, ceil_mode, divisor_override)
    return _average_gradient(grad_output, self, pooled_sizes(self._shape, found), 3, "avg_pool3d_backward_out_frame")


def _average_gradient(grad_output: Tensor, self: Tensor, pooled: Shape, dims: int, kernel: str) -> Result:
    check_gradient_dtype("gradOutput", self, grad_output)
    check_gradient(grad_output._shape, pooled, dims)
    _check_average_dtype(kernel, self)
    return Result(self._shape, self.dtype, laid_out_as(self, self._shape), same_dtype)


def _check_average_dtype(kernel: str, self: Tensor) -> None:
    """PyTorch averages volumes in fewer dtypes than images."""
    check_kernel_dtype(kernel, self, AVERAGED2 if "2d" in kernel else AVERAGED3)


def check_kernel_dtype(kernel: str, self: Tensor, accepted: frozenset[dtype]) -> None:
    """Refuse a dtype that PyTorch has no kernel for."""
    if self.dtype not in accepted:
        raise not_implemented_for(kernel, self.dtype)
