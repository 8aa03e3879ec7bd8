"""Are sparse tensors made, resized and refused as PyTorch does it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

MADE = """
S(i, v, (2, 2), check_invariants=True)
S([[0, 1], [1, 0]], [1.0, 2.0])
S([[0, 1], [1, 0]], [1, 2])
S([[0, 1], [1, 0]], [1, 2], dtype=torch.float64)
S(i, v, (1, 2), check_invariants=True)
S(i, torch.ones(3), (2, 2))
S(i, torch.ones(3))
S(i, v, (2, 2, 2))
S(i, v, (2,))
S(i, torch.ones(2, 3), (2, 2, 4))
S(i.float(), v, (2, 2))
S(i.int(), v, (2, 2))._indices().dtype
S(T([0, 1]), v, (2, 2))
S(T([[-1, 1], [1, 0]]), v, (2, 2), check_invariants=True)
S(T([[-1, 1], [1, 0]]), v)
S(i, v, (2, -2))
S(torch.zeros(2, 0, dtype=torch.long), torch.zeros(0))
S(torch.zeros(2, 0, dtype=torch.long), torch.zeros(0), (3, 4))
S(torch.zeros(0, 1, dtype=torch.long), T([5.0]))
S((2, 3), dtype=torch.int64)
S((2, 3), requires_grad=True)
S(2, 3)
S([2, 3])
S()
S(i)
S(i, v, (2, 2), is_coalesced=True).is_coalesced()
S(T([[1, 0], [1, 0]]), v, (2, 2), is_coalesced=True, check_invariants=True)
S(i, v, "a")
S(i, v, (2, 2), dtype=torch.float16)
S(i, v, (2, 2), requires_grad=True)
S(i, v.requires_grad_(), (2, 2))
torch.empty((2, 3), layout=torch.sparse_coo)
torch.zeros((2, 3), layout=torch.sparse_coo).is_coalesced()
torch.zeros_like(d, layout=torch.sparse_coo)
torch.zeros_like(c)
torch.zeros_like(h)
torch.empty_like(c)
torch.empty_like(c, layout=torch.strided).layout
torch.ones_like(c)
c.new_empty((3,))
c.new_zeros((3, 2)).layout
c.clone().zero_()
c.clone().sparse_resize_((3, 3), 2, 0)
c.clone().sparse_resize_((1, 3), 2, 0)
c.clone().sparse_resize_((2, 2, 1), 2, 1)
h.clone().sparse_resize_((2, 2, 3), 2, 1).shape
c.clone().sparse_resize_and_clear_((3, 3, 1), 2, 1)
S((2, 2)).resize_as_sparse_(c)
""".strip().splitlines()


@pytest.mark.parametrize("expression", MADE)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def test_the_key_set_is_pytorchs(torch: Any) -> None:
    keys = torch._C._dispatch_keys(torch.eye(2).to_sparse())
    assert str(keys) == "DispatchKeySet(SparseCPU, ADInplaceOrView, AutogradCPU, AutocastCPU)"


def test_values_are_not_copied_and_gradients_flow_to_them(torch: Any) -> None:
    values = torch.tensor([2.0, 3.0], requires_grad=True)
    made = torch.sparse_coo_tensor([[0, 2]], values, (4,), check_invariants=True)
    assert made._values().data_ptr() == values.data_ptr()
    (made.to_dense() * torch.arange(4.0)).sum().backward()
    assert values.grad.tolist() == [0.0, 2.0]
