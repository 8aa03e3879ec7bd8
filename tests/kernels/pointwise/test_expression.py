"""Is the line of a pointwise operator read as it is meant, and refused where it says what it cannot say?"""

from __future__ import annotations

import pytest

from glasstorch.kernels.pointwise.expression import (
    Apply,
    Choice,
    ExpressionError,
    Literal,
    Name,
    masks,
    names,
    nodes,
    parse,
    replaced,
)

A, B, P = Name("a"), Name("b"), Name("p")


def test_signs_are_words_of_the_vocabulary() -> None:
    assert parse("a + p * b") == Apply("add", (A, Apply("mul", (P, B))))
    assert parse("-a") == Apply("neg", (A,))
    assert parse("~a & b") == Apply("bitwise_and", (Apply("bitwise_not", (A,)), B))
    assert parse("a <= 0.5") == Apply("le", (A, Literal(0.5)))


def test_functions_and_both_choices_are_read() -> None:
    assert parse("where(b <= p, 0, a)") == Apply("where", (Apply("le", (B, P)), Literal(0), A))
    assert parse("a if p < 1 else b") == Choice(Apply("lt", (P, Literal(1))), A, B)


def test_a_tree_tells_its_names_and_masks() -> None:
    tree = parse("where(b, p, a) + where(a < 0, a, a)")
    assert names(tree) == {"a", "b", "p"}
    assert masks(tree) == {"b"}
    assert [node.word for node in nodes(tree) if isinstance(node, Apply)] == ["add", "where", "where", "lt"]


def test_a_factor_of_1_is_left_out() -> None:
    one = {"p": Literal(1)}
    assert replaced(parse("a + p * b"), one) == parse("a + b")
    assert replaced(parse("a + b * p / c"), one) == parse("a + b / c")
    assert replaced(parse("a if p < 0.5 else p"), one) == Choice(parse("1 < 0.5"), A, Literal(1))
    assert replaced(parse("a + p * b"), {"p": Literal(2)}) == parse("a + 2 * b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a + x", r"unknown name x in 'a \+ x'; expected the tensors a, b, c or the numbers p, q"),
        ("a +", r"cannot read the expression 'a \+': invalid syntax"),
        ("a < b < c", r"'a < b < c' in .* is no expression of elements; expected names, numbers, arithmetic"),
        ("a ** b", "is no expression of elements"),
        ("a // b", "is no expression of elements"),
        ("a and b", "is no expression of elements"),
        ("a[0]", "is no expression of elements"),
        ("a.exp()", "is no expression of elements"),
        ("exp(x=a)", "is no expression of elements"),
        ("True", "is no expression of elements"),
        ("'a'", "is no expression of elements"),
        ("lambda: a", "is no expression of elements"),
        ("a if a < 0 else b", r"the condition of `if` in .* reads a; expected numbers alone: where\(condition, x, y\)"),
    ],
)
def test_what_is_no_expression_is_refused(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        parse(text)
