"""What shape and dtype does a convolution have, and which arguments are refused?

Mirrors: aten/src/ATen/native/Convolution.cpp (check_shape_forward, _convolution, convolution_backward), ConvUtils.h
    (conv_output_size, conv_input_size), ConvolutionMM2d.cpp, NaiveConvolutionTranspose2d.cpp, ConvolutionTBC.cpp,
    Im2Col.cpp, Col2Im.cpp, im2col_shape_check.h
Differs: in the words for dtypes that clash, PyTorch names the kernel library that its backend is made with; ours are
    those of its kernels without one. Gradients are refused where they do not fit; PyTorch's libraries fail in words of
    their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from glasstorch.core.dtype import COMPLEX_DTYPES, FLOATS, bool_, dtype, int8, int16, int32, int64, uint8
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import Shape, channels_last_strides, looks_channels_last
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

DIFFERENTIABLE = FLOATS | COMPLEX_DTYPES
WITH_LONG = DIFFERENTIABLE | {int64}
WITH_INTEGERS = WITH_LONG | {uint8, int8, int16, int32}
WITH_BOOL = DIFFERENTIABLE | {bool_}
NAMES = ("depth", "height", "width")  # of spatial dimensions, in messages


class Window(NamedTuple):
    """How a kernel slides: its sizes, its steps, the zeros around the input, and the distance of its elements."""

    kernel: Shape
    stride: Shape
    padding: Shape
    dilation: Shape

    @property
    def extent(self) -> Shape:
        """The sizes of what the kernel spans."""
        return tuple(d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilation, strict=True))

    def places(self, sizes: Sequence[int]) -> Shape:
        """In how many places the kernel fits into an input of these sizes.

        >>> Window((3, 3), (2, 2), (1, 1), (1, 1)).places((8, 9))
        (4, 5)
        """
        spans = zip(sizes, self.padding, self.extent, self.stride, strict=True)
        return tuple((size + 2 * padding - extent) // stride + 1 for size, padding, extent, stride in spans)

    def covered(self, places: Sequence[int], more: Sequence[int]) -> Shape:
        """The sizes of an input with so many places, and `more` elements that the kernel does not reach."""
        spans = zip(places, self.padding, self.extent, self.stride, more, strict=True)
        return tuple((n - 1) * stride - 2 * padding + extent + rest for n, padding, extent, stride, rest in spans)


# convolution ----------------------------------------------------------------------------------------------------


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Result:
    """(N, C, *sizes) and a weight (O, C / groups, *kernel) give (N, O, *places); transposed, the other way round.

    Without input channels there are none in the result either.
    """
    window = window_of(weight, stride, padding, dilation, groups)
    more = _expanded("output_padding", output_padding, len(window.kernel))
    _check_sizes(input, weight, bias, window, transposed, more, groups)
    sizes, kernel = input._shape, weight._shape
    if transposed:
        shape = (sizes[0], kernel[1] * groups, *window.covered(sizes[2:], more))
    else:
        shape = (sizes[0], kernel[0] if sizes[1] else 0, *window.places(sizes[2:]))
    _check_reach(input, weight, window, transposed, more, shape)
    _check_dtypes(input, weight, bias, window, transposed)
    return Result(shape, input.dtype, _strides(input, weight, shape), same_dtype)


def convolution_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Result | None, ...]:
    """The shapes of input, weight and bias, or None where the mask asks for no gradient."""
    if len(grad_output._shape) != len(input._shape):
        raise ShapeError(
            f"Expected input and grad_output to have the same number of dimensions, but got: {len(input._shape)} and "
            f"{len(grad_output._shape)}"
        )
    result = convolution(input, weight, None, stride, padding, dilation, transposed, output_padding, groups)
    if grad_output._shape != result.shape:
        raise ShapeError(
            f"Expected grad_output to have the sizes of the convolution's result, {list(result.shape)}, but got: "
            f"{list(grad_output._shape)}"
        )
    if grad_output.dtype is not input.dtype:
        raise DtypeError(f"expected scalar type {grad_output.dtype.scalar_name} but found {input.dtype.scalar_name}")
    if input.dtype not in DIFFERENTIABLE:
        raise not_implemented_for(_kernel(transposed, len(input._shape) - 2) + "_grad_input", input.dtype)
    channels = bias_sizes or result.shape[1:2]
    gradients = (
        Result(input._shape, input.dtype, _strides(input, weight, input._shape), same_dtype),
        Result(weight._shape, weight.dtype, _strides(input, weight, weight._shape), same_dtype),
        Result(tuple(channels), input.dtype, None, same_dtype),
    )
    return tuple(gradient if wanted else None for gradient, wanted in zip(gradients, output_mask, strict=True))


def window_of(
    weight: Tensor, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], groups: int
) -> Window:
    """The window of a convolution; a single number stands for all dimensions."""
    count = len(weight._shape) - 2
    if count < 1:
        raise ShapeError("weight should have at least three dimensions")
    if groups <= 0:
        raise ArgumentError("non-positive groups is not supported")
    given = (("stride", stride), ("padding", padding), ("dilation", dilation))
    return Window(weight._shape[2:], *(_expanded(name, values, count) for name, values in given))


def _expanded(name: str, values: Sequence[int], count: int) -> Shape:
    if len(values) == 1:
        return tuple(values) * count
    if len(values) != count:
        raise ShapeError(
            f"expected {name} to be a single integer value or a list of {count} values to match the convolution "
            f"dimensions, but got {name}={list(values)}"
        )
    return tuple(values)


def _check_sizes(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    window: Window,
    transposed: bool,
    more: Shape,
    groups: int,
) -> None:
    """What check_shape_forward refuses."""
    sizes, kernel = input._shape, weight._shape
    for refused, message in (
        (min(window.padding) < 0, "negative padding is not supported"),
        (min(more) < 0, "negative output_padding is not supported"),
        (min(window.stride) <= 0, "non-positive stride is not supported"),
        (min(window.dilation) < 0, "dilation should be greater than zero"),
    ):
        if refused:
            raise ArgumentError(message)
    if len(sizes) != len(kernel):
        raise ShapeError(
            f"Expected {len(kernel)}-dimensional input for {len(kernel)}-dimensional weight {list(kernel)}, but got "
            f"{len(sizes)}-dimensional input of size {list(sizes)} instead"
        )
    if kernel[0] < groups:
        raise ShapeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{list(kernel)} instead"
        )
    if kernel[0] % groups:
        raise ShapeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{list(kernel)}] instead"
        )
    channels, made = (kernel[0], kernel[1] * groups) if transposed else (kernel[1] * groups, kernel[0])
    given = f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size {list(kernel)}"
    if sizes[1] != channels:
        raise ShapeError(
            f"{given}, expected input{list(sizes)} to have {channels} channels, but got {sizes[1]} channels instead"
        )
    if bias is not None and bias._shape != (made,):
        given = given if transposed else f"Given weight of size {list(kernel)}"
        raise ShapeError(
            f"{given}, expected bias to be 1-dimensional with {made} elements, but got bias of size "
            f"{list(bias._shape)} instead"
        )
    padded = tuple(size + 2 * padding for size, padding in zip(sizes[2:], window.padding, strict=True))
    if not transposed and any(size < extent for size, extent in zip(padded, window.extent, strict=True)):
        raise ShapeError(
            f"Calculated padded input size per channel: ({_by(padded)}). Kernel size: ({_by(window.extent)}). Kernel "
            f"size can't be greater than actual input size"
        )


def _check_reach(input: Tensor, weight: Tensor, window: Window, transposed: bool, more: Shape, shape: Shape) -> None:
    """What the kernels refuse: empty images, empty kernels, and padding that a stride leaves no room for."""
    sizes = input._shape
    if len(window.kernel) > len(NAMES):
        raise ArgumentError("unsupported ConvNd parameters")
    if 0 in sizes:
        if 0 in sizes[2:]:
            raise ShapeError(
                f"Only zero batch or zero channel inputs are supported, but got input shape: {list(sizes)}"
            )
        return
    if min(window.kernel) <= 0:
        raise ArgumentError(f"kernel size should be greater than zero, but got {_named('kernel', window.kernel)}")
    if min(window.dilation) <= 0:
        raise ArgumentError(f"dilation should be greater than zero, but got {list(_images(window.dilation, 1))}")
    if not transposed:
        return
    if any(rest >= max(pair) for rest, *pair in zip(more, window.stride, window.dilation, strict=True)):
        raise ArgumentError(
            f"output padding must be smaller than either stride or dilation, but got "
            f"{_named('output_padding', more, 0)} {_named('stride', window.stride)} "
            f"{_named('dilation', window.dilation)}"
        )
    if 0 in weight._shape:
        raise ShapeError(f"non-empty 2D or 4D weight tensor expected, but got: {list(_images(weight._shape, 1, 2))}")
    if min(shape[2:]) < 1:
        raise ShapeError(
            f"Given input size per channel: ({_by(_images(sizes[2:], 1))}). Calculated output size per channel: "
            f"({_by(_images(shape[2:], 1))}). Output size is too small"
        )


def _check_dtypes(input: Tensor, weight: Tensor, bias: Tensor | None, window: Window, transposed: bool) -> None:
    """All have one dtype: a float or a complex number, or an integer where PyTorch has loops for it."""
    found, dims = input.dtype, len(window.kernel)
    kernel, accepted = _kernel(transposed, dims), WITH_LONG if transposed else WITH_INTEGERS
    if not transposed and max(window.dilation) > 1:
        kernel, accepted = "slow_conv_dilated<>", WITH_LONG
    if transposed:
        kernel += "_out_cpu"
    if found not in accepted:
        raise not_implemented_for(kernel, found)
    for other in (weight, bias):
        if other is not None and other.dtype is not found:
            raise DtypeError(f"expected scalar type {found.scalar_name} but found {other.dtype.scalar_name}")


def _kernel(transposed: bool, dims: int) -> str:
    """The name of PyTorch's kernel; a signal is an image of one row."""
    if transposed:
        return f"slow_conv_transpose{max(dims, 2)}d"
    return "slow_conv2d_cpu" if dims < 3 else "compute_columns3d"


def _strides(input: Tensor, weight: Tensor, shape: Shape) -> Shape | None:
    """Channels last for images if the input or the weight has its channels last."""
    last = any(len(t._shape) == 4 and looks_channels_last(t._shape, t.strides()) for t in (input, weight))
    return channels_last_strides(shape) if last and 0 not in shape else None


def _images(values: Sequence[int], one: int, before: int = 0) -> tuple[int, ...]:
    """The numbers of one dimension as those of an image of one row, as PyTorch computes it."""
    return (*values[:before], one, *values[before:]) if len(values) == before + 1 else tuple(values)


def _named(word: str, values: Sequence[int], one: int = 1) -> str:
    """`kernel_height: 3 kernel_width: 2`."""
    values = _images(values, one)
    names = NAMES[len(NAMES) - len(values) :]
    return " ".join(f"{word}_{name}: {value}" for name, value in zip(names, values, strict=True))


def _by(values: Sequence[int]) -> str:
    """`5 x 3`."""
    return " x ".join(map(str, values))


# conv_tbc -------------------------------------------------------------------------------------------------------


def conv_tbc(self: Tensor, weight: Tensor, bias: Tensor, pad: int) -> Result:
    """(T, N, C) and a weight (width, C, O) give (T + 2 * pad - width + 1, N, O)."""
    if len(self._shape) != 3:
        raise ShapeError("Input must have 3 dims: time, batch, in_channel")
    if len(weight._shape) != 3:
        raise ShapeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if len(bias._shape) != 1:
        raise ShapeError("Bias must be 1-D")
    (time, batch, channels), (width, inputs, outputs) = self._shape, weight._shape
    if channels != inputs:
        raise ShapeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if bias._shape[0] != outputs:
        raise ShapeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    shape = (time + 2 * pad - width + 1, batch, outputs)
    if shape[0] < 0:
        raise ShapeError(f"Trying to create tensor with negative dimension {shape[0]}: {list(shape)}")
    if shape[0] and width and self.dtype not in WITH_INTEGERS:
        raise not_implemented_for("addmm_impl_cpu_", self.dtype)
    if weight.dtype is not self.dtype:
        raise DtypeError(
            f"self and mat2 must have the same dtype, but got {self.dtype.scalar_name} and {weight.dtype.scalar_name}"
        )
    return Result(shape, self.dtype, None, same_dtype)


# im2col, col2im -------------------------------------------------------------------------------------------------


def im2col(
    self: Tensor, kernel_size: Sequence[int], dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> Result:
    """(N, C, H, W) gives (N, C * kernel, places); also without N."""
    window = pair_window(kernel_size, dilation, padding, stride)
    shape = self._shape
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise ShapeError(
            f"Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
            f"input, but got: {list(shape)}"
        )
    sizes = shape[-2:]
    places = window.places(sizes)
    if any(place < 1 for place in places):
        raise ShapeError(
            f"Given input with spatial size {sizes}, kernel_size={window.kernel}, dilation={window.dilation}, "
            f"padding={window.padding}, calculated shape of the array of sliding blocks as {places}, but its "
            f"components must be at least one."
        )
    _check_moved("im2col_out_cpu", self.dtype)
    rows = shape[-3] * math.prod(window.kernel)
    return Result((*shape[:-3], rows, math.prod(places)), self.dtype, None, same_dtype)


def col2im(
    self: Tensor,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Result:
    """(N, C * kernel, places) gives (N, C, *output_size); also without N."""
    sizes = _pair("output_size", output_size)
    window = pair_window(kernel_size, dilation, padding, stride)
    shape = self._shape
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise ShapeError(
            f"Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {list(shape)}"
        )
    rows, count = shape[-2:]
    if rows % math.prod(window.kernel):
        raise ShapeError(
            f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={rows} and kernel_size={window.kernel}."
        )
    places = window.places(sizes)
    if math.prod(places) != count or min(places) < 1:
        expected = f"{places[0]} * {places[1]} = {math.prod(places)}"
        raise ShapeError(
            f"Given output_size={sizes}, kernel_size={window.kernel}, dilation={window.dilation}, "
            f"padding={window.padding}, stride={window.stride}, expected size of input's dimension 2 to match the "
            f"calculated number of sliding blocks {expected}, but got input.size(2)={count}."
        )
    _check_moved("col2im_out_cpu", self.dtype)
    return Result((*shape[:-2], rows // math.prod(window.kernel), *sizes), self.dtype, None, same_dtype)


def pair_window(
    kernel_size: Sequence[int], dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> Window:
    """The window of im2col, whose numbers are pairs."""
    kernel, spread = _pair("kernel_size", kernel_size), _pair("dilation", dilation)
    zeros, step = _pair("padding", padding), _pair("stride", stride)
    for word, name, values, least, rule in (
        ("kernel", "kernel size", kernel, 1, "greater than zero"),
        ("dilation", "dilation", spread, 1, "greater than zero"),
        ("pad", "padding", zeros, 0, "non-negative"),
        ("stride", "stride", step, 1, "greater than zero"),
    ):
        if min(values) < least:
            raise ArgumentError(f"{name} should be {rule}, but got {_named(word, values)}")
    return Window(kernel, step, zeros, spread)


def _pair(name: str, values: Sequence[int]) -> tuple[int, int]:
    if len(values) != 2:
        raise ShapeError(f"It is expected {name} equals to 2, but got size {len(values)}")
    return values[0], values[1]


def _check_moved(kernel: str, found: dtype) -> None:
    if found not in WITH_BOOL:
        raise not_implemented_for(kernel, found)
