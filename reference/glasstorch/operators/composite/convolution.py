"""How are the convolutions over one, two and three dimensions, and their second gradients, composed?

Mirrors: aten/src/ATen/native/Convolution.cpp (conv1d, conv_transpose1d, convolution_same, _convolution_mode,
    _convolution_double_backward), ConvolutionTBC.cpp (conv_tbc_backward)
Differs: the second gradients are convolutions with the roles of the arguments exchanged, in groups too; PyTorch
    transposes tensors and goes through the groups one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.core.warn_once import warn_once
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.result import C_NAMES

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Gradients = tuple["Tensor | None", "Tensor | None", "Tensor | None"]


# Batches and single samples -------------------------------------------------------------------------------------


def _batched(name: str, dims: int, input: Tensor) -> bool:
    """Whether the input has a batch dimension; another number of dimensions is refused."""
    shape = input._shape
    if len(shape) not in (dims + 1, dims + 2):
        raise ShapeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got input of size: "
            f"{list(shape)}"
        )
    return len(shape) == dims + 2


def _check_bias(input: Tensor, bias: Tensor | None) -> None:
    if bias is not None and bias.dtype is not input.dtype:
        names = (C_NAMES.get(t.dtype.name, t.dtype.name) for t in (input, bias))
        raise DtypeError("Input type ({}) and bias type ({}) should be the same".format(*names))


def _forward(name: str, dims: int) -> Callable[..., Tensor]:
    """conv1d, conv2d or conv3d: a convolution of a batch, or of one sample."""

    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        groups: int,
    ) -> Tensor:
        _check_bias(input, bias)
        batched = _batched(name, dims, input)
        images = input if batched else input.unsqueeze(0)
        result = f.convolution(images, weight, bias, stride, padding, dilation, False, [0] * dims, groups)
        return result if batched else result.squeeze(0)

    return conv


def _forward_by_mode(name: str, dims: int) -> Callable[..., Tensor]:
    """conv1d, conv2d or conv3d whose padding is 'same' or 'valid'."""

    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        stride: Sequence[int],
        padding: str,
        dilation: Sequence[int],
        groups: int,
    ) -> Tensor:
        batched = _batched(name, dims, input)
        images = input if batched else input.unsqueeze(0)
        result = _convolution_mode(images, weight, bias, stride, padding, dilation, groups)
        return result if batched else result.squeeze(0)

    return conv


def _transposed(name: str, dims: int) -> Callable[..., Tensor]:
    """conv_transpose1d, conv_transpose2d or conv_transpose3d."""

    def conv_transpose(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        stride: Sequence[int],
        padding: Sequence[int],
        output_padding: Sequence[int],
        groups: int,
        dilation: Sequence[int],
    ) -> Tensor:
        batched = _batched(name, dims, input)
        images = input if batched else input.unsqueeze(0)
        result = f.convolution(images, weight, bias, stride, padding, dilation, True, output_padding, groups)
        return result if batched else result.squeeze(0)

    return conv_transpose


conv1d, conv2d, conv3d = (_forward(f"conv{dims}d", dims) for dims in (1, 2, 3))
conv1d_padding, conv2d_padding, conv3d_padding = (_forward_by_mode(f"conv{dims}d", dims) for dims in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (_transposed(f"conv_transpose{d}d", d) for d in (1, 2, 3))


# Padding by its name --------------------------------------------------------------------------------------------


def _convolution_mode(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: str,
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """A convolution with padding 'same', which keeps the size, or 'valid', which is none."""
    if padding == "same":
        return _same(input, weight, bias, stride, dilation, groups)
    if padding == "valid":
        return f.convolution(input, weight, bias, stride, [0], dilation, False, [0], groups)
    raise ArgumentError(f"Invalid padding string: '{padding}'")


def _same(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """What cannot be padded alike on both sides is padded by one more behind."""
    kernel, dims = weight._shape, len(weight._shape) - 2
    if dims < 1:
        raise ShapeError("weight should have at least three dimensions")
    if groups <= 0:
        raise ArgumentError("non-positive groups is not supported")
    if len(input._shape) != len(kernel):
        raise ShapeError(
            f"Expected {len(kernel)}-dimensional input for {len(kernel)}-dimensional weight{list(kernel)}, but got "
            f"{len(input._shape)}-dimensional input of size {list(input._shape)} instead"
        )
    for name, values in (("stride", stride), ("dilation", dilation)):
        if len(values) not in (1, dims):
            raise ShapeError(f"{name} cannot broadcast to {dims} dimensions")
    if any(step != 1 for step in stride):
        raise ArgumentError("padding='same' is not supported for strided convolutions")
    steps = list(dilation) * (dims if len(dilation) == 1 else 1)
    total = [step * (size - 1) for step, size in zip(steps, kernel[2:], strict=True)]
    if any(zeros % 2 for zeros in total):
        warn_once(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the "
            "input be created"
        )
        behind = [side for zeros in reversed(total) for side in (0, zeros % 2)]
        input = f.constant_pad_nd(input, behind, 0)
    before = [zeros // 2 for zeros in total]
    return f.convolution(input, weight, bias, stride, before, dilation, False, [0] * dims, groups)


# The general operator -------------------------------------------------------------------------------------------


def _convolution(*arguments: Any) -> Tensor:
    """A convolution; the settings for cuDNN and its kind are ignored."""
    *given, _benchmark, _deterministic, _cudnn_enabled, _allow_tf32 = arguments
    return f.convolution(*given)


def _convolution_deprecated(*arguments: Any) -> Tensor:
    """A convolution; the settings for cuDNN are ignored."""
    return f._convolution(*arguments, True)


def _convolution_double_backward(
    ggI: Tensor | None,
    ggW: Tensor | None,
    ggb: Tensor | None,
    gO: Tensor,
    weight: Tensor,
    self: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> Gradients:
    """The gradients of gO, weight and input, given those of the gradients of input, weight and bias.

    A convolution is linear in its input and in its weight. So are its two gradients in what they are computed from,
    which makes their gradients convolutions and gradients of convolutions.
    """
    how = (stride, padding, dilation, transposed, output_padding, groups)
    to_output: Tensor | None = None
    to_weight = to_input = None
    if output_mask[0]:
        terms = [f.convolution(ggI, weight, None, *how)] if ggI is not None else []
        terms += [f.convolution(self, ggW, None, *how)] if ggW is not None else []
        terms += [ggb.reshape((1, -1, *(1,) * (len(gO._shape) - 2))).expand(gO._shape)] if ggb is not None else []
        for term in terms:
            to_output = term if to_output is None else to_output + term
    if output_mask[2] and ggI is not None:
        to_weight = f.convolution_backward(gO, ggI, weight, None, *how, [False, True, False])[1]
    if output_mask[1] and ggW is not None:
        to_input = f.convolution_backward(gO, self, ggW, None, *how, [True, False, False])[0]
    return to_output, to_input, to_weight


# Time, batch, channels ------------------------------------------------------------------------------------------


def conv_tbc_backward(self: Tensor, input: Tensor, weight: Tensor, bias: Tensor, pad: int) -> tuple[Tensor, ...]:
    """The gradients of input, weight and bias, given that of the result."""
    grad, images, kernels = self.permute(1, 2, 0), input.permute(1, 2, 0), weight.permute(2, 1, 0)
    to_input, to_weight, _ = f.convolution_backward(
        grad, images, kernels, None, [1], [pad], [1], False, [0], 1, [True, True, False]
    )
    return to_input.permute(2, 0, 1), to_weight.permute(2, 1, 0), self.sum((0, 1))
