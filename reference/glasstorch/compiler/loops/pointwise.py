"""Which operators are one pointwise loop, and what is its body?

Mirrors: torch/_inductor/lowering.py (make_pointwise, register_pointwise)
Differs: the body comes from the line that defines the operator for all backends (kernels/pointwise/formulas.py), by
    way of the steps of TorchScript's fused loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.compiler.loops.build import Builder, computed_in
from glasstorch.compiler.loops.ir import HALF, View
from glasstorch.core.dtype import bool_, dtype
from glasstorch.dispatch.overload import OpOverload
from glasstorch.jit.codegen.formulas import COMPOSITES, LOWERINGS, write
from glasstorch.jit.codegen.program import Argument, Operand, Steps, UnfusableError, constant
from glasstorch.kernels.pointwise.expression import NUMBERS, TENSORS
from glasstorch.operators.shapes.promotion import float_result_type, result_type


def is_pointwise(name: str) -> bool:
    """Whether an overload, named as in native_functions.yaml, is a pointwise loop."""
    return (
        name in LOWERINGS
        or name in COMPOSITES
        or name in FILLS
        or name in COPIES
        or name in OTHERS
        or name in EXPRESSIONS
    )


def pointwise(build: Builder, name: str, operator: Any, arguments: Sequence[Any], like: Tensor) -> View:
    """The loop of a pointwise operator, whose result has the geometry and dtype of `like`.

    UnfusableError where a dtype has no loops.
    """
    sizes, strides = tuple(like.shape), like.stride()
    if name in FILLS:
        number = FILLS[name](arguments)
        if not isinstance(number, bool | int | float):
            raise UnfusableError("a number that is not known when the graph is compiled")

        def fill(steps: Steps, given: list[Argument]) -> Operand:
            return steps.step("copy", constant(number, computed_in(like.dtype)), shape=sizes)

        made = build.pointwise([], fill, sizes, like.dtype, strides)
        if like.dtype not in HALF:  # in which a number is rounded
            build.fills[made.buffer] = number
        return made
    if name in COPIES:
        source = COPIES[name](arguments)

        def copy(steps: Steps, given: list[Argument]) -> Operand:
            wanted = computed_in(like.dtype)
            return steps.cast(given[0].slot, wanted)

        return build.pointwise([source], copy, sizes, like.dtype, strides)
    return build.pointwise(*_body(name, arguments, operator), sizes, like.dtype, strides)


def _body(name: str, arguments: Sequence[Any], operator: OpOverload) -> tuple[list[View], Any]:
    """The views that a loop reads, and its body: the operator's lowering, given what stands for each view."""
    views = [value for value in arguments if isinstance(value, View)]
    declared = operator._schema.arguments

    def body(steps: Steps, given: list[Argument]) -> Operand:
        found = iter(given)
        values: list[Any] = [next(found) if isinstance(value, View) else value for value in arguments]
        if name in EXPRESSIONS:
            return _expression(steps, EXPRESSIONS[name], values)
        if name in OTHERS:
            return OTHERS[name](steps, *values)
        lowering = name
        if name in COMPOSITES:
            lowering, rearranged = COMPOSITES[name]
            values = list(rearranged(*values))
        else:
            values = [
                Argument.of(value) if _is_number_for_tensor(value, one.type) else value
                for value, one in zip(values, declared, strict=False)
            ]

        return LOWERINGS[lowering](steps, *values)

    return views, body


def _is_number_for_tensor(value: Any, declared: Any) -> bool:
    return isinstance(value, bool | int | float) and str(declared) == "Tensor"


Given = Callable[[Sequence[Any]], Any]  # of an operator's arguments, the one that counts

# Operators that give one number everywhere, and which; operators that copy, perhaps to another dtype, and what
FILLS: Final[dict[str, Given]] = {}
COPIES: Final[dict[str, Given]] = {}


def of(name: str, table: dict[str, Given]) -> Callable[[Given], Given]:
    """Enter what is decorated into a table, for an overload."""

    def enter(given: Given) -> Given:
        table[name] = given
        return given

    return enter


@of("zeros", FILLS)
@of("zeros_like", FILLS)
@of("new_zeros", FILLS)
def _nought(arguments: Sequence[Any]) -> int:
    return 0


@of("ones", FILLS)
@of("ones_like", FILLS)
@of("new_ones", FILLS)
def _one(arguments: Sequence[Any]) -> int:
    return 1


@of("scalar_tensor", FILLS)
@of("clone", COPIES)
@of("_to_copy", COPIES)
@of("expand_copy", COPIES)
@of("lift_fresh_copy", COPIES)
def _first(arguments: Sequence[Any]) -> Any:
    return arguments[0]


@of("full", FILLS)
@of("full_like", FILLS)
@of("fill.Scalar", FILLS)
@of("copy", COPIES)
@of("fill.Tensor", COPIES)
def _second(arguments: Sequence[Any]) -> Any:
    return arguments[1]


@of("new_full", FILLS)
def _third(arguments: Sequence[Any]) -> Any:
    return arguments[2]


def _truth(steps: Steps, argument: Argument) -> Operand:
    """Whether an element is not 0."""
    of = steps.dtypes[argument.slot]
    return argument.slot if of is bool_ else steps.step("ne", argument.slot, constant(0, of), gives=bool_)


def logical(word: str) -> Callable[..., Operand]:
    def body(steps: Steps, self: Argument, other: Argument) -> Operand:
        return steps.step(word, _truth(steps, self), _truth(steps, other), gives=bool_)

    return body


def _logical_not(steps: Steps, self: Argument) -> Operand:
    return steps.step("eq", self.slot, constant(0, steps.dtypes[self.slot]), gives=bool_)


class Expression(NamedTuple):
    """A line of a, b, c and p, q, r as in the table of formulas, and the dtype in which it is computed."""

    text: str
    common: Callable[..., dtype] = result_type


def _expression(steps: Steps, expression: Expression, values: Sequence[Any]) -> Operand:
    tensors = [value for value in values if isinstance(value, Argument)]
    common = expression.common(*(tensor.facts for tensor in tensors))
    known = {name: steps.read(tensor, common) for name, tensor in zip(TENSORS, tensors, strict=False)}
    numbers = (value for value in values if isinstance(value, bool | int | float))
    known |= {name: constant(number, common) for name, number in zip(NUMBERS, numbers, strict=False)}
    return write(steps, expression.text, known, common)


# Operators of NumPy's own kernels, which have no row in the table of formulas
EXPRESSIONS: Final[dict[str, Expression]] = {
    "erf": Expression("erf(a)", float_result_type),
    "log1p": Expression("log1p(a)", float_result_type),
    "expm1": Expression("expm1(a)", float_result_type),
    "floor": Expression("floor(a)"),
    "ceil": Expression("ceil(a)"),
    "trunc": Expression("trunc(a)"),
    "round": Expression("rint(a)"),
    "sign": Expression("sgn(a)"),
    "square": Expression("a * a"),
    "native_dropout_backward": Expression("a * b * p", float_result_type),
}

# Operators whose loops compute with truth values
OTHERS: Final[dict[str, Callable[..., Operand]]] = {
    "logical_and": logical("bitwise_and"),
    "logical_or": logical("bitwise_or"),
    "logical_xor": logical("ne"),
    "logical_not": _logical_not,
}
