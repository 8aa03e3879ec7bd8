"""Which elementary steps does each fusible operator consist of?

Mirrors: torch/csrc/jit/tensorexpr/lowerings.cpp (NNCLoweringFunction, one for each schema)
Differs: the rows are derived from those of the eager kernels (kernels/cpu), which define the dtype of each computation:
    a fused operator promotes and refuses dtypes as the eager one does.

An operator with a row here can be fused. A row is a function of the steps so far and the operator's arguments: tensors
as `Argument`, everything else as the kernel gets it. It appends steps and returns the slot of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from glasstorch.core.dtype import Number, bool_, dtype
from glasstorch.jit.codegen.program import Argument, Constant, Operand, Steps, UnfusableError, constant
from glasstorch.kernels.cpu.pointwise import binary as pointwise_binary
from glasstorch.kernels.cpu.pointwise import power as pointwise_power
from glasstorch.kernels.cpu.pointwise import ternary as pointwise_ternary
from glasstorch.kernels.cpu.pointwise import unary as pointwise_unary
from glasstorch.kernels.cpu.pointwise.loops import NOT_BOOL, Row
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.scalars import number_as

Lowering = Callable[..., int]  # lowering(steps, *arguments) -> slot of the result
Formula = Callable[..., int]  # formula(steps, *operands) -> slot of the result


def one(dtype: dtype) -> Constant:
    return constant(1, dtype)


# Formulas of several steps, as in the loops of the same names in kernels/cpu ----------------------------------------


def sigmoid(steps: Steps, x: Operand) -> int:
    """`1 / (1 + exp(-x))`."""
    return steps.step("reciprocal", steps.step("add", steps.step("exp", steps.step("neg", x)), one(steps.dtype_of(x))))


def rsqrt(steps: Steps, x: Operand) -> int:
    """`1 / sqrt(x)`."""
    return steps.step("reciprocal", steps.step("sqrt", x))


def tanh_backward(steps: Steps, grad: Operand, y: Operand) -> int:
    """`grad * (1 - y * y)`."""
    return steps.step("mul", grad, steps.step("sub", one(steps.dtype_of(y)), steps.step("mul", y, y)))


def sigmoid_backward(steps: Steps, grad: Operand, y: Operand) -> int:
    """`grad * ((1 - y) * y)`."""
    return steps.step("mul", grad, steps.step("mul", steps.step("sub", one(steps.dtype_of(y)), y), y))


def trunc_divide(steps: Steps, x: Operand, y: Operand) -> int:
    """The quotient rounded towards 0."""
    if steps.dtype_of(x).is_floating_point:
        return steps.step("trunc", steps.step("div", x, y))
    return steps.step("trunc_divide", x, y)


def ones(steps: Steps, x: Operand) -> int:
    """`x ** 0`: 1, for NaN too."""
    return steps.step("copy", one(steps.dtype_of(x)), shape=steps.shapes[x] if isinstance(x, int) else ())


def cube(steps: Steps, x: Operand) -> int:
    """`x ** 3`."""
    return steps.step("mul", steps.step("mul", x, x), x)


def inverse_square(steps: Steps, x: Operand) -> int:
    """`x ** -2`."""
    return steps.step("reciprocal", steps.step("mul", x, x))


def single(name: str) -> Formula:
    """A formula with a single step."""
    return lambda steps, *operands: steps.step(name, *operands)


# An eager kernel's loop -> the formula that computes the same
FORMULAS: Final[dict[Any, Formula]] = {
    np.add: single("add"),
    np.subtract: single("sub"),
    np.multiply: single("mul"),
    np.true_divide: single("div"),
    np.maximum: single("maximum"),
    np.minimum: single("minimum"),
    np.bitwise_and: single("bitwise_and"),
    np.bitwise_or: single("bitwise_or"),
    np.bitwise_xor: single("bitwise_xor"),
    np.invert: single("bitwise_not"),
    np.negative: single("neg"),
    np.absolute: single("abs"),
    np.exp: single("exp"),
    np.log: single("log"),
    np.sqrt: single("sqrt"),
    np.reciprocal: single("reciprocal"),
    np.sin: single("sin"),
    np.cos: single("cos"),
    np.tanh: single("tanh"),
    np.square: lambda steps, x: steps.step("mul", x, x),
    pointwise_binary.floor_divide: single("floor_divide"),
    pointwise_binary.remainder: single("remainder"),
    pointwise_binary.trunc_divide: trunc_divide,
    pointwise_binary.tanh_backward: tanh_backward,
    pointwise_binary.sigmoid_backward: sigmoid_backward,
    pointwise_unary.sigmoid: sigmoid,
    pointwise_unary.rsqrt: rsqrt,
    pointwise_unary.sgn: single("sgn"),
    pointwise_power.power: single("pow"),
    pointwise_power.ones: ones,
    pointwise_power.same: single("copy"),
    pointwise_power.cube: cube,
    pointwise_power.inverse_square: inverse_square,
}

# From a row of kernels/cpu to a lowering ------------------------------------------------------------------------------


def by_row(row: Row) -> Lowering:
    """All arguments are tensors, cast to their common dtype."""
    formula = FORMULAS[row.loop]

    def lower(steps: Steps, *arguments: Argument) -> int:
        common = row.common(*(argument.facts for argument in arguments))
        row.check(common)
        return formula(steps, *(steps.read(argument, common) for argument in arguments))

    return lower


def scaled(row: Row) -> Lowering:
    """`x + alpha * y`, `x - alpha * y`."""
    formula = FORMULAS[row.loop]

    def lower(steps: Steps, self: Argument, other: Argument, alpha: Number) -> int:
        common = row.common(self.facts, other.facts)
        row.check(common)
        x, y = steps.read(self, common), steps.read(other, common)
        if alpha != 1:
            y = steps.step("mul", y, constant(number_as(alpha, common), common))
        return formula(steps, x, y)

    return lower


def comparison(name: str) -> Lowering:
    def lower(steps: Steps, self: Argument, other: Argument) -> int:
        common = result_type(self.facts, other.facts)
        return steps.step(name, steps.read(self, common), steps.read(other, common), gives=bool_)

    return lower


def relu(steps: Steps, self: Argument) -> int:
    """The maximum with 0; NaN propagates."""
    return steps.step("maximum", self.slot, constant(0, self.facts.dtype))


def divide_mode(steps: Steps, self: Argument, other: Argument, rounding_mode: str | None) -> int:
    return DIVISIONS[rounding_mode](steps, self, other)


# Powers


def tensor_scalar(steps: Steps, self: Argument, exponent: Number) -> int:
    """The formula for a power with this exponent: a special one, or the general `pow`."""
    common = result_type(self.facts, exponent)
    table = pointwise_power.FLOAT_EXPONENTS if common.is_floating_point else pointwise_power.EXPONENTS
    x = steps.read(self, common)
    loop = table.get(exponent)
    if loop is not None:
        return FORMULAS[loop](steps, x)
    pointwise_power.ROW.check(common)
    return steps.step("pow", x, constant(number_as(exponent, common), common))


def scalar_tensor(steps: Steps, self: Number, exponent: Argument) -> int:
    """`2 ** x`; 1 to any power is 1."""
    if self == 1 and not isinstance(self, bool):
        common = result_type(exponent.facts, self)
        return steps.step("copy", one(common), shape=exponent.facts._shape)
    return by_row(pointwise_power.ROW)(steps, Argument.of(self), exponent)


# Selection


def where(steps: Steps, condition: Argument, self: Argument, other: Argument) -> int:
    if condition.facts.dtype is not bool_:
        raise UnfusableError(f"where takes a condition of {condition.facts.dtype}")
    common = result_type(self.facts, other.facts)
    return steps.step("select", condition.slot, steps.read(self, common), steps.read(other, common), gives=common)


def masked_fill(steps: Steps, self: Argument, mask: Argument, value: Number) -> int:
    own = self.facts.dtype
    return steps.step("select", mask.slot, constant(number_as(value, own), own), self.slot, gives=own)


def threshold_backward(steps: Steps, grad: Argument, self: Argument, threshold: Number) -> int:
    """`grad` where `x` is above the threshold or NaN, else 0."""
    common = result_type(grad.facts, self.facts)
    if common not in NOT_BOOL:
        raise UnfusableError("threshold_backward has no kernel for bool")
    low = steps.step("le", steps.read(self, common), constant(number_as(threshold, common), common), gives=bool_)
    return steps.step("select", low, constant(0, common), steps.read(grad, common), gives=common)


# Several tensors and a number


def add_product(steps: Steps, self: Argument, a: Argument, b: Argument, value: Number) -> int:
    """`x + value * a * b`."""
    x, scaled_a, y = _ternary("addcmul", steps, self, a, b, value)
    return steps.step("add", x, steps.step("mul", scaled_a, y))


def add_quotient(steps: Steps, self: Argument, a: Argument, b: Argument, value: Number) -> int:
    """`x + value * a / b`."""
    x, scaled_a, y = _ternary("addcdiv", steps, self, a, b, value)
    return steps.step("add", x, steps.step("div", scaled_a, y))


def _ternary(
    name: str, steps: Steps, self: Argument, a: Argument, b: Argument, value: Number
) -> tuple[Operand, Operand, Operand]:
    _, row = pointwise_ternary.TERNARY[name]
    common = row.common(self.facts, a.facts, b.facts)
    row.check(common)
    x, left, right = (steps.read(argument, common) for argument in (self, a, b))
    number = number_as(value, common)
    return x, left if number == 1 else steps.step("mul", left, constant(number, common)), right


def interpolate(steps: Steps, self: Argument, end: Argument, weight: Number) -> int:
    """Linear interpolation, computed from the nearer end for accuracy."""
    _, row = pointwise_ternary.TERNARY["lerp.Scalar"]
    common = row.common(self.facts, end.facts)
    row.check(common)
    x, y = steps.read(self, common), steps.read(end, common)
    fraction = np.array(number_as(weight, common), common.numpy)
    way = steps.step("sub", y, x)
    if abs(fraction) < 0.5:
        return steps.step("add", x, steps.step("mul", way, constant(fraction, common)))
    return steps.step("sub", y, steps.step("mul", way, constant(1 - fraction, common)))


def clamp(steps: Steps, self: Argument, lower: Number | None, upper: Number | None) -> int:
    bounds = [bound for bound in (lower, upper) if bound is not None]
    common = result_type(self.facts, *bounds)
    pointwise_ternary.CLAMP_NUMBERS.check(common)
    x = steps.read(self, common)
    if lower is not None:
        x = steps.step("maximum", x, constant(number_as(lower, common), common))
    if upper is not None:
        x = steps.step("minimum", x, constant(number_as(upper, common), common))
    assert isinstance(x, int), "a clamp without bounds is refused by its shape function"
    return x


def clamp_tensors(steps: Steps, self: Argument, lower: Argument | None, upper: Argument | None) -> int:
    given = [argument.facts for argument in (self, lower, upper) if argument is not None]
    common = result_type(*given)
    if len(given) == 3:
        pointwise_ternary.CLAMP_TENSORS.check(common)
    x = steps.read(self, common)
    if lower is not None:
        x = steps.step("maximum", x, steps.read(lower, common))
    if upper is not None:
        x = steps.step("minimum", x, steps.read(upper, common))
    assert isinstance(x, int), "a clamp without bounds is refused by its shape function"
    return x


# The table --------------------------------------------------------------------------------------------------------

DIVISIONS: Final[dict[str | None, Lowering]] = {
    None: by_row(pointwise_binary.ARITHMETIC["div.Tensor"]),
    "floor": by_row(pointwise_binary.ARITHMETIC["floor_divide"]),
    "trunc": by_row(Row(pointwise_binary.trunc_divide, NOT_BOOL, NOT_BOOL, "div_trunc_cpu")),
}

# overload -> its lowering. An operator whose loop has no formula is not fused.
LOWERINGS: Final[dict[str, Lowering]] = {
    **{
        name: by_row(row)
        for name, row in (pointwise_unary.ROWS | pointwise_binary.ARITHMETIC).items()
        if row.loop in FORMULAS
    },
    **{name: scaled(pointwise_binary.ARITHMETIC[name]) for name in ("add.Tensor", "sub.Tensor")},
    **{f"{name}.Tensor": comparison(name) for name in pointwise_binary.COMPARISONS},
    "div.Tensor_mode": divide_mode,
    "relu": relu,
    "pow.Tensor_Tensor": by_row(pointwise_power.ROW),
    "pow.Tensor_Scalar": tensor_scalar,
    "pow.Scalar": scalar_tensor,
    "where.self": where,
    "masked_fill.Scalar": masked_fill,
    "threshold_backward": threshold_backward,
    "addcmul": add_product,
    "addcdiv": add_quotient,
    "lerp.Scalar": interpolate,
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
    **{f"{name}.Scalar": (f"{name}.Tensor", _both) for name in pointwise_binary.COMPARISONS},
    **{f"{name}.Scalar": (f"{name}.Tensor", _both) for name in pointwise_binary.BITWISE},
    "rsub.Tensor": ("sub.Tensor", _reversed),
    "rsub.Scalar": ("sub.Tensor", _reversed),
    "isnan": ("ne.Tensor", _with_itself),
    "where.ScalarSelf": ("where.self", _between),
    "where.ScalarOther": ("where.self", _between),
    "where.Scalar": ("where.self", _between),
    "max.other": ("maximum", _both),
    "min.other": ("minimum", _both),
}

# The overloads that can be fused. A loop with a step that C++ lacks (cpp_loop.FORMULAS) runs in NumPy.
FUSIBLE: Final = frozenset((*LOWERINGS, *COMPOSITES))
