"""Is a gradient written into only where nobody can notice, and has a sum no gaps?"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import glasstorch
from glasstorch.autograd import engine
from glasstorch.autograd.input_buffer import accumulate, other_references
from glasstorch.core.geometry import is_non_overlapping_and_dense

# The rule -------------------------------------------------------------------------------------------------------


def ones(*shape: int) -> Any:
    return glasstorch.ones(*shape, dtype=glasstorch.float64)


def test_a_gradient_that_nobody_else_has_is_written_into() -> None:
    arrived, grad = ones(2, 3), ones(2, 3)
    total = accumulate(arrived, grad, others=0, grad_mode=False)
    assert total is arrived
    assert (total.tolist(), grad.tolist()) == ([[2.0] * 3] * 2, [[1.0] * 3] * 2)


def test_a_dense_gradient_in_another_order_is_written_into() -> None:
    arrived = ones(3, 2).t()
    assert accumulate(arrived, ones(2, 3), others=0, grad_mode=False) is arrived


@pytest.mark.parametrize(
    ("arrived", "grad", "others", "grad_mode"),
    [
        (ones(2, 3), ones(2, 3), 1, False),
        (ones(2, 3), ones(2, 3), 0, True),
        (ones(1, 3).expand(2, 3), ones(2, 3), 0, False),
        (ones(2, 6)[:, ::2], ones(2, 3), 0, False),
        (ones(3), ones(2, 3), 0, False),
        (ones(2, 3).float(), ones(2, 3), 0, False),
    ],
    ids=["held by another", "recorded", "overlapping itself", "with gaps", "of another shape", "of another dtype"],
)
def test_else_the_sum_is_a_new_tensor(arrived: Any, grad: Any, others: int, grad_mode: bool) -> None:
    before = arrived.tolist()
    total = accumulate(arrived, grad, others=others, grad_mode=grad_mode)
    assert total is not arrived
    assert total is not grad
    assert arrived.tolist() == before
    assert total.tolist() == [[2.0] * 3] * 2
    assert total.dtype is glasstorch.float64


def test_a_sum_has_no_gaps_also_where_both_gradients_have() -> None:
    for arrived, grad in ((ones(2, 6)[:, ::2], ones(2, 3)), (ones(2, 6)[:, ::2], ones(2, 6)[:, :3])):
        total = accumulate(arrived, grad, others=0, grad_mode=False)
        assert is_non_overlapping_and_dense(tuple(total.shape), total.stride())


# Who else has it ------------------------------------------------------------------------------------------------


def test_a_gradient_that_its_list_alone_holds_has_no_other_references() -> None:
    buffer = [ones(3)]
    assert other_references(buffer, 0) == 0
    held = buffer[0]
    assert other_references(buffer, 0) == 1
    del held
    assert other_references(buffer, 0) == 0


@pytest.mark.parametrize(
    "kept",
    [
        lambda grad: grad,
        lambda grad: grad[1:],
        lambda grad: grad.detach(),
        lambda grad: grad.data,
        lambda grad: grad.untyped_storage(),
        lambda grad: grad.numpy(),
        lambda grad: memoryview(grad.numpy())[1:],
        lambda grad: glasstorch.from_numpy(grad.numpy()),
    ],
    ids=["itself", "view", "detached", "data", "storage", "array", "memoryview", "tensor over its array"],
)
def test_whoever_has_the_memory_of_a_gradient_counts(kept: Callable[[Any], Any]) -> None:
    buffer = [ones(3)]
    held = kept(buffer[0])
    assert other_references(buffer, 0) > 0
    assert held is not None


def test_a_gradient_that_lies_in_somebodys_array_has_another_reference() -> None:
    assert other_references([glasstorch.from_numpy(ones(3).numpy())], 0) > 0


# In the engine --------------------------------------------------------------------------------------------------


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch, replaced: Callable[..., Any] = accumulate) -> Iterator[list[bool]]:
    """For each sum that the engine makes, whether it was made in place."""
    seen: list[bool] = []

    def counting(arrived: Any, grad: Any, **facts: int) -> Any:
        total = replaced(arrived, grad, **facts)
        seen.append(total is arrived)
        return total

    with monkeypatch.context() as patch:
        patch.setattr(engine, "accumulate", counting)
        yield seen


def test_three_gradients_are_summed_in_the_memory_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    a = ones(3).requires_grad_()
    b = a * 1
    loss = (b * 2 + b * 3 + b * 4).sum()
    with counted(monkeypatch) as sums:
        loss.backward()
    assert sums == [True, True]
    assert a.grad.tolist() == [9.0] * 3


def test_both_gradients_of_one_operator_are_summed_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    a = ones(3).requires_grad_()
    loss = (a * a).sum()
    with counted(monkeypatch) as sums:
        loss.backward()
    assert sums == [True]


def test_the_same_gradient_twice_is_not_added_to_itself_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    a = ones(3).requires_grad_()
    b = a * 1
    seen: list[Any] = []
    c = b + b
    c.register_hook(seen.append)
    loss = (c * 3).sum()
    with counted(monkeypatch) as sums:
        loss.backward()
    assert sums == [False]
    assert (seen[0].tolist(), a.grad.tolist()) == ([3.0] * 3, [6.0] * 3)


def test_with_create_graph_nothing_is_summed_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    a = ones(3).requires_grad_()
    with counted(monkeypatch) as sums:
        (grad,) = glasstorch.autograd.grad((a * a * a).sum(), a, create_graph=True)
    assert sums == [False, False]
    assert glasstorch.autograd.grad(grad.sum(), a)[0].tolist() == [6.0] * 3


def test_a_hook_keeps_the_tuple_of_a_nodes_results_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    a = ones(3).requires_grad_()
    b = a * 1
    c = b * b
    kept: list[Any] = []
    c.grad_fn.register_hook(lambda results, grads: kept.append(results))
    with counted(monkeypatch) as sums:
        c.sum().backward()
    assert sums == [False]
    assert [grad.tolist() for grad in kept[0]] == [[1.0] * 3] * 2


def test_a_function_may_keep_the_tuple_that_it_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Any] = []

    class Product(glasstorch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            kept.append((grad * 2, grad * 3))
            return kept[0]

    a = ones(3).requires_grad_()
    b = a * 1
    loss = Product.apply(b, b).sum()
    with counted(monkeypatch) as sums:
        loss.backward()
    assert sums == [False]
    assert [grad.tolist() for grad in kept[0]] == [[2.0] * 3, [3.0] * 3]


# Any graph ------------------------------------------------------------------------------------------------------

STEPS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x + x,
    lambda x, y: x * y,
    lambda x, y: x * x,
    lambda x, y: x - y,
    lambda x, y: x.t() + y,
    lambda x, y: x.t(),
    lambda x, y: x.view(9).view(3, 3) if x.is_contiguous() else x.neg(),
    lambda x, y: x.sum(0).expand(3, 3),
    lambda x, y: x[0] * y,
    lambda x, y: x[:, 1:2] + y,
    lambda x, y: glasstorch.stack(y.unbind(1)) + x,
    lambda x, y: glasstorch.cat([x[:1], y[1:], x])[:3],
    lambda x, y: glasstorch.where(x > y, x, y),
    lambda x, y: x.clone(),
    lambda x, y: x @ y * 0.1,
    lambda x, y: Twice.apply(x, y),
]

# What a hook keeps of a gradient: nothing, or something that shares its memory.
KEEP: list[Callable[[Any], Any]] = [
    lambda grad: None,
    lambda grad: grad,
    lambda grad: grad[1:],
    lambda grad: grad.t(),
    lambda grad: grad.detach(),
    lambda grad: grad.detach().numpy(),
    lambda grad: grad.detach().numpy()[1:],
]


class Twice(glasstorch.autograd.Function):
    """x + y; its backward returns one tensor for both."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        return x + y

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, grad


def backward_of_a_random_graph(seed: int) -> list[Any]:
    """Every gradient that the pass ends with, or that a hook saw: when it did, and what of it it has at the end."""
    draw = random.Random(seed)
    leaves = [
        (glasstorch.arange(9.0, dtype=glasstorch.float64).reshape(3, 3) * 0.1 + i).requires_grad_() for i in (0, 1)
    ]
    tensors: list[Any] = [*leaves, leaves[0] * 1]
    seen: list[Any] = []
    kept: list[Any] = []

    def hook(keep: Callable[[Any], Any]) -> Callable[..., None]:
        def see(grad: Any) -> None:
            seen.append(grad.tolist())
            kept.append(keep(grad))

        return see

    def around(keep: Callable[[Any], Any]) -> Callable[..., None]:
        see = hook(keep)
        return lambda *several: [see(g) for grads in several for g in grads if g is not None and g.dim() == 2] and None

    for _ in range(draw.randint(3, 12)):
        x, y = draw.choice(tensors[-4:]), draw.choice(tensors)
        made = draw.choice(STEPS)(x, y)
        tensors.append(made)
        kind = draw.randrange(8)
        keep = draw.choice(KEEP)
        if kind == 0:
            made.register_hook(hook(keep))
        elif kind == 1:
            made.grad_fn.register_hook(around(keep))
        elif kind == 2:
            made.grad_fn.register_prehook(around(keep))
        elif kind == 3:
            made.retain_grad()
    loss = sum(t.sum() for t in tensors[-3:])
    mode = draw.randrange(4)
    if mode == 0:
        wanted = [*leaves, *tensors[2:5]]
        found = glasstorch.autograd.grad(loss, wanted, allow_unused=True, create_graph=draw.random() < 0.3)
        seen += [None if grad is None else grad.tolist() for grad in found]
    else:
        loss.backward(retain_graph=mode == 1)
        if mode == 1:
            loss.backward()
    with glasstorch.no_grad():
        seen += [t.grad.tolist() for t in tensors if (t.is_leaf or t.retains_grad) and t.grad is not None]
    return seen + [None if what is None else what.tolist() for what in kept]


def test_summing_in_place_changes_no_gradient_that_anybody_can_see(monkeypatch: pytest.MonkeyPatch) -> None:
    in_place = total = 0
    for seed in range(400):
        with counted(monkeypatch) as sums:
            ours = backward_of_a_random_graph(seed)
        with counted(monkeypatch, lambda arrived, grad, **facts: arrived + grad):
            plain = backward_of_a_random_graph(seed)
        assert ours == plain, f"seed {seed}"
        in_place += sum(sums)
        total += len(sums)
    assert in_place > total / 4
