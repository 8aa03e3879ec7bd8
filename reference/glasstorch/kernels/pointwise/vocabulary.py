"""How does each backend spell the functions of which pointwise operators are made?

Mirrors: torch/_inductor/codegen/common.py (OpOverrides: one method for each function and backend)
Differs: a row for each function, with its spelling on all backends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from glasstorch.dispatch.fast import Slot
from glasstorch.kernels.cpu.pointwise import steps
from glasstorch.kernels.cpu.special.error_function import erf
from glasstorch.kernels.pointwise.expression import TENSORS, Apply, Choice, ExpressionError, Tree, parse, replaced


class Cpp(NamedTuple):
    """C++ for operands of floats, of integers and of bool; None where there is none.

    `#` stands for the suffix `f` of functions of float, {0} and {1} for operands, which are names or in parentheses.
    """

    floats: str | None = None
    integers: str | None = None
    bools: str | None = None


def everywhere(text: str, bools: str | None = None) -> Cpp:
    """The same C++ for operands of all types, or another for bool."""
    return Cpp(text, text, bools or text)


class Word(NamedTuple):
    """A function: how many operands it has, and its spelling on each backend.

    `numpy` is a ufunc, or a function (or slot) called as `loop(out, *operands)`. `cuda` is a function's name, or text
    with {0}, {1} for operands, which holds them together as closely as `binds` says (C's precedence). Where a backend
    has no spelling, `means`, an expression of a, b and c, is written in its place; without that the word is not for it.
    """

    operands: int
    numpy: Callable[..., Any] | Slot[..., Any] | None = None
    cuda: str | None = None
    cpp: Cpp | None = None
    binds: int = 0
    truth: bool = False  # whether it gives bool
    means: str | None = None


CONDITIONAL, OR, XOR, AND, EQUALITY, ORDER, SUM, PRODUCT, SIGN, CLOSED = range(1, 11)  # C's precedence, loosest first


def comparison(ufunc: np.ufunc, sign: str, binds: int) -> Word:
    """A comparison, which is written alike everywhere."""
    text = f"{{0}} {sign} {{1}}"
    return Word(2, ufunc, text, everywhere(text), binds, truth=True)


def calculus(loop: Callable[..., Any], name: str, cpp: str | None = None) -> Word:
    """A function of one float, under the same name in C."""
    return Word(1, loop, name, Cpp(cpp or f"{name}#({{0}})"))


VOCABULARY: Final[dict[str, Word]] = {
    # arithmetic; the true quotient
    "add": Word(2, np.add, "{0} + {1}", everywhere("{0} + {1}", "{0} | {1}"), SUM),
    "sub": Word(2, np.subtract, "{0} - {1}", Cpp("{0} - {1}", "{0} - {1}"), SUM),
    "mul": Word(2, np.multiply, "{0} * {1}", everywhere("{0} * {1}", "{0} & {1}"), PRODUCT),
    "div": Word(2, np.true_divide, "{0} / {1}", Cpp("{0} / {1}"), PRODUCT),
    "neg": Word(1, np.negative, "-{0}", everywhere("-{0}"), SIGN),
    "reciprocal": Word(1, np.reciprocal, "1 / {0}", Cpp("1 / {0}"), PRODUCT),
    "square": Word(1, np.square, means="a * a"),
    # rounded quotients; CUDA's take the inverse of a divisor that is one number, else 0
    "floor_divide": Word(2, steps.floor_divide),
    "floor_quotient": Word(3, None, "floor_quotient"),
    "trunc_divide": Word(2, steps.trunc_divide, None, Cpp("__builtin_trunc#({0} / {1})")),
    "trunc_quotient": Word(3, None, "trunc_quotient"),
    "remainder": Word(2, steps.remainder, "remainder_of_floor"),
    # bits
    "bitwise_and": Word(2, np.bitwise_and, "{0} & {1}", everywhere("{0} & {1}"), AND),
    "bitwise_or": Word(2, np.bitwise_or, "{0} | {1}", everywhere("{0} | {1}"), OR),
    "bitwise_xor": Word(2, np.bitwise_xor, "{0} ^ {1}", everywhere("{0} ^ {1}"), XOR),
    "bitwise_not": Word(1, np.invert, "~{0}", everywhere("~{0}", "!{0}"), SIGN),
    # comparisons
    "eq": comparison(np.equal, "==", EQUALITY),
    "ne": comparison(np.not_equal, "!=", EQUALITY),
    "lt": comparison(np.less, "<", ORDER),
    "gt": comparison(np.greater, ">", ORDER),
    "le": comparison(np.less_equal, "<=", ORDER),
    "ge": comparison(np.greater_equal, ">=", ORDER),
    # sizes and signs; a maximum or minimum with NaN is NaN
    "abs": Word(1, np.absolute, "magnitude", Cpp("__builtin_fabs#({0})", "{0} < 0 ? -{0} : {0}", "{0}")),
    "fabs": Word(1, np.absolute, "fabs"),  # of a number
    "sgn": Word(1, steps.sgn, "({0} > 0) - ({0} < 0)", everywhere("({0} > 0) - ({0} < 0)"), SUM),
    "maximum": Word(2, np.maximum, "larger", everywhere("({0} >= {1} || {0} != {0}) ? {0} : {1}", "{0} | {1}")),
    "minimum": Word(2, np.minimum, "smaller", everywhere("({0} <= {1} || {0} != {0}) ? {0} : {1}", "{0} & {1}")),
    "between": Word(3, None, "between", means="minimum(maximum(a, b), c)"),
    "clip": Word(3, steps.clip),
    "between_numbers": Word(3, None, "between_numbers"),
    # calculus
    "exp": calculus(np.exp, "exp"),
    "log": calculus(steps.log, "log"),
    "sqrt": calculus(np.sqrt, "sqrt", "__builtin_sqrt#({0})"),
    "rsqrt": Word(1, None, "rsqrt", means="1 / sqrt(a)"),
    "sin": calculus(np.sin, "sin"),
    "cos": calculus(np.cos, "cos"),
    "tanh": calculus(np.tanh, "tanh"),
    "expm1": calculus(steps.expm1, "expm1"),
    "log1p": calculus(np.log1p, "log1p"),
    # as operators of their own: float32 is rounded once, from float64; in steps of others NumPy's loops do
    "rounded_exp": calculus(steps.exp, "exp"),
    "rounded_tanh": calculus(steps.tanh, "tanh"),
    # to whole numbers; halves go to the even one
    "floor": Word(1, np.floor, "floor", Cpp("__builtin_floor#({0})")),
    "ceil": Word(1, np.ceil, "ceil", Cpp("__builtin_ceil#({0})")),
    "trunc": Word(1, np.trunc, "trunc", Cpp("__builtin_trunc#({0})")),
    "rint": Word(1, np.rint, "rint", Cpp("__builtin_rint#({0})")),
    "erf": Word(1, erf, "erf", Cpp("erf#({0})")),
    "power": Word(2, steps.power, "power", Cpp("pow#({0}, {1})")),
    # choices
    "where": Word(3, steps.choose, "{0} ? {1} : {2}", everywhere("{0} ? {1} : {2}"), CONDITIONAL),
    # of complex numbers
    "conj": Word(1, np.conjugate),
    "direction": Word(1, steps.direction),
    "complex_power": Word(2, steps.complex_power),
}


def word_of(tree: Apply) -> Word:
    """The row of the word that a tree applies."""
    word = VOCABULARY.get(tree.word)
    if word is None:
        raise ExpressionError(f"unknown function {tree.word}; expected one of the vocabulary: {', '.join(VOCABULARY)}")
    if len(tree.operands) != word.operands:
        raise ExpressionError(f"{tree.word} takes {word.operands} operands, not {len(tree.operands)}")
    return word


def spelled(tree: Tree, backend: str) -> Tree:
    """The tree in words that a backend ("numpy", "cuda" or "cpp") has: others are replaced by what they mean.

    The steps of fused loops are "cpp", though NumPy may have to run those that C++ lacks.
    """
    if isinstance(tree, Choice):
        return Choice(*(spelled(part, backend) for part in tree))
    if not isinstance(tree, Apply):
        return tree
    word, operands = word_of(tree), tuple(spelled(operand, backend) for operand in tree.operands)
    if getattr(word, backend) is not None or (backend == "cpp" and word.means is None and word.numpy is not None):
        return Apply(tree.word, operands)
    if word.means is None:
        raise ExpressionError(f"{tree.word} has no spelling for {backend}, and no meaning in other words")
    return spelled(replaced(parse(word.means), dict(zip(TENSORS, operands, strict=False))), backend)
