"""How are loops made, one value after the other?

Mirrors: torch/_inductor/ir.py (Pointwise.create, Reduction.create), torch/_inductor/virtualized.py (ops)
Differs: no loop is inlined into the one that reads it; the scheduler decides which loops run as one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from glasstorch.compiler.loops.ir import HALF, POSITIONS, STORED, Access, Buffer, Item, Loop, View
from glasstorch.core.dtype import Number, dtype, float32, int64
from glasstorch.core.geometry import Shape, broadcast_shapes, contiguous_strides, expand_strides
from glasstorch.core.symbols import about, is_symbol
from glasstorch.fx.node import Node
from glasstorch.jit.codegen.cpp_loop import expression
from glasstorch.jit.codegen.formulas import write
from glasstorch.jit.codegen.lower import facts
from glasstorch.jit.codegen.program import Argument, Operand, Steps, UnfusableError, constant
from glasstorch.kernels.pointwise.expression import NUMBERS, TENSORS

Body = Callable[[Steps, list[Argument]], Operand]


class Builder:
    """Collects loops and externs in the order in which they may run.

    `node` is the one that is being lowered, and `device` the one on which it is computed.
    """

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.buffers: list[Buffer] = []
        self.node: Node | None = None
        self.device = "cpu"
        self.fills: dict[Buffer, Number] = {}  # buffers that hold one number everywhere, which loops need not read

    def buffer(self, of: dtype, sizes: Shape, strides: Shape | None = None, made_by: str = "loop") -> Buffer:
        """A new buffer; strides of None are row-major."""
        if of not in STORED:
            raise UnfusableError(f"loops do not compute in {of}")
        made = Buffer(f"buf{len(self.buffers)}", of, sizes, strides or contiguous_strides(sizes), made_by, self.device)
        self.buffers.append(made)
        return made

    def pointwise(
        self,
        views: Sequence[View],
        body: Body,
        sizes: Shape | None = None,
        of: dtype | None = None,
        strides: Shape | None = None,
    ) -> View:
        """The value whose elements `body` computes from those of the views, which are broadcast to the sizes."""
        read, steps, result = self._body(views, body)
        if sizes is None:
            sizes = broadcast_shapes(*[view.sizes for view in views])
        output = self.buffer(of or steps.dtype_of(result), sizes, strides)
        self._add(read, steps, result, sizes, (), output)
        return output.view()

    def expression(self, text: str, *operands: View | Number, of: dtype | None = None, sizes: Any = None) -> View:
        """The value of an expression of the views a, b, c and the numbers p, q, r.

        It is computed in the dtype of the first view, or in float32 where that has half precision.
        """
        views = [operand for operand in operands if isinstance(operand, View)]
        numbers = [operand for operand in operands if not isinstance(operand, View)]
        if any(map(is_symbol, numbers)):
            raise UnfusableError("a number that is a symbol")

        def body(steps: Steps, arguments: list[Argument]) -> Operand:
            common = computed_in(views[0].dtype) if views else of or float32
            known: dict[str, Operand] = {}
            for name, argument in zip(TENSORS, arguments, strict=False):
                known[name] = argument.slot
            for name, number in zip(NUMBERS, numbers, strict=False):
                known[name] = constant(number, common)
            return write(steps, text, known, common)

        return self.pointwise(views, body, sizes, of)

    def reduce(self, how: str, view: View, dims: Sequence[int], of: dtype, wide: bool = False) -> View:
        """A view reduced over dimensions, which stay with size 1. The dtype is `of`.

        Half precision is gathered in float32; with `wide` the result stays so.
        """
        gathered = computed_in(of)
        read, steps, result = self._body([view], lambda steps, given: steps.cast(given[0].slot, gathered))
        reduced = tuple(dim in dims for dim in range(len(view.sizes)))
        kept = tuple(1 if gone else size for size, gone in zip(view.sizes, reduced, strict=True))
        output = self.buffer(gathered if wide else of, kept)
        self._add(read, steps, result, view.sizes, reduced, output, how)
        return output.view()

    def scan(self, how: str, view: View, dim: int, of: dtype, gathered: dtype) -> View:
        """For each element, what is gathered, in a dtype of its own, of those up to it along a dimension."""
        if self.device != "cpu":
            raise UnfusableError("a scan takes one element after the other, which threads of a device do not")
        read, steps, result = self._body([view], lambda steps, given: steps.cast(given[0].slot, gathered))
        reduced = tuple(place == dim for place in range(len(view.sizes)))
        output = self.buffer(of, view.sizes)
        self._add(read, steps, result, view.sizes, reduced, output, how, scans=True)
        return output.view()

    def positions(self, sizes: Shape, dims: Sequence[int]) -> View:
        """The place of each element in some dimensions, taken together in row-major order."""
        strides, step = [0] * len(sizes), 1
        for dim in reversed(dims):
            strides[dim] = step
            step *= sizes[dim]
        return Buffer("positions", int64, sizes, tuple(strides), POSITIONS).view()

    def _body(self, views: Sequence[View], body: Body) -> tuple[list[View], Steps, Operand]:
        """The views that have to be read, the steps of a loop, and their result."""
        for view in views:
            if view.dtype not in STORED:
                raise UnfusableError(f"loops do not compute in {view.dtype}")
            elsewhere = view.buffer.device != self.device and view.buffer.made_by != POSITIONS
            if elsewhere and view.buffer not in self.fills:
                raise UnfusableError(f"a loop on {self.device} reads from {view.buffer.device}")
        every = [
            facts(tuple(map(about, view.sizes)), tuple(map(about, view.strides)), computed_in(view.dtype))
            for view in views
        ]
        known = [self.fills.get(view.buffer) for view in views]
        steps = Steps([like for like, number in zip(every, known, strict=True) if number is None])
        slots = iter(range(len(views)))
        given = [
            Argument(next(slots) if n is None else steps.step("copy", constant(n, like.dtype), shape=like._shape), like)
            for like, n in zip(every, known, strict=True)
        ]
        result = body(steps, given)
        for step in steps.steps:
            expression(step.formula, steps.dtype_of(step.operands[0]), [""] * len(step.operands))  # C++ has it
        return [view for view, number in zip(views, known, strict=True) if number is None], steps, result

    def _add(
        self,
        views: Sequence[View],
        steps: Steps,
        result: Operand,
        sizes: Shape,
        reduced: tuple[bool, ...],
        output: Buffer,
        reduction: str | None = None,
        scans: bool = False,
    ) -> None:
        reads = [Access(view.buffer, expand_strides(view.sizes, view.strides, sizes), view.offset) for view in views]
        reduced = reduced or (False,) * len(sizes)
        if prod(size for size, gone in zip(sizes, reduced, strict=True) if gone) == 1:
            reduction, scans = None, False  # there is nothing to gather
        moves = tuple(0 if gone and not scans else move for move, gone in zip(output.strides, reduced, strict=True))
        written = Access(output, moves, 0)
        body, dtypes = tuple(steps.steps), tuple(computed_in(view.dtype) for view in views)
        self.items.append(
            Loop(sizes, reduced, tuple(reads), dtypes, body, result, reduction, written, self.node, scans)
        )


def computed_in(of: dtype) -> dtype:
    """The dtype in which elements of a dtype are computed."""
    return float32 if of in HALF else of
