"""What is the intermediate form between a fusion group and its loops?

Mirrors: torch/csrc/jit/tensorexpr/loopnest.h in what it stands for: the form between the graph and the generated code
Differs: a list of steps on elements instead of expressions; broadcasting and types are settled when it is made.

# Note [Slots]
Every value has a number, its slot: first the inputs of the group, then the result of each step, in order. An operand is
a slot, or a constant that is known when the group is compiled.

# Note [One loop for each shape]
Steps of the same shape share a loop. A step on fewer elements that are broadcast later, such as `exp` of a bias, has a
loop of its own that runs before, so that nothing is computed more often than in eager mode. Broadcasting only adds
dimensions or expands those of size 1, so a loop over a smaller shape never depends on one over a larger shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from glasstorch._tensor import Tensor, wrapped_number
from glasstorch.core.dtype import (
    HALF_PRECISION,
    Number,
    RealNumber,
    bool_,
    dtype,
    float32,
    float64,
    int32,
    int64,
    uint8,
)
from glasstorch.core.geometry import Shape, broadcast_shapes, contiguous_strides
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes.result import Result

FUSED: Final = frozenset((bool_, uint8, int32, int64, float32, float64))


class UnfusableError(Exception):
    """No loop can be generated for a group with such inputs; the message says why. The group is then interpreted."""


class Constant(NamedTuple):
    """A constant operand, as an element of a dtype."""

    value: RealNumber
    dtype: dtype


Operand = int | Constant  # a slot, or a number: Note [Slots]


class Step(NamedTuple):
    """One elementary formula on elements: its name and operands, and the slot and dtype of its result."""

    formula: str
    operands: tuple[Operand, ...]
    slot: int
    dtype: dtype


class Loop(NamedTuple):
    """Steps on elements of one shape; `reads` and `writes` are the slots of its input and output arrays."""

    shape: Shape
    steps: tuple[Step, ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]


class Program(NamedTuple):
    """Loops in the order in which they run; dtypes, shapes and strides are those of the slots."""

    dtypes: tuple[dtype, ...]
    shapes: tuple[Shape, ...]
    strides: tuple[Shape, ...]  # in elements; row-major for a slot without an array
    loops: tuple[Loop, ...]
    outputs: tuple[int, ...]
    results: tuple[Result, ...]  # of the outputs: shapes, strides and dtypes as in eager mode


class Argument(NamedTuple):
    """An operator's tensor argument: its slot, and a meta tensor of the same dtype, sizes and strides.

    A number in place of a tensor has no slot; `facts` is then the wrapped number.
    """

    slot: int
    facts: Tensor

    @classmethod
    def of(cls, number: Number) -> Argument:
        return cls(-1, wrapped_number(number))


class Steps:
    """Builds the steps of a program."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        for tensor in inputs:
            _check(tensor.dtype)
        self.inputs = inputs
        self.dtypes = [tensor.dtype for tensor in inputs]
        self.shapes = [tensor._shape for tensor in inputs]
        self.steps: list[Step] = []

    def step(self, formula: str, *operands: Operand, gives: dtype | None = None, shape: Shape | None = None) -> int:
        """Add a step and return its slot.

        Unless given, the dtype is that of the first operand, and the shape the one that the operands broadcast to.
        """
        if gives is None:
            gives = self.dtype_of(operands[0])
        _check(gives)
        if shape is None:
            shape = ()
            for operand in operands:
                if isinstance(operand, int):
                    shape = broadcast_shapes(shape, self.shapes[operand])
        slot = len(self.dtypes)
        self.steps.append(Step(formula, operands, slot, gives))
        self.dtypes.append(gives)
        self.shapes.append(shape)
        return slot

    def dtype_of(self, operand: Operand) -> dtype:
        return self.dtypes[operand] if isinstance(operand, int) else operand.dtype

    def cast(self, slot: int, wanted: dtype) -> int:
        """The slot of a value cast to a dtype: a new step, unless it has the dtype already."""
        return slot if self.dtypes[slot] is wanted else self.step("cast", slot, gives=wanted)

    def read(self, argument: Argument, common: dtype) -> Operand:
        """An argument as an operand of the common dtype. See `iterator.operand`, the twin for eager kernels."""
        number = argument.facts._number
        if number is None:
            return self.cast(argument.slot, common)
        return constant(number if common.is_floating_point else argument.facts.array(), common)

    def program(self, outputs: Sequence[int], results: Sequence[Result]) -> Program:
        """The steps grouped into loops: Note [One loop for each shape]. Dead steps are left out."""
        needed = set(outputs)
        for step in reversed(self.steps):
            if step.slot in needed:
                needed.update(operand for operand in step.operands if isinstance(operand, int))
        by_shape: dict[Shape, list[Step]] = {}
        for step in self.steps:
            if step.slot in needed:
                by_shape.setdefault(self.shapes[step.slot], []).append(step)
        shapes = sorted(by_shape, key=lambda shape: (len(shape), sum(size != 1 for size in shape)))
        home = {step.slot: self.shapes[step.slot] for step in self.steps}
        used_elsewhere = set(outputs) | {
            operand
            for step in self.steps
            if step.slot in needed
            for operand in step.operands
            if isinstance(operand, int) and operand in home and home[operand] != home[step.slot]
        }
        loops = []
        for shape in shapes:
            steps = by_shape[shape]
            made = {step.slot for step in steps}
            taken = dict.fromkeys(o for step in steps for o in step.operands if isinstance(o, int) and o not in made)
            writes = tuple(step.slot for step in steps if step.slot in used_elsewhere)
            loops.append(Loop(shape, tuple(steps), tuple(taken), writes))
        strides = [tensor.strides() for tensor in self.inputs]
        strides += map(contiguous_strides, self.shapes[len(strides) :])
        for slot, result in zip(outputs, results, strict=True):
            if result.strides is not None:
                strides[slot] = result.strides
        return Program(
            tuple(self.dtypes), tuple(self.shapes), tuple(strides), tuple(loops), tuple(outputs), tuple(results)
        )


def constant(value: Any, as_dtype: dtype) -> Constant:
    """A number, or the value of a 0-dim array, rounded to a dtype."""
    return Constant(quietly(np.asarray(value).astype, as_dtype.numpy).item(), as_dtype)


def _check(one: dtype) -> None:
    if one in HALF_PRECISION:
        raise UnfusableError(f"{one} is rounded after each operator, which a fused loop would not do")
    if one not in FUSED:
        raise UnfusableError(f"fused loops do not compute in {one}")
