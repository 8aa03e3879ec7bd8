"""Has every backend the words that it needs, and are others refused?"""

from __future__ import annotations

import re

import pytest

from glasstorch.compiler.loops.pointwise import EXPRESSIONS
from glasstorch.kernels.pointwise.activation import every_activation
from glasstorch.kernels.pointwise.cuda_text import cuda_text
from glasstorch.kernels.pointwise.expression import Apply, ExpressionError, Name, names, nodes, parse
from glasstorch.kernels.pointwise.formulas import COMPLEX_EXPONENTS, FORMULAS, TRUNC_DIVIDE
from glasstorch.kernels.pointwise.numpy_loops import numpy_loop
from glasstorch.kernels.pointwise.vocabulary import VOCABULARY, spelled

FORMULAS_AND_ONE = {**FORMULAS, "div.Tensor_mode": TRUNC_DIVIDE}


def test_a_word_is_replaced_by_what_it_means_where_it_has_no_spelling() -> None:
    assert spelled(parse("rsqrt(a + b)"), "numpy") == parse("1 / sqrt(a + b)")
    assert spelled(parse("rsqrt(a)"), "cuda") == Apply("rsqrt", (Name("a"),))
    assert spelled(parse("between(c, b, a)"), "cpp") == parse("minimum(maximum(c, b), a)")


@pytest.mark.parametrize(
    ("text", "backend", "message"),
    [
        ("sine(a)", "numpy", "unknown function sine; expected one of the vocabulary: add, sub"),
        ("exp(a, b)", "cuda", "exp takes 1 operands, not 2"),
        ("conj(a)", "cuda", "conj has no spelling for cuda, and no meaning in other words"),
        ("between_numbers(a, p, q)", "cpp", "between_numbers has no spelling for cpp"),
    ],
)
def test_what_is_no_word_of_a_backend_is_refused(text: str, backend: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(message)):
        spelled(parse(text), backend)


def test_every_word_is_in_a_formula() -> None:
    lines = [line for formula in FORMULAS_AND_ONE.values() for line in (formula.expression, formula.on_complex)]
    lines += [formula.numpy for formula in FORMULAS.values()]
    lines += [formula.cuda.expression for formula in FORMULAS_AND_ONE.values() if formula.cuda is not None]
    lines += [formula.expression for formula in every_activation()]
    lines += [expression.text for expression in EXPRESSIONS.values()]  # of compiled graphs
    used = {
        node.word
        for line in (*lines, *COMPLEX_EXPONENTS.values())
        if line is not None
        for node in nodes(parse(line))
        if isinstance(node, Apply)
    }
    assert used == VOCABULARY.keys()


def test_every_activation_is_written_for_its_backends() -> None:
    for formula in every_activation():
        assert callable(numpy_loop(formula.numpy or formula.expression))
        assert formula.cuda is not None
        assert cuda_text(formula.cuda.expression or formula.expression)


@pytest.mark.parametrize("name", FORMULAS_AND_ONE)
def test_every_formula_is_written_for_its_backends(name: str) -> None:
    formula = FORMULAS_AND_ONE[name]
    assert callable(numpy_loop(formula.numpy or formula.expression))
    if formula.on_complex:
        assert names(parse(formula.on_complex)) == names(parse(formula.expression))
        assert callable(numpy_loop(formula.on_complex))
    if formula.cuda is not None:
        assert cuda_text(formula.cuda.expression or formula.expression)
    if formula.fused:
        spelled(parse(formula.expression), "cpp")
