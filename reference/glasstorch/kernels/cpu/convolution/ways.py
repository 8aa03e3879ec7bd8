"""In which ways can a product of a convolution be computed, and what would each cost?

A table that can be asked (`glasstorch.backends.cpu.convolution`). The plain way stands here; the fast kernels add
theirs.

Mirrors: _select_conv_backend (aten/src/ATen/native/Convolution.cpp), cudnnGetConvolutionForwardAlgorithm_v7
Differs: PyTorch's choice follows rules, or cuDNN's measurements; here it follows estimates.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from math import prod
from typing import Final, NamedTuple

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.convolution import products as plain
from glasstorch.kernels.cpu.convolution.problem import Problem

Compute = Callable[[Array, Array, Problem], Array]


class Product(Enum):
    """What is computed; see Note [Three products]."""

    FORWARD = "forward"
    INPUT = "input"
    WEIGHT = "weight"


class Way(NamedTuple):
    """One way to compute the products."""

    applies: Callable[[Product, Problem], bool]
    cost: Callable[[Product, Problem], float]  # in nanoseconds
    compute: dict[Product, Compute]


# The plain way, in nanoseconds
CALLS = 40_000.0  # a product
MULTIPLIED = 0.0155  # a multiplication and an addition in float32
PACKED = 0.2  # an element of the weight, for each image
READ = {Product.FORWARD: 0.5, Product.INPUT: 1.0, Product.WEIGHT: 1.6}  # an element that is copied, or added up
BEYOND = 0.8  # such an element, where they are too many for the cache
CACHED = 1 << 19


def plain_cost(product: Product, problem: Problem) -> float:
    """All that the kernel reads is copied, or added up, at once."""
    read = problem.batch * problem.groups * problem.inner * prod(problem.places)
    packed = problem.batch * problem.groups * problem.made * problem.inner
    moved = read * READ[product] + max(0, read - CACHED) * BEYOND
    return CALLS + (problem.multiplications * MULTIPLIED + packed * PACKED + moved) * problem.dtype.itemsize / 4


WAYS: Final[dict[str, Way]] = {
    "plain": Way(
        lambda product, problem: True,
        plain_cost,
        {
            Product.FORWARD: plain.forward.plain,
            Product.INPUT: plain.backward_input.plain,
            Product.WEIGHT: plain.backward_weight.plain,
        },
    )
}


@lru_cache(maxsize=4096)
def costs(product: Product, problem: Problem) -> dict[str, float]:
    """What each way that applies would cost in nanoseconds, cheapest first."""
    found = {name: way.cost(product, problem) for name, way in WAYS.items() if way.applies(product, problem)}
    return dict(sorted(found.items(), key=lambda pair: pair[1]))
