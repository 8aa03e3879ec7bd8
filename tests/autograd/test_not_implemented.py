"""Are results whose derivative nobody knows marked, and refused when backward reaches them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

CALLS: list[Callable[[Any, Any], Any]] = [
    lambda t, x: x // 2,
    lambda t, x: 2 // x,
    lambda t, x: t.floor_divide(t.ones(2), x),
    lambda t, x: x.clone().floor_divide_(2),
    lambda t, x: t.floor_divide(x, x, out=t.empty(2)),
    lambda t, x: t.detach_copy(x),
    lambda t, x: t._chunk_cat([t.ones(3), x], 0, 2),
    lambda t, x: t.softmax(x, 0, out=t.empty(2)),
    lambda t, x: t.log_softmax(x, 0, out=t.empty(2)),
    lambda t, x: t.conj_physical(x, out=t.empty(2)),
    lambda t, x: t.linalg.eigvals(t.diag(x), out=t.empty(2, dtype=t.complex64)),
]


@pytest.mark.parametrize("call", CALLS)
def test_backward_refuses_what_has_no_derivative(torch: Any, call: Callable[[Any, Any], Any]) -> None:
    result = call(torch, torch.ones(2, requires_grad=True))
    assert result.requires_grad
    assert result.grad_fn.name() == "torch::autograd::NotImplemented"
    assert "grad_fn=<NotImplemented>" in repr(result)
    operators = "floor_divide_?|detach_copy|_chunk_cat|(log_)?softmax|conj_physical|linalg_eigvals"
    with pytest.raises(RuntimeError, match=rf"^derivative for aten::({operators}) is not implemented$"):
        result.abs().sum().backward()


def test_nothing_is_recorded_where_no_gradient_is_wanted(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not (x // 2).requires_grad
    assert not (x.detach() // 2).requires_grad
    assert not torch.floor_divide(torch.tensor([3]), torch.tensor([2])).requires_grad


def test_a_leaf_is_not_changed_in_place(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.floor_divide_(2)


@pytest.mark.parametrize(
    ("name", "distances"),
    [("_cdist_backward", lambda t, x: t.cdist(x, 2 * x, p=1.0)), ("_pdist_backward", lambda t, x: t.pdist(x, 3.0))],
)
def test_distances_have_no_second_derivative(torch: Any, name: str, distances: Callable[[Any, Any], Any]) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    (first,) = torch.autograd.grad(distances(torch, x).sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match=rf"^the derivative for '{name}' is not implemented\.$"):
        torch.autograd.grad(first.sum(), x)


def test_the_node_of_a_backward_pass_without_derivative_has_its_name(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    (first,) = torch.autograd.grad(torch.pdist(x, 3.0).sum(), x, create_graph=True)
    assert first.grad_fn.name() == "PdistBackwardBackward0"
