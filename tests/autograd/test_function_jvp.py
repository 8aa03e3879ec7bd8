"""Do the results of a user's Function get the tangents that its jvp returns, and are wrong ones refused?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

NOT_IN_PLACE = "An inplace custom Function is not modifying the forward mode gradients inplace"
NOT_A_VIEW = "is returning a view \\(or an input as-is\\) but the jvp is not returning a view"


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what PyTorch imports for forward mode warns
        yield


@pytest.fixture
def forward_ad(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.autograd.forward_ad")


def of(torch: Any, forward: Any, jvp: Any) -> Any:
    """The `apply` of a Function with these methods."""
    members = {"forward": staticmethod(forward), "jvp": staticmethod(jvp)}
    return type("Made", (torch.autograd.Function,), members).apply  # type: ignore[attr-defined]


def pushed(torch: Any, forward_ad: Any, forward: Any, jvp: Any) -> Any:
    """The tangent of the result at (1, 2) along (1, 0.5)."""
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5]))
        return forward_ad.unpack_dual(of(torch, forward, jvp)(dual)).tangent


def test_jvp_receives_tangents_saved_tensors_and_none_for_numbers(torch: Any, forward_ad: Any) -> None:
    seen = []

    def forward(ctx: Any, x: Any, y: Any, n: int) -> Any:
        ctx.save_for_forward(x, y)
        return x * y, n

    def jvp(ctx: Any, x_t: Any, y_t: Any, n_t: Any) -> Any:
        x, y = ctx.saved_tensors
        seen.append((x_t.tolist(), y_t.tolist(), n_t))
        return x_t * y + x * y_t, None

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5]))
        product, n = of(torch, forward, jvp)(dual, torch.tensor([3.0, 4.0]), 3)
        assert forward_ad.unpack_dual(product).tangent.tolist() == [3.0, 2.0]
    assert n == 3
    assert seen == [([1.0, 0.5], [0.0, 0.0], None)]  # zeros for an argument without a tangent


def test_without_materialize_grads_a_missing_tangent_is_none(torch: Any, forward_ad: Any) -> None:
    seen = []

    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x + y

    def jvp(ctx: Any, x_t: Any, y_t: Any) -> Any:
        seen.append(y_t)
        return x_t

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        of(torch, forward, jvp)(dual, torch.ones(2))
        of(torch, forward, jvp)(torch.ones(2), torch.ones(2))  # without tangents, jvp is not called
    assert seen == [None]


def test_a_tangent_can_be_differentiated_backward(torch: Any, forward_ad: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_forward(x)
        return x * x

    def jvp(ctx: Any, t: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * t

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(of(torch, forward, jvp)(forward_ad.make_dual(x, torch.ones(2)))).tangent
    assert torch.autograd.grad(tangent.sum(), x)[0].tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("forward", "jvp", "message"),
    [
        (lambda ctx, x: x * 2, lambda ctx, t: (t, t), r"invalid number of forward gradients \(expected 1 but got 2\)"),
        (lambda ctx, x: x * 2, lambda ctx, t: t.sum(), "different size than that of the original Tensor"),
        (lambda ctx, x: x * 2, lambda ctx, t: 3, r"expected Variable or None \(got int\) for grad output 0"),
        (lambda ctx, x: x, lambda ctx, t: t, NOT_A_VIEW),
        (
            lambda ctx, x: x.view(2, 1),
            lambda ctx, t: t.clone().view(2, 1),
            "not returning a view of the given grad input",
        ),
        (lambda ctx, x: x.view(2, 1), lambda ctx, t: t.reshape(2, 1) * 1, NOT_A_VIEW),
        (lambda ctx, x: ctx.mark_dirty(x) or x.mul_(2), lambda ctx, t: t * 2, NOT_IN_PLACE),
        (lambda ctx, x: ctx.mark_dirty(x) or x.mul_(2), lambda ctx, t: t, NOT_IN_PLACE),
    ],
)
def test_wrong_tangents_are_refused(torch: Any, forward_ad: Any, forward: Any, jvp: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        pushed(torch, forward_ad, forward, jvp)


def test_a_result_without_gradient_must_have_no_tangent(torch: Any, forward_ad: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        ctx.mark_non_differentiable(y)
        return y

    with pytest.raises(RuntimeError, match="jvp returned a gradient at position 0, but  the corresponding forward"):
        pushed(torch, forward_ad, forward, lambda ctx, t: t)
    assert pushed(torch, forward_ad, forward, lambda ctx, t: None) is None


def test_views_and_changes_in_place_take_their_tangents_along(torch: Any, forward_ad: Any) -> None:
    assert pushed(torch, forward_ad, lambda ctx, x: x, lambda ctx, t: t.view_as(t)).tolist() == [1.0, 0.5]
    assert pushed(torch, forward_ad, lambda ctx, x: x.view(2, 1), lambda ctx, t: t.view(2, 1)).tolist() == [
        [1.0],
        [0.5],
    ]
    changed = pushed(torch, forward_ad, lambda ctx, x: ctx.mark_dirty(x) or x.mul_(2), lambda ctx, t: t.mul_(2))
    assert changed.tolist() == [2.0, 1.0]


def test_a_view_of_an_argument_without_a_tangent_gives_it_one(torch: Any, forward_ad: Any) -> None:
    forward = lambda ctx, x, y: y.view(2, 1)  # noqa: E731
    with forward_ad.dual_level():
        x, y = forward_ad.make_dual(torch.ones(2), torch.tensor([1.0, 0.5])), torch.ones(2)
        of(torch, forward, lambda ctx, x_t, y_t: x_t.view(2, 1) * 3)(x, y)
        assert forward_ad.unpack_dual(y).tangent.tolist() == [3.0, 1.5]


def test_a_function_without_jvp_is_refused_in_forward_mode(torch: Any, forward_ad: Any) -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

    with forward_ad.dual_level(), pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        Double.apply(forward_ad.make_dual(torch.ones(2), torch.ones(2)))
