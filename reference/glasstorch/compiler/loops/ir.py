"""What is a loop, before it is text in some language?

Mirrors: torch/_inductor/ir.py (Buffer, Pointwise, Reduction, ExternKernel, ReinterpretView),
    torch/_inductor/dependencies.py (MemoryDep)
Differs: an index is a stride for each dimension and an offset, never an expression, because a view that has no strides
    is copied first. A loop's body is a list of steps, those of jit/codegen/program.py.

Each value of the graph is a view of a buffer. A loop visits all elements of its sizes, reads from buffers, computes,
and writes one element each time; where it reduces, it writes what it gathered over the reduced dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, prod
from typing import Any, Final, NamedTuple

import numpy as np

from glasstorch.core.dtype import bfloat16, bool_, dtype, float16, float32, float64, int32, int64, uint8
from glasstorch.core.geometry import Shape
from glasstorch.fx.node import Node
from glasstorch.jit.codegen.program import Operand, Step

# What buffers may hold; half precision is computed in float32.
STORED: Final = frozenset((bool_, uint8, int32, int64, float16, bfloat16, float32, float64))
HALF: Final = frozenset((float16, bfloat16))


class Reduction(NamedTuple):
    """What a reduction starts with, the word of the vocabulary that adds one more element, and OpenMP's word."""

    start: Callable[[dtype], Any]
    word: str
    clause: str


def _least(of: dtype) -> Any:
    return -inf if of.is_floating_point else False if of is bool_ else int(np.iinfo(of.numpy).min)


def _greatest(of: dtype) -> Any:
    return inf if of.is_floating_point else True if of is bool_ else int(np.iinfo(of.numpy).max)


REDUCTIONS: Final = {
    "sum": Reduction(lambda of: 0, "add", "+"),
    "prod": Reduction(lambda of: 1, "mul", "*"),
    "amax": Reduction(_least, "maximum", "amax"),
    "amin": Reduction(_greatest, "minimum", "amin"),
    "logaddexp": Reduction(_least, "logaddexp", "logaddexp"),
}
POSITIONS: Final = "positions"  # what makes the buffers that lie nowhere: an element is its own index


@dataclass(eq=False, slots=True)
class Buffer:
    """Memory for elements of one dtype. `made_by` is "input", "constant", "loop", "extern" or POSITIONS."""

    name: str
    dtype: dtype
    sizes: Shape
    strides: Shape
    made_by: str
    device: str = "cpu"

    @property
    def nbytes(self) -> int:
        return self.dtype.itemsize * span(self.sizes, self.strides)

    def view(self) -> View:
        """All of it."""
        return View(self, self.sizes, self.strides, 0)

    def __repr__(self) -> str:
        return f"{self.name}: {str(self.dtype).removeprefix('torch.')}{list(self.sizes)}"


@dataclass(frozen=True, slots=True)
class View:
    """A value of the graph: where its elements lie in a buffer."""

    buffer: Buffer
    sizes: Shape
    strides: Shape
    offset: int

    @property
    def dtype(self) -> dtype:
        return self.buffer.dtype


class Access(NamedTuple):
    """Which element a loop reads or writes: a stride for each of its dimensions, and an offset."""

    buffer: Buffer
    strides: Shape
    offset: int


@dataclass(eq=False, slots=True)
class Loop:
    """One loop. The slots of its steps are those of the reads, then of the steps: Note [Slots].

    `reduction` is one of REDUCTIONS, applied over the dimensions that `reduced` marks. A scan writes, for each
    element, what was gathered so far.
    """

    sizes: Shape
    reduced: tuple[bool, ...]
    reads: tuple[Access, ...]
    read_dtypes: tuple[dtype, ...]  # as which the reads are computed with
    steps: tuple[Step, ...]
    result: Operand
    reduction: str | None
    write: Access
    node: Node | None = None
    scans: bool = False

    @property
    def gathers(self) -> bool:
        """Whether it gives one element for many."""
        return self.reduction is not None and not self.scans

    @property
    def numel(self) -> int:
        return prod(self.sizes)


@dataclass(eq=False, slots=True)
class Extern:
    """An operator that the library's own kernel computes. `value` is what its node stands for."""

    node: Node
    reads: list[Buffer] = field(default_factory=list)
    value: Any = None
    gives: list[tuple[Buffer, str]] = field(default_factory=list)  # its tensors, and where in its result they stand


Item = Loop | Extern


def span(sizes: Shape, strides: Shape) -> int:
    """How many elements of memory lie from the first element to the last."""
    if not prod(sizes):
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
