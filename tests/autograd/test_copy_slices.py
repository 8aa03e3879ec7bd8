"""Is the gradient right, and PyTorch's, where a view of a tensor was changed in place?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasstorch
from glasstorch.autograd import gradcheck, gradgradcheck
from tests.strategies import steady


def test_the_base_gets_copy_slices_and_the_view_a_new_node(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    view = y[1:]
    old = view.grad_fn
    view.mul_(torch.tensor([2.0, 3.0]))
    assert (y.grad_fn.name(), view.grad_fn.name()) == ("torch::autograd::CopySlices", "AsStridedBackward0")
    assert view.grad_fn is not old
    assert [node and type(node).__name__ for node, _ in y.grad_fn.next_functions] == ["MulBackward0", None]
    assert [type(node).__name__ for node, _ in view.grad_fn.next_functions] == ["CopySlices"]
    assert "grad_fn=<CopySlices>" in repr(y)
    y.sum().backward()
    assert x.grad.tolist() == [1, 2, 3]


def test_writing_a_value_with_a_history_into_a_part_gives_the_whole_one(torch: Any) -> None:
    buffer, w = torch.zeros(3), torch.ones(2, requires_grad=True)
    buffer[1:] = w * 2
    assert (buffer.requires_grad, buffer.is_leaf) == (True, False)
    assert [node and type(node).__name__ for node, _ in buffer.grad_fn.next_functions] == [None, "MulBackward0"]
    other = buffer[:2]
    other.mul_(4)
    buffer.sum().backward()
    assert w.grad.tolist() == [8, 2]


def test_integers_that_a_value_with_a_history_is_copied_into_have_none(torch: Any) -> None:
    w = torch.ones(3, requires_grad=True)
    for dtype in (torch.int64, torch.bool):
        x = torch.zeros(3, dtype=dtype)
        x[0] = w[0] * 2
        x[1:] = w[1:]
        assert x.copy_(w) is x
        assert (x.tolist(), x.requires_grad, x.grad_fn) == ([1, 1, 1], False, None)


def test_a_view_of_a_leaf_that_requires_grad_is_left_alone(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        x[1:].mul_(2)
    assert x.tolist() == [1, 1, 1]


def test_a_view_that_was_asked_to_require_grad_is_left_alone(torch: Any) -> None:
    view = torch.zeros(4)[1:].requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        view.mul_(2)


def test_the_error_names_the_node_that_a_changed_view_has_now(torch: Any) -> None:
    x, buffer = torch.ones(3, requires_grad=True), torch.zeros(3)
    buffer[0] = x[0]
    buffer[1] = x[1] * buffer[0]
    buffer[2] = x[2] * buffer[1]
    with pytest.raises(RuntimeError, match=r"which is output 0 of AsStrided(Backward0)?, is at version 3; expected"):
        buffer.sum().backward()


def test_a_custom_function_may_change_a_view(torch: Any) -> None:
    class Tripled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 3

    x = torch.ones(3, requires_grad=True)
    y = x * 1
    view = y[1:]
    assert Tripled.apply(view) is view
    assert type(y.grad_fn).__name__ == "CopySlices"
    y.sum().backward()
    assert x.grad.tolist() == [1, 3, 3]


def test_one_of_several_views_is_refused(torch: Any) -> None:
    y = torch.ones(4, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="Output 0 of Unbind is a view and is being modified inplace"):
        y.unbind(0)[0].mul_(3)


def test_what_another_node_saved_may_not_be_changed_through_a_view(torch: Any) -> None:
    y = torch.ones(3, requires_grad=True).exp()
    y[0] = 1.0
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.sum().backward()


def test_the_graph_is_freed_with_the_nodes_inside(torch: Any) -> None:
    y = torch.ones(3, requires_grad=True) * 1
    y[1:].mul_(2)
    total = y.sum()
    total.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        total.backward()


def test_hooks_stay_with_the_old_value_and_kept_gradients_are_the_new_ones(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    view, seen = y[:2], []
    view.retain_grad()
    y.retain_grad()
    y.register_hook(lambda grad: seen.append(grad.tolist()))
    view.mul_(3)
    y.sum().backward()
    assert (view.grad, y.grad.tolist(), x.grad.tolist()) == (None, [1, 1, 1], [6, 6, 2])
    assert seen == [[3, 3, 1]]


@pytest.mark.parametrize(
    ("make", "change", "gradient"),
    [
        (lambda torch, p: torch.view_as_complex(p), lambda torch, z: z.real.mul_(3), [3, 1]),
        (lambda torch, p: torch.view_as_complex(p), lambda torch, z: z.imag.mul_(3), [1, 3]),
        (lambda torch, p: torch.view_as_complex(p), lambda torch, z: z.conj().mul_(2j), [-2, 2]),
        (lambda torch, p: torch.view_as_complex(p), lambda torch, z: z.conj().imag.mul_(5), [1, 5]),
        (lambda torch, p: p, lambda torch, p: torch.view_as_complex(p).mul_(1j), [1, -1]),
        (lambda torch, p: p, lambda torch, p: p._neg_view().add_(p.detach()), [1, 1]),
    ],
)
def test_views_of_another_dtype_and_with_bits_carry_it_too(
    torch: Any, make: Callable[..., Any], change: Callable[..., Any], gradient: list[float]
) -> None:
    pairs = torch.ones(3, 2, requires_grad=True)
    changed = make(torch, pairs * 1)
    change(torch, changed)
    parts = torch.view_as_real(changed) if changed.is_complex() else changed
    parts.sum().backward()
    assert pairs.grad.tolist() == [gradient] * 3


@pytest.mark.parametrize(
    ("dtype", "see", "node", "gradient"),
    [
        ("complex64", lambda base: base.conj(), "ConjBackward0", [6 - 2j] * 2),
        ("float32", lambda base: base._neg_view(), "NegViewBackward0", [-6] * 2),
        ("complex64", lambda base: base.imag, "AsStridedBackward0", [2] * 2),
    ],
)
def test_a_view_with_bits_sees_the_change_of_its_base(
    torch: Any, dtype: str, see: Callable[[Any], Any], node: str, gradient: list[complex]
) -> None:
    w = torch.ones(2, dtype=getattr(torch, dtype), requires_grad=True)
    base = w * 1
    view = see(base)
    base.mul_(2j if base.is_complex() else 6)
    total = (view * (1 + 3j)).sum().real if view.is_complex() else view.sum()
    total.backward()
    assert (view.grad_fn.name(), w.grad.tolist()) == (node, gradient)


def test_turning_a_view_changes_no_base(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    view = y.view(3, 1)
    view.t_()
    assert (type(y.grad_fn).__name__, view.shape) == ("MulBackward0", (1, 3))
    view.mul_(3)
    assert (type(y.grad_fn).__name__, type(view.grad_fn).__name__) == ("CopySlices", "AsStridedBackward0")
    y.sum().backward()
    assert x.grad.tolist() == [6, 6, 6]


def test_first_and_second_derivatives_agree_with_finite_differences() -> None:
    def function(x: Any, w: Any) -> Any:
        y = x * w[0]
        y[0].mul_(w)
        y.diagonal().mul_(y[1, 2] * 1)
        y.t()[1].exp_()
        return y * y

    x = glasstorch.tensor([[0.3, 0.5, -0.2], [0.1, 0.4, 0.7]], dtype=glasstorch.float64, requires_grad=True)
    w = glasstorch.tensor([0.9, -0.6, 0.2], dtype=glasstorch.float64, requires_grad=True)
    assert gradcheck(function, (x, w))
    assert gradgradcheck(function, (x, w))


def test_a_base_may_begin_inside_its_storage() -> None:
    # Ours alone: PyTorch 2.13 replays a view of a view with its offset in the storage, and gives [12+15j, 18+21j].
    pairs = glasstorch.zeros(10)[2:].detach().view(4, 2).detach()
    w = glasstorch.ones(2, dtype=glasstorch.complex64, requires_grad=True)
    glasstorch.view_as_complex(pairs)[1:3].add_(w * 3)
    (pairs * glasstorch.arange(8.0).view(4, 2)).sum().backward()
    assert w.grad.tolist() == [6 + 9j, 12 + 15j]
    numbers, v = glasstorch.zeros(5, dtype=glasstorch.complex64)[2:].detach(), glasstorch.ones(2, requires_grad=True)
    numbers.imag[1:].add_(v * 3)
    (glasstorch.view_as_real(numbers) * glasstorch.arange(6.0).view(3, 2)).sum().backward()
    assert v.grad.tolist() == [9, 15]


def test_a_saved_result_in_a_part_has_second_derivatives(torch: Any) -> None:
    pairs = torch.full((3, 2), 0.5, dtype=torch.float64, requires_grad=True)
    z = torch.view_as_complex(pairs) * 2
    z.imag.exp_()
    (first,) = torch.autograd.grad(torch.view_as_real(z).sum(), pairs, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), pairs)
    assert first.tolist() == [[2, pytest.approx(2 * np.e)]] * 3
    assert second.tolist() == [[0, pytest.approx(4 * np.e)]] * 3


@pytest.mark.parametrize("look", ["view_as_complex", "view_as_real", "conj"])
def test_a_saved_result_in_a_view_of_another_dtype_has_second_derivatives(torch: Any, look: str) -> None:
    pairs = torch.tensor([[0.3, 0.2], [0.5, -0.4]], dtype=torch.float64, requires_grad=True)
    base = pairs * 2 if look == "view_as_complex" else torch.complex(pairs, 2 * pairs)
    getattr(torch, look)(base).tanh_()
    weights = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    (first,) = torch.autograd.grad((base.abs() ** 2 * weights).sum(), pairs, create_graph=True)
    (second,) = torch.autograd.grad((first**2).sum(), pairs)
    expected = {
        "view_as_complex": [[-32.23691, 58.04275], [-364.64128, -188.50063]],
        "view_as_real": [[8.78856, 74.95873], [-69.38327, 32.36565]],
        "conj": [[163.77857, 276.97115], [-467.45281, -3982.19635]],
    }
    assert second.tolist() == [[pytest.approx(number, abs=1e-4) for number in row] for row in expected[look]]


def test_a_view_of_what_was_detached_leads_nowhere(torch: Any) -> None:
    w = torch.ones(3, requires_grad=True)
    base = w * 1
    view = base[:2]
    base.detach_()
    base.mul_(5)
    view.sum().backward()
    assert (w.grad, view.grad_fn.name(), view.requires_grad) == (None, "AsStridedBackward0", True)


def test_a_stale_view_of_several_can_be_asked_to_require_grad(torch: Any) -> None:
    base = torch.ones(3, requires_grad=True) * 1
    view = base.split(2)[0]
    base.mul_(2)
    assert view.requires_grad_() is view
    with pytest.raises(RuntimeError, match="Output 0 of Split is a view and is being modified inplace"):
        view.mul_(2)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified inplace"):
        _ = view.grad_fn


def test_what_a_node_saved_may_not_be_detached_in_place(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    saved = x * 1
    product = saved * saved
    saved.detach_()
    with pytest.raises(RuntimeError, match="use a saved tensor that has been detached in-place"):
        product.sum().backward()
    result = x.exp()
    doubled = result * 2
    result.detach_()
    doubled.sum().backward()
    assert x.grad[0].item() == pytest.approx(2 * np.e)


# Random programs ------------------------------------------------------------------------------------------------

VIEWS: tuple[Callable[[Any, Random], Any], ...] = (
    lambda x, random: x[random.randrange(x.shape[0])] if x.dim() else x,
    lambda x, random: x[random.randrange(x.shape[0]) :] if x.dim() else x,
    lambda x, random: x[..., ::2] if x.dim() else x,
    lambda x, random: x.transpose(0, -1) if x.dim() else x,
    lambda x, random: x.unsqueeze(random.randint(0, x.dim())),
    lambda x, random: x.diagonal() if x.dim() > 1 else x,
    lambda x, random: x.squeeze(),
    lambda x, random: x.unfold(0, 1, 2) if x.dim() else x,
    lambda x, random: x.narrow(-1, 0, 1) if x.dim() else x,
)
CHANGES: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, w: x.mul_(w),
    lambda x, w: x.add_(w * w),
    lambda x, w: x.copy_((w * 3).expand_as(x)),
    lambda x, w: x.fill_(0.5),
    lambda x, w: x.zero_(),
    lambda x, w: x.div_(2 + w),
    lambda x, w: x.mul_(x.detach().clone()),
    lambda x, w: x.t_() if x.dim() < 3 else x,
    lambda x, w: x.neg_(),
)


def gradients_of(library: Any, seed: int) -> Any:
    """The gradients of a random program that changes views of a tensor, and views of those, in place."""
    random = Random(seed)
    x = library.linspace(-1, 1, 24, dtype=library.float64).reshape(2, 3, 4).requires_grad_()
    w = library.tensor(0.7, dtype=library.float64, requires_grad=True)
    tensors = [x * w]
    for step in range(8):
        seen = random.choice(tensors)
        for _ in range(random.randint(0, 2)):
            seen = random.choice(VIEWS)(seen, random)
        if step == 7 and random.random() < 0.5:
            seen.exp_()  # whose node saves the result: nobody may change it any more
        else:
            random.choice(CHANGES)(seen, w)
        tensors.append(seen)
    weights = [random.uniform(-1, 1) for _ in tensors]
    total = sum(weight * (t * t).sum() for weight, t in zip(weights, tensors, strict=True))
    found = library.autograd.grad(total, (x, w), create_graph=True)
    second = library.autograd.grad(found[0].sum() + found[1], (x, w), allow_unused=True)
    nodes = [type(t.grad_fn).__name__ for t in tensors]
    return nodes, [None if g is None else g.detach().numpy() for g in (*found, *second)]


def outcome(library: Any, seed: int) -> Any:
    """The nodes and gradients of a program, or the start of its error: an operator's result may have been changed."""
    try:
        return gradients_of(library, seed)
    except RuntimeError as error:
        return str(error)[:60], []


def check_gradients(torch: Any, seed: int) -> None:
    ours, theirs = outcome(glasstorch, seed), outcome(torch, seed)
    assert ours[0] == theirs[0], seed
    for one, other in zip(ours[1], theirs[1], strict=True):
        assert (one is None) == (other is None), seed
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=str(seed))


@settings(steady, max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_random_changes_give_the_gradients_that_they_give_in_pytorch(require: Callable[[str], Any], seed: int) -> None:
    check_gradients(require("torch"), seed)


@pytest.mark.slow
def test_many_random_changes_give_the_gradients_that_they_give_in_pytorch(require: Callable[[str], Any]) -> None:
    for seed in range(1500):
        check_gradients(require("torch"), seed)
