"""What shape have the averages and maxima of windows that are spread over the input, and which inputs are refused?

Mirrors: aten/src/ATen/native/AdaptiveAveragePooling.cpp, AdaptiveAveragePooling3d.cpp, AdaptiveMaxPooling2d.cpp,
    AdaptiveMaxPooling3d.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS, int64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.core.geometry import Shape
from glasstorch.operators.shapes.pooling.sliding import check_gradient_dtype, check_indices, check_kernel_dtype
from glasstorch.operators.shapes.pooling.windows import laid_out_as
from glasstorch.operators.shapes.result import C_NAMES, Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# Averages -------------------------------------------------------------------------------------------------------


def check_average(self: Tensor, output_size: Sequence[int], dims: int) -> None:
    """What is refused before an average is computed: also where it is that of all elements."""
    name = f"adaptive_avg_pool{dims}d"
    if len(output_size) != dims:
        raise ArgumentError(f"{name}: output_size must be {dims}")
    if min(output_size) < 0:
        first, last = ", ".join(map(str, output_size[:-1])), output_size[-1]
        raise ArgumentError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{first},{' ' if dims == 2 else ''}{last}}}"
        )
    if len(self._shape) not in (dims + 1, dims + 2):
        raise ShapeError(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {list(self._shape)}")
    check_spatial(f"{name}()", "input", self._shape, 1 if dims == 3 else len(self._shape) - dims)


def check_spatial(name: str, what: str, sizes: Shape, first: int) -> None:
    """Refuse an input without elements along a dimension, from the first pooled one on."""
    for dim in range(first, len(sizes)):
        if not sizes[dim]:
            raise ShapeError(
                f"{name}: Expected {what} to have non-zero size for non-batch dimensions, but {what} has sizes "
                f"{list(sizes)} with dimension {dim} being empty"
            )


def _adaptive_avg_pool2d(self: Tensor, output_size: Sequence[int]) -> Result:
    """An average for each place of the output."""
    return _adaptive_avg_pool(self, output_size, 2, "adaptive_avg_pool2d")


def _adaptive_avg_pool3d(self: Tensor, output_size: Sequence[int]) -> Result:
    """An average for each place of the output."""
    return _adaptive_avg_pool(self, output_size, 3, "adaptive_avg_pool3d_cpu")


def _adaptive_avg_pool(self: Tensor, output_size: Sequence[int], dims: int, kernel: str) -> Result:
    check_average(self, output_size, dims)
    shape = (*self._shape[:-dims], *output_size)
    if dims == 3 or 0 not in shape:  # PyTorch calls no kernel for images without elements
        check_kernel_dtype(kernel, self, FLOATS)
    return Result(shape, self.dtype, laid_out_as(self, shape), same_dtype)


def _adaptive_avg_pool2d_backward(grad_output: Tensor, self: Tensor) -> Result:
    """The shape of the input."""
    return _average_gradient(grad_output, self, 2, "grad_output", "adaptive_avg_pool2d_backward")


def _adaptive_avg_pool3d_backward(grad_output: Tensor, self: Tensor) -> Result:
    """The shape of the input."""
    return _average_gradient(grad_output, self, 3, "gradOutput_", "adaptive_avg_pool3d_backward_cpu")


def _average_gradient(grad_output: Tensor, self: Tensor, dims: int, parameter: str, kernel: str) -> Result:
    name = f"adaptive_avg_pool{dims}d_backward"
    check_spatial(f"{name}()", "grad_output", grad_output._shape, 1)
    found, wanted = len(grad_output._shape), len(self._shape)
    if found != wanted:
        raise ShapeError(
            f"{name}_out_cpu_template: Expected dimensions {wanted} for `{parameter}` but got dimensions {found}"
        )
    if grad_output.dtype is not self.dtype:
        raise DtypeError(
            f"{name}_out_cpu_template: Expected dtype {C_NAMES[self.dtype.name]} for `{parameter}` but got dtype "
            f"{C_NAMES[grad_output.dtype.name]}"
        )
    check_kernel_dtype(kernel, self, FLOATS)
    return Result(self._shape, self.dtype, laid_out_as(self, self._shape), same_dtype)


# Maxima ---------------------------------------------------------------------------------------------------------


def adaptive_max_pool2d(self: Tensor, output_size: Sequence[int]) -> tuple[Result, Result]:
    """The maxima, and where each was found in its plane."""
    return _adaptive_max_pool(self, output_size, 2, "adaptive_max_pool2d")


def adaptive_max_pool3d(self: Tensor, output_size: Sequence[int]) -> tuple[Result, Result]:
    """The maxima, and where each was found in its volume."""
    return _adaptive_max_pool(self, output_size, 3, "adaptive_max_pool3d_cpu")


def _adaptive_max_pool(self: Tensor, output_size: Sequence[int], dims: int, kernel: str) -> tuple[Result, Result]:
    name, sizes = f"adaptive_max_pool{dims}d()", self._shape
    if len(sizes) not in (dims + 1, dims + 2):
        raise ShapeError(f"{name}: Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(sizes)}")
    check_spatial(name, "input", sizes, 1)
    if len(output_size) != dims:
        raise ArgumentError(f"{name}: internal error: output_size.size() must be {dims}")
    shape = (*sizes[:-dims], *output_size)
    for size in output_size:
        if size < 0:
            raise ShapeError(f"Trying to create tensor with negative dimension {size}: {list(shape)}")
    check_kernel_dtype(kernel, self, FLOATS)
    strides = laid_out_as(self, shape)
    return Result(shape, self.dtype, strides, same_dtype), Result(shape, int64, strides, same_dtype)


def adaptive_max_pool2d_backward(grad_output: Tensor, self: Tensor, indices: Tensor) -> Result:
    """The shape of the input."""
    return _max_gradient(grad_output, self, indices, 2, "grad_output")


def adaptive_max_pool3d_backward(grad_output: Tensor, self: Tensor, indices: Tensor) -> Result:
    """The shape of the input."""
    return _max_gradient(grad_output, self, indices, 3, "gradOutput")


def _max_gradient(grad_output: Tensor, self: Tensor, indices: Tensor, dims: int, parameter: str) -> Result:
    if len(self._shape) not in (dims + 1, dims + 2):
        raise ShapeError(
            f"adaptive_max_pool{dims}d_backward(): Expected {dims + 1}D or {dims + 2}D input, but got: "
            f"{list(self._shape)}"
        )
    check_gradient_dtype(parameter, self, grad_output)
    if grad_output._shape != indices._shape:
        raise ShapeError(
            f"expected sizes {list(indices._shape)} for `{parameter}` but got sizes {list(grad_output._shape)}"
        )
    check_spatial(f"adaptive_max_pool{dims}d_backward()", "grad_output", grad_output._shape, 1)
    check_indices(indices)
    check_kernel_dtype(f"adaptive_max_pool{dims}d_backward", self, FLOATS)
    return Result(self._shape, self.dtype, laid_out_as(self, self._shape), same_dtype)
