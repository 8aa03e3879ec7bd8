"""How many floating-point operations does a call take?

Mirrors: torch/csrc/profiler/util.cpp (computeFlops)
Differs: a call whose arguments do not fit its formula counts 0, without a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

from glasstorch.profiler.inputs import Kept


def matrix_product(left: Sequence[int], right: Sequence[int]) -> int:
    """A product and a sum for each element of a row and a column; batches multiply."""
    return 2 * prod(left) * right[-1]


def convolution(arguments: Sequence[Any]) -> int:
    """A product and a sum for each element of a kernel, at each place of the output."""
    image, kernel, _, stride, padding, dilation, groups = arguments
    batch, channels, *image_sizes = image.sizes
    filters, _, *kernel_sizes = kernel.sizes
    if len(image_sizes) != 2:
        return 0
    places = 1
    for i, size in enumerate(image_sizes):
        step, border, spread = _at(stride, i), _at(padding, i), _at(dilation, i)
        places *= (size + 2 * border - spread * (kernel_sizes[i] - 1) - 1) // step + 1
    operations: int = 2 * batch * places * prod(kernel_sizes) * channels * filters // groups
    return operations


def _at(sizes: Sequence[int], i: int) -> int:
    return sizes[i] if len(sizes) > 1 else sizes[0]


FORMULAS: Final[dict[str, Callable[[Sequence[Any]], int]]] = {
    "aten::mm": lambda given: matrix_product(given[0].sizes, given[1].sizes),
    "aten::addmm": lambda given: matrix_product(given[1].sizes, given[2].sizes),
    "aten::bmm": lambda given: matrix_product(given[0].sizes, given[1].sizes),
    "aten::baddbmm": lambda given: matrix_product(given[1].sizes, given[2].sizes),
    "aten::conv2d": convolution,
    "aten::mul": lambda given: prod(given[0].sizes),
    "aten::add": lambda given: prod(given[0].sizes),
}


def flops(name: str, arguments: Sequence[Any]) -> int:
    """The operations of one call by the formula of its operator, from the arguments kept; 0 where there is none."""
    formula = FORMULAS.get(name)
    if formula is None or not (arguments and isinstance(arguments[0], Kept)):
        return 0
    try:
        return formula(arguments)
    except (IndexError, TypeError, ZeroDivisionError, ValueError):  # no call that the formula is about
        return 0
