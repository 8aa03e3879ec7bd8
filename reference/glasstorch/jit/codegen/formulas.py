"""Which elementary steps does each fusible operator consist of?

Mirrors: torch/csrc/jit/tensorexpr/lowerings.cpp (NNCLoweringFunction, one for each schema)
Differs: the steps are those of the operator's line in `kernels/pointwise/formulas.py`, from which the eager kernels are
    written too: a fused operator computes, promotes and refuses dtypes as the eager one does.

An operator with a row here can be fused. A row is a function of the steps so far and the operator's arguments: tensors
as `Argument`, everything else as the kernel gets it. It appends steps and returns the slot of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from glasstorch.core.dtype import Number, bool_, dtype
from glasstorch.core.geometry import Shape, broadcast_shapes
from glasstorch.jit.codegen.program import Argument, Constant, Operand, Steps, UnfusableError, constant
from glasstorch.kernels.pointwise.activation import ACTIVATIONS, CHOSEN
from glasstorch.kernels.pointwise.expression import NUMBERS, TENSORS, Choice, Literal, Name, Tree, masks, parse
from glasstorch.kernels.pointwise.formulas import EXPONENTS, FLOAT_EXPONENTS, FORMULAS, TRUNC_DIVIDE, Formula
from glasstorch.kernels.pointwise.vocabulary import spelled, word_of
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.scalars import number_as

Lowering = Callable[..., int]  # lowering(steps, *arguments) -> slot of the result

# From an expression to steps --------------------------------------------------------------------------------------


def write(steps: Steps, expression: str, operands: dict[str, Operand], common: dtype) -> int:
    """Add the steps of an expression and return the slot of its result; `operands` are those of its names.

    What depends on numbers alone is computed here: one side of an `if` has steps, and a factor 1 has none.
    """
    result = _written(steps, spelled(parse(expression), "cpp"), operands, common)
    if isinstance(result, int) and result not in operands.values():
        return result
    shape: Shape = ()
    for operand in operands.values():
        if isinstance(operand, int):
            shape = broadcast_shapes(shape, steps.shapes[operand])
    return steps.step("copy", result, shape=shape)


def _written(steps: Steps, tree: Tree, operands: dict[str, Operand], common: dtype) -> Operand:
    if isinstance(tree, Name):
        return operands[tree.name]
    if isinstance(tree, Literal):
        return constant(tree.value, common)
    if isinstance(tree, Choice):
        decided = _written(steps, tree.condition, operands, common)
        assert isinstance(decided, Constant), "the condition of an `if` reads numbers alone"
        return _written(steps, tree.x if decided.value else tree.y, operands, common)
    word, parts = word_of(tree), [_written(steps, operand, operands, common) for operand in tree.operands]
    numbers = [part for part in parts if isinstance(part, Constant)]
    if len(numbers) == len(parts):
        assert isinstance(word.numpy, np.ufunc), f"{tree.word} of numbers is known"
        known = quietly(word.numpy, *(np.array(number.value, number.dtype.numpy) for number in numbers))
        return constant(known, bool_ if word.truth else common)
    if tree.word == "mul" and isinstance(parts[0], Constant) and parts[0].value == 1:
        return parts[1]
    return steps.step(tree.word, *parts, gives=bool_ if word.truth else steps.dtype_of(parts[-1]))


# From a row of the table to a lowering ----------------------------------------------------------------------------


def by_formula(formula: Formula) -> Lowering:
    """The tensors are cast to their common dtype, except masks; numbers follow them."""
    asked = masks(parse(formula.expression))

    def lower(steps: Steps, *arguments: Any) -> int:
        tensors = {name: one for name, one in zip(TENSORS, arguments, strict=False) if isinstance(one, Argument)}
        common = formula.common(*(tensor.facts for name, tensor in tensors.items() if name not in asked))
        formula.check(common)
        operands: dict[str, Operand] = {}
        for name, tensor in tensors.items():
            if name in asked and tensor.facts.dtype is not bool_:
                raise UnfusableError(f"a mask of {tensor.facts.dtype}")
            operands[name] = tensor.slot if name in asked else steps.read(tensor, common)
        for name, number in zip(NUMBERS, arguments[len(tensors) :], strict=False):
            operands[name] = constant(number_as(number, common), common)
        return write(steps, formula.expression, operands, common)

    return lower


def divide_mode(steps: Steps, self: Argument, other: Argument, rounding_mode: str | None) -> int:
    return DIVISIONS[rounding_mode](steps, self, other)


def tensor_scalar(steps: Steps, self: Argument, exponent: Number) -> int:
    """A power with an expression of its own, or the general one."""
    common = result_type(self.facts, exponent)
    x = steps.read(self, common)
    expression = (FLOAT_EXPONENTS if common.is_floating_point else EXPONENTS).get(exponent)
    if expression is not None:
        return write(steps, expression, {"a": x}, common)
    POWER.check(common)
    return write(steps, POWER.expression, {"a": x, "b": constant(number_as(exponent, common), common)}, common)


def scalar_tensor(steps: Steps, self: Number, exponent: Argument) -> int:
    """`2 ** x`; 1 to any power is 1."""
    if self == 1 and not isinstance(self, bool):
        common = result_type(exponent.facts, self)
        return steps.step("copy", constant(1, common), shape=exponent.facts._shape)
    return by_formula(POWER)(steps, Argument.of(self), exponent)


def clamp(steps: Steps, self: Argument, lower: Number | None, upper: Number | None) -> int:
    """Between two numbers, of which one may be missing."""
    bounds = {name: bound for name, bound in (("p", lower), ("q", upper)) if bound is not None}
    common = result_type(self.facts, *bounds.values())
    CLAMP.check(common)
    expression = CLAMP.expression if len(bounds) == 2 else "maximum(a, p)" if upper is None else "minimum(a, q)"
    numbers: dict[str, Operand] = {name: constant(number_as(bound, common), common) for name, bound in bounds.items()}
    return write(steps, expression, {"a": steps.read(self, common), **numbers}, common)


def clamp_tensors(steps: Steps, self: Argument, lower: Argument | None, upper: Argument | None) -> int:
    """Between two tensors, of which one may be missing."""
    bounds = [bound for bound in (lower, upper) if bound is not None]
    name = "clamp.Tensor" if len(bounds) == 2 else "maximum" if upper is None else "minimum"
    return by_formula(FORMULAS[name])(steps, self, *bounds)


def chosen(choose: Callable[..., tuple[Formula, tuple[Any, ...]]]) -> Lowering:
    """The formula that the arguments choose."""

    def lower(steps: Steps, *arguments: Any) -> int:
        formula, operands = choose(*arguments)
        return by_formula(formula)(steps, *operands)

    return lower


# The table --------------------------------------------------------------------------------------------------------

POWER, CLAMP = FORMULAS["pow.Tensor_Tensor"], FORMULAS["clamp"]
DIVISIONS: Final[dict[str | None, Lowering]] = {
    None: by_formula(FORMULAS["div.Tensor"]),
    "floor": by_formula(FORMULAS["floor_divide"]),
    "trunc": by_formula(TRUNC_DIVIDE),
}

# overload -> its lowering. An operator whose row is not for fused loops, or that has none, is not fused.
LOWERINGS: Final[dict[str, Lowering]] = {
    **{name: by_formula(formula) for name, formula in (FORMULAS | ACTIVATIONS).items() if formula.fused},
    **{name: chosen(choose) for name, choose in CHOSEN.items()},
    "div.Tensor_mode": divide_mode,
    "pow.Tensor_Scalar": tensor_scalar,
    "pow.Scalar": scalar_tensor,
    "clamp": clamp,
    "clamp.Tensor": clamp_tensors,
}


# Operators that call a single other one -------------------------------------------------------------------------------


def _reversed(self: Argument, other: Argument | Number, alpha: Number) -> tuple[Any, ...]:
    return _argument(other), self, alpha


def _with_itself(self: Argument) -> tuple[Any, ...]:
    return self, self


def _between(condition: Argument, self: Argument | Number, other: Argument | Number) -> tuple[Any, ...]:
    """`where` with numbers; one that overflows the common dtype is refused."""
    sides = _argument(self), _argument(other)
    common = result_type(*(side.facts for side in sides))
    for side in sides:
        if side.facts._number is not None:
            number_as(side.facts._number, common)
    return condition, *sides


def _both(self: Argument, other: Argument | Number) -> tuple[Any, ...]:
    return self, _argument(other)


def _argument(given: Argument | Number) -> Argument:
    return given if isinstance(given, Argument) else Argument.of(given)


# overload -> the overload that it calls (operators/composite, kernels/number_operands.py), and that one's arguments
COMPOSITES: Final[dict[str, tuple[str, Callable[..., tuple[Any, ...]]]]] = {
    **{f"{name.partition('.')[0]}.Scalar": (name, _both) for name, row in FORMULAS.items() if row.number_form},
    "remainder.Scalar": ("remainder.Tensor", _both),
    "rsub.Tensor": ("sub.Tensor", _reversed),
    "rsub.Scalar": ("sub.Tensor", _reversed),
    "isnan": ("ne.Tensor", _with_itself),
    "where.ScalarSelf": ("where.self", _between),
    "where.ScalarOther": ("where.self", _between),
    "where.Scalar": ("where.self", _between),
    "max.other": ("maximum", _both),
    "min.other": ("minimum", _both),
}

# The overloads that can be fused. A loop with a step that C++ lacks (`Word.cpp`) runs in NumPy.
FUSIBLE: Final = frozenset((*LOWERINGS, *COMPOSITES))
