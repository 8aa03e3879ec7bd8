"""What shape and dtype do normalizations have, and which arguments are refused?

Mirrors: aten/src/ATen/native/Normalization.cpp, layer_norm.cpp, layer_norm.h (_check_layer_norm_inputs), group_norm.cpp
    (check_group_norm_inputs), mixed_data_type.h
Differs: native_batch_norm checks the sizes of its arguments itself, and needs running statistics where it does not
    train. PyTorch's checks lie in batch_norm, and its kernel reads beyond memory. The gradients of a weight or bias
    that is absent can be asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS, HALF_PRECISION, dtype, float32, uint8
from glasstorch.core.errors import (
    ArgumentError,
    ArgumentValueError,
    DimensionError,
    DtypeError,
    ShapeError,
    not_implemented_for,
)
from glasstorch.core.geometry import Shape
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Results = tuple[Result, ...]
Gradients = tuple[Result | None, ...]

# dtypes ---------------------------------------------------------------------------------------------------------


def statistics_dtype(input: Tensor, *others: Tensor | None) -> dtype:
    """That of mean and deviation, and of the others: the input's, or float32 beside half precision.

    >>> import glasstorch
    >>> statistics_dtype(glasstorch.ones(2, dtype=glasstorch.float16), glasstorch.ones(2))
    glasstorch.float32
    """
    given = [other.dtype for other in others if other is not None]
    if not given or given[0] is input.dtype:
        return input.dtype
    if any(other is not float32 for other in given):
        raise DtypeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if input.dtype not in HALF_PRECISION:
        raise DtypeError("mixed dtype (CPU): all inputs must share same datatype.")
    return float32


def _check_dtypes(kernel: str, input: Tensor, *others: Tensor | None) -> dtype:
    """The dtype of the statistics, of an input that a kernel computes."""
    statistics = statistics_dtype(input, *others)
    if input.dtype not in FLOATS:
        raise not_implemented_for(kernel, input.dtype)
    for other in others:
        if other is not None:
            _check_same(statistics, other.dtype)
    return statistics


def _check_same(expected: dtype, found: dtype) -> None:
    if expected is not found:
        raise DtypeError(f"expected scalar type {expected.scalar_name} but found {found.scalar_name}")


def _result(shape: Shape, dtype: dtype) -> Result:
    return Result(shape, dtype, None, same_dtype)


def _masked(results: Sequence[Result], output_mask: Sequence[bool]) -> Gradients:
    return tuple(result if wanted else None for result, wanted in zip(results, output_mask, strict=True))


# batch_norm -----------------------------------------------------------------------------------------------------


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Results:
    """The input's shape; the mean and the inverse deviation of each channel (C), which only training gives."""
    channels = channels_of(input)
    parameters = (weight, bias, running_mean, running_var)
    check_channels(input, *parameters, training=training)
    dtype = _check_dtypes("batch_norm", input, *parameters)
    statistics = (channels,) if training else (0,)
    return _result(input._shape, input.dtype), _result(statistics, dtype), _result(statistics, dtype)


def native_batch_norm_without_statistics(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, training: bool, momentum: float, eps: float
) -> Results:
    """As native_batch_norm, without running statistics."""
    return native_batch_norm(input, weight, bias, None, None, training, momentum, eps)


def batch_norm_with_update(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> Results:
    """As native_batch_norm in training; the fourth result is what cuDNN would keep, and empty."""
    results = native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return *results, _result((0,), uint8)


def batch_norm_update_stats(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float
) -> Results:
    """The mean and the variance of each channel (C)."""
    channels = channels_of(input)
    check_channels(input, None, None, running_mean, running_var, training=True)
    dtype = _check_dtypes("batch_norm_update_stats_cpu", input, running_mean, running_var)
    return _result((channels,), dtype), _result((channels,), dtype)


def native_batch_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_invstd: Tensor | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> Gradients:
    """The shapes of input, weight and bias; None where the mask asks for no gradient."""
    channels = channels_of(input)
    if train:
        used, needed = (save_mean, save_invstd), "save_mean and save_invstd must be defined in training mode"
    else:
        used, needed = (running_mean, running_var), "running_mean and running_var must be defined in evaluation mode"
    if None in used:
        raise ArgumentError(needed)
    if grad_out._shape != input._shape:
        raise ShapeError(
            f"Expected grad_out to have the sizes of the input, {list(input._shape)}, but got: {list(grad_out._shape)}"
        )
    dtype = statistics_dtype(input, weight, *used)
    if input.dtype not in FLOATS:
        raise not_implemented_for("batch_norm_backward_cpu", input.dtype)
    _check_same(input.dtype, grad_out.dtype)
    sizes = (_result(input._shape, input.dtype), _result((channels,), dtype), _result((channels,), dtype))
    return _masked(sizes, output_mask)


def batch_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_var: Tensor | None,
    update: bool,
    eps: float,
    output_mask: Sequence[bool],
    reserve: Tensor,
) -> Gradients:
    """As native_batch_norm_backward."""
    used = (running_mean, running_var, save_mean, save_var)
    return native_batch_norm_backward(grad_out, input, weight, *used, update, eps, output_mask)


def channels_of(input: Tensor) -> int:
    """The size of dimension 1."""
    dims = len(input._shape)
    if dims < 2:
        raise DimensionError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    return input._shape[1]


def check_channels(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
) -> None:
    """An element for each channel, and running statistics where the batch has no say."""
    if training and 0 in input._shape:
        raise ShapeError(f"input tensor must have at least one element, but got input_sizes = {list(input._shape)}")
    for name, running in (("running_mean", running_mean), ("running_var", running_var)):
        if running is None and not training:
            raise ArgumentError(f"{name} must be defined in evaluation mode")
    if (running_mean is None) != (running_var is None):
        raise ArgumentValueError("running_mean and running_var must either both be None or neither be None")
    channels = input._shape[1] if len(input._shape) > 1 else 0
    named = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, tensor in named.items():
        if tensor is not None and tensor.numel() != channels:
            raise ShapeError(f"{name} should contain {channels} elements not {tensor.numel()}")


# layer_norm -----------------------------------------------------------------------------------------------------


def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> Results:
    """The input's shape; mean and inverse deviation have size 1 in the normalized dimensions."""
    check_normalized(input, normalized_shape, weight, bias)
    dtype = _check_dtypes("LayerNormKernelImpl", input, weight, bias)
    outer = input._shape[: -len(normalized_shape)]
    statistics = _result((*outer, *(1,) * len(normalized_shape)), dtype)
    return _result(input._shape, input.dtype), statistics, statistics


def native_layer_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: Sequence[bool],
) -> Gradients:
    """The shapes of input, weight and bias; None where the mask asks for no gradient."""
    check_normalized(input, normalized_shape, weight, bias)
    dtype = _check_dtypes("LayerNormBackwardKernelImpl", input, weight, bias)
    _check_same(input.dtype, grad_out.dtype)
    if grad_out._shape != input._shape:
        raise ShapeError(
            f"Expected grad_out to have the sizes of the input, {list(input._shape)}, but got: {list(grad_out._shape)}"
        )
    parameter = _result(tuple(normalized_shape), dtype)
    return _masked((_result(input._shape, input.dtype), parameter, parameter), output_mask)


def check_normalized(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, joint: str = ", "
) -> None:
    """The last sizes of the input, which are those of weight and bias too; `joint` stands before them in the words."""
    sizes = list(normalized_shape)
    if not sizes:
        raise ShapeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and list(parameter._shape) != sizes:
            raise ShapeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(parameter._shape)} and normalized_shape = {sizes}"
            )
    if len(input._shape) < len(sizes) or list(input._shape[-len(sizes) :]) != sizes:
        expected = joint + ", ".join(map(str, sizes))
        raise ShapeError(
            f"Given normalized_shape={sizes}, expected input with shape [*{expected}], but got input of size"
            f"{list(input._shape)}"
        )


# group_norm -----------------------------------------------------------------------------------------------------


def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> Results:
    """The input's shape; the mean and the inverse deviation of each group, (N, group)."""
    check_groups(input._shape, C, group, weight, bias)
    dtype = _check_group_dtypes("GroupNormKernelImpl", input, (N, C, HxW), weight, bias)
    statistics = _result((N, group), dtype)
    return _result(input._shape, input.dtype), statistics, statistics


def native_group_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Sequence[bool],
) -> Gradients:
    """The shapes of input, weight and bias; None where the mask asks for no gradient."""
    if grad_out.dtype is not input.dtype:
        raise DtypeError("Expected scalar types of X and dY are same.")
    check_groups(input._shape, C, group, weight, None)
    dtype = _check_group_dtypes("GroupNormBackwardKernelImpl", input, (N, C, HxW), weight)
    wanted = {"dY": (grad_out, N * C * HxW), "mean": (mean, N * group), "rstd": (rstd, N * group)}
    for name, (tensor, count) in wanted.items():
        if tensor.numel() != count:
            raise ShapeError(f"Expected {name} to have {count} elements, but got {tensor.numel()}")
    results = (_result(input._shape, input.dtype), _result((C,), dtype), _result((C,), dtype))
    return _masked(results, output_mask)


def check_groups(shape: Shape, channels: int, group: int, weight: Tensor | None, bias: Tensor | None) -> None:
    """Groups of equally many channels, and an element of weight and bias for each channel."""
    if group <= 0:
        raise ArgumentError(f"Expected num groups to be greater than 0, got {group}")
    if channels % group:
        raise ShapeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape {list(shape)} "
            f"and num_groups={group}"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter._shape != (channels,):
            raise ShapeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list(parameter._shape)} and input of shape {list(shape)}"
            )


def _check_group_dtypes(kernel: str, input: Tensor, sizes: Shape, *parameters: Tensor | None) -> dtype:
    if input.numel() != prod(sizes):
        raise ShapeError(
            f"Expected input to have N * C * HxW = {prod(sizes)} elements, but got input of shape {list(input._shape)}"
        )
    return _check_dtypes(kernel, input, *parameters)
