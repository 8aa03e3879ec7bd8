"""Which functions give their input a mean, a deviation or a length?

Mirrors: torch/nn/functional.py
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentValueError, ShapeError
from glasstorch.nn.functions.pooling import avg_pool2d, avg_pool3d
from glasstorch.operators.generated import functions as operators

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm"]

CUDNN = True  # PyTorch's setting torch.backends.cudnn.enabled, which changes nothing here


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
    """Each channel of (N, C, ...) with mean 0 and variance 1, times `weight` (C), plus `bias` (C).

    In training by the batch's own mean and variance, towards which the running ones (C) move by the share `momentum`;
    otherwise by the running ones.
    """
    if training:
        _check_batch_size(input.size())
    if training and eps <= 0.0:
        raise ArgumentValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ArgumentValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return operators.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, CUDNN)


def _check_batch_size(size: Sequence[int]) -> None:
    """A single value is its own mean, and leaves nothing."""
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
    """Each channel of each sample of (N, C, ...) with mean 0 and variance 1, times `weight` (C), plus `bias` (C)."""
    if use_input_stats and prod(input.size()[2:]) == 1:
        raise ArgumentValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    running = (running_mean, running_var)
    return operators.instance_norm(input, weight, bias, *running, use_input_stats, momentum, eps, CUDNN)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """The last dimensions, of sizes `normalized_shape`, with mean 0 and variance 1, times `weight`, plus `bias`."""
    return operators.layer_norm(input, normalized_shape, weight, bias, eps, CUDNN)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """The last dimensions, of sizes `normalized_shape`, divided by their root mean square, times `weight`."""
    return operators.rms_norm(input, normalized_shape, weight, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """The channels of (N, C, ...) in groups, each with mean 0 and variance 1, times `weight` (C), plus `bias` (C)."""
    if input.dim() < 2:
        raise ShapeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    samples, channels, *places = input.size()
    _check_batch_size([samples * channels // num_groups, num_groups, *places])
    return operators.group_norm(input, num_groups, weight, bias, eps, CUDNN)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Each element of (N, C, ...) divided by a power of the mean square of `size` channels around it."""
    dim = input.dim()
    if dim < 3:
        raise ArgumentValueError(f"Expected 3D or higher dimensionality {' ' * 25}input (got {dim} dimensions)")
    if not input.numel():
        return input
    before, after = size // 2, (size - 1) // 2
    squares = input.mul(input)
    if dim == 3:
        padded = operators.constant_pad_nd(squares.unsqueeze(1), (0, 0, before, after), 0)
        means = avg_pool2d(padded, (size, 1), stride=1).squeeze(1)
    else:
        sizes = input.size()
        padded = operators.constant_pad_nd(
            squares.view(sizes[0], 1, sizes[1], sizes[2], -1), (0, 0, 0, 0, before, after), 0
        )
        means = avg_pool3d(padded, (size, 1, 1), stride=1).squeeze(1).view(sizes)
    return input / means.mul(alpha).add(k).pow(beta)
