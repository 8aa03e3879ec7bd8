"""Does a gradient that arrives at a leaf become what PyTorch makes of it?"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from typing import Any

import pytest


def test_gradients_are_added_to_the_same_tensor(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    (a * 2).sum().backward()
    first = a.grad
    place = first.data_ptr()
    (a * 3).sum().backward()
    assert a.grad is first
    assert (a.grad.data_ptr(), a.grad.tolist()) == (place, [5.0, 5.0])


def test_with_create_graph_the_sum_is_a_new_tensor(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    (a * a).sum().backward()
    place = a.grad.data_ptr()
    with pytest.warns(UserWarning, match="create_graph=True will create a reference cycle"):
        (a * a).sum().backward(create_graph=True)
    assert a.grad.data_ptr() != place
    assert (a.grad.requires_grad, a.grad.tolist()) == (True, [4.0, 4.0])
    a.grad = None
    gc.collect()


def test_a_fresh_gradient_is_taken_and_a_users_is_copied(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    given = torch.full((2,), 7.0)
    (a * 1).backward(given)
    assert a.grad.data_ptr() != given.data_ptr()
    a.grad = None
    a.view(2).backward(given)
    assert a.grad.data_ptr() == given.data_ptr()  # PyTorch takes what looks fresh, even if it is a view of the user's


def test_a_gradient_that_a_hook_kept_is_not_shared(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    kept: list[Any] = []
    a.register_hook(lambda g: kept.append(g))
    (a * torch.full((2,), 2.0)).backward(torch.ones(2))
    (a * 1).backward(torch.ones(2))
    assert a.grad.tolist() == [3.0, 3.0]
    assert kept[0].tolist() == [2.0, 2.0]


def test_an_expanded_gradient_is_laid_out_like_its_leaf(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    kept: list[Any] = []
    b = a * 1
    b.register_hook(lambda g: kept.append(g))
    b.sum().backward()
    assert (kept[0].stride(), a.grad.stride()) == ((0,), (1,))
    t = torch.ones(2, 3).t().requires_grad_()
    (t * 2).sum().backward()
    assert t.grad.stride() == (1, 3)


def test_one_gradient_for_two_leaves_is_not_shared(torch: Any) -> None:
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    (a + b).backward(torch.ones(2))
    a.grad.add_(5)
    assert b.grad.tolist() == [1.0, 1.0]


LEAVES: dict[str, Callable[[Any], Any]] = {
    "row-major": lambda torch: torch.ones(4, 3),
    "column-major": lambda torch: torch.ones(3, 4).t(),
    "with gaps": lambda torch: torch.ones(4)[::2],
    "expanded": lambda torch: torch.ones(3).expand(2, 3),
}


@pytest.mark.parametrize("name", LEAVES)
def test_a_recorded_gradient_is_copied_into_the_layout_of_the_leaf(torch: Any, name: str) -> None:
    x = LEAVES[name](torch).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # create_graph makes a cycle
        (x**3).sum().backward(create_graph=True)
    is_dense = name in ("row-major", "column-major")
    assert x.grad.grad_fn.name() == ("torch::autograd::CopyBackwards" if is_dense else "CloneBackward0")
    assert x.grad.stride() == (x if is_dense else x.contiguous()).stride()


def test_the_leaf_is_no_fact_that_its_node_has_saved(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    node = torch.autograd.graph.get_gradient_edge(a).node
    assert node.variable is a
    assert [name for name in dir(node) if name.startswith(("_saved_", "_raw_saved_"))] == []
