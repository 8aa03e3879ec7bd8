"""Do gradients through the parts of sparse tensors agree with differences?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.sparse.quiet import invariants_switched_off


@pytest.fixture(autouse=True)
def _without_the_warning() -> Iterator[None]:
    with invariants_switched_off():
        yield


def test_values_of_a_coalesced_tensor_have_a_gradient(torch: Any) -> None:
    x = torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse().coalesce().requires_grad_()
    (x.values() * torch.tensor([5.0, 7.0])).sum().backward()
    assert x.grad.to_dense().tolist() == [[0.0, 5.0], [7.0, 0.0]]


def test_values_that_are_added_up_have_the_gradient_of_their_sum(torch: Any) -> None:
    values = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = torch.sparse_coo_tensor([[0, 1, 0]], values, (2,), check_invariants=True)
    (x.coalesce().to_dense() * torch.tensor([5.0, 7.0])).sum().backward()
    assert values.grad.tolist() == [5.0, 7.0, 5.0]


def test_a_mask_passes_the_gradient_where_it_specifies_elements(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x.sparse_mask(torch.eye(2).to_sparse()).to_dense().mul(3).sum().backward()
    assert x.grad.tolist() == [[3.0, 0.0], [0.0, 3.0]]
