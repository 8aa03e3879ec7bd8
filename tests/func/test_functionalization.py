"""What does the kernel of the key Functionalize make of operators that are not in the table of programs?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import glasstorch as torch
from glasstorch.dispatch.operator import registry
from glasstorch.func.functionalization import functional_form
from glasstorch.func.view_inverses import inverse_of


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("add_.Tensor", "add.Tensor"),
        ("add.out", "add.Tensor"),
        ("sort.values", "sort"),
        ("transpose_", "transpose.int"),
        ("fill_.Scalar", "fill.Scalar"),
        ("sum.IntList_out", "sum.dim_IntList"),
    ],
)
def test_the_functional_form_is_found_by_its_arguments(name: str, form: str) -> None:
    found = functional_form(registry.find(f"aten::{name}"))
    assert found is registry.find(f"aten::{form}")


def test_an_operator_without_a_functional_form_works_on_a_clone() -> None:
    operator = registry.find("aten::uniform_")
    assert functional_form(operator) is None
    x = torch.full((1000,), 5.0)
    y = torch.func.functionalize(lambda x: x[500:].uniform_(2, 3))(x)
    assert (x[:500] == 5).all()
    assert ((y >= 2) & (y <= 3)).all()
    assert x[500:].tolist() == y.tolist()


def test_a_result_that_the_tensor_cannot_hold_is_refused_as_in_place() -> None:
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.func.functionalize(lambda x: x.mul_(0.5))(torch.ones(2, dtype=torch.int64))


def test_a_change_to_a_storage_is_refused_by_name() -> None:
    with pytest.raises(RuntimeError, match=r"aten::set_\.source_Storage cannot be functionalized"):
        torch.func.functionalize(lambda x: x.clone().set_(x.untyped_storage()))(torch.ones(2))


def test_a_custom_operator_that_writes_is_refused(library: torch.library.Library) -> None:
    library.define("inc(Tensor(a!) x) -> ()")
    library.impl("inc", lambda x: None, "CPU")
    with pytest.raises(RuntimeError, match=r"Found a custom \(non-ATen\) operator"):
        torch.func.functionalize(lambda x: torch.ops.functionalized.inc(x))(torch.ones(2))


def test_a_custom_operator_that_writes_to_nothing_runs(library: torch.library.Library) -> None:
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CPU")
    assert torch.func.functionalize(lambda x: torch.ops.functionalized.twice(x).add_(1))(torch.ones(2)).tolist() == [
        3,
        3,
    ]


@pytest.fixture
def library() -> Iterator[torch.library.Library]:
    with torch.library.Library("functionalized", "DEF") as made:
        yield made


def test_a_transform_inside_another_keeps_its_tensors_apart() -> None:
    def outer(x: torch.Tensor) -> torch.Tensor:
        def inner(y: torch.Tensor) -> torch.Tensor:
            y.add_(1)
            return y * 2

        result: torch.Tensor = torch.func.functionalize(inner)(x)
        return result.add_(x)

    x = torch.ones(2)
    assert torch.func.functionalize(outer)(x).tolist() == [6, 6]
    assert x.tolist() == [2, 2]


def test_every_view_operator_has_an_inverse_or_is_known_to_have_none() -> None:
    """A view operator with a kernel of its own is one that reaches the key."""
    without = {
        operator.qualified_overload
        for operator in registry.operators.values()
        if operator.namespace == "aten"
        and operator.schema.is_view
        and not any(operator.has_kernel_for(key) for key in ("CompositeImplicitAutograd",))
        and inverse_of(operator) is None
    }
    # PyTorch has none for these either
    parts_of_a_sparse_tensor = {"_indices", "_values", "indices", "values"}
    parts_of_a_sparse_tensor |= {"crow_indices", "col_indices", "ccol_indices", "row_indices"}
    # A write into a nested tensor is refused by name; PyTorch stops in its class of ragged sizes.
    of_a_nested_tensor = {"_nested_get_values", "_nested_view_from_jagged"}
    assert without == {"lift_fresh"} | parts_of_a_sparse_tensor | of_a_nested_tensor
