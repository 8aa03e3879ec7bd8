"""Is an expression written in C++ with the parentheses that it needs, and no others?"""

from __future__ import annotations

import pytest

from glasstorch.kernels.pointwise.cuda_text import cuda_text
from glasstorch.kernels.pointwise.formulas import FORMULAS

TEXTS = {
    "a + p * b": "a + p * b",
    "(a + p) * b": "(a + p) * b",
    "a - (b - c)": "a - (b - c)",
    "a - b - c": "a - b - c",
    "a / (b * c)": "a / (b * c)",
    "a / b * c": "a / b * c",
    "-(a + b)": "-(a + b)",
    "-a * b": "-a * b",
    "reciprocal(a * a)": "1 / (a * a)",
    "reciprocal(reciprocal(a))": "1 / (1 / a)",
    "sgn(a * b) - c": "(a * b > 0) - (a * b < 0) - c",
    "c - sgn(a)": "c - ((a > 0) - (a < 0))",
    "(a & b) == c": "(a & b) == c",  # C binds comparisons more closely than bits
    "a & (b == c)": "a & b == c",
    "where(a, b, c)": "a != 0 ? b : c",
    "where(a + b, b, c)": "(a + b) != 0 ? b : c",
    "where(a < b, where(b < c, a, b), c)": "a < b ? (b < c ? a : b) : c",
    "where(a < b, a, c) + p": "(a < b ? a : c) + p",
    "a * p if p != 0 else a / b": "p != 0 ? a * p : a / b",
    "maximum(a + b, c)": "larger(a + b, c)",
}


@pytest.mark.parametrize("expression", TEXTS)
def test_parentheses(expression: str) -> None:
    assert cuda_text(expression) == TEXTS[expression]


def test_the_rows_that_round_differently_on_cuda_are_these() -> None:
    """Each has its reason in the table."""
    own = {name for name, row in FORMULAS.items() if row.cuda is not None and row.cuda.expression is not None}
    assert own == {
        "bitwise_not", "relu", "div.Tensor", "floor_divide", "sigmoid_backward", "addcmul", "addcdiv", "clamp",
    }  # fmt: skip
