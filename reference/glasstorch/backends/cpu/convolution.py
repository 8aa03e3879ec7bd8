"""In which way is a convolution computed, and what would each other way cost?

    >>> ranked = choices((1, 1, 256, 256), (1, 1, 31, 31), padding=15)
    >>> "plain" in [choice.way for choice in ranked]
    True

The first of them is the way that is taken: for so large a kernel it is "transform", unless only plain kernels are
loaded.

Mirrors: torch.backends.cudnn.benchmark, which has cuDNN measure its algorithms and keep the fastest
Differs: the costs are estimates. They decide without a measurement, and can be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from glasstorch.core.dtype import NARROW_FLOATS, float32
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ArgumentError
from glasstorch.core.geometry import Shape
from glasstorch.kernels.cpu.convolution.problem import Problem
from glasstorch.kernels.cpu.convolution.ways import Product, costs
from glasstorch.operators.generated import functions as operators
from glasstorch.operators.shapes import convolution as shapes

__all__ = ["Choice", "choices"]

Sizes = int | Sequence[int]


class Choice(NamedTuple):
    """A way to compute a product, and its estimated cost on one thread."""

    way: str
    microseconds: float


def choices(
    input: Sequence[int],
    weight: Sequence[int],
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    *,
    product: Literal["forward", "input", "weight"] = "forward",
    dtype: Dtype = float32,
) -> tuple[Choice, ...]:
    """The ways to compute a convolution of these sizes, or the gradient of its input or weight, cheapest first.

    The first one is taken, unless it is "transform" and some number is not finite. Sizes that do not fit are refused as
    the convolution refuses them.
    """
    if product not in (known := [one.value for one in Product]):
        raise ArgumentError(f"choices: there is no product {product!r}; expected one of {', '.join(known)}")
    found = costs(Product(product), _problem(tuple(input), tuple(weight), stride, padding, dilation, groups, dtype))
    return tuple(Choice(way, nanoseconds / 1000) for way, nanoseconds in found.items())


def _problem(
    input: Shape, weight: Shape, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, dtype: Dtype
) -> Problem:
    steps, zeros, gaps = ([n] if isinstance(n, int) else list(n) for n in (stride, padding, dilation))
    x, w = (operators.empty(sizes, dtype=dtype, device="meta") for sizes in (input, weight))
    result = shapes.convolution(x, w, None, steps, zeros, gaps, False, [0], groups)
    window = shapes.window_of(w, steps, zeros, gaps, groups)
    computed = float32 if dtype in NARROW_FLOATS else dtype
    return Problem(
        input[0], groups, weight[1], weight[0] // groups, input[2:], result.shape[2:], window, computed.numpy
    )
