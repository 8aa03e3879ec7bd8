"""Which functions normalize?

Mirrors: torch/nn/functional.py
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary, has_torch_function_variadic
from glasstorch.core.errors import ArgumentValueError, ShapeError
from glasstorch.core.plain_types import PLAIN
from glasstorch.nn.functions.pooling import avg_pool2d, avg_pool3d
from glasstorch.operators.generated import functions as operators

__all__ = ["batch_norm", "instance_norm", "layer_norm", "rms_norm", "group_norm", "local_response_norm"]


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel of (N, C, ...), in training by the batch, else by the running statistics, which it moves.

    A batch that has one value for each channel is refused in training.
    """
    if has_torch_function_variadic(input, running_mean, running_var, weight, bias):
        return handle_torch_function(
            batch_norm,
            (input, running_mean, running_var, weight, bias),
            input,
            running_mean,
            running_var,
            weight=weight,
            bias=bias,
            training=training,
            momentum=momentum,
            eps=eps,
        )
    if training:
        _verify_batch_size(input.shape)
    if training and eps <= 0:
        raise ArgumentValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0:
        raise ArgumentValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return operators.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def _verify_batch_size(size: Sequence[int]) -> None:
    if prod((size[0], *size[2:])) == 1:
        raise ArgumentValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel of each image of (N, C, ...), by its own statistics or by the running ones."""
    if has_torch_function_variadic(input, running_mean, running_var, weight, bias):
        return handle_torch_function(
            instance_norm,
            (input, running_mean, running_var, weight, bias),
            input,
            running_mean=running_mean,
            running_var=running_var,
            weight=weight,
            bias=bias,
            use_input_stats=use_input_stats,
            momentum=momentum,
            eps=eps,
        )
    if use_input_stats:
        _verify_spatial_size(input.shape)
    return operators.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


def _verify_spatial_size(size: Sequence[int]) -> None:
    if prod(size[2:]) == 1:
        raise ArgumentValueError(f"Expected more than 1 spatial element when training, got input size {size}")


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize over the last dimensions, whose sizes are `normalized_shape` and those of weight and bias."""
    if has_torch_function_variadic(input, weight, bias):
        return handle_torch_function(
            layer_norm, (input, weight, bias), input, normalized_shape, weight=weight, bias=bias, eps=eps
        )
    return operators.layer_norm(input, normalized_shape, weight, bias, eps, True)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Divide by the root of the mean square over the last dimensions; `eps` is that of the dtype if not given."""
    if has_torch_function_variadic(input, weight):
        return handle_torch_function(rms_norm, (input, weight), input, normalized_shape, weight=weight, eps=eps)
    return operators.rms_norm(input, normalized_shape, weight, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalize each of `num_groups` groups of channels of each image of (N, C, ...)."""
    if has_torch_function_variadic(input, weight, bias):
        return handle_torch_function(
            group_norm, (input, weight, bias), input, num_groups, weight=weight, bias=bias, eps=eps
        )
    if input.dim() < 2:
        raise ShapeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    shape = input.shape
    _verify_batch_size([shape[0] * shape[1] // num_groups, num_groups, *shape[2:]])
    return operators.group_norm(input, num_groups, weight, bias, eps, True)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Divide by a power of the mean square over `size` neighbouring channels of (N, C, ...)."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(local_response_norm, (input,), input, size, alpha=alpha, beta=beta, k=k)
    dims = input.dim()
    if dims < 3:
        # The gap is in PyTorch's message.
        raise ArgumentValueError(
            f"Expected 3D or higher dimensionality                          input (got {dims} dimensions)"
        )
    if not input.numel():
        return input
    squares, around = input.mul(input), (size // 2, (size - 1) // 2)
    if dims == 3:
        padded = operators.constant_pad_nd(squares.unsqueeze(1), (0, 0, *around))
        means = avg_pool2d(padded, (size, 1), stride=1).squeeze(1)
    else:
        volume = squares.view(input.shape[0], 1, input.shape[1], input.shape[2], -1)
        padded = operators.constant_pad_nd(volume, (0, 0, 0, 0, *around))
        means = avg_pool3d(padded, (size, 1, 1), stride=1).squeeze(1).view(input.shape)
    return input / means.mul(alpha).add(k).pow(beta)
