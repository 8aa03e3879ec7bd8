"""What shape have normalized tensors and their statistics, and which inputs are refused?

Mirrors: aten/src/ATen/native/Normalization.cpp, layer_norm.cpp, layer_norm.h (_check_layer_norm_inputs),
    group_norm.cpp, mixed_data_type.h (param_scalar_type)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS, bfloat16, dtype, float16, float32
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import Shape, channels_last_strides, looks_channels_last
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Gradients = tuple[Result | None, Result | None, Result | None]


def _check_dtype(kernel: str, self: Tensor) -> None:
    if self.dtype not in FLOATS:
        raise not_implemented_for(kernel, self.dtype)


def statistics_dtype(input: Tensor, *parameters: Tensor | None) -> dtype:
    """The dtype of means and deviations: float32 where an input of half precision has parameters of float32."""
    given = [parameter for parameter in parameters if parameter is not None]
    if input.dtype not in (float16, bfloat16) or all(parameter.dtype is input.dtype for parameter in given):
        for parameter in given:
            if parameter.dtype is not input.dtype:
                raise DtypeError(
                    f"expected scalar type {input.dtype.scalar_name} but found {parameter.dtype.scalar_name}"
                )
        return input.dtype
    for parameter in given:
        if parameter.dtype is not float32:
            raise DtypeError(
                "mixed dtype (CPU): all the parameters should be of type Float, but found "
                f"{parameter.dtype.scalar_name}"
            )
    return float32


def as_input(input: Tensor) -> Result:
    """A result of the input's sizes, dtype and order of channels."""
    shape = input._shape
    channels_last = len(shape) in (4, 5) and looks_channels_last(shape, input.strides())
    return Result(shape, input.dtype, channels_last_strides(shape) if channels_last else None, same_dtype)


# Over batches ---------------------------------------------------------------------------------------------------


def check_channels(input: Tensor, name: str, given: Tensor | None) -> None:
    """A vector of parameters or statistics has an element for each channel."""
    if given is not None and given.numel() != input._shape[1]:
        raise ShapeError(f"{name} should contain {input._shape[1]} elements not {given.numel()}")


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Result, Result, Result]:
    """The normalized input; the mean and the inverse deviation of each channel, if they were computed."""
    if len(input._shape) < 2:
        raise ShapeError(
            f"batch_norm: expected an input of at least 2 dimensions, (N, C, ...), got {list(input._shape)}"
        )
    _check_dtype("batch_norm", input)
    named = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, given in named.items():
        check_channels(input, name, given)
    if not training and (running_mean is None or running_var is None):
        raise ArgumentError("running_mean and running_var must be given in evaluation mode: there are no statistics")
    channels = input._shape[1] if training else 0
    kept = Result((channels,), statistics_dtype(input, weight, bias, running_mean, running_var), None, same_dtype)
    return as_input(input), kept, kept


def _native_batch_norm_legit_no_stats(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, training: bool, momentum: float, eps: float
) -> tuple[Result, Result, Result]:
    """As native_batch_norm, without running statistics."""
    return native_batch_norm(input, weight, bias, None, None, training, momentum, eps)


def _native_batch_norm_legit_no_training(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Result, Result, Result]:
    """As native_batch_norm, by the running statistics."""
    return native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)


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
    """The shapes of input, weight and bias, or None where the mask asks for no gradient."""
    _check_gradient(grad_out, input._shape)
    _check_dtype("batch_norm_backward", input)
    kind = weight.dtype if weight is not None else statistics_dtype(input, running_mean)
    return _gradients(input, (input._shape[1],), kind, output_mask)


def _check_gradient(grad_out: Tensor, shape: Shape) -> None:
    if grad_out._shape != shape:
        raise ShapeError(
            f"expected a gradient of sizes {list(shape)}, those of the result, got {list(grad_out._shape)}"
        )


def _gradients(input: Tensor, parameters: Shape, kind: dtype, mask: Sequence[bool]) -> Gradients:
    of_parameters = Result(parameters, kind, None, same_dtype)
    return (
        as_input(input) if mask[0] else None,
        of_parameters if mask[1] else None,
        of_parameters if mask[2] else None,
    )


# Over the last dimensions ---------------------------------------------------------------------------------------


def check_last_dimensions(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None = None
) -> None:
    """The input ends with the normalized shape, which the parameters have."""
    wanted = list(normalized_shape)
    if not wanted:
        raise ArgumentError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            f"normalized_shape = {wanted}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and list(given._shape) != wanted:
            raise ShapeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(given._shape)} and normalized_shape = {wanted}"
            )
    if len(input._shape) < len(wanted) or list(input._shape[-len(wanted) :]) != wanted:
        sizes = ", ".join(map(str, wanted))
        raise ShapeError(
            f"Given normalized_shape={wanted}, expected input with shape [*, {sizes}], but got input of "
            f"size{list(input._shape)}"
        )


def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Result, Result, Result]:
    """The normalized input; the mean and the inverse deviation, with sizes of 1 for the normalized dimensions."""
    check_last_dimensions(input, normalized_shape, weight, bias)
    _check_dtype("LayerNormKernelImpl", input)
    dims = len(normalized_shape)
    shape = (*input._shape[:-dims], *(1,) * dims)
    kept = Result(shape, statistics_dtype(input, weight, bias), None, same_dtype)
    return Result(input._shape, input.dtype, None, same_dtype), kept, kept


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
    """The shapes of input, weight and bias, or None where the mask asks for no gradient."""
    check_last_dimensions(input, normalized_shape, weight, bias)
    _check_gradient(grad_out, input._shape)
    _check_dtype("LayerNormBackwardKernelImpl", input)
    kind = input.dtype if weight is None else weight.dtype
    first, *rest = _gradients(input, tuple(normalized_shape), kind, output_mask)
    return Result(input._shape, input.dtype, None, same_dtype) if first else None, rest[0], rest[1]


# Over groups of channels ----------------------------------------------------------------------------------------


def check_groups(shape: Shape, num_groups: int, weight: Tensor | None, bias: Tensor | None) -> None:
    """The channels divide into the groups, and the parameters have an element for each channel."""
    channels = shape[1]
    if num_groups <= 0:
        raise ArgumentError(f"Expected num groups to be greater than 0, got {num_groups}")
    if channels % num_groups:
        raise ShapeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={num_groups}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and given._shape != (channels,):
            raise ShapeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list(given._shape)} and input of shape {list(shape)}"
            )


def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Result, Result, Result]:
    """The normalized input; the mean and the inverse deviation of each group, (N, group)."""
    _check_volume(input, N, C, HxW)
    check_groups((N, C), group, weight, bias)
    kind = statistics_dtype(input, weight, bias)
    _check_dtype("GroupNormKernelImpl", input)
    kept = Result((N, group), kind, None, same_dtype)
    return as_input(input), kept, kept


def _check_volume(input: Tensor, N: int, C: int, HxW: int) -> None:
    if prod(input._shape) != N * C * HxW:
        raise ShapeError(f"Expected an input of N * C * HxW = {N} * {C} * {HxW} elements, got {list(input._shape)}")


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
    """The shapes of input, weight and bias, or None where the mask asks for no gradient."""
    _check_volume(input, N, C, HxW)
    _check_gradient(grad_out, input._shape)
    if grad_out.dtype is not input.dtype:
        raise DtypeError(
            f"Expected scalar types of X and dY are same, got {input.dtype.scalar_name} and "
            f"{grad_out.dtype.scalar_name}"
        )
    _check_dtype("GroupNormBackwardKernelImpl", input)
    return _gradients(input, (C,), mean.dtype, output_mask)
