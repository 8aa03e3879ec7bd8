"""In which order do nodes run, and does every gradient arrive exactly once?"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.autograd import engine


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


@pytest.mark.parametrize("depth", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_deep_chain_is_printed_walked_and_freed_without_recursion_or_a_cycle(depth: int) -> None:
    a, factor = leaf(glasstorch, 1.0), glasstorch.ones(1)
    gc.collect()
    gc.disable()
    try:
        b = a
        for _ in range(depth):
            b = b * factor
        first = weakref.ref(b.grad_fn)
        assert repr(b) == "tensor([1.], grad_fn=<MulBackward0>)"
        b.sum().backward(retain_graph=True)
        node, walked = b.grad_fn, 0
        while node is not None:
            walked += 1
            node = node.next_functions[0][0] if node.next_functions else None
        assert (a.grad.tolist(), walked) == ([1.0], depth + 1)
        del b
        assert first() is None
    finally:
        gc.enable()
    assert gc.collect() == 0


@pytest.mark.parametrize("use", ["hooks", "retained gradients", "nowhere", "function", "captures", "callbacks"])
def test_nothing_that_a_graph_is_used_for_leaves_a_cycle(use: str) -> None:
    x = leaf(glasstorch, 1.0, 2.0)
    custom = function(glasstorch, lambda ctx, g: g * ctx.saved_tensors[0], _saving)

    def step() -> None:
        b = x * 2
        c = custom.apply(b) if use == "function" else b.exp()
        if use == "hooks":
            b.register_hook(lambda grad: grad * 2)
            c.grad_fn.register_hook(lambda results, grads: results)
            c.grad_fn.register_prehook(lambda grads: grads)
        elif use == "retained gradients":
            b.retain_grad()
            c.retain_grad()
        elif use == "nowhere":
            with glasstorch.no_grad():
                c = b.view(2)
            c = c * 3
        elif use == "callbacks":
            queue = glasstorch.autograd.Variable._execution_engine.queue_callback
            c.register_hook(lambda grad: queue(lambda: None))
        if use == "captures":
            glasstorch.autograd.grad(c.sum(), [b, x])
        else:
            c.sum().backward()
        x.grad = None

    assert no_garbage(step)


def _saving(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    return x * x


def test_a_pass_that_fails_leaves_no_cycle() -> None:
    x = leaf(glasstorch, 1.0, 2.0)

    def fail(grad: Any) -> None:
        raise KeyError("mine")

    def step() -> None:
        b = x * 2
        b.register_hook(fail)
        with contextlib.suppress(KeyError):
            b.sum().backward()

    assert no_garbage(step)


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


def test_a_gradient_is_complex_only_where_its_argument_is(torch: Any) -> None:
    real, number = leaf(torch, 1.0), torch.ones(1, dtype=torch.complex64, requires_grad=True)
    refusal = r"Expected isFloatingType\(grad.scalar_type\(\)\) \|\| \(input_is_complex == grad_is_complex\)"
    with pytest.raises(RuntimeError, match=refusal):
        function(torch, lambda ctx, g: g * 1j).apply(real).sum().backward()
    with pytest.raises(RuntimeError, match=refusal):
        function(torch, lambda ctx, g: torch.ones(1, dtype=torch.int64)).apply(number).sum().abs().backward()
    function(torch, lambda ctx, g: torch.ones(1)).apply(number).sum().abs().backward()
    assert number.grad.tolist() == [1.0]


def test_a_gradient_is_on_the_device_of_its_argument(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    elsewhere = torch.ones(2, device="meta")
    with pytest.raises(
        RuntimeError,
        match="CustomBackward returned an invalid gradient at index 0 - expected device cpu but got meta",
    ):
        function(torch, lambda ctx, g: elsewhere).apply(a).sum().backward()
    with pytest.raises(RuntimeError, match=r"^invalid gradient at index 0 - expected device cpu but got meta$"):
        (a * 2).backward(elsewhere)


def test_a_post_hook_sees_gradients_that_fit(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    seen: list[Any] = []
    b = function(torch, lambda ctx, g: g.double().expand(3, 2)).apply(a)
    b.grad_fn.register_hook(lambda results, grads: seen.append((results[0].dtype, results[0].tolist())))
    b.sum().backward()
    assert seen == [(torch.float32, [3.0, 3.0])]


def test_a_hooks_change_of_the_grad_mode_ends_with_its_node(torch: Any) -> None:
    a = leaf(torch, 1.0)
    seen: list[bool] = []
    b = a * 2
    c = b * 3
    c.register_hook(lambda grad: torch.set_grad_enabled(True) and None)
    b.register_hook(lambda grad: seen.append(torch.is_grad_enabled()))
    c.sum().backward()
    assert (seen, torch.is_grad_enabled()) == ([False], True)


def test_no_gradient_is_none_all_the_way_down(torch: Any) -> None:
    a = leaf(torch, 1.0)
    (function(torch, lambda ctx, g: None).apply(a * 2)).sum().backward()
    assert a.grad is None
    b = leaf(torch, 1.0)
    (function(torch, lambda ctx, g: None).apply(b * 2) + b * 3).sum().backward()
    assert b.grad.tolist() == [3.0]


# Only what is wanted --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operator", [lambda a, b: a * b, lambda a, b: a + b, lambda a, b: a @ b, lambda a, b: a.atan2(b)]
)
def test_a_node_computes_only_the_gradients_that_the_pass_wants(torch: Any, operator: Any) -> None:
    a, b = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    result = operator(a, b)
    seen: list[list[bool]] = []
    result.grad_fn.register_hook(lambda results, grads: seen.append([r is not None for r in results]))
    root = result.sum()
    torch.autograd.grad(root, a, retain_graph=True)
    root.backward(inputs=[b], retain_graph=True)
    root.backward()
    assert seen == [[True, False], [False, True], [True, True]]


def test_a_change_of_a_view_has_its_gradient_where_only_some_are_wanted(torch: Any) -> None:
    a, w = leaf(torch, 1.0, 2.0, 3.0), leaf(torch, 5.0)
    b = a * 1
    b[1:2].mul_(w)
    root = (b * b).sum()
    assert torch.autograd.grad(root, a, retain_graph=True)[0].tolist() == [2.0, 100.0, 6.0]
    assert torch.autograd.grad(root, w)[0].tolist() == [40.0]


def test_an_unwanted_gradient_is_not_summed(torch: Any) -> None:
    a, b = leaf(torch, 1.0), leaf(torch, 2.0)
    ran: list[Any] = []
    unwanted = b * 1
    unwanted.register_hook(lambda grad: ran.append(grad))
    found = torch.autograd.grad((a * unwanted + a * unwanted).sum(), a)
    assert (found[0].tolist(), ran) == ([4.0], [])


def test_a_batch_of_gradients_is_one_pass(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    seen: list[Any] = []
    b = a * a
    b.register_hook(lambda grad: seen.append(tuple(grad.shape)))
    unused = leaf(torch, 1.0)
    found = torch.autograd.grad(b, [a, unused], torch.eye(2), is_grads_batched=True, allow_unused=True)
    assert (found[0].tolist(), found[1], seen) == ([[2.0, 0.0], [0.0, 4.0]], None, [(2,)])


# What an engine that counts wrongly would do --------------------------------------------------------------------


def count_differently(monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    """Let each pass believe that so many more edges lead to each node that several lead to."""
    plain = engine.compute_dependencies

    def counted(roots: Any) -> Any:
        return {node: count + more if count > 1 else count for node, count in plain(roots).items()}

    monkeypatch.setattr(engine, "compute_dependencies", counted)


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize(
    ("more", "message"),
    [(1, "could not compute gradients for some functions"), (-1, "dependency not found for MulBackward0")],
)
def test_a_count_of_edges_that_is_wrong_is_an_error(
    monkeypatch: pytest.MonkeyPatch, more: int, message: str, hooked: bool
) -> None:
    a = leaf(glasstorch, 2.0)
    b = a * 1
    c = b * b
    if hooked:
        c.register_hook(lambda grad: None)
    count_differently(monkeypatch, more)
    with pytest.raises(RuntimeError, match=message):
        c.sum().backward()


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


class Reentrant(glasstorch.autograd.Function):
    """Twice its argument; its backward runs a pass over a graph of its own."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        with glasstorch.enable_grad():
            y = glasstorch.ones(2, requires_grad=True)
            (y * 2 + y * y).sum().backward()
        return grad * y.grad / 2


def concurrent_passes(seconds: float) -> tuple[int, list[Any]]:
    """How many passes eight threads made over shared and own graphs, and what was wrong with gradients.

    Each thread goes backward over a graph of its own whose leaves are shared, over one graph that all share, and asks
    for gradients of the shared one. All numbers are whole, so that sums are exact in any order.
    """
    shared = glasstorch.zeros(2, requires_grad=True)
    common = shared * 3
    root = (Reentrant.apply(common) + common * common + common).sum()
    passes, wrong = [0] * 8, []
    end = time.monotonic() + seconds

    def work(number: int) -> None:
        own = glasstorch.full((2,), float(number), requires_grad=True)
        while time.monotonic() < end or not passes[number]:
            ((own * own).sum() + Reentrant.apply(shared).sum()).backward()  # 2 * own, and 2
            root.backward(retain_graph=True)  # 3 * (2 + 0 + 1)
            (found,) = glasstorch.autograd.grad(root, shared, retain_graph=True)
            passes[number] += 1
            if found.tolist() != [9.0, 9.0] or own.grad.tolist() != [2.0 * number * passes[number]] * 2:
                wrong.append((number, found.tolist(), own.grad.tolist()))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    total = sum(passes)
    if shared.grad.tolist() != [11.0 * total] * 2:
        wrong.append((shared.grad.tolist(), 11.0 * total))
    return total, wrong


@pytest.mark.parametrize("seconds", [1.0, pytest.param(60.0, marks=pytest.mark.slow)])
def test_eight_threads_of_concurrent_and_nested_passes_lose_no_gradient(seconds: float) -> None:
    passes, wrong = concurrent_passes(seconds)
    assert passes >= 8
    assert wrong == []


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


@pytest.mark.parametrize("gradient", [tuple, list, iter])
def test_a_gradient_may_come_in_a_sequence(torch: Any, gradient: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    (x * 2).backward(gradient([torch.ones(3)]))
    assert x.grad.tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="got 1 tensors and 0 gradients"):
        (x * 2).backward(gradient([]))
    with pytest.raises(TypeError, match="gradients can be either Tensors or None, but got float"):
        (x * 2).backward(gradient([1.0]))


@pytest.mark.parametrize("call", [lambda x: x * x, lambda x: x * 2, lambda x: x.exp(), lambda x: x.cos() * x.sin()])
def test_a_freed_node_is_refused_also_where_no_gradient_is_wanted_of_it(torch: Any, call: Any) -> None:
    y = call(torch.ones(2, requires_grad=True))
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        (y * 2).sum().backward(inputs=[y])


@pytest.mark.parametrize("call", [lambda x: x.exp(), lambda x: x * x, lambda x: x.sum(0), lambda x: x.view(1, 2)])
def test_a_hook_sees_no_gradient_that_nobody_wants(torch: Any, call: Any) -> None:
    y = call(torch.ones(2, requires_grad=True))
    seen: list[Any] = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs))
    (y * 2).sum().backward(inputs=[y])
    assert seen == [(None,) * len(y.grad_fn.next_functions)]
