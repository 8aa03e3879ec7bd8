"""Which nodes has a view that remembers the operators that made it, once its base was changed?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch


def nodes(tensor: Any, until: str = "MulBackward0") -> list[str]:
    """The names along the first edges of a graph, as far as a node."""
    found, node = [], tensor.grad_fn
    while node is not None and node.name() != until:
        found.append(node.name().removesuffix("Backward0"))
        node = node.next_functions[0][0]
    return found


def replayed(torch: Any, mode: bool = True) -> Any:
    return torch.autograd._force_original_view_tracking(mode)


VIEWS: list[tuple[Callable[[Any], Any], list[str]]] = [
    (lambda x: x[1:], ["Slice"]),
    (lambda x: x[1:].t(), ["T", "Slice"]),
    (lambda x: x.view(-1)[2], ["Select", "View"]),
    (lambda x: x.reshape(4), ["View"]),
    (lambda x: x.diagonal().unsqueeze(1).expand(2, 1).permute(1, 0), ["Permute", "Expand", "Unsqueeze", "Diagonal"]),
    (lambda x: x.narrow(0, 0, 1).squeeze(0), ["SqueezeBackward1", "Slice"]),
    (lambda x: x.as_strided((2,), (1,), 1), ["AsStrided"]),
    (lambda x: x.unfold(1, 2, 1), ["Unfold"]),
    (lambda x: x[0, 1:].view_as(x[0, 1:]), ["View", "Slice", "Select"]),
]


@pytest.mark.parametrize(("view", "expected"), VIEWS)
def test_a_view_has_the_nodes_of_its_operators(torch: Any, view: Callable[[Any], Any], expected: list[str]) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with replayed(torch):
        base = x.clone()
        found = view(base)
        base.mul_(x)
        assert nodes(found) == expected
        found.mul_(3.0)
        assert nodes(base) == ["torch::autograd::CopySlices"]
        assert nodes(found) == [*expected, "torch::autograd::CopySlices"]
    (gradient,) = torch.autograd.grad(found.sum(), x)
    y = x * x
    (plain,) = torch.autograd.grad((view(y) * 3.0).sum(), x)
    assert gradient.tolist() == plain.tolist()


def test_a_view_without_a_history_remembers_too(torch: Any) -> None:
    x = torch.ones(2, 2, requires_grad=True)
    with replayed(torch):
        base = torch.zeros(2, 2)
        view = base.select(0, 1).view(2, 1)
    base.mul_(x)
    assert nodes(view) == ["View", "Select"]


def test_a_change_of_dtype_is_one_of_the_steps(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with replayed(torch):
        base = torch.zeros(2, dtype=torch.complex64)
        view = base.real[0]
        base.mul_(x)
        assert nodes(view) == ["Select", "Select", "ViewAsReal"]


def test_it_is_the_time_when_a_view_is_made_that_counts(torch: Any) -> None:
    x = torch.ones(2, 2, requires_grad=True)

    def changed(outer: bool, inner: bool, write: bool) -> list[list[str]]:
        with replayed(torch, outer):
            base = x.clone()
            view = base[1:]
        with replayed(torch, inner):
            of_view = view[0]
        with replayed(torch, write):
            base.mul_(2.0)
        return [nodes(of_view), nodes(view)]

    assert changed(False, False, True) == [["AsStrided"], ["AsStrided"]]
    assert changed(False, True, False) == [["Select", "AsStrided"], ["AsStrided"]]
    assert changed(True, False, False) == [["AsStrided", "Slice"], ["Slice"]]
    assert changed(True, True, False) == [["Select", "Slice"], ["Slice"]]


def test_the_setting_holds_until_the_end_of_the_block_and_of_a_decorated_call(torch: Any) -> None:
    x = torch.ones(2, 2, requires_grad=True)

    def of_clone() -> list[str]:
        view = x.clone().view(-1)
        view.add_(1)
        return nodes(view, "torch::autograd::CopySlices")

    enabled = torch.autograd.is_view_replay_enabled
    with replayed(torch, False):
        replayed(torch)
        assert (of_clone(), enabled()) == (["View"], True)
    assert (of_clone(), enabled()) == (["AsStrided"], False)
    assert replayed(torch)(of_clone)() == ["View"]
    assert (of_clone(), enabled()) == (["AsStrided"], False)


def test_views_of_several_are_refused_as_ever(torch: Any) -> None:
    x = torch.ones(2, 2, requires_grad=True)
    with replayed(torch):
        base = torch.zeros(2, 2)
        first, _ = base.unbind(0)
        base.mul_(x)
    with pytest.raises(RuntimeError, match="This view is the output of a function that returns multiple views"):
        first.grad_fn  # noqa: B018


def test_views_that_need_not_remember_take_their_shortcuts_again() -> None:
    with replayed(glasstorch):
        remembered = glasstorch.zeros(3)[1:]
    plain = glasstorch.zeros(3)[1:]
    assert remembered._autograd_meta.steps[-1].replay.operator is glasstorch.ops.aten.slice.Tensor
    assert plain._autograd_meta.steps is None
