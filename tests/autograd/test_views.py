"""Do views know their base, share its version, and follow its history?"""

from __future__ import annotations

from typing import Any

import pytest


def test_the_base_of_a_view_of_a_view_is_the_root(torch: Any) -> None:
    x = torch.zeros(4, 4)
    v = x.view(16)
    w = v[2:5]
    assert w._base is x
    assert v._base is x
    assert (x._base, w._is_view(), x._is_view()) == (None, True, False)


def test_a_detached_tensor_shares_the_version_and_has_no_base(torch: Any) -> None:
    x = torch.zeros(4)
    d, p = x.detach(), x.data
    assert (d._is_view(), p._is_view()) == (False, False)
    x.add_(1)
    d.add_(1)
    p.add_(1)
    assert (x._version, d._version, p._version) == (2, 2, 1)
    assert x.tolist() == [3.0] * 4


def test_versions_count_in_place_operators_once_through_any_view(torch: Any) -> None:
    x = torch.zeros(4)
    v = x[1:]
    seen = [x._version]
    v.add_(1)
    seen.append(x._version)
    x.zero_()
    x[0] = 5
    seen.append(v._version)
    assert (x + 1)._version == 0
    torch.add(torch.ones(4), 1, out=x)
    seen.append(x._version)
    assert seen == [0, 1, 3, 4]


def test_every_kind_of_view_shares_the_version(torch: Any) -> None:
    x = torch.zeros(2, 3, 4)
    views = [
        x.view(24), x.transpose(0, 1), x.permute(2, 0, 1), x[0], x[:, 1:], x.unsqueeze(0), x[:1].squeeze(0),
        x[:, :, :1].expand(2, 3, 5), x.diagonal(), x.unfold(2, 2, 1), x.as_strided((2,), (1,)), x.narrow(0, 0, 1),
        x.reshape(6, 4), x.flatten(), *x.unbind(), *x.split(2, 1), *x.chunk(2), x.movedim(0, 1), x[None], x[..., 0],
        x[0].t(), x.mT, x.view_as(x), x.select(0, 1),
    ]  # fmt: skip
    x.add_(1)
    assert [v._version for v in views] == [1] * len(views)
    assert all(v._base is x for v in views)


def test_copies_share_nothing(torch: Any) -> None:
    x = torch.zeros(2, 3)
    copies = [x.clone(), x.t().reshape(6), x.t().contiguous(), x[[0, 1]], x.double(), x + 0]
    x.add_(1)
    assert [c._version for c in copies] == [0] * len(copies)
    assert all(c._base is None for c in copies)
    assert x.contiguous() is x
    assert x.to(torch.float32) is x


def test_a_view_follows_its_base_that_was_changed_in_place_since(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    v = y.view(3, 1)
    assert v.grad_fn.name() == "ViewBackward0"
    y.mul_(5)
    assert v.grad_fn.name() == "AsStridedBackward0"
    assert v.grad_fn.next_functions[0][0].name() == "MulBackward0"
    (gradient,) = torch.autograd.grad(v.sum(), x)
    assert gradient.tolist() == [5.0] * 3


def test_the_gradient_through_an_old_view_goes_to_the_right_elements(torch: Any) -> None:
    x = torch.arange(6.0).requires_grad_()
    y = x * 1
    v = y.view(2, 3).t()[1:]  # elements 1, 4, 2, 5
    y.mul_(torch.arange(6.0))
    weights = torch.tensor([[1.0, 10.0], [100.0, 1000.0]])
    (gradient,) = torch.autograd.grad((v * weights).sum(), x)
    assert gradient.tolist() == [0.0, 1.0, 200.0, 0.0, 40.0, 5000.0]


def test_a_view_of_what_became_differentiable_in_place_is_differentiable(torch: Any) -> None:
    base = torch.zeros(3)
    v = base[1:]
    assert not v.requires_grad
    w = torch.full((3,), 2.0, requires_grad=True)
    base.add_(w)
    assert v.requires_grad
    v.sum().backward()
    assert w.grad.tolist() == [0.0, 1.0, 1.0]


def test_views_in_a_graph_carry_their_gradient(torch: Any) -> None:
    x = torch.arange(6.0).requires_grad_()
    x.view(2, 3)[1].expand(2, 3).sum().backward()
    assert x.grad.tolist() == [0.0] * 3 + [2.0] * 3


def test_a_view_made_without_recording_still_has_its_base(torch: Any) -> None:
    x = torch.ones(3)
    with torch.no_grad():
        v = x[1:]
        v.add_(1)
    assert v._base is x
    assert x._version == 1


def test_in_place_on_a_view_that_no_gradient_concerns_is_free(torch: Any) -> None:
    x = torch.zeros(3)
    x[1:].add_(2)
    assert x.tolist() == [0.0, 2.0, 2.0]
    y = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        y[1:].mul_(5)
    assert y.tolist() == [1.0, 5.0, 5.0]


# How a view was made --------------------------------------------------------------------------------------------


def view_without_grad(torch: Any, leaf: bool) -> tuple[Any, Any]:
    """A matrix that requires grad, and its first row, taken in no_grad mode."""
    x = torch.ones(3, 3, requires_grad=True)
    x = x if leaf else x * 1
    with torch.no_grad():
        return x, x[0]


IS_BEING = "A view was created in no_grad mode and is being modified inplace with grad mode enabled"
HAS_BEEN = "A view was created in no_grad mode and its base or another view of its base has been modified inplace"


@pytest.mark.parametrize("leaf", [True, False])
def test_a_view_made_without_recording_is_not_changed_with_recording(torch: Any, leaf: bool) -> None:
    x, v = view_without_grad(torch, leaf)
    assert (v.requires_grad, v.is_leaf, v.grad_fn) == (True, True, None)
    with pytest.raises(RuntimeError, match=IS_BEING):
        v.add_(1)
    with pytest.raises(RuntimeError, match=IS_BEING):
        v.fill_(2)
    assert (x.tolist(), x._version) == ([[1.0] * 3] * 3, 0)


@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.parametrize("changed", ["base", "view"])
def test_a_view_made_without_recording_has_no_history_once_it_was_changed(torch: Any, leaf: bool, changed: str) -> None:
    x, v = view_without_grad(torch, leaf)
    with torch.no_grad():
        (x if changed == "base" else v).mul_(2)
        assert (v + 1).tolist() == ([3.0] * 3)
    assert v.requires_grad
    with pytest.raises(RuntimeError, match=HAS_BEEN):
        _ = v.grad_fn
    with pytest.raises(RuntimeError, match=HAS_BEEN):
        v + 1
    assert repr(v) == "tensor([2., 2., 2.], grad_fn=<Invalid>)"


def test_an_operator_on_a_view_without_a_node_is_recorded_and_saves_nothing_for_its_gradient(torch: Any) -> None:
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = a * 1
    with torch.no_grad():
        view = b.view(2)
    scaled, both = view * 3.0, view * b
    assert (view.requires_grad, view.grad_fn) == (True, None)
    assert scaled.grad_fn.next_functions == ((None, 0), (None, 0))
    assert scaled.grad_fn._saved_other is None
    assert both.grad_fn.next_functions[0] == (None, 0)
    assert (both.grad_fn._saved_other, both.grad_fn._saved_self.tolist()) == (None, [1.0, 2.0])
    both.sum().backward()
    assert a.grad.tolist() == [1.0, 2.0]


def test_a_view_made_without_recording_of_what_requires_no_grad_is_free_until_the_base_does(torch: Any) -> None:
    base = torch.zeros(3, 3)
    with torch.no_grad():
        v = base[0]
    v.add_(1)
    base.add_(1)
    assert (v.tolist(), v.grad_fn) == ([2.0] * 3, None)
    w = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=IS_BEING):
        v.mul_(w)
    base.mul_(w)
    with pytest.raises(RuntimeError, match=HAS_BEEN):
        _ = v.grad_fn


def test_a_view_of_a_base_that_was_asked_to_require_grad_later_does_too(torch: Any) -> None:
    base = torch.zeros(3, 3)
    v = base[0]
    base.add_(1)
    assert not v.requires_grad
    base.requires_grad_()
    assert v.requires_grad
    (gradient,) = torch.autograd.grad(v.sum(), base)
    assert gradient.tolist() == [[1.0] * 3, [0.0] * 3, [0.0] * 3]


def test_a_view_of_a_view_made_without_recording_is_refused_too(torch: Any) -> None:
    x = torch.ones(3, 3, requires_grad=True) * 1
    with torch.no_grad():
        inner = x[0][1:]
    with pytest.raises(RuntimeError, match=IS_BEING):
        inner.add_(1)
    w = torch.ones(2, requires_grad=True)
    plain = torch.ones(3, 3)
    with torch.no_grad():
        row = plain[0]
    with pytest.raises(RuntimeError, match=IS_BEING):
        row[1:].mul_(w)


def test_one_of_several_views_is_not_changed_with_recording(torch: Any) -> None:
    x = torch.ones(3, 3, requires_grad=True)
    several = "is a view and is being modified inplace. This view is the output of a function that returns multiple"
    for first in (x.unbind(0)[0], (x * 1).unbind(0)[0]):
        with pytest.raises(RuntimeError, match=f"Output 0 of Unbind {several}"):
            first.add_(1)
    with pytest.raises(RuntimeError, match=f"Output 1 of Split {several}"):
        (x * 1).split(1)[1].add_(1)
    with pytest.raises(RuntimeError, match=f"Output 0 of Slice {several}"):
        (x * 1).unbind(0)[0][1:].add_(1)
    rows = torch.ones(3, 3).unbind(0)
    with pytest.raises(RuntimeError, match=r"A view was created in no_grad mode .*returns multiple views"):
        rows[0].mul_(torch.ones(3, requires_grad=True))
    y = x * 1
    rows = y.unbind(0)
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"Output 2 of Unbind is a view and its base or another view of its base"):
        _ = rows[2].grad_fn


def test_a_view_that_follows_its_base_makes_its_node_once(torch: Any) -> None:
    y = torch.ones(3, requires_grad=True) * 1
    v = y[1:]
    before = v.grad_fn
    assert v.grad_fn is before
    y.mul_(5)
    after = v.grad_fn
    assert after is not before
    assert v.grad_fn is after


@pytest.mark.parametrize(
    ("view", "way"),
    [
        (lambda t, b: t.view_as_real(b), "ViewAsReal"),
        (lambda t, b: b.real, "AsStrided ViewAsReal"),
        (lambda t, b: b.real[1:], "AsStrided AsStrided ViewAsReal"),
        (lambda t, b: b[1:].imag, "AsStrided ViewAsReal AsStrided"),
        (lambda t, b: b[1:].t(), "AsStrided"),
        (lambda t, b: b.conj(), "Conj"),
        (lambda t, b: b.conj().imag, "AsStrided Neg ViewAsReal Conj Conj"),
        (lambda t, b: t.view_as_complex(t.view_as_real(b))[0], "AsStrided ViewAsComplex ViewAsReal"),
    ],
    ids=["view_as_real", "real", "slice of real", "imag of a slice", "no other dtype", "conj", "neg", "there and back"],
)
def test_the_views_on_the_way_are_replayed_where_the_dtype_or_a_bit_changes(torch: Any, view: Any, way: str) -> None:
    base = torch.ones(3, 2, dtype=torch.complex128, requires_grad=True) * 1
    part = view(torch, base)
    part.mul_(2)
    names, node = [], part.grad_fn
    while node.name() != "torch::autograd::CopySlices":
        names.append(node.name().removesuffix("Backward0").removesuffix("View"))
        node = node.next_functions[0][0]
    assert " ".join(names) == way
    assert base.grad_fn is node
