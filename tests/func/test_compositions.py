"""Do levels that lie one within the other keep out of each other's way, and end without a trace?"""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
import glasstorch.func

pytestmark = pytest.mark.usefixtures("quiet")


def near(found: Any, wanted: list[Any]) -> bool:
    """Whether a tensor has these numbers, up to a rounding."""
    flat = [number for row in wanted for number in (row if isinstance(row, list) else [row])]
    return bool(found.flatten().tolist() == pytest.approx(flat, abs=1e-6))


@pytest.fixture
def x(torch: Any) -> Any:
    return torch.tensor([0.5, 1.5, 2.5], dtype=torch.float64)


def test_a_pull_is_called_after_its_level_has_ended(torch: Any, x: Any) -> None:
    gelu = torch.nn.functional.gelu
    (found,) = torch.func.vjp(gelu, x)[1](torch.ones_like(x))
    assert near(found, torch.func.grad(lambda x: gelu(x).sum())(x).tolist())
    escaped: list[Any] = []
    torch.func.grad(lambda x: escaped.append(x) or (x * x).sum())(x)
    assert near(escaped[0].logsumexp(0) + 1, [(x.logsumexp(0) + 1).item()])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.norm(),
        lambda x: x.std(),
        lambda x: x.prod(),
        lambda x: x.logsumexp(0),
        lambda x: (x**3).sum(),
        lambda x: (x * 2).logcumsumexp(0)[1],
    ],
)
def test_forward_twice_is_backward_twice(torch: Any, x: Any, function: Callable[[Any], Any]) -> None:
    F = torch.func
    wanted = F.jacrev(F.jacrev(function))(x).tolist()
    assert near(F.jacfwd(F.jacfwd(function))(x), wanted)
    assert near(F.hessian(function)(x), wanted)
    assert near(F.jacrev(F.jacfwd(function))(x), wanted)


@pytest.mark.parametrize("name", ["layer_norm", "group_norm", "batch_norm", "instance_norm"])
def test_the_hessian_of_a_norm_knows_that_mean_and_scale_change(torch: Any, name: str) -> None:
    torch_f, y = torch.nn.functional, torch.arange(16.0, dtype=torch.float64).reshape(2, 4, 2).sin()
    calls = {
        "layer_norm": lambda y: torch_f.layer_norm(y, (2,)),
        "group_norm": lambda y: torch_f.group_norm(y, 2),
        "batch_norm": lambda y: torch_f.batch_norm(y, None, None, training=True),
        "instance_norm": lambda y: torch_f.instance_norm(y),
    }
    flat = y.flatten()

    def loss(flat: Any) -> Any:
        return (calls[name](flat.reshape(2, 4, 2)) ** 3).sum()

    found = torch.func.hessian(loss)(flat)
    step = 1e-5 * torch.eye(16, dtype=torch.float64)
    gradient = torch.func.grad(loss)
    for i in (0, 5, 15):
        wanted = (gradient(flat + step[i]) - gradient(flat - step[i])) / 2e-5
        assert float((found[i] - wanted).abs().max()) < 1e-3 * max(1.0, float(wanted.abs().max()))


def test_inference_tensors_are_differentiated(torch: Any) -> None:
    F = torch.func
    with torch.inference_mode():
        made = torch.ones(2) * 2
        assert F.grad(lambda a: (a**2).sum())(torch.ones(2)).tolist() == [2.0, 2.0]
        assert F.jvp(lambda a: a * made, (made,), (made,))[1].tolist() == [4.0, 4.0]
    assert F.grad(lambda a: (a * made).sum())(torch.ones(2)).tolist() == [2.0, 2.0]


def test_a_batch_of_indices(torch: Any) -> None:
    F, rows, places = torch.func, torch.tensor([[1.0, 3.0, 2.0], [5.0, 4.0, 0.0]]), torch.tensor([2, 0])
    assert F.vmap(lambda a: a[a.argmax()])(rows).tolist() == [3.0, 5.0]
    assert F.vmap(lambda a, i: a[i])(rows, places).tolist() == [2.0, 5.0]

    def put(a: Any, i: Any) -> Any:
        a = a.clone()
        a[i] = 0
        return a

    assert F.vmap(put)(rows, places).tolist() == [[1.0, 3.0, 0.0], [0.0, 4.0, 0.0]]


def test_gradients_flow_through_a_batch_of_eigenvalues(torch: Any) -> None:
    a = torch.tensor([[[2.0, 1.0], [1.0, 3.0]]], dtype=torch.float64, requires_grad=True)
    torch.func.vmap(torch.linalg.eigvalsh)(a).sum().backward()
    assert near(a.grad, [[1.0, 0.0], [0.0, 1.0]] if a.grad.ndim == 2 else [1.0, 0.0, 0.0, 1.0])
    assert torch.func.vmap(torch.func.vmap(torch.linalg.eigvalsh))(a.detach()[None]).shape == (1, 1, 2)


def test_tangents_are_written_into_a_part_of_a_constant(torch: Any) -> None:
    def written(w: Any) -> Any:
        z = torch.zeros(2, 2)
        z[0].copy_(w)
        return z

    found = torch.func.jacfwd(written)(torch.ones(2))
    assert found.tolist() == [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]]


def test_the_tangent_that_a_rule_saved_is_not_written_to(torch: Any) -> None:
    def along(w: Any) -> Any:
        return torch.func.jvp(lambda w: (w * w).mul_(w), (w,), (torch.ones(3),))[1].sum()

    assert torch.func.grad(along)(torch.ones(3)).tolist() == [6.0, 6.0, 6.0]


@pytest.mark.parametrize("mask", [None, (3, 3), (2, 1, 3, 3), "own"])
def test_attention_of_each_example_needs_no_random_numbers(torch: Any, mask: Any) -> None:
    F, attend = torch.func, torch.nn.functional.scaled_dot_product_attention
    queries = torch.linspace(-1, 1, 96, dtype=torch.float64).reshape(2, 2, 2, 3, 4).sin()
    masks = torch.linspace(0, 1, 18, dtype=torch.float64).reshape(2, 3, 3) if mask == "own" else None
    mask = torch.ones(mask, dtype=torch.bool).tril() if isinstance(mask, tuple) else None

    def loss(query: Any, own: Any) -> Any:
        return (attend(query, query, query.flip(-1), attn_mask=mask if own is None else own) ** 2).sum()

    for transform in (lambda function: function, F.grad):
        one = transform(loss)
        found = F.vmap(one, in_dims=(0, None if masks is None else 0))(queries, masks)
        for i in (0, 1):
            assert torch.allclose(found[i], one(queries[i], None if masks is None else masks[i]))
    twice = F.vmap(F.vmap(lambda query: attend(query, query, query)))(queries[None])
    assert torch.allclose(twice[0, 1], attend(queries[1], queries[1], queries[1]))


@pytest.mark.parametrize("level", ["jvp", "grad"])
def test_the_derivative_of_a_tangent_that_is_zero(torch: Any, x: Any, level: str) -> None:
    direction = torch.tensor([0.0, 1.0, -1.0], dtype=torch.float64)

    def along(function: Any) -> Any:
        return lambda x: torch.func.jvp(function, (x,), (x * direction,))[1].sum()

    def transformed(function: Any) -> Any:
        if level == "grad":
            return torch.func.grad(along(function))(x)
        return torch.func.jvp(along(function), (x,), (torch.ones_like(x),))[1]

    found = transformed(lambda x: x.logcumsumexp(0))
    wanted = transformed(lambda x: torch.stack([x[: i + 1].logsumexp(0) for i in range(3)]))
    assert torch.allclose(found, wanted)


# Of ours alone ---------------------------------------------------------------------------------------------------


def test_what_a_transform_has_computed_is_freed_without_the_collector() -> None:
    refs: list[weakref.ref[Any]] = []

    def loss(x: Any) -> Any:
        hidden = (x * 2).sin()
        refs.append(weakref.ref(hidden))
        return hidden.sum()

    gc.collect()
    gc.disable()
    try:
        glasstorch.func.grad(loss)(glasstorch.ones(3))
        glasstorch.func.jvp(loss, (glasstorch.ones(3),), (glasstorch.ones(3),))
        assert [ref() for ref in refs] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("name", ["layer_norm", "group_norm", "batch_norm"])
def test_third_derivatives_of_a_norm_are_the_same_in_each_order(name: str) -> None:
    # Those of torch are not: it takes the mean and the scale as constants there.
    F, nn = glasstorch.func, glasstorch.nn.functional
    x = glasstorch.tensor([[[0.5, 1.5], [2.5, -1.0]]], dtype=glasstorch.float64)
    one, other = x.flip(2) * 0.3, x.sin()
    normed = {
        "layer_norm": lambda x: nn.layer_norm(x, (2, 2)),
        "group_norm": lambda x: nn.group_norm(x, 1),
        "batch_norm": lambda x: nn.batch_norm(x.reshape(4, 1), None, None, training=True),
    }[name]

    def composed(x: Any) -> Any:
        return (x - x.mean()) / (x.var(unbiased=False) + 1e-5).sqrt()

    def cubed(function: Any) -> Any:
        return lambda x: (function(x) ** 3).sum()

    def along(function: Any, direction: Any) -> Any:
        return lambda x: F.jvp(function, (x,), (direction,))[1]

    wanted = F.grad(along(along(cubed(composed), one), other))(x)
    loss = cubed(normed)
    for found in (
        F.grad(along(along(loss, one), other)),
        along(F.grad(along(loss, one)), other),
        along(along(F.grad(loss), one), other),
    ):
        assert glasstorch.allclose(found(x), wanted, rtol=1e-7)


def test_a_batch_of_gradients_of_a_copy_with_a_view_by_strides_written() -> None:
    x, places = glasstorch.arange(6.0), ((2,), (2,), 1)
    found = glasstorch.autograd.functional.jacobian(
        lambda x, part: glasstorch.as_strided_scatter(x, part, *places), (x, glasstorch.ones(2)), vectorize=True
    )
    assert found[0].diagonal().tolist() == [1.0, 0.0, 1.0, 0.0, 1.0, 1.0]
    assert found[1].nonzero().tolist() == [[1, 0], [3, 1]]


def test_pow_in_both_arguments_is_differentiated_twice(torch: Any) -> None:
    base, power = [-2.0, -1.0, 0.0, 0.0, 0.5, 3.0], [2.0, -1.0, 2.0, 3.0, 0.5, 2.0]
    b, e = (torch.tensor(one, dtype=torch.float64) for one in (base, power))
    ones = torch.ones_like(b)

    def total(b: Any) -> Any:
        return torch.pow(b, e).sum()

    over_reverse = torch.func.jvp(torch.func.grad(total), (b,), (ones,))[1]
    over_forward = torch.func.grad(lambda b: torch.func.jvp(lambda b: torch.pow(b, e), (b,), (ones,))[1].sum())(b)
    wanted = [p * (p - 1) * x ** (p - 2) for x, p in zip(base, power, strict=True)]
    torch.testing.assert_close(over_reverse, torch.tensor(wanted, dtype=torch.float64))
    torch.testing.assert_close(over_forward[4:], torch.tensor(wanted[4:], dtype=torch.float64))
    both = torch.func.jvp(torch.func.grad(lambda e: torch.pow(b[4:], e).sum()), (e[4:],), (ones[4:],))[1]
    wanted = [x**p * math.log(x) ** 2 for x, p in list(zip(base, power, strict=True))[4:]]
    torch.testing.assert_close(both, torch.tensor(wanted, dtype=torch.float64))
    inverse = torch.func.jvp(torch.func.grad(lambda b: (b**-1).sum()), (torch.zeros(2),), (torch.ones(2),))[1]
    assert inverse.tolist() == [math.inf] * 2
