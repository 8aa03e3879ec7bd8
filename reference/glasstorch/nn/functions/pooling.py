"""Which functions reduce windows to one element each?

Mirrors: torch/nn/functional.py, torch/nn/modules/utils.py (_list_with_default)
Differs: a function with `return_indices` is one function; PyTorch dispatches between two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.nn.functions.activation import relu
from glasstorch.operators.generated import functions as operators

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

Ints = int | Sequence[int]

avg_pool1d = operators.avg_pool1d
avg_pool2d = operators.avg_pool2d
avg_pool3d = operators.avg_pool3d
adaptive_avg_pool1d = operators.adaptive_avg_pool1d


def per_dimension(given: Any, dims: int) -> list[int]:
    """A number for each dimension."""
    return [given] * dims if isinstance(given, int) else list(given)


# Maxima of sliding windows --------------------------------------------------------------------------------------


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window, and its place: (N, C, L) or (C, L) gives two tensors of (N, C, L_out)."""
    return operators.max_pool1d_with_indices(
        input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode
    )


def max_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of (N, C, L) or (C, L); with `return_indices` also their places."""
    if return_indices:
        return max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return operators.max_pool1d(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of (N, C, H, W) or (C, H, W), and its place in its plane."""
    return operators.max_pool2d_with_indices(
        input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode
    )


def max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of (N, C, H, W) or (C, H, W); with `return_indices` also their places."""
    if return_indices:
        return max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return operators.max_pool2d(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode)


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W), and its place in its volume."""
    return operators.max_pool3d_with_indices(
        input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode
    )


def max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W), with their places if asked for."""
    if return_indices:
        return max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return operators.max_pool3d(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode)


# Averages by the p-norm -----------------------------------------------------------------------------------------


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of (N, C, L) or (C, L), without absolute values: the p-th root of the sum of powers."""
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 1, operators.avg_pool1d, max_pool1d)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of (N, C, H, W) or (C, H, W), without absolute values."""
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 2, operators.avg_pool2d, max_pool2d)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of (N, C, D, H, W) or (C, D, H, W), without absolute values."""
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 3, operators.avg_pool3d, max_pool3d)


def _lp_pool(
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None,
    ceil_mode: bool,
    dims: int,
    average: Callable[..., Tensor],
    largest: Callable[..., Tensor],
) -> Tensor:
    if norm_type == inf:
        return largest(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if norm_type == -inf:
        return -largest(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    mean = average(input.pow(norm_type), kernel_size, [] if stride is None else stride, 0, ceil_mode)
    return (mean.sign() * relu(mean.abs())).mul(prod(per_dimension(kernel_size, dims))).pow(1.0 / norm_type)


# Windows spread over the input ----------------------------------------------------------------------------------


def sizes_asked(output_size: Any, input: Tensor) -> Any:
    """The output sizes, where None stands for the input's own size."""
    if isinstance(output_size, int):
        return output_size
    sizes = input.shape
    if len(sizes) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    return [own if n is None else n for n, own in zip(output_size, sizes[-len(output_size) :], strict=False)]


def adaptive_avg_pool2d(input: Tensor, output_size: Ints) -> Tensor:
    """The averages of as many windows of (N, C, H, W) or (C, H, W) as asked for; None stands for the input's size."""
    return operators.adaptive_avg_pool2d(input, sizes_asked(output_size, input))


def adaptive_avg_pool3d(input: Tensor, output_size: Ints) -> Tensor:
    """The averages of as many windows of (N, C, D, H, W) or (C, D, H, W) as asked for."""
    return operators.adaptive_avg_pool3d(input, sizes_asked(output_size, input))


def adaptive_max_pool1d_with_indices(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """The largest elements of as many windows of (N, C, L) or (C, L) as asked for, and their places."""
    return operators.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool1d(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """The largest elements of as many windows of (N, C, L) or (C, L) as asked for."""
    found = adaptive_max_pool1d_with_indices(input, output_size)
    return found if return_indices else found[0]


def adaptive_max_pool2d_with_indices(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """The largest elements of as many windows of (N, C, H, W) or (C, H, W) as asked for, and their places."""
    return operators.adaptive_max_pool2d(input, sizes_asked(output_size, input))


def adaptive_max_pool2d(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """The largest elements of as many windows of (N, C, H, W) or (C, H, W) as asked for."""
    found = adaptive_max_pool2d_with_indices(input, output_size)
    return found if return_indices else found[0]


def adaptive_max_pool3d_with_indices(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """The largest elements of as many windows of (N, C, D, H, W) or (C, D, H, W) as asked for, and their places."""
    return operators.adaptive_max_pool3d(input, sizes_asked(output_size, input))


def adaptive_max_pool3d(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """The largest elements of as many windows of (N, C, D, H, W) or (C, D, H, W) as asked for."""
    found = adaptive_max_pool3d_with_indices(input, output_size)
    return found if return_indices else found[0]


# Windows at random places ---------------------------------------------------------------------------------------


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows at random places of (N, C, H, W) or (C, H, W), and their places."""
    sizes = _sizes_by_ratio("fractional_max_pool2d", input, output_size, output_ratio, 2, "tuple of Ints")
    samples = _drawn(input, 2) if _random_samples is None else _random_samples
    return operators.fractional_max_pool2d(input, kernel_size, sizes, samples)


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows at random places of (N, C, H, W) or (C, H, W)."""
    found = fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
    return found if return_indices else found[0]


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows at random places of (N, C, D, H, W) or (C, D, H, W), and their places."""
    sizes = _sizes_by_ratio("fractional_max_pool3d", input, output_size, output_ratio, 3, "tuple of Ints")
    samples = _drawn(input, 3) if _random_samples is None else _random_samples
    return operators.fractional_max_pool3d(input, kernel_size, sizes, samples)


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows at random places of (N, C, D, H, W) or (C, D, H, W)."""
    found = fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
    return found if return_indices else found[0]


def _sizes_by_ratio(name: str, input: Tensor, output_size: Any, ratio: Any, dims: int, accepted: str) -> Any:
    if output_size is not None:
        return output_size
    if ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    ratios = [ratio] * dims if isinstance(ratio, int | float) else list(ratio)
    if len(ratios) > dims:
        raise ValueError(f"{name} requires output_ratio to either be a single Int or {accepted}.")
    return [int(size * r) for size, r in zip(input.shape[-dims:], ratios, strict=True)]


def _drawn(input: Tensor, dims: int) -> Tensor:
    """A random number for each plane and dimension."""
    batch = 1 if input.dim() == dims + 1 else input.shape[0]
    return operators.rand((batch, input.shape[-dims - 1], dims), dtype=input.dtype, device=input.device)


# Maxima put back ------------------------------------------------------------------------------------------------


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros, and the elements of `input` at the places that `max_pool1d` found them at."""
    sizes = _unpooled_sizes(input, kernel_size, stride, padding, output_size, 1)
    return operators.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*sizes, 1]).squeeze(-1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros, and the elements of `input` at the places that `max_pool2d` found them at."""
    return operators.max_unpool2d(input, indices, _unpooled_sizes(input, kernel_size, stride, padding, output_size, 2))


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros, and the elements of `input` at the places that `max_pool3d` found them at."""
    sizes = _unpooled_sizes(input, kernel_size, stride, padding, output_size, 3)
    steps = per_dimension(kernel_size if stride is None else stride, 3)
    return operators.max_unpool3d(input, indices, sizes, steps, per_dimension(padding, 3))


def _unpooled_sizes(
    input: Tensor, kernel_size: Ints, stride: Any, padding: Ints, output_size: Sequence[int] | None, dims: int
) -> list[int]:
    """The sizes before pooling; those asked for may differ from the default by less than a stride."""
    kernels, pads = per_dimension(kernel_size, dims), per_dimension(padding, dims)
    steps = per_dimension(kernel_size if stride is None else stride, dims)
    default = [
        (size - 1) * step + kernel - 2 * pad
        for size, step, kernel, pad in zip(input.shape[-dims:], steps, kernels, pads, strict=True)
    ]
    if output_size is None:
        return default
    if len(output_size) == dims + 2:
        output_size = output_size[2:]
    if len(output_size) != dims:
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
            f"'{len(output_size)}'"
        )
    for d, (asked, usual, step) in enumerate(zip(output_size, default, steps, strict=True)):
        if not usual - step < asked < usual + step:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {d} must be between {usual - step} and {usual + step})'
            )
    return list(output_size)
