"""Which functions reduce windows to one element each?

Mirrors: torch/nn/functional.py, torch/nn/modules/utils.py (_list_with_default)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary, has_torch_function_variadic
from glasstorch.core.plain_types import PLAIN
from glasstorch.nn.functions.activation import relu
from glasstorch.nn.functions.choice import boolean_dispatch
from glasstorch.nn.functions.tuples import _list_with_default, for_each
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
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            max_pool1d_with_indices,
            (input,),
            input,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            ceil_mode=ceil_mode,
            return_indices=return_indices,
        )
    return operators.max_pool1d_with_indices(
        input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode
    )


def _max_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of (N, C, L) or (C, L)."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            max_pool1d,
            (input,),
            input,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            ceil_mode=ceil_mode,
            return_indices=return_indices,
        )
    return operators.max_pool1d(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode)


max_pool1d = boolean_dispatch("return_indices", 6, False, max_pool1d_with_indices, _max_pool1d, __name__, "max_pool1d")


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
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            max_pool2d_with_indices,
            (input,),
            input,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            ceil_mode=ceil_mode,
            return_indices=return_indices,
        )
    return operators.max_pool2d_with_indices(
        input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode
    )


def _max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of (N, C, H, W) or (C, H, W)."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            max_pool2d,
            (input,),
            input,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            ceil_mode=ceil_mode,
            return_indices=return_indices,
        )
    return operators.max_pool2d(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode)


max_pool2d = boolean_dispatch("return_indices", 6, False, max_pool2d_with_indices, _max_pool2d, __name__, "max_pool2d")


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
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            max_pool3d_with_indices,
            (input,),
            input,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            ceil_mode=ceil_mode,
            return_indices=return_indices,
        )
    return operators.max_pool3d_with_indices(
        input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode
    )


def _max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W)."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            max_pool3d,
            (input,),
            input,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            ceil_mode=ceil_mode,
            return_indices=return_indices,
        )
    return operators.max_pool3d(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode)


max_pool3d = boolean_dispatch("return_indices", 6, False, max_pool3d_with_indices, _max_pool3d, __name__, "max_pool3d")


# Averages by the p-norm -----------------------------------------------------------------------------------------


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of (N, C, L) or (C, L), without absolute values: the p-th root of the sum of powers."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            lp_pool1d, (input,), input, norm_type, kernel_size, stride=stride, ceil_mode=ceil_mode
        )
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 1, operators.avg_pool1d, max_pool1d)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of (N, C, H, W) or (C, H, W), without absolute values."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            lp_pool2d, (input,), input, norm_type, kernel_size, stride=stride, ceil_mode=ceil_mode
        )
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 2, operators.avg_pool2d, max_pool2d)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of (N, C, D, H, W) or (C, D, H, W), without absolute values."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            lp_pool3d, (input,), input, norm_type, kernel_size, stride=stride, ceil_mode=ceil_mode
        )
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


def adaptive_avg_pool2d(input: Tensor, output_size: Ints) -> Tensor:
    """The averages of as many windows of (N, C, H, W) or (C, H, W) as asked for; None stands for the input's size."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(adaptive_avg_pool2d, (input,), input, output_size)
    return operators.adaptive_avg_pool2d(input, _list_with_default(output_size, input.size()))


def adaptive_avg_pool3d(input: Tensor, output_size: Ints) -> Tensor:
    """The averages of as many windows of (N, C, D, H, W) or (C, D, H, W) as asked for."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(adaptive_avg_pool3d, (input,), input, output_size)
    return operators.adaptive_avg_pool3d(input, _list_with_default(output_size, input.size()))


def adaptive_max_pool1d_with_indices(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """The largest elements of as many windows of (N, C, L) or (C, L) as asked for, and their places."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            adaptive_max_pool1d_with_indices, (input,), input, output_size, return_indices=return_indices
        )
    return operators.adaptive_max_pool1d(input, output_size)


def _adaptive_max_pool1d(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """The largest elements of as many windows of (N, C, L) or (C, L) as asked for."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(adaptive_max_pool1d, (input,), input, output_size, return_indices=return_indices)
    return adaptive_max_pool1d_with_indices(input, output_size)[0]


adaptive_max_pool1d = boolean_dispatch(
    "return_indices", 2, False, adaptive_max_pool1d_with_indices, _adaptive_max_pool1d, __name__, "adaptive_max_pool1d"
)


def adaptive_max_pool2d_with_indices(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """The largest elements of as many windows of (N, C, H, W) or (C, H, W) as asked for, and their places."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            adaptive_max_pool2d_with_indices, (input,), input, output_size, return_indices=return_indices
        )
    return operators.adaptive_max_pool2d(input, _list_with_default(output_size, input.size()))


def _adaptive_max_pool2d(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """The largest elements of as many windows of (N, C, H, W) or (C, H, W) as asked for."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(adaptive_max_pool2d, (input,), input, output_size, return_indices=return_indices)
    return adaptive_max_pool2d_with_indices(input, output_size)[0]


adaptive_max_pool2d = boolean_dispatch(
    "return_indices", 2, False, adaptive_max_pool2d_with_indices, _adaptive_max_pool2d, __name__, "adaptive_max_pool2d"
)


def adaptive_max_pool3d_with_indices(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """The largest elements of as many windows of (N, C, D, H, W) or (C, D, H, W) as asked for, and their places."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            adaptive_max_pool3d_with_indices, (input,), input, output_size, return_indices=return_indices
        )
    return operators.adaptive_max_pool3d(input, _list_with_default(output_size, input.size()))


def _adaptive_max_pool3d(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """The largest elements of as many windows of (N, C, D, H, W) or (C, D, H, W) as asked for."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(adaptive_max_pool3d, (input,), input, output_size, return_indices=return_indices)
    return adaptive_max_pool3d_with_indices(input, output_size)[0]


adaptive_max_pool3d = boolean_dispatch(
    "return_indices", 2, False, adaptive_max_pool3d_with_indices, _adaptive_max_pool3d, __name__, "adaptive_max_pool3d"
)


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
    if has_torch_function_variadic(input, _random_samples):
        return handle_torch_function(
            fractional_max_pool2d_with_indices,
            (input, _random_samples),
            input,
            kernel_size,
            output_size=output_size,
            output_ratio=output_ratio,
            return_indices=return_indices,
            _random_samples=_random_samples,
        )
    sizes = _sizes_by_ratio("fractional_max_pool2d", input, output_size, output_ratio, 2)
    samples = _drawn(input, 2) if _random_samples is None else _random_samples
    return operators.fractional_max_pool2d(input, kernel_size, sizes, samples)


def _fractional_max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows at random places of (N, C, H, W) or (C, H, W)."""
    if has_torch_function_variadic(input, _random_samples):
        return handle_torch_function(
            fractional_max_pool2d,
            (input, _random_samples),
            input,
            kernel_size,
            output_size=output_size,
            output_ratio=output_ratio,
            return_indices=return_indices,
            _random_samples=_random_samples,
        )
    return fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )[0]


fractional_max_pool2d = boolean_dispatch(
    "return_indices",
    4,
    False,
    fractional_max_pool2d_with_indices,
    _fractional_max_pool2d,
    __name__,
    "fractional_max_pool2d",
)


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows at random places of (N, C, D, H, W) or (C, D, H, W), and their places."""
    if has_torch_function_variadic(input, _random_samples):
        return handle_torch_function(
            fractional_max_pool3d_with_indices,
            (input, _random_samples),
            input,
            kernel_size,
            output_size=output_size,
            output_ratio=output_ratio,
            return_indices=return_indices,
            _random_samples=_random_samples,
        )
    sizes = _sizes_by_ratio("fractional_max_pool3d", input, output_size, output_ratio, 3)
    samples = _drawn(input, 3) if _random_samples is None else _random_samples
    return operators.fractional_max_pool3d(input, kernel_size, sizes, samples)


def _fractional_max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows at random places of (N, C, D, H, W) or (C, D, H, W)."""
    if has_torch_function_variadic(input, _random_samples):
        return handle_torch_function(
            fractional_max_pool3d,
            (input, _random_samples),
            input,
            kernel_size,
            output_size=output_size,
            output_ratio=output_ratio,
            return_indices=return_indices,
            _random_samples=_random_samples,
        )
    return fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )[0]


fractional_max_pool3d = boolean_dispatch(
    "return_indices",
    4,
    False,
    fractional_max_pool3d_with_indices,
    _fractional_max_pool3d,
    __name__,
    "fractional_max_pool3d",
)


def _sizes_by_ratio(name: str, input: Tensor, output_size: Any, ratio: Any, dims: int) -> Any:
    if output_size is not None:
        return output_size
    if ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if dims == 2 and len(ratio) > 2:  # which refuses a number, as PyTorch does
        raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
    ratios = for_each(dims, ratio)
    return [int(size * ratios[d]) for d, size in enumerate(input.shape[-dims:])]


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
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            max_unpool1d, (input,), input, indices, kernel_size, stride=stride, padding=padding, output_size=output_size
        )
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
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            max_unpool2d, (input,), input, indices, kernel_size, stride=stride, padding=padding, output_size=output_size
        )
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
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            max_unpool3d, (input,), input, indices, kernel_size, stride=stride, padding=padding, output_size=output_size
        )
    sizes = _unpooled_sizes(input, kernel_size, stride, padding, output_size, 3)
    steps = per_dimension(kernel_size if stride is None else stride, 3)
    return operators.max_unpool3d(input, indices, sizes, steps, per_dimension(padding, 3))


def _unpooled_sizes(
    input: Tensor, kernel_size: Ints, stride: Any, padding: Ints, output_size: Sequence[int] | None, dims: int
) -> list[int]:
    kernels, pads = per_dimension(kernel_size, dims), per_dimension(padding, dims)
    steps = per_dimension(kernel_size if stride is None else stride, dims)
    return _unpool_output_size(input, kernels, steps, pads, output_size)


def _unpool_output_size(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_size: Sequence[int] | None,
) -> list[int]:
    """The sizes before pooling; those asked for may differ from the default by less than a stride."""
    dims = len(kernel_size)
    default = [
        (size - 1) * step + kernel - 2 * pad
        for size, step, kernel, pad in zip(input.shape[-dims:], stride, kernel_size, padding, strict=False)
    ]
    sizes = default
    if output_size is not None:
        if len(output_size) == dims + 2:
            output_size = output_size[2:]
        if len(output_size) != dims:
            raise ValueError(
                f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
                f"'{len(output_size)}'"
            )
        for d, (asked, usual, step) in enumerate(zip(output_size, default, stride, strict=False)):
            if not usual - step < asked < usual + step:
                raise ValueError(
                    f'invalid output_size "{output_size}" (dim {d} must be between {usual - step} and {usual + step})'
                )
        sizes = list(output_size)
    for d, size in enumerate(sizes):
        if size < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{d}]={size}"
            )
    return sizes
