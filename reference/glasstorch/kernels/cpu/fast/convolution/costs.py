"""What would each way to compute a convolution cost?

Each is a sum of a few terms: products of matrices, elements that are copied or added, runs in which that happens, and
calls of NumPy. The constants are nanoseconds, fitted to measured convolutions of images (`python -m
benchmarks.convolution` shows how well); what they decide is which way is taken.

Mirrors: cudnnGetConvolutionForwardAlgorithm_v7 (heuristics that rank the algorithms)
"""

from __future__ import annotations

from math import ceil, log2, prod

from glasstorch.kernels.cpu.convolution.problem import Problem
from glasstorch.kernels.cpu.convolution.ways import Product
from glasstorch.kernels.cpu.fast.convolution import shifted as shifts
from glasstorch.kernels.cpu.fast.convolution.blocks import height, together
from glasstorch.kernels.cpu.fast.convolution.rows import at_once
from glasstorch.kernels.cpu.fast.convolution.transform import lengths

CALL = 2000.0  # of a few lines of Python that end in a call of NumPy
FLOP = 0.0155  # a multiplication and an addition in a product of matrices, of float32
PACK = 0.12  # an element of a matrix that is brought into the order of the product
MATRIX = 500.0  # a product of two matrices among many
COPY = 0.15  # an element that is copied along a run
COPY_RUN = 5.0  # a run
ADD = 0.5  # an element that is added along a run
ADD_RUN = 10.0
SKIP = 0.35  # an element that is copied in steps along a row
ARRANGE = 0.6  # an element that is laid side by side with those of other images
LAST = 0.3  # an element of several small images that is brought into the order with the channels last, or back
STEP = 0.9  # an element that is copied across the order of memory
TRANSFORM = 0.35  # an element of a Fourier transform in float64, for each doubling of its length
FREQUENCY = 40.0  # a product of small complex matrices
COMPLEX = 5.0  # a multiplication and an addition in it
COMPLEX_IN_BLAS = 0.4  # and in a large one
SMALL = 1 << 10  # multiplications of a small one


def columns(product: Product, problem: Problem) -> float:
    """See `columns`; the input's gradient as the columns of another convolution."""
    if product is Product.INPUT:
        turning = problem.groups * problem.made * problem.inner * STEP
        return columns(Product.FORWARD, shifts.turned(problem)) + turning
    images = together(problem)
    blocks = number_of_blocks(problem, images)
    read = problem.batch * problem.groups * problem.inner * prod(problem.places)
    copied = 0.0 if problem.elements == 1 and max(problem.window.stride) == 1 else copying(problem, read, images)
    multiplied = matrices(problem, blocks, (problem.made, problem.inner, prod(problem.places) * problem.batch / blocks))
    arranged = arranging(problem, images)
    added = ADD * 2 * (blocks - 1) * problem.groups * problem.made * problem.inner if product is Product.WEIGHT else 0.0
    return CALL * (8 + 6 * blocks) + wide(problem) * (copied + multiplied + arranged + added)


def shifted(product: Product, problem: Problem) -> float:
    """See `shifted`; a convolution as the gradient of another one's input."""
    if product is Product.FORWARD:
        turning = problem.groups * problem.made * problem.inner * STEP
        return shifted(Product.INPUT, shifts.turned(problem)) + turning
    images = together(problem)
    blocks = number_of_blocks(problem, images)
    made = problem.batch * problem.groups * problem.inner * prod(problem.places)
    added = made * ADD + made / run_beside(problem, images) * ADD_RUN
    if max(problem.window.stride) > 1 and images == 1:
        added += made * STEP
    multiplied = matrices(problem, blocks, (problem.inner, problem.made, prod(problem.places) * problem.batch / blocks))
    arranged = arranging(problem, images)
    return CALL * (8 + (2 + 2 * problem.elements) * blocks) + wide(problem) * (added + multiplied + arranged)


def rows(product: Product, problem: Problem) -> float:
    """See `rows`; the input's gradient as another convolution, or by shifted sums where the steps are larger than 1."""
    weight = problem.groups * problem.made * problem.inner
    if product is Product.INPUT and shifts.can_turn(problem):
        return rows(Product.FORWARD, shifts.turned(problem)) + wide(problem) * weight * COPY
    images, height = at_once(problem)
    blocks = ceil(problem.batch / images) * ceil(problem.places[0] / height)
    read = problem.batch * problem.groups * problem.channels * prod(problem.padded)
    made = problem.batch * problem.groups * problem.made * prod(problem.places)
    moved = problem.batch * problem.groups * problem.inner * prod(problem.places)
    arranged = weight * (STEP if product is Product.WEIGHT else SKIP) + (
        (read + made) * LAST if images > 1 else read * STEP
    )
    places = prod(problem.places) * problem.batch / blocks
    if product is Product.INPUT:
        multiplied = matrices(problem, blocks, (places, problem.made, problem.inner))
        shared = moved * ADD + moved / problem.channels * ADD_RUN
        return CALL * (8 + (2 + 2 * problem.elements) * blocks) + wide(problem) * (arranged + multiplied + shared)
    multiplied = matrices(problem, blocks, (places, problem.inner, problem.made))
    whole = problem.groups == 1 and problem.window.dilation[-1] == 1  # a row of the kernel is one run
    run = problem.channels * (problem.window.kernel[-1] if whole else 1)
    copied = moved * COPY + moved / run * COPY_RUN
    added = ADD * 2 * (blocks - 1) * weight if product is Product.WEIGHT else 0.0
    return CALL * (8 + 4 * blocks) + wide(problem) * (copied + multiplied + arranged + added)


def transform(product: Product, problem: Problem) -> float:
    """See `transform`: all images and kernels to and fro, and a small product for each frequency."""
    length = prod(lengths(problem))
    read, made = problem.groups * problem.channels, problem.groups * problem.made
    planes = problem.batch * (read + made) + problem.groups * problem.made * problem.channels
    products = problem.batch * problem.channels * problem.made
    multiplied = FREQUENCY + COMPLEX * min(products, SMALL) + COMPLEX_IN_BLAS * max(0, products - SMALL)
    spread = planes * length * TRANSFORM * max(1.0, log2(length))
    return CALL * 20 + spread + length / 2 * problem.groups * multiplied


def wide(problem: Problem) -> float:
    """How many times as long numbers take as those of float32."""
    return problem.dtype.itemsize / 4 * (2 if problem.dtype.kind == "c" else 1)


def number_of_blocks(problem: Problem, images: int) -> int:
    return ceil(problem.batch / images) * ceil(problem.places[0] / height(problem, images))


def matrices(problem: Problem, count: float, sizes: tuple[float, float, float]) -> float:
    """So many times a product of (rows, inner) and (inner, columns) for each group."""
    rows, inner, columns = sizes
    packed = rows * inner + inner * columns + rows * columns
    return count * problem.groups * (rows * inner * columns * FLOP + packed * PACK + MATRIX)


def copying(problem: Problem, elements: float, images: int) -> float:
    """Elements, in runs."""
    if problem.window.stride[-1] > 1 and images == 1:
        return elements * SKIP
    return elements * COPY + elements / run_beside(problem, images) * COPY_RUN


def run_beside(problem: Problem, images: int) -> int:
    """The length of a run of images side by side: a row of the result, or a place where the steps are larger than 1."""
    return images if problem.window.stride[-1] > 1 and images > 1 else problem.places[-1] * images


def arranging(problem: Problem, images: int) -> float:
    """The input and the result, where several images are laid side by side."""
    read = problem.batch * problem.groups * problem.channels * prod(problem.padded)
    made = problem.batch * problem.groups * problem.made * prod(problem.places)
    return (read + made) * ARRANGE if images > 1 else read * COPY + read / problem.sizes[-1] * COPY_RUN
