"""In which order do nodes run, and does every gradient arrive exactly once?"""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch


def leaf(torch: Any, *values: float) -> Any:
    """A leaf of the given values; without values a 0-dim one of 1."""
    return torch.tensor(list(values) if values else 1.0, requires_grad=True)


def named(order: list[str], tensor: Any, name: str) -> Any:
    """The tensor, whose node will say when it ran."""
    tensor.grad_fn.register_hook(lambda gi, go: order.append(name))
    return tensor


# Order ----------------------------------------------------------------------------------------------------------


def test_of_the_ready_nodes_the_one_made_last_runs_first(torch: Any) -> None:
    order: list[str] = []
    a = leaf(torch)
    x, y = named(order, a * 2, "x"), named(order, a * 3, "y")
    z = named(order, x * 4, "z")
    s = named(order, y + z, "s")
    a.register_post_accumulate_grad_hook(lambda p: order.append("a"))
    s.backward()
    assert order == ["s", "z", "y", "x", "a"]


def test_a_leaf_accumulates_as_soon_as_its_gradient_is_there(torch: Any) -> None:
    order: list[str] = []
    a, b = leaf(torch), leaf(torch)
    a.register_post_accumulate_grad_hook(lambda p: order.append("a"))
    b.register_post_accumulate_grad_hook(lambda p: order.append("b"))
    x = named(order, a * 2, "x")
    z = named(order, x * b, "z")
    y = named(order, a * 3, "y")
    s = named(order, z + y, "s")
    s.backward()
    assert order == ["s", "y", "z", "b", "x", "a"]


def test_gradients_that_meet_are_summed_before_the_node_runs(torch: Any) -> None:
    a = leaf(torch)
    b = a * 2
    seen: list[float] = []
    b.register_hook(lambda g: seen.append(g.item()))
    (b * 3 + b * 4 + b).backward()
    assert seen == [8.0]
    assert a.grad.item() == 16.0


def test_a_tensor_used_twice_by_one_operator_gets_both_gradients(torch: Any) -> None:
    a = leaf(torch, 3.0)
    (a * a).sum().backward()
    assert a.grad.tolist() == [6.0]


def test_a_node_waits_for_branches_of_different_length(torch: Any) -> None:
    a = leaf(torch, 2.0)
    b = a * 1
    long = b
    for _ in range(5):
        long = long * 2
    (long + b + b * b).sum().backward()
    assert a.grad.tolist() == [32.0 + 1.0 + 4.0]


def test_several_roots_are_one_backward_pass(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    b = a * 2
    torch.autograd.backward([b.sum(), (b * b).sum()])
    assert a.grad.tolist() == [2.0 + 8.0, 2.0 + 16.0]


def test_a_root_below_another_root_gets_both_gradients(torch: Any) -> None:
    a = leaf(torch, 1.0)
    b = a * 2
    seen: list[list[float]] = []
    b.register_hook(lambda g: seen.append(g.tolist()))
    c = (b * 3).sum()
    torch.autograd.backward([c, b], [None, torch.tensor([5.0])])
    assert a.grad.tolist() == [2 * (3.0 + 5.0)]
    assert seen == [[8.0]]  # it ran once, when both had arrived


def test_a_leaf_that_is_a_root_and_lies_below_another_accumulates_once(torch: Any) -> None:
    a = leaf(torch, 1.0)
    seen: list[list[float]] = []
    a.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    torch.autograd.backward([(a * 2).sum(), a])
    assert seen == [[3.0]]


def test_the_same_root_twice_counts_twice(torch: Any) -> None:
    a = leaf(torch, 1.0)
    s = (a * 2).sum()
    torch.autograd.backward([s, s])
    assert a.grad.tolist() == [4.0]


def test_a_leaf_is_a_root_too(torch: Any) -> None:
    a = leaf(torch)
    a.backward()
    assert a.grad.item() == 1.0


# Depth and life -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [100_000])
def test_a_chain_of_a_hundred_thousand_operators_runs_and_dies_without_recursion(torch: Any, depth: int) -> None:
    a = leaf(torch, 1.0)
    b = a
    for _ in range(depth):
        b = b + 1
    b.sum().backward()
    assert a.grad.tolist() == [1.0]
    c = a
    for _ in range(depth):
        c = c * 1.0  # saves its input: the freed graph is a chain through tensors too
    del c
    gc.collect()


def test_the_nodes_that_lead_to_an_input_are_found_without_recursion_and_without_walking_each_path(torch: Any) -> None:
    a = leaf(torch, 1.0)
    b = a
    for _ in range(100_000):
        b = b + 1
    b.sum().backward(inputs=[a])
    assert a.grad.tolist() == [1.0]
    c = a
    for _ in range(50):
        c = c + c
    assert torch.autograd.grad(c.sum(), a)[0].tolist() == [2.0**50]


def test_a_graph_that_nobody_holds_dies_at_once() -> None:
    a = leaf(glasstorch, 1.0)
    gc.collect()
    gc.disable()
    try:
        b = a.exp()  # saves its own result
        node = weakref.ref(b.grad_fn)
        c = (b * b).tanh()
        del b
        assert node() is not None
        del c
        assert node() is None  # no cycle had to be found
    finally:
        gc.enable()


def no_garbage(step: Callable[[], object]) -> bool:
    """Whether what a step leaves behind dies at once, without the cycle collector."""
    step()
    gc.collect()
    gc.disable()
    try:
        for _ in range(10):
            step()
        return gc.collect() == 0
    finally:
        gc.enable()


def test_a_training_step_leaves_no_cycle(torch: Any) -> None:
    w, b, x = torch.ones(4, 4, requires_grad=True), torch.zeros(4, requires_grad=True), torch.ones(8, 4)

    def step() -> None:
        y = torch.relu(x @ w + b)
        loss = ((y - 1) ** 2).mean() + y.exp().log().sum() + y.view(-1)[::2].sum() + torch.cat([y, y]).max()
        loss.backward()
        with torch.no_grad():
            w.sub_(w.grad * 0.01)
        w.grad = b.grad = None

    assert no_garbage(step)


def test_a_second_derivative_leaves_no_cycle(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)

    def step() -> None:
        (g,) = torch.autograd.grad((x.exp() * x).sum(), x, create_graph=True)
        g.pow(2).sum().backward()
        x.grad = None

    assert no_garbage(step)


def test_a_function_that_saves_its_result_leaves_no_cycle(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        result = x.exp()
        ctx.save_for_backward(x, result)
        return result

    custom = function(torch, lambda ctx, g: g * ctx.saved_tensors[1], forward)
    x = torch.ones(3, requires_grad=True)

    def step() -> None:
        custom.apply(x * 1).sum().backward()
        x.grad = None

    assert no_garbage(step)


def test_what_was_saved_is_freed_node_by_node_during_the_pass() -> None:
    a = leaf(glasstorch, 1.0)
    seen: list[bool] = []
    b = a * 1
    c = b * b
    kept = weakref.ref(b)
    del b
    d = c * 1
    c.grad_fn.next_functions[0][0].register_prehook(lambda grads: seen.append(kept() is None))
    del c
    d.sum().backward()
    assert seen == [True]


# The graph is used up -------------------------------------------------------------------------------------------


def test_a_second_pass_needs_the_graph_to_be_kept(torch: Any) -> None:
    a = leaf(torch, 2.0)
    s = (a * a).sum()
    s.backward(retain_graph=True)
    s.backward()
    assert a.grad.tolist() == [8.0]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        s.backward()
    assert a.grad.tolist() == [8.0]


def test_a_graph_that_saved_nothing_can_be_walked_again(torch: Any) -> None:
    a = leaf(torch, 2.0)
    s = (a + 1).sum()
    s.backward()
    s.backward()
    assert a.grad.tolist() == [2.0]


def test_reading_a_freed_saved_tensor_says_so(torch: Any) -> None:
    a = leaf(torch, 2.0)
    b = a * torch.tensor([3.0])
    assert b.grad_fn._saved_other.tolist() == [3.0]
    b.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        b.grad_fn._saved_other  # noqa: B018
    with pytest.raises(AttributeError):
        b.grad_fn._saved_nothing  # noqa: B018


# What a backward function may return ----------------------------------------------------------------------------


def function(torch: Any, backward: Any, forward: Any = None) -> Any:
    """A custom function of one tensor."""

    class Custom(torch.autograd.Function):
        pass

    Custom.forward = staticmethod(forward or (lambda ctx, x: x * 2))
    Custom.backward = staticmethod(backward)
    return Custom


def test_a_gradient_is_summed_to_the_shape_that_was_broadcast(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    function(torch, lambda ctx, g: g.expand(3, 2)).apply(a).sum().backward()
    assert a.grad.tolist() == [3.0, 3.0]


def test_a_gradient_of_another_dtype_is_cast(torch: Any) -> None:
    a = leaf(torch, 1.0)
    function(torch, lambda ctx, g: g.double() * 3).apply(a).sum().backward()
    assert (a.grad.dtype, a.grad.tolist()) == (torch.float32, [3.0])


def test_a_gradient_of_the_wrong_shape_is_refused_with_the_function_and_both_shapes(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    with pytest.raises(
        RuntimeError,
        match=r"CustomBackward returned an invalid gradient at index 0 - got \[5\] but expected shape compat",
    ):
        function(torch, lambda ctx, g: g[:1].expand(5)).apply(a).sum().backward()


def test_the_number_of_gradients_must_be_that_of_the_arguments(torch: Any) -> None:
    a = leaf(torch, 1.0)
    with pytest.raises(RuntimeError, match=r"returned an incorrect number of gradients \(expected 1, got 2\)"):
        function(torch, lambda ctx, g: (g, g)).apply(a).sum().backward()
    function(torch, lambda ctx, g: (g, None)).apply(a).sum().backward()  # more, but None
    assert a.grad.tolist() == [1.0]


def test_an_error_in_a_backward_function_reaches_the_caller_and_leaves_the_modes_alone(torch: Any) -> None:
    def fail(ctx: Any, g: Any) -> Any:
        raise KeyError("mine")

    a = leaf(torch, 1.0)
    with pytest.raises(KeyError, match="mine"):
        function(torch, fail).apply(a).sum().backward()
    assert torch.is_grad_enabled()
    (a * 2).sum().backward()
    assert a.grad.tolist() == [2.0]


def test_no_gradient_is_none_all_the_way_down(torch: Any) -> None:
    a = leaf(torch, 1.0)
    (function(torch, lambda ctx, g: None).apply(a * 2)).sum().backward()
    assert a.grad is None
    b = leaf(torch, 1.0)
    (function(torch, lambda ctx, g: None).apply(b * 2) + b * 3).sum().backward()
    assert b.grad.tolist() == [3.0]


# Passes within passes -------------------------------------------------------------------------------------------


def test_a_backward_function_may_run_a_pass_of_its_own(torch: Any) -> None:
    def backward(ctx: Any, g: Any) -> Any:
        with torch.enable_grad():
            x = torch.tensor([3.0], requires_grad=True)
            (x * x).sum().backward()
        return g * x.grad

    a = leaf(torch, 1.0)
    function(torch, backward).apply(a).sum().backward()
    assert a.grad.tolist() == [6.0]


def test_a_hook_may_run_a_pass_through_the_same_leaf(torch: Any) -> None:
    a = leaf(torch, 2.0)
    other = (a * 5).sum()
    b = a * 3
    b.register_hook(lambda g: other.backward())
    b.sum().backward()
    assert a.grad.tolist() == [8.0]


def test_threads_run_their_own_passes_over_their_own_graphs(torch: Any) -> None:
    results: dict[int, list[float]] = {}

    def work(number: int) -> None:
        a = leaf(torch, float(number))
        for _ in range(20):
            a.grad = None
            (a * a * a).sum().backward()
        results[number] = a.grad.tolist()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: [3.0 * n * n] for n in range(6)}


def test_passes_in_several_threads_lose_no_gradient_of_a_shared_leaf(torch: Any) -> None:
    a = leaf(torch, 0.0, 0.0)
    turn = threading.Barrier(3)
    wrong: list[Any] = []

    def work(number: int) -> None:
        for _ in range(300):
            turn.wait()
            (a * 2).sum().backward()
            turn.wait()
            if number == 0:
                if a.grad.tolist() != [6.0, 6.0]:
                    wrong.append(a.grad.tolist())
                a.grad = None

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong


def test_a_random_graph_has_the_gradient_that_numpy_finds() -> None:
    """Sums and products of earlier values, against the same program run forward with dual numbers in NumPy."""
    random = np.random.default_rng(3)
    for _ in range(20):
        steps = [(random.integers(0, i + 1, 2), random.choice(["+", "*"])) for i in range(12)]
        values = [glasstorch.tensor(1.1, dtype=glasstorch.float64, requires_grad=True)]
        duals = [(1.1, 1.0)]
        for (i, j), operator in steps:
            (x, dx), (y, dy) = duals[i], duals[j]
            if operator == "+":
                values.append(values[i] + values[j])
                duals.append((x + y, dx + dy))
            else:
                values.append(values[i] * values[j])
                duals.append((x * y, dx * y + x * dy))
        values[-1].backward()
        np.testing.assert_allclose(values[0].grad.item(), duals[-1][1], rtol=1e-12)
