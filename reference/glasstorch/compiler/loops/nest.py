"""In which dimensions, and in which order, do loops visit their elements?

Mirrors: torch/_inductor/sizevars.py (simplify_loops), torch/_inductor/ir.py (FlexibleLayout, LoopBody.merge_loops)
Differs: two loops run as one if their dimensions can be split until they are the same.

A loop's own dimensions are put in the order of memory, and merged where all its accesses allow it. When loops share a
nest, its dimensions are split as far as the loop needs that has the most of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import NamedTuple

from glasstorch.compiler.loops.ir import Access, Loop
from glasstorch.core.geometry import Shape, coalesce_dimensions
from glasstorch.core.symbols import about, surely


class Dims(NamedTuple):
    """The dimensions of a nest, outermost first: how many elements, and which are reduced."""

    sizes: Shape
    reduced: tuple[bool, ...]

    def only(self, reduced: bool) -> Shape:
        return tuple(size for size, gone in zip(self.sizes, self.reduced, strict=True) if gone == reduced)


class Placed(NamedTuple):
    """A loop in a nest: its accesses have a stride for each of the nest's dimensions.

    `inner` says that it visits all dimensions; otherwise it visits those that are not reduced.
    """

    loop: Loop
    reads: tuple[Access, ...]
    write: Access
    inner: bool


def natural(loop: Loop) -> tuple[Dims, Placed]:
    """A loop's own nest: in the order of what it writes or, where it reduces, of the largest thing that it reads."""
    accesses = [*loop.reads, loop.write]
    leading = loop.write
    if loop.reduction is not None and loop.reads:
        leading = max(loop.reads, key=lambda read: _reach(loop.sizes, read.strides))
    order = sorted(range(len(loop.sizes)), key=lambda dim: -leading.strides[dim])
    sizes = tuple(loop.sizes[dim] for dim in order)
    reduced = tuple(loop.reduced[dim] for dim in order)
    marks, step = [], 1
    for size, gone in zip(reversed(sizes), reversed(reduced), strict=True):
        marks.append(step if gone else 0)
        step *= size if gone else 1
    strides = [tuple(access.strides[dim] for dim in order) for access in accesses]
    merged, moves = coalesce_dimensions(sizes, [*strides, tuple(reversed(marks))])
    dims = Dims(merged, tuple(mark > 0 for mark in moves[-1]))
    placed = [access._replace(strides=one) for access, one in zip(accesses, moves, strict=False)]
    return dims, Placed(loop, tuple(placed[:-1]), placed[-1], True)


def _reach(sizes: Shape, strides: Shape) -> int:
    return int(about(prod(size for size, stride in zip(sizes, strides, strict=True) if stride)))


def common(one: Shape, other: Shape) -> Shape | None:
    """The coarsest sizes into which both can be split; None if there are none.

    >>> common((6, 4), (3, 8))
    (3, 2, 4)
    >>> common((6, 4), (4, 6)) is None
    True
    """
    if not surely(prod(one) == prod(other)):
        return None
    cuts = sorted({1, *_tails(one), *_tails(other)})
    if not all(surely(large % small == 0) for small, large in pairwise(cuts)):
        return None
    return tuple(large // small for small, large in pairwise(cuts))[::-1]


def _tails(sizes: Shape) -> list[int]:
    """How many elements lie from each dimension on."""
    return [prod(sizes[i:]) for i in range(len(sizes))]


def split(sizes: Shape, finer: Shape, strides: Shape) -> Shape:
    """The strides of dimensions that are split into finer ones.

    >>> split((24,), (3, 2, 4), (5,))
    (40, 20, 5)
    """
    found: list[int] = []
    rest = list(reversed(finer))
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        left = size
        while left > 1:
            part = rest.pop(0)
            found.append(stride)
            stride, left = stride * part, left // part
    return tuple(reversed(found))


def refined(dims: Dims, finer: Sequence[int], placed: Sequence[Placed]) -> tuple[Dims, list[Placed]]:
    """A nest and its loops, with the dimensions split into finer ones."""
    marks = split(dims.sizes, tuple(finer), tuple(map(int, dims.reduced)))

    def access(one: Access) -> Access:
        return one._replace(strides=split(dims.sizes, tuple(finer), one.strides))

    loops = [one._replace(reads=tuple(map(access, one.reads)), write=access(one.write)) for one in placed]
    return Dims(tuple(finer), tuple(mark > 0 for mark in marks)), loops
