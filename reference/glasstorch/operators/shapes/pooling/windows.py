"""How many windows fit along each dimension, and which windows are refused?

Mirrors: aten/src/ATen/native/Pool.h (pooling_output_shape, pool2d_shape_check, pool3d_shape_check)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.core.geometry import Shape, channels_last_strides, looks_channels_last

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

COUNT = {2: "two", 3: "three"}
AXES = {2: "HW", 3: "THW"}  # the dimensions that windows extend over, in the letters of PyTorch's messages


class Windows(NamedTuple):
    """The windows along one dimension."""

    size: int  # of the input
    kernel: int
    stride: int
    padding: int
    dilation: int
    ceil_mode: bool

    @property
    def outputs(self) -> int:
        """How many there are; with `ceil_mode` the last one may begin anywhere in the input or its left padding."""
        reach = self.size + 2 * self.padding - self.dilation * (self.kernel - 1) - 1
        count = (reach + (self.stride - 1 if self.ceil_mode else 0)) // self.stride + 1
        if self.ceil_mode and (count - 1) * self.stride >= self.size + self.padding:
            count -= 1
        return count


def expanded(words: str, given: Sequence[int], dims: int) -> tuple[int, ...]:
    """One number for each dimension; a single one serves all. `words` begin the message for any other count."""
    if len(given) not in (1, dims):
        raise ArgumentError(f"{words} a single int, or a tuple of {COUNT[dims]} ints")
    return tuple(given) * dims if len(given) == 1 else tuple(given)


def windows(
    sizes: Shape,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[Windows, ...]:
    """The windows along each of the last dimensions; refuses a stride of 0 and a padding that exceeds half a window."""
    dims = len(kernel)
    found = tuple(
        Windows(*numbers, ceil_mode) for numbers in zip(sizes[-dims:], kernel, stride, padding, dilation, strict=True)
    )
    for one in found:
        if one.stride == 0:
            raise ArgumentError("stride should not be zero")
        if one.padding < 0:
            raise ArgumentError(f"pad must be non-negative, but got pad: {one.padding}")
        if one.padding > (one.dilation * (one.kernel - 1) + 1) // 2:
            raise ArgumentError(
                f"pad should be at most half of effective kernel size, but got pad={one.padding}, "
                f"kernel_size={one.kernel} and dilation={one.dilation}"
            )
    return found


def check_positive(what: str, letter: str, numbers: Sequence[int]) -> None:
    """Refuse sizes of windows and steps of 0 or less."""
    if min(numbers) <= 0:
        axes = AXES[len(numbers)]
        listed = " ".join(f"{letter}{axis}: {n}" for axis, n in zip(axes, numbers, strict=True))
        raise ArgumentError(f"{what} should be greater than zero, but got {listed}")


def check_windows(found: Sequence[Windows]) -> None:
    """Refuse windows, steps and dilations of 0 or less."""
    check_positive("kernel size", "k", [w.kernel for w in found])
    check_positive("stride", "d", [w.stride for w in found])
    check_positive("dilation", "dilation", [w.dilation for w in found])


def pooled_sizes(sizes: Shape, found: Sequence[Windows]) -> Shape:
    """The sizes after pooling; refuses windows that do not fit anywhere."""
    counts = tuple(w.outputs for w in found)
    if any(count < 1 for count in counts):
        planes = sizes[-len(found) - 1]

        def listed(numbers: Sequence[int]) -> str:
            return "x".join(map(str, (planes, *numbers)))

        raise ShapeError(
            f"Given input size: ({listed(sizes[-len(found) :])}). Calculated output size: ({listed(counts)}). "
            "Output size is too small"
        )
    return (*sizes[: -len(found)], *counts)


def check_images(sizes: Shape) -> None:
    """(C, H, W) or (N, C, H, W); only the batch may be empty."""
    if len(sizes) not in (3, 4) or 0 in sizes[-3:]:
        raise ShapeError(
            f"Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(sizes)}"
        )


def check_volumes(name: str, sizes: Shape) -> None:
    """(C, T, H, W) or (N, C, T, H, W), no dimension but the batch empty."""
    if len(sizes) not in (4, 5):
        raise ShapeError(f"{name}: Expected 4D or 5D tensor for input, but got: {list(sizes)}")
    if 0 in sizes[-4:]:
        raise ShapeError(
            f"{name}: Expected input's non-batch dimensions to have positive length, but input has a shape of "
            f"{list(sizes)} and non-batch dimension 0 has length zero!"
        )


def check_gradient(grad: Shape, wanted: Shape, dims: int) -> None:
    """The gradient of a result has its sizes; the first dimension that differs is named."""
    for dim in range(len(wanted) - dims - 1, len(wanted)):
        if len(grad) != len(wanted) or grad[dim] != wanted[dim]:
            raise ShapeError(
                f"Expected a tensor of dimension {len(wanted)} and tensor.size[{dim}] == {wanted[dim]} but got: "
                f"dimension {len(grad)} and tensor.size[{dim}] = {grad[dim] if dim < len(grad) else 'none'}"
            )


def laid_out_as(self: Tensor, shape: Shape) -> Shape | None:
    """The strides of a result: channels last if the input's are; None for row-major ones."""
    if self._strides is not None and looks_channels_last(self._shape, self._strides):
        return channels_last_strides(shape)
    return None
