"""Which way is taken to each of the three products of a convolution?

Of the ways that apply, the one that would cost least (`costs`). Each row below is a way: when it applies, its cost, and
its function for each product.

Mirrors: _select_conv_backend (aten/src/ATen/native/Convolution.cpp)
"""

from __future__ import annotations

from math import prod

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.convolution import products as plain
from glasstorch.kernels.cpu.convolution import ways
from glasstorch.kernels.cpu.convolution.problem import Problem
from glasstorch.kernels.cpu.convolution.ways import WAYS, Product, Way
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.convolution import columns, costs, rows, shifted, transform
from glasstorch.kernels.cpu.fast.convolution.transform import lengths


def turned_forward(x: Array, weight: Array, problem: Problem) -> Array:
    """A convolution as the gradient of another one's input."""
    return shifted.backward_input(x, shifted.turned_weight(weight, problem), shifted.turned(problem))


def turned_backward_input(y: Array, weight: Array, problem: Problem) -> Array:
    """The gradient of a convolution's input as another convolution."""
    return columns.forward(y, shifted.turned_weight(weight, problem), shifted.turned(problem))


def transforms_fit(product: Product, problem: Problem) -> bool:
    """Kernels without gaps, in steps of 1, whose transforms are not too large."""
    window = problem.window
    planes = problem.batch * (problem.channels + problem.made) + problem.made * problem.channels
    return (
        in_blas(problem)
        and max(window.stride) == max(window.dilation) == 1
        and problem.dtype == np.float32
        and problem.elements > 1
        and problem.groups * planes * prod(lengths(problem)) <= thresholds.CONVOLUTION_TRANSFORMED_UP_TO
    )


def in_blas(problem: Problem) -> bool:
    """Whether products of matrices are fast, and there is something to multiply."""
    return problem.dtype.kind in "fc" and problem.multiplications > 0


WAYS.update(
    {
        "columns": Way(
            lambda product, problem: in_blas(problem) and (product is not Product.INPUT or shifted.can_turn(problem)),
            costs.columns,
            {
                Product.FORWARD: columns.forward,
                Product.INPUT: turned_backward_input,
                Product.WEIGHT: columns.backward_weight,
            },
        ),
        "shifted": Way(
            lambda product, problem: (
                in_blas(problem)
                and (product is Product.INPUT or (product is Product.FORWARD and shifted.can_turn(problem)))
            ),
            costs.shifted,
            {Product.FORWARD: turned_forward, Product.INPUT: shifted.backward_input},
        ),
        "rows": Way(
            lambda product, problem: in_blas(problem),
            costs.rows,
            {Product.FORWARD: rows.forward, Product.INPUT: rows.backward_input, Product.WEIGHT: rows.backward_weight},
        ),
        "transform": Way(
            transforms_fit,
            costs.transform,
            {
                Product.FORWARD: transform.forward,
                Product.INPUT: transform.backward_input,
                Product.WEIGHT: transform.backward_weight,
            },
        ),
    }
)


def computed(product: Product, first: Array, second: Array, problem: Problem) -> Array:
    """A product by the cheapest way that can be taken."""
    for name in ways.costs(product, problem):
        # A transform would spread a NaN over the whole image.
        if name != "transform" or (np.isfinite(first).all() and np.isfinite(second).all()):
            return WAYS[name].compute[product](first, second, problem)
    raise AssertionError("the plain way always applies")


BENCHMARK = "convolution: 64 channels, 3x3, 56x56, batch 4"
WHEN = "another way than the plain one would cost less"


@fast(plain.forward, when=WHEN, benchmark=BENCHMARK, exact=64.0)
def forward(x: Array, weight: Array, problem: Problem) -> Array:  # hot path: benchmarks/convolution.py
    """(N, C, *sizes) and (O, C / groups, *kernel) give (N, O, *places)."""
    return computed(Product.FORWARD, x, weight, problem)


@fast(plain.backward_input, when=WHEN, benchmark=BENCHMARK, exact=64.0)
def backward_input(y: Array, weight: Array, problem: Problem) -> Array:  # hot path: benchmarks/convolution.py
    """(N, O, *places) and (O, C / groups, *kernel) give (N, C, *sizes)."""
    return computed(Product.INPUT, y, weight, problem)


@fast(plain.backward_weight, when=WHEN, benchmark=BENCHMARK, exact=64.0)
def backward_weight(x: Array, y: Array, problem: Problem) -> Array:  # hot path: benchmarks/convolution.py
    """(N, C, *sizes) and (N, O, *places) give (O, C / groups, *kernel)."""
    return computed(Product.WEIGHT, x, y, problem)
