"""Is a tensor that was changed after it was saved noticed, and only then?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch

CHANGED = "one of the variables needed for gradient computation has been modified by an inplace operation"


def test_changing_a_saved_result_is_noticed_at_backward(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    e = a.exp()
    e.add_(1)
    with pytest.raises(
        RuntimeError,
        match=rf"{CHANGED}: \[torch.FloatTensor \[2\]\], which is output 0 of Exp.*, is at version 1; expected",
    ):
        e.sum().backward()


def test_changing_what_nobody_saved_is_fine(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    f = a + 1
    f.mul_(3)
    f.sum().backward()
    assert (a.grad.tolist(), f.grad_fn.name()) == ([3.0, 3.0], "MulBackward0")


def test_changing_a_saved_argument_is_noticed(torch: Any) -> None:
    a, b = torch.ones(2, requires_grad=True), torch.ones(2)
    c = a * b
    b.zero_()
    with pytest.raises(RuntimeError, match=CHANGED):
        c.sum().backward()
    assert a.grad is None


def test_only_what_a_wanted_gradient_needs_is_saved(torch: Any) -> None:
    a, b = torch.ones(2, requires_grad=True), torch.ones(2)
    c = a * b  # the gradient of b is not wanted: a is not saved
    with torch.no_grad():
        a.add_(1)
    c.sum().backward()
    assert a.grad.tolist() == [1.0, 1.0]


def test_changes_through_a_view_or_the_base_are_noticed(torch: Any) -> None:
    a, base = torch.ones(2, requires_grad=True), torch.ones(4)
    c = a * base[:2]
    base[3:].zero_()  # not even the same elements
    with pytest.raises(RuntimeError, match=CHANGED):
        c.sum().backward()


def test_changes_through_a_detached_alias_are_noticed_and_through_data_not(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    b = a * 1
    c = b * b
    b.detach().zero_()
    with pytest.raises(RuntimeError, match=CHANGED):
        c.sum().backward()
    b = a * 1
    c = b * b
    b.data.zero_()
    c.sum().backward()
    assert a.grad.tolist() == [0.0, 0.0]  # silently wrong, as in PyTorch


def test_a_change_before_saving_does_not_count(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(2)
    b.add_(1)
    (a * b).sum().backward()
    assert a.grad.tolist() == [2.0, 2.0]


def test_a_result_that_is_changed_in_place_saves_its_new_value(torch: Any) -> None:
    a = torch.full((2,), 0.5, requires_grad=True)
    b = a * 1
    b.exp_()
    b.sum().backward()
    assert a.grad.tolist() == pytest.approx([1.6487212] * 2)


def test_an_argument_that_is_changed_in_place_keeps_its_old_value_for_the_formula(torch: Any) -> None:
    a, w = torch.full((2,), 3.0, requires_grad=True), torch.full((2,), 5.0, requires_grad=True)
    b = a * 1
    b.mul_(w)
    b.sum().backward()
    assert (a.grad.tolist(), w.grad.tolist()) == ([5.0, 5.0], [3.0, 3.0])
    b = a * 1
    b.mul_(b)  # the other argument was saved as it is, and then changed
    with pytest.raises(RuntimeError, match=CHANGED):
        b.sum().backward()


def test_saved_tensors_can_be_looked_at(torch: Any) -> None:
    a, b = torch.ones(2, requires_grad=True), torch.full((2,), 2.0, requires_grad=True)
    node = (a * b).grad_fn
    assert (node._saved_self.tolist(), node._saved_other.tolist()) == ([1.0, 1.0], [2.0, 2.0])
    assert node._saved_self is a
    exp = a.exp()
    assert exp.grad_fn._saved_result.grad_fn is exp.grad_fn
    assert [name for name in dir((a + 1).grad_fn) if name.startswith("_saved")] == ["_saved_alpha"]
    assert (a + 1).grad_fn._saved_alpha == 1
    assert a[torch.tensor([0, 1])].grad_fn._saved_indices[0].tolist() == [0, 1]
    assert not hasattr(node, "_saved_next_edges")


SAVING = [
    lambda t, x: x.sum(-1),
    lambda t, x: x.sum((0, 1), keepdim=True),
    lambda t, x: x.mean(-2),
    lambda t, x: x.transpose(-2, -1),
    lambda t, x: x.permute(1, 0),
    lambda t, x: x.flip(-1),
    lambda t, x: x.select(0, -1),
    lambda t, x: x.index_select(-1, t.tensor([0, 2])),
    lambda t, x: x[t.tensor([0, 1])],
    lambda t, x: x.clamp(0.5, 2.0),
    lambda t, x: x @ x.T,
    lambda t, x: t.addmm(x, x @ x.T, x, alpha=2),
    lambda t, x: x.pow(3),
    lambda t, x: x + 1,
    lambda t, x: x.softmax(-1),
    lambda t, x: x.log_softmax(1),
    lambda t, x: x.cumsum(-1),
    lambda t, x: x.norm(dim=-1),
    lambda t, x: x.var(0),
    lambda t, x: x.amax((0, 1)),
    lambda t, x: x.reshape(6),
    lambda t, x: x.diagonal(dim1=-2, dim2=-1),
    lambda t, x: t.cat([x, x], -1),
    lambda t, x: t.where(x > 1, x, -x),
    lambda t, x: t.nn.functional.gelu(x, approximate="tanh"),
    lambda t, x: t.nn.functional.pad(x, (-1, 2)),
    lambda t, x: t.nn.functional.conv1d(x[None], t.ones(1, 2, 2), padding=1),
    lambda t, x: t.nn.functional.layer_norm(x, (3,)),
    lambda t, x: t.nn.functional.max_pool2d(x[None], 2),
]


def shown(value: Any) -> Any:
    """What a node shows, as plain data."""
    if hasattr(value, "tolist"):
        return "tensor", tuple(value.shape), str(value.dtype)
    return tuple(map(shown, value)) if isinstance(value, tuple) else (type(value).__name__, value)


@pytest.mark.parametrize("program", SAVING)
def test_a_node_shows_what_it_saved_under_pytorchs_names(program: Any, require: Callable[[str], Any]) -> None:
    told = []
    for library in (glasstorch, require("torch")):
        x = (library.arange(6.0).view(2, 3) + 1).requires_grad_()
        node = program(library, x).grad_fn
        told.append((node.name(), {n: shown(getattr(node, n)) for n in dir(node) if n.startswith("_saved_")}))
    ours, theirs = told
    assert ours == theirs


def test_a_saved_result_of_integers_has_no_history(torch: Any) -> None:
    """The exponents of frexp are its node's result too, and nothing flows back through them."""
    x = torch.full((2,), 3.0, requires_grad=True)
    (gradient,) = torch.autograd.grad(torch.frexp(x)[0].sum(), x, create_graph=True)
    assert not gradient.requires_grad
    assert gradient.tolist() == [0.25, 0.25]
