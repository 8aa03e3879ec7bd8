"""Are several results one tuple with names?"""

import pickle

import pytest

from glasstorch.core import return_types
from glasstorch.core.return_types import NamedResults, named_result
from glasstorch.dispatch.operator import registry


def test_results_are_a_tuple_with_names() -> None:
    result = return_types.max((3.0, 1))
    assert result == (3.0, 1)
    assert (result.values, result.indices) == (3.0, 1)
    assert repr(result) == "torch.return_types.max(\nvalues=3.0,\nindices=1)"


def test_names_cannot_be_assigned() -> None:
    result = return_types.min((3.0, 1))
    with pytest.raises(AttributeError):
        result.values = 4  # type: ignore[assignment,misc]
    with pytest.raises(AttributeError):
        result.other = 4  # type: ignore[attr-defined]


def test_results_can_be_pickled() -> None:
    kept = pickle.loads(pickle.dumps(return_types.max((3.0, 1))))
    assert type(kept) is return_types.max
    assert kept.indices == 1


def test_an_operator_without_names_returns_a_tuple() -> None:
    assert type(named_result("max.dim", (1, 2))) is return_types.max
    assert type(named_result("nll_loss_forward", (1, 2))) is tuple
    assert not isinstance(named_result("nll_loss_forward", (1, 2)), NamedResults)


@pytest.mark.parametrize("operator", return_types.RETURN_TYPES)
def test_the_fields_are_the_names_that_the_schema_gives_the_results(operator: str) -> None:
    schema = registry.find(f"aten::{operator}").schema
    assert return_types.RETURN_TYPES[operator].fields == tuple(result.name for result in schema.returns)
