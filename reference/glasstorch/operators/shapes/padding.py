"""What shape have tensors that are padded by their own elements, and which paddings are refused?

Mirrors: aten/src/ATen/native/ReflectionPad.cpp, ReplicationPadding.cpp, Padding.h (check_valid_input)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import COMPLEX_DTYPES, DTYPES, FLOATS, STORED_ONLY, bool_, dtype
from glasstorch.core.errors import ArgumentError, ShapeError, not_implemented_for
from glasstorch.core.geometry import Shape
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

COMPUTED: frozenset[dtype] = frozenset(DTYPES) - STORED_ONLY - {bool_}
AXES = ("W", "H", "D")  # as messages name the dimensions, the last one first


def _check_input(sizes: Shape, padding: Sequence[int], dims: int) -> None:
    """As many numbers as borders, and one or two dimensions besides those that are padded, none of them empty."""
    if len(padding) != 2 * dims:
        raise ArgumentError(f"padding size is expected to be {2 * dims}, but got: {len(padding)}")
    batched = len(sizes) == dims + 2
    if len(sizes) not in (dims + 1, dims + 2) or 0 in sizes[batched:]:
        raise ShapeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(sizes)}"
        )


def _padded(self: Tensor, padding: Sequence[int], dims: int) -> Shape:
    """The sizes with the padding, the first two numbers of which belong to the last dimension."""
    sizes = list(self._shape)
    for i in range(dims):
        sizes[-1 - i] += padding[2 * i] + padding[2 * i + 1]
    if any(size < 1 for size in sizes[-dims:]):
        before = " ".join(f"{axis}: {n}" for axis, n in zip(AXES[:dims][::-1], self._shape[-dims:], strict=True))
        after = " ".join(f"{axis}: {n}" for axis, n in zip(AXES[:dims][::-1], sizes[-dims:], strict=True))
        raise ShapeError(f"input ({before}) is too small. Calculated output {after}")
    return tuple(sizes)


def _reflection(self: Tensor, padding: Sequence[int], dims: int) -> Result:
    _check_input(self._shape, padding, dims)
    for i in range(dims):
        dim = len(self._shape) - 1 - i
        before, after = padding[2 * i : 2 * i + 2]
        if max(before, after) >= self._shape[dim]:
            raise ShapeError(
                f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input dimension, but got: "
                f"padding ({before}, {after}) at dimension {dim} of input {list(self._shape)}"
            )
    shape = _padded(self, padding, dims)
    _check_dtype(f"reflection_pad{dims}d", self)
    return Result(shape, self.dtype, None, same_dtype)


def _replication(self: Tensor, padding: Sequence[int], dims: int) -> Result:
    _check_input(self._shape, padding, dims)
    shape = _padded(self, padding, dims)
    _check_dtype(f"replication_pad{dims}d", self)
    return Result(shape, self.dtype, None, same_dtype)


def _check_dtype(kernel: str, self: Tensor) -> None:
    if self.dtype not in COMPUTED:
        raise not_implemented_for(kernel, self.dtype)


def _gradient(grad_output: Tensor, self: Tensor, padding: Sequence[int], kernel: str) -> Result:
    """The shape of the input; the gradient has that of the result."""
    sizes = list(self._shape)
    for i in range(len(padding) // 2):
        sizes[-1 - i] += padding[2 * i] + padding[2 * i + 1]
    if grad_output._shape != tuple(sizes):
        raise ShapeError(f"expected a gradient of sizes {sizes}, those of the result, got {list(grad_output._shape)}")
    # PyTorch calls the other kernels only where there are elements.
    called = grad_output.numel() or kernel == "reflection_pad2d_backward"
    if called and grad_output.dtype not in FLOATS | COMPLEX_DTYPES:
        raise not_implemented_for(kernel, grad_output.dtype)
    return Result(self._shape, grad_output.dtype, None, same_dtype)


def reflection_pad1d(self: Tensor, padding: Sequence[int]) -> Result:
    """The last dimension is larger."""
    return _reflection(self, padding, 1)


def reflection_pad2d(self: Tensor, padding: Sequence[int]) -> Result:
    """The last two dimensions are larger."""
    return _reflection(self, padding, 2)


def reflection_pad3d(self: Tensor, padding: Sequence[int]) -> Result:
    """The last three dimensions are larger."""
    return _reflection(self, padding, 3)


def replication_pad1d(self: Tensor, padding: Sequence[int]) -> Result:
    """The last dimension is larger."""
    return _replication(self, padding, 1)


def replication_pad2d(self: Tensor, padding: Sequence[int]) -> Result:
    """The last two dimensions are larger."""
    return _replication(self, padding, 2)


def replication_pad3d(self: Tensor, padding: Sequence[int]) -> Result:
    """The last three dimensions are larger."""
    return _replication(self, padding, 3)


def reflection_pad1d_backward(grad_output: Tensor, self: Tensor, padding: Sequence[int]) -> Result:
    """The shape of the input."""
    return _gradient(grad_output, self, padding, "reflection_pad1d_backward")


def reflection_pad2d_backward(grad_output: Tensor, self: Tensor, padding: Sequence[int]) -> Result:
    """The shape of the input."""
    return _gradient(grad_output, self, padding, "reflection_pad2d_backward")


def reflection_pad3d_backward(grad_output: Tensor, self: Tensor, padding: Sequence[int]) -> Result:
    """The shape of the input."""
    return _gradient(grad_output, self, padding, "reflection_pad3d_backward")


def replication_pad1d_backward(grad_output: Tensor, self: Tensor, padding: Sequence[int]) -> Result:
    """The shape of the input."""
    return _gradient(grad_output, self, padding, "replication_pad1d_backward")


def replication_pad2d_backward(grad_output: Tensor, self: Tensor, padding: Sequence[int]) -> Result:
    """The shape of the input."""
    return _gradient(grad_output, self, padding, "replication_pad2d_backward")


def replication_pad3d_backward(grad_output: Tensor, self: Tensor, padding: Sequence[int]) -> Result:
    """The shape of the input."""
    _check_input(self._shape, padding, 3)
    return _gradient(grad_output, self, padding, "replication_pad3d_backward")


# Pixels and channels --------------------------------------------------------------------------------------------


def pixel_shuffle(self: Tensor, upscale_factor: int) -> Result:
    """(..., C * r * r, H, W) becomes (..., C, H * r, W * r)."""
    sizes, r = self._shape, upscale_factor
    if len(sizes) < 3:
        raise ShapeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {len(sizes)} dimension(s)"
        )
    if r <= 0:
        raise ArgumentError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    if sizes[-3] % (r * r):
        raise ShapeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={sizes[-3]} is not divisible by {r * r}"
        )
    _check_stored(self, "pixel_shuffle")
    shape = (*sizes[:-3], sizes[-3] // (r * r), sizes[-2] * r, sizes[-1] * r)
    return Result(shape, self.dtype, None, same_dtype)


def pixel_unshuffle(self: Tensor, downscale_factor: int) -> Result:
    """(..., C, H * r, W * r) becomes (..., C * r * r, H, W)."""
    sizes, r = self._shape, downscale_factor
    if len(sizes) < 3:
        raise ShapeError(
            f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {len(sizes)} dimension(s)"
        )
    if r <= 0:
        raise ArgumentError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    for name, size in (("height", sizes[-2]), ("width", sizes[-1])):
        if size % r:
            raise ShapeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({-2 if name == 'height' else -1})={size} is not divisible by {r}"
            )
    if not self.numel():  # as in PyTorch, which returns a copy
        return Result(sizes, self.dtype, None, same_dtype)
    _check_stored(self, "pixel_unshuffle")
    return Result((*sizes[:-3], sizes[-3] * r * r, sizes[-2] // r, sizes[-1] // r), self.dtype, None, same_dtype)


def channel_shuffle(self: Tensor, groups: int) -> Result:
    """The sizes stay."""
    sizes = self._shape
    if len(sizes) <= 2:
        raise ShapeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(sizes)}")
    if groups <= 0:
        raise ArgumentError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if sizes[1] % groups:
        raise ShapeError(
            f"Number of channels must be divisible by groups. Got {sizes[1]} channels and {groups} groups."
        )
    _check_stored(self, "channel_shuffle")
    return Result(sizes, self.dtype, None, same_dtype)


def _check_stored(self: Tensor, kernel: str) -> None:
    """PyTorch's kernels move elements of the dtypes that it computes in."""
    if self.numel() and self.dtype in STORED_ONLY:
        raise not_implemented_for(kernel, self.dtype)
