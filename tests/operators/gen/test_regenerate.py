"""Is one operator generated again with another formula, and nothing else?"""

from __future__ import annotations

import re

import pytest

from glasstorch.core.errors import SchemaError
from glasstorch.operators.gen.regenerate import load_row, regenerate


def test_a_row_says_what_a_formula_may_name() -> None:
    row = load_row("mul.Tensor", "other")
    assert (row.op, row.node, row.formula) == ("mul.Tensor", "MulBackward0", "grad * conjugate(self)")
    assert row.arguments == row.tensors == ("self", "other")
    assert row.results == ("result",)


def test_the_names_in_the_formula_are_what_the_node_saves() -> None:
    text = regenerate(load_row("tanh", "self"), "yours(grad, self)", "yours")
    assert "saved_self" in text
    assert "saved_result" not in text
    assert "grad_self = yours(grad, self_)" in text


def test_a_fact_is_saved_without_its_tensor() -> None:
    text = regenerate(load_row("tanh", "self"), "yours(grad, self.shape)", "yours")
    assert "saved_self" not in text
    assert "node.self_shape = self._shape" in text


def test_the_forms_of_the_operator_come_with_it_and_no_other_operator() -> None:
    text = regenerate(load_row("tanh", "self"), "yours(grad, result)", "yours")
    assert re.findall(r"^\S*AUTOGRAD\b.*", text, re.MULTILINE) == [
        "@AUTOGRAD.impl('tanh')",
        'in_place(AUTOGRAD, "tanh_", TanhBackward0, alone_of_one, keep=new_self)',
    ]


def test_what_an_in_place_form_saves_follows_the_formula_too() -> None:
    text = regenerate(load_row("mul.Tensor", "other"), "yours(grad, self.shape)", "yours")
    _, _, in_place = text.partition("@in_place_saving")
    assert "def mul__Tensor(node: Any, self: Any, other: Any) -> None:" in in_place
    assert "node.saved_other = SavedVariable(other) if edge_self else None" in in_place
    assert "node.self_shape = self._shape" in in_place
    assert "clone" not in in_place


def test_the_other_formulas_of_the_row_stay() -> None:
    text = regenerate(load_row("mul.Tensor", "other"), "yours(grad, self)", "yours")
    assert "grad_self = grad * conjugate(other)" in text
    assert "grad_other = yours(grad, self_)" in text


def test_formulas_of_several_arguments_are_replaced_together() -> None:
    row = load_row("mul.Tensor", "other")
    text = regenerate(row, "yours(grad, self)", "yours", "theirs", others={"self": "theirs(grad, other.shape)"})
    assert "grad_self = theirs(grad, other_shape)" in text
    assert "grad_other = yours(grad, self_)" in text
    assert "conjugate" not in text


def test_a_name_that_is_not_known_is_refused() -> None:
    with pytest.raises(SchemaError, match="the name 'theirs' is neither"):
        regenerate(load_row("tanh", "self"), "theirs(grad)", "yours")


@pytest.mark.parametrize(
    ("op", "argument", "problem"),
    [("tanhh", "self", "has no row for 'tanhh'"), ("mul.Tensor", "third", "one for each of: self, other")],
)
def test_a_row_that_is_not_there_is_refused(op: str, argument: str, problem: str) -> None:
    with pytest.raises(SchemaError, match=problem):
        load_row(op, argument)
