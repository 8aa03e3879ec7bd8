"""What shape have normalized tensors and their statistics, and which inputs are refused?

Mirrors: aten/src/ATen/native/Normalization.cpp, layer_norm.cpp, layer_norm.h (_check_layer_norm_inputs),
    group_norm.cpp, mixed_data_type.h (param_scalar_type), WeightNorm.cpp, cpu/WeightNormKernel.cpp
Differs: a weight's g that has not an element for each of its norms is refused; PyTorch reads and writes beyond its end.
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
    given = [parameter.dtype for parameter in parameters if parameter is not None]
    if not given or given[0] is input.dtype:  # the first one decides whether dtypes are mixed
        for found in given:
            _check_same(input.dtype, found)
        return input.dtype
    if any(found is not float32 for found in given):
        raise DtypeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if input.dtype not in HALF_PRECISION:
        raise DtypeError("mixed dtype (CPU): all inputs must share same datatype.")
    return float32


def _check_same(expected: dtype, found: dtype) -> None:
    if expected is not found:
        raise DtypeError(f"expected scalar type {expected.scalar_name} but found {found.scalar_name}")


def as_input(input: Tensor) -> Result:
    """A result of the input's sizes, dtype and order of channels."""
    shape = input._shape
    channels_last = len(shape) in (4, 5) and looks_channels_last(shape, input.strides())
    return Result(shape, input.dtype, channels_last_strides(shape) if channels_last else None, same_dtype)


# Over batches ---------------------------------------------------------------------------------------------------


def channels_of(input: Tensor) -> int:
    """The size of dimension 1."""
    if len(input._shape) < 2:
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
    """Parameters and statistics have an element for each channel; without training, there are statistics."""
    if training and not input.numel():
        raise ShapeError(f"input tensor must have at least one element, but got input_sizes = {list(input._shape)}")
    running = {"running_mean": running_mean, "running_var": running_var}
    for name, statistic in running.items():
        if statistic is None and not training:
            raise ArgumentError(f"{name} must be defined in evaluation mode")
    channels = input._shape[1] if len(input._shape) > 1 else 0
    for name, given in (*running.items(), ("weight", weight), ("bias", bias)):
        if given is not None and given.numel() != channels:
            raise ShapeError(f"{name} should contain {channels} elements not {given.numel()}")
    if (running_mean is None) != (running_var is None):
        raise ArgumentValueError("running_mean and running_var must either both be None or neither be None")


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
    channels = channels_of(input)
    _check_dtype("batch_norm", input)
    check_channels(input, weight, bias, running_mean, running_var, training)
    kind = statistics_dtype(input, weight, bias, running_mean, running_var)
    kept = Result((channels if training else 0,), kind, None, same_dtype)
    return as_input(input), kept, kept


def batch_norm_with_update(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Result, Result, Result, Result]:
    """As native_batch_norm in training; and what cuDNN keeps, of which there is nothing."""
    results = native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return *results, Result((0,), uint8, None, same_dtype)


def batch_norm_update_stats(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float
) -> tuple[Result, Result]:
    """The mean and the variance of each channel."""
    channels = channels_of(input)
    _check_dtype("batch_norm_update_stats_cpu", input)
    check_channels(input, None, None, running_mean, running_var, True)
    kind = statistics_dtype(input, running_mean, running_var)
    kept = Result((channels,), kind, None, same_dtype)
    return kept, kept


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
    channels = channels_of(input)
    if train and (save_mean is None or save_invstd is None):
        raise ArgumentError("save_mean and save_invstd must be defined in training mode")
    if not train and (running_mean is None or running_var is None):
        raise ArgumentError("running_mean and running_var must be defined in evaluation mode")
    _check_gradient(grad_out, input._shape)
    _check_dtype("batch_norm_backward_cpu", input)
    kind = statistics_dtype(input, weight, *((save_mean, save_invstd) if train else (running_mean, running_var)))
    _check_same(input.dtype, grad_out.dtype)
    return _gradients(input, (channels,), kind, output_mask)


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
    given = (running_mean, running_var, save_mean, save_var)
    return native_batch_norm_backward(grad_out, input, weight, *given, update, eps, output_mask)


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
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None = None,
    before: str = ", ",
) -> None:
    """The input ends with the normalized shape, which the parameters have; `before` precedes it in the message."""
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
            f"Given normalized_shape={wanted}, expected input with shape [*{before}{sizes}], but got input of "
            f"size{list(input._shape)}"
        )


def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Result, Result, Result]:
    """The normalized input; the mean and the inverse deviation, with sizes of 1 for the normalized dimensions."""
    check_last_dimensions(input, normalized_shape, weight, bias)
    kind = statistics_dtype(input, weight, bias)
    _check_dtype("LayerNormKernelImpl", input)
    dims = len(normalized_shape)
    kept = Result((*input._shape[:-dims], *(1,) * dims), kind, None, same_dtype)
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
    kind = statistics_dtype(input, weight, bias)
    _check_dtype("LayerNormBackwardKernelImpl", input)
    _check_same(input.dtype, grad_out.dtype)
    first, *rest = _gradients(input, tuple(normalized_shape), kind, output_mask)
    return Result(input._shape, input.dtype, None, same_dtype) if first else None, rest[0], rest[1]


# Over groups of channels ----------------------------------------------------------------------------------------


def check_groups(shape: Shape, num_groups: int, weight: Tensor | None, bias: Tensor | None) -> None:
    """The channels divide into the groups, and the parameters have an element for each channel."""
    if len(shape) < 2:
        raise DimensionError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
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
    check_groups(input._shape, group, weight, bias)
    _check_volume(input, N, C, HxW)
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
    if grad_out.dtype is not input.dtype:
        raise DtypeError("Expected scalar types of X and dY are same.")
    _check_volume(input, N, C, HxW)
    _check_gradient(grad_out, input._shape)
    _check_dtype("GroupNormBackwardKernelImpl", input)
    return _gradients(input, (C,), mean.dtype, output_mask)


# Of weights -----------------------------------------------------------------------------------------------------


def _weight_norm_interface(v: Tensor, g: Tensor, dim: int) -> tuple[Result, Result]:
    """The weight, as v; the norms, as g, and float32 where g is of half precision."""
    _check_weight("weight_norm_kernel", v, dim, g)
    _check_same(v.dtype, g.dtype)
    kept = float32 if g.dtype in HALF_PRECISION else g.dtype
    return Result(v._shape, v.dtype, None, same_dtype), Result(g._shape, kept, None, same_dtype)


def _weight_norm_interface_backward(
    grad_w: Tensor, saved_v: Tensor, saved_g: Tensor, saved_norms: Tensor, dim: int
) -> tuple[Result, Result]:
    """The gradients of v and g."""
    check_saved(saved_v=saved_v, saved_g=saved_g, saved_norm=saved_norms)
    _check_weight("weight_norm_backward_kernel", saved_v, dim, saved_g, saved_norms)
    _check_gradient(grad_w, saved_v._shape)
    kept = float32 if saved_v.dtype in HALF_PRECISION else saved_v.dtype
    for expected, given in ((saved_v.dtype, grad_w), (saved_v.dtype, saved_g), (kept, saved_norms)):
        _check_same(expected, given.dtype)
    return Result(saved_v._shape, saved_v.dtype, None, same_dtype), Result(
        saved_g._shape, saved_g.dtype, None, same_dtype
    )


def check_saved(**saved: Tensor) -> None:
    """What a gradient is given, by name, is contiguous."""
    for name, tensor in saved.items():
        if not tensor.is_contiguous():
            raise ArgumentError(f"{name} must be contiguous")


def _check_weight(kernel: str, v: Tensor, dim: int, *by_index: Tensor) -> None:
    if dim not in (0, v.dim() - 1) or not v._shape:
        raise ArgumentError(
            f"fused kernels can only be applied for first or last dim, got dim {dim} of a tensor with {v.dim()} "
            "dimensions"
        )
    _check_dtype(kernel, v)
    for given in by_index:
        if given.numel() != v._shape[dim]:
            raise ShapeError(
                f"expected {v._shape[dim]} elements, one for each index of dimension {dim} of a weight of shape "
                f"{list(v._shape)}, got {list(given._shape)}"
            )
