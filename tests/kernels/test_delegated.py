"""Does an operator run by its out= form alone, and joining where no backend is named or into a given tensor?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.tags import Tag


def test_an_empty_list_is_refused_though_no_tensor_chooses_a_backend(torch: Any) -> None:
    with pytest.raises(ValueError, match="expected a non-empty list of Tensors"):
        torch.cat([])
    with pytest.raises(RuntimeError, match="expects a non-empty TensorList"):
        torch.stack([])


def test_stack_into_a_tensor(torch: Any) -> None:
    out = torch.empty(0)
    x = torch.arange(3.0)
    assert torch.stack([x, x], 1, out=out) is out
    assert out.tolist() == [[0, 0], [1, 1], [2, 2]]
    with pytest.raises(TypeError, match="can't be cast to the desired output type Long"):
        torch.stack([x, x], out=torch.empty(0, dtype=torch.int64))


def test_stack_into_a_tensor_whose_dimensions_cannot_be_joined(torch: Any) -> None:
    x = torch.arange(4).view(2, 2)
    out = torch.zeros(2, 2, 2, dtype=torch.int64).transpose(1, 2)
    assert torch.stack([x, x], 1, out=out) is out
    assert out.tolist() == [[[0, 1], [0, 1]], [[2, 3], [2, 3]]]
    assert out.stride() == (4, 1, 2)


def delegated(name: str) -> Callable[..., Any]:
    """The kernel that leaves an operator to its out= form."""
    (kernel,) = registry.find(f"aten::{name}").kernels[DispatchKey.CompositeExplicitAutogradNonFunctional]
    return kernel.function


@pytest.fixture
def tensors() -> tuple[Any, Any, int]:
    x = glasstorch.arange(6.0).view(2, 3)
    return x, glasstorch.tensor([1.0, 2.0, 3.0]), x.key_set


def test_a_backend_with_only_an_out_form_can_join(tensors: tuple[Any, Any, int]) -> None:
    _, row, keys = tensors
    assert delegated("cat")(keys, [row, row], 0).tolist() == [1, 2, 3, 1, 2, 3]


def test_the_result_is_made_as_the_shape_function_says(tensors: tuple[Any, Any, int]) -> None:
    x, row, keys = tensors
    made = delegated("add.Tensor")(keys, x, row, 2)
    assert made.tolist() == (x + 2 * row).tolist()
    compared = delegated("gt.Tensor")(keys, x, row)
    assert compared.dtype is glasstorch.bool
    transposed = delegated("exp")(keys, x.t())
    assert transposed.stride() == x.t().exp().stride() == (1, 3)
    assert transposed.tolist() == x.t().exp().tolist()


def test_several_results_have_their_names(tensors: tuple[Any, Any, int]) -> None:
    x, _, keys = tensors
    found = delegated("max.dim")(keys, x, 1, False)
    assert type(found) is type(x.max(1))
    assert (found.values.tolist(), found.indices.tolist()) == ([2, 5], [2, 2])


def test_in_place_the_first_argument_is_written_to_and_checked(tensors: tuple[Any, Any, int]) -> None:
    x, row, keys = tensors
    expected = (x * row).tolist()
    assert delegated("mul_.Tensor")(keys, x, row) is x
    assert x.tolist() == expected
    with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"):
        delegated("mul_.Tensor")(keys, row, x)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        delegated("add_.Tensor")(keys, glasstorch.ones(3, dtype=glasstorch.int64), row, 1)


def test_every_structured_operator_has_the_kernel_and_the_out_form_that_it_needs() -> None:
    structured = [o for o in registry.operators.values() if Tag.structured in o.tags and not o.schema.is_out]
    assert len(structured) > 350
    for operator in structured:
        assert operator.has_kernel_for("CompositeExplicitAutogradNonFunctional"), operator.name
    backends = "CPU", "Meta"
    assert all(o.has_kernel_for(backend) for o in structured for backend in backends)


def test_each_way_of_joining_into_a_tensor(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    for name, expected in {
        "concat": [1, 2, 1, 2],
        "concatenate": [1, 2, 1, 2],
        "hstack": [1, 2, 1, 2],
        "vstack": [[1, 2], [1, 2]],
        "row_stack": [[1, 2], [1, 2]],
        "dstack": [[[1, 1], [2, 2]]],
        "column_stack": [[1, 1], [2, 2]],
    }.items():
        out = torch.empty(0, dtype=torch.float64)
        assert getattr(torch, name)([x, x], out=out) is out
        assert out.tolist() == expected
        with pytest.raises(TypeError, match="can't be cast to the desired output type Long"):
            getattr(torch, name)([x, x], out=torch.empty(0, dtype=torch.int64))
