"""Can a program wrap, change and read functional tensors by hand?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glasstorch


@pytest.fixture
def enabled(torch: Any) -> Iterator[None]:
    torch._enable_functionalization(reapply_views=True)
    try:
        yield
    finally:
        torch._disable_functionalization()


@pytest.mark.usefixtures("enabled")
def test_a_write_through_a_view_reaches_the_base_when_it_is_synced(torch: Any) -> None:
    x = torch.arange(4.0)
    torch._disable_functionalization()
    x = torch.arange(4.0)
    torch._enable_functionalization(reapply_views=True)
    wrapped = torch._to_functional_tensor(x)
    wrapped.view(2, 2).add_(1)
    assert torch._from_functional_tensor(wrapped) is x
    torch._sync(wrapped)
    assert torch._functionalize_has_data_mutation(wrapped)
    value = torch._from_functional_tensor(wrapped)
    torch._disable_functionalization()
    assert (value.tolist(), x.tolist()) == ([1, 2, 3, 4], [0, 1, 2, 3])
    torch._enable_functionalization(reapply_views=True)


@pytest.mark.usefixtures("enabled")
def test_factories_make_functional_tensors(torch: Any) -> None:
    assert torch._is_functional_tensor(torch.ones(3))


def test_it_prints_as_a_call_and_has_its_key(torch: Any) -> None:
    wrapped = torch._to_functional_tensor(torch.ones(2))
    assert repr(wrapped) == "_to_functional_tensor(tensor([1., 1.]))"
    keys = "DispatchKeySet(CPU, Functionalize, ADInplaceOrView, AutogradCPU, AutocastCPU)"
    assert str(torch._C._dispatch_keys(wrapped)) == keys


def test_inside_the_transform_it_prints_its_level(torch: Any) -> None:
    said: list[str] = []
    torch.func.functionalize(lambda x: said.append(repr(x)))(torch.ones(2))
    assert said == ["FunctionalTensor(lvl=1, value=\\\ntensor([1., 1.]))"]


def test_autograd_goes_through_a_functional_leaf(torch: Any) -> None:
    leaf = torch._to_functional_tensor(torch.ones(3)).requires_grad_()
    (leaf * 2).sum().backward()
    torch._sync(leaf.grad)
    assert torch._from_functional_tensor(leaf.grad).tolist() == [2, 2, 2]


def test_a_change_of_its_shape_is_told_apart_from_one_of_its_data(torch: Any) -> None:
    wrapped = torch._to_functional_tensor(torch.ones(3))
    wrapped.unsqueeze_(0)
    assert torch._functionalize_has_metadata_mutation(wrapped)
    assert not torch._functionalize_has_data_mutation(wrapped)
    assert wrapped.shape == (1, 3)


def test_a_value_is_replaced_and_its_aliases_learn_of_it(torch: Any) -> None:
    wrapped = torch._to_functional_tensor(torch.ones(4))
    view = wrapped.view(2, 2)
    torch._functionalize_replace(wrapped, torch.zeros(4))
    torch._functionalize_commit_update(wrapped)
    torch._sync(view)
    assert torch._from_functional_tensor(view).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("name", ["_sync", "_from_functional_tensor", "_functionalize_has_data_mutation"])
def test_an_ordinary_tensor_is_refused_by_name(name: str) -> None:
    with pytest.raises(RuntimeError, match=f"{name}: expected a functional tensor"):
        getattr(glasstorch, name)(glasstorch.ones(2))


def test_it_is_enabled_once(torch: Any, refused: Callable[[Callable[[], Any]], str]) -> None:
    torch._enable_functionalization()
    try:
        assert "multiple layers of mode-style functionalization" in refused(torch._enable_functionalization)
    finally:
        torch._disable_functionalization()


def test_a_call_on_what_is_within_is_not_recorded_again(torch: Any) -> None:
    weight = torch.ones(2, 2, requires_grad=True)
    saved: list[Any] = []

    def note(tensor: Any) -> Any:
        saved.append(tuple(tensor.shape))
        return tensor

    x = torch._to_functional_tensor(torch.ones(3, 2))
    torch._enable_functionalization(reapply_views=True)
    try:
        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            torch.mm(x, weight).sin()
    finally:
        torch._disable_functionalization()
    assert saved == [(3, 2), (3, 2)]
