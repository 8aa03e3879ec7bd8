"""How is a pointwise operator decomposed by its line in the table of formulas?

Mirrors: torch/_decomp/decompositions.py and torch/_refs/nn/functional, whose functions of activations and their
    gradients state each formula once more
Differs: the formula is the one that the kernels, the CUDA sources and the fused loops are written from
    (`kernels/pointwise`); here every word of it becomes an operator. Half precision is computed in float32.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.compiler.decompositions.table import decomposes, operator_named
from glasstorch.core.dtype import HALF_PRECISION, float32
from glasstorch.dispatch.tags import Tag
from glasstorch.kernels.pointwise.activation import ACTIVATIONS, CHOSEN
from glasstorch.kernels.pointwise.expression import (
    NUMBERS,
    TENSORS,
    Apply,
    Choice,
    Literal,
    Name,
    Tree,
    masks,
    parse,
    replaced,
)
from glasstorch.kernels.pointwise.formulas import FORMULAS, Formula
from glasstorch.kernels.pointwise.vocabulary import word_of
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.scalars import number_as


def _larger(a: Any, b: Any) -> Any:
    return f.maximum(a, b) if isinstance(b, Tensor) else f.clamp(a, min=b)


def _smaller(a: Any, b: Any) -> Any:
    return f.minimum(a, b) if isinstance(b, Tensor) else f.clamp(a, max=b)


def _direction(a: Any) -> Any:
    size = f.abs(a)
    return f.where(size == 0, 0, a / size)


# word -> the operator that it is, of tensors
OPERATORS: Final[dict[str, Callable[..., Any]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": f.neg,
    "reciprocal": f.reciprocal,
    "floor_divide": lambda a, b: f.div(a, b, rounding_mode="floor"),
    "trunc_divide": lambda a, b: f.div(a, b, rounding_mode="trunc"),
    "remainder": f.remainder,
    "bitwise_and": f.bitwise_and,
    "bitwise_or": f.bitwise_or,
    "bitwise_xor": f.bitwise_xor,
    "bitwise_not": f.bitwise_not,
    "eq": f.eq,
    "ne": f.ne,
    "lt": f.lt,
    "gt": f.gt,
    "le": f.le,
    "ge": f.ge,
    "abs": f.abs,
    "sgn": f.sign,
    "maximum": _larger,
    "minimum": _smaller,
    "exp": f.exp,
    "log": f.log,
    "sqrt": f.sqrt,
    "rsqrt": f.rsqrt,
    "sin": f.sin,
    "cos": f.cos,
    "tanh": f.tanh,
    "expm1": f.expm1,
    "log1p": f.log1p,
    "rounded_exp": f.exp,
    "rounded_tanh": f.tanh,
    "erf": f.erf,
    "power": f.pow,
    "complex_power": f.pow,
    "where": f.where,
    "conj": f._conj,
    "direction": _direction,
}
# word -> what it is of numbers alone
OF_NUMBERS: Final[dict[str, Callable[..., Any]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "lt": operator.lt,
    "ne": operator.ne,
    "fabs": abs,
    "exp": math.exp,
}
SIGMOID: Final = parse("1 / (1 + exp(-a))")  # which has an operator, as its reciprocal form with b has
GATE: Final = parse("1 / (1 + exp(-b))")


def computed(tree: Tree, values: dict[str, Any]) -> Any:
    """What an expression gives, computed by operators; `values` are those of its names, tensors or numbers.

    >>> from glasstorch.outside_data.creation import tensor
    >>> computed(parse("a + p * b"), {"a": tensor([1.0]), "b": tensor([2.0]), "p": 3}).tolist()
    [7.0]
    """
    known: dict[Tree, Any] = {}

    def value(tree: Tree) -> Any:
        if tree not in known:
            known[tree] = _value(tree)
        return known[tree]

    def _value(tree: Tree) -> Any:
        match tree:
            case Name(name):
                return values[name]
            case Literal(number):
                return number
            case Choice(condition, x, y):
                return value(x if value(condition) else y)
            case Apply(word, operands):
                if tree in (SIGMOID, GATE):
                    return f.sigmoid(values["a" if tree == SIGMOID else "b"])
                if (means := word_of(tree).means) is not None and word not in OPERATORS:
                    return value(replaced(parse(means), dict(zip(TENSORS, operands, strict=False))))
                given = [value(operand) for operand in operands]
                of_numbers = not any(isinstance(one, Tensor) for one in given)
                if word == "mul" and not isinstance(given[0], Tensor) and given[0] == 1:
                    return given[1]
                return (OF_NUMBERS if of_numbers else OPERATORS)[word](*given)
        raise AssertionError(tree)

    return value(tree)


def applied(formula: Formula, arguments: tuple[Any, ...]) -> Any:
    """What a formula gives for tensors, and then numbers."""
    complex_ = formula.on_complex is not None and any(
        isinstance(one, Tensor) and one.dtype.is_complex for one in arguments
    )
    tree = parse(formula.on_complex if complex_ and formula.on_complex is not None else formula.expression)
    asked = masks(tree)
    tensors = dict(zip(TENSORS, (one for one in arguments if isinstance(one, Tensor)), strict=False))
    numbers = dict(zip(NUMBERS, arguments[len(tensors) :], strict=False))
    common = formula.common(*(tensor for name, tensor in tensors.items() if name not in asked))
    formula.check(common)
    wide = float32 if common in HALF_PRECISION else common
    values: dict[str, Any] = {
        name: tensor if name in asked or tensor.dtype is wide else tensor.to(wide) for name, tensor in tensors.items()
    }
    values.update({name: number_as(number, common) for name, number in numbers.items()})
    found = computed(tree, values)
    gives = formula.produces or common
    return found if found.dtype is gives else found.to(gives)


def _complete(name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    """All arguments of a call, in the order of the schema."""
    rest = operator_named(name).schema.arguments[len(arguments) :]
    return [*arguments, *(named.get(one.name, one.default_value) for one in rest)]


def _by(name: str, formula: Formula) -> Callable[..., Any]:
    lays_out = name in CONTIGUOUS

    def decomposition(*arguments: Any, **named: Any) -> Any:
        found = applied(formula, tuple(_complete(name, arguments, named)))
        return found.contiguous() if lays_out else found

    return decomposition


def _chosen(name: str, choose: Callable[..., tuple[Formula, tuple[Any, ...]]]) -> Callable[..., Any]:
    return lambda *arguments, **named: applied(*choose(*_complete(name, arguments, named)))


# Operators whose kernels give a contiguous tensor, whatever the arguments' strides are
CONTIGUOUS: Final = ("masked_fill.Scalar",)


def register() -> None:
    """Register the operators of the formulas that are not core; and activations, which are made of simpler ones."""
    rows = {name: _by(name, formula) for name, formula in (FORMULAS | ACTIVATIONS).items()}
    for name, function in (rows | {name: _chosen(name, choose) for name, choose in CHOSEN.items()}).items():
        is_core = Tag.core in operator_named(name).tags
        if not is_core or name in ACTIVATIONS or name in CHOSEN:
            decomposes(name, core=not is_core)(function)
