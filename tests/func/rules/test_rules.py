"""Does every row of the operator table that names a rule for batches name one, and do operators find theirs?"""

from __future__ import annotations

import warnings

import pytest

import glasstorch as torch
from glasstorch.core.errors import SchemaError
from glasstorch.func.batching import RULES
from glasstorch.func.rules import rule_named
from glasstorch.operators.gen.model import _function, load_functions
from glasstorch.operators.generated.registry import OPERATORS

NAMED = sorted({row.vmap for row in OPERATORS if row.vmap is not None})


@pytest.mark.parametrize("name", NAMED)
def test_a_named_rule_exists_and_says_what_it_is_for(name: str) -> None:
    rule = rule_named(name)
    assert callable(rule.function)
    assert rule.is_made_of_others == name.startswith("decompositions.")
    assert rule.is_made_of_others or rule.function.__doc__


def test_the_table_holds_the_rules_of_the_rows() -> None:
    assert set(RULES) == {row.name for row in OPERATORS if row.vmap is not None}
    assert len(RULES) > 200


def test_an_in_place_form_has_the_rule_of_its_operator_and_an_out_form_none() -> None:
    rules = {function.name: function.vmap for function in load_functions()}
    assert rules["tril_"] == rules["tril"] == "dims.leading"
    assert rules["tril.out"] is None


def test_a_rule_is_named_by_module_and_function() -> None:
    with pytest.raises(SchemaError, match=r"vmap: expected a module\.function of func/rules, got 'along'"):
        _function("vmap", "func/rules", "along")


def test_an_operator_without_a_rule_is_called_in_a_loop_that_warns() -> None:
    x = torch.rand(3, 4)
    with pytest.warns(
        UserWarning, match="There is a performance drop because we have not yet implemented the batching"
    ):
        looped = torch.func.vmap(lambda one: torch.histc(one, 2, 0, 1))(x)
    assert looped.tolist() == [torch.histc(one, 2, 0, 1).tolist() for one in x]


def test_what_is_composed_of_others_is_mapped_by_its_parts() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moved = torch.func.vmap(lambda one: one.movedim([0, 1], [-2, -1]))(torch.zeros(2, 3, 4))
    assert moved.shape == (2, 3, 4)
