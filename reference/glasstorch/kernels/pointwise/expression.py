"""How is the line that defines a pointwise operator read?

It is an expression of one element of each tensor, a, b and c, and of the numbers p, q and r that the operator takes
beside its tensors: `a + p * b`. It says nothing of dtypes, casts or loops. It may contain Python's signs of arithmetic,
bits and comparison, the functions of the vocabulary, and two ways to choose: `where(condition, x, y)` for each element,
and `x if condition else y` once for all elements, by a condition on the numbers alone.

Mirrors: the strings of jiterator (aten/src/ATen/native/cuda/jit_utils.h), which are C++ for one backend
Differs: the text is parsed, so that each backend writes it in its own way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

TENSORS: Final = "abc"
NUMBERS: Final = "pqr"

# Python's signs, and the words of the vocabulary that they stand for. A quotient is the true one.
SIGNS: Final[dict[type[ast.AST], str]] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.USub: "neg",
    ast.Invert: "bitwise_not",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.Gt: "gt",
    ast.LtE: "le",
    ast.GtE: "ge",
}


class ExpressionError(ValueError):
    """A line that is no expression of elements; the message says what it may contain."""


class Name(NamedTuple):
    """An element of a tensor (a, b, c), or a number (p, q, r)."""

    name: str


class Literal(NamedTuple):
    """A number that is written in the expression."""

    value: int | float


class Apply(NamedTuple):
    """A word of the vocabulary, applied to operands."""

    word: str
    operands: tuple[Any, ...]


class Choice(NamedTuple):
    """`x if condition else y`, decided once for all elements."""

    condition: Any
    x: Any
    y: Any


Tree = Name | Literal | Apply | Choice


@cache
def parse(text: str) -> Tree:
    """The tree of an expression.

    >>> parse("a + p * b")
    Apply(word='add', operands=(Name(name='a'), Apply(word='mul', operands=(Name(name='p'), Name(name='b')))))
    """
    try:
        body = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"cannot read the expression {text!r}: {error.msg}") from None
    return _tree(body, text)


def _tree(node: ast.expr, text: str) -> Tree:
    match node:
        case ast.Name(id=name):
            if name not in (*TENSORS, *NUMBERS):
                raise ExpressionError(
                    f"unknown name {name} in {text!r}; expected the tensors a, b, c or the numbers p, q, r"
                )
            return Name(name)
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return Literal(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return Literal(-value)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in SIGNS:
            return Apply(SIGNS[type(sign)], (_tree(left, text), _tree(right, text)))
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in SIGNS:
            return Apply(SIGNS[type(sign)], (_tree(operand, text),))
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in SIGNS:
            return Apply(SIGNS[type(sign)], (_tree(left, text), _tree(right, text)))
        case ast.Call(func=ast.Name(id=word), args=arguments, keywords=[]):
            return Apply(word, tuple(_tree(argument, text) for argument in arguments))
        case ast.IfExp(test=condition, body=x, orelse=y):
            choice = Choice(_tree(condition, text), _tree(x, text), _tree(y, text))
            if read := sorted(names(choice.condition) & set(TENSORS)):
                raise ExpressionError(
                    f"the condition of `if` in {text!r} reads {', '.join(read)}; expected numbers alone: "
                    f"where(condition, x, y) chooses for each element"
                )
            return choice
    raise ExpressionError(
        f"{ast.unparse(node)!r} in {text!r} is no expression of elements; expected names, numbers, arithmetic, a "
        f"comparison of two, words of the vocabulary, or `x if condition else y`"
    )


def nodes(tree: Tree) -> Iterator[Tree]:
    """A tree and all trees in it."""
    yield tree
    inner: tuple[Tree, ...] = ()
    if isinstance(tree, Apply):
        inner = tree.operands
    elif isinstance(tree, Choice):
        inner = tree
    for one in inner:
        yield from nodes(one)


def names(tree: Tree) -> set[str]:
    """The names that a tree reads."""
    return {node.name for node in nodes(tree) if isinstance(node, Name)}


def masks(tree: Tree) -> set[str]:
    """The names of the tensors that are only asked whether they are true, so that they are not converted."""
    asked = [node.operands[0] for node in nodes(tree) if isinstance(node, Apply) and node.word == "where"]
    return {condition.name for condition in asked if isinstance(condition, Name)}


def replaced(tree: Tree, by: dict[str, Tree]) -> Tree:
    """The tree with other trees in the place of names. A factor 1 is left out."""
    match tree:
        case Name(name):
            return by.get(name, tree)
        case Apply(word, operands):
            operands = tuple(replaced(operand, by) for operand in operands)
            if word == "mul" and Literal(1) in operands:
                return operands[operands[0] == Literal(1)]  # type: ignore[no-any-return]
            return Apply(word, operands)
        case Choice():
            return Choice(*(replaced(part, by) for part in tree))
    return tree
