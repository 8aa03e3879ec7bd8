"""Is a hook on several tensors called when, and with what, PyTorch calls it?"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest


def program(torch: Any, mode: str = "all") -> tuple[Any, list[Any], Any]:
    """Four tensors, the calls of a hook on all of them, and its handle."""
    a, b = torch.full((2,), 2.0, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
    tensors = a, b, a * b, a * b
    calls: list[Any] = []

    def hook(given: Any) -> None:
        calls.append([g if g is None else g.tolist() for g in given] if mode == "all" else given.tolist())

    handle = torch.autograd.graph.register_multi_grad_hook(tensors, hook, mode=mode)
    return tensors, calls, handle


def test_it_is_called_with_all_gradients_that_the_pass_reaches(torch: Any) -> None:
    (a, _, c, d), calls, _ = program(torch)
    c.sum().backward(retain_graph=True)
    assert calls.pop() == [[3, 3], [2, 2], [1, 1], None]
    c.sum().backward(inputs=(a,), retain_graph=True)
    assert calls.pop() == [[3, 3], None, [1, 1], None]
    (c.sum() + 2 * d.sum()).backward()
    assert calls.pop() == [[9, 9], [6, 6], [1, 1], [2, 2]]
    assert calls == []


def test_it_is_called_where_a_gradient_is_returned_and_its_node_does_not_run(torch: Any) -> None:
    (_, _, c, _), calls, _ = program(torch)
    torch.autograd.grad((c * 2).sum(), (c,))
    assert calls == [[None, None, [2, 2], None]]


def test_all_is_refused_where_the_gradient_of_a_leaf_is_returned(torch: Any) -> None:
    (a, _, c, _), calls, _ = program(torch)
    with pytest.raises(RuntimeError, match="A leaf node was passed to _will_engine_execute_node"):
        torch.autograd.grad(c.sum(), (a,), retain_graph=True)
    assert calls == []
    (a, _, c, _), calls, _ = program(torch, "any")
    torch.autograd.grad(c.sum(), (a,))
    assert calls == [[1, 1]]


def test_it_is_called_with_the_first_gradient_where_any_is_asked_for(torch: Any) -> None:
    (_, _, c, d), calls, _ = program(torch, "any")
    c.sum().backward(retain_graph=True)
    assert calls == [[1, 1]]
    (d * 5).sum().backward()
    assert calls == [[1, 1], [5, 5]]


def test_it_is_not_called_once_it_is_removed(torch: Any) -> None:
    (_, _, c, _), calls, handle = program(torch)
    with handle:
        c.sum().backward(retain_graph=True)
    c.sum().backward()
    handle.remove()
    assert len(calls) == 1


def test_a_tensor_that_is_given_twice_counts_twice(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    calls: list[Any] = []
    torch.autograd.graph.register_multi_grad_hook((a, a), lambda given: calls.append(len(given)))
    (a * 2).sum().backward()
    assert calls == [2]


def test_a_pass_inside_a_pass_has_its_own_call(torch: Any) -> None:
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    calls: list[Any] = []
    torch.autograd.graph.register_multi_grad_hook((a, b), lambda given: calls.append([g is not None for g in given]))
    c = a * b

    def inner(grad: Any) -> None:
        with torch.enable_grad():
            (a * 3).sum().backward()

    c.register_hook(inner)
    c.sum().backward()
    assert calls == [[True, False], [True, True]]


def test_a_pass_that_fails_leaves_nothing_behind(torch: Any) -> None:
    (a, _, c, _), calls, _ = program(torch)

    def fail(grad: Any) -> None:
        raise ZeroDivisionError

    handle = a.register_hook(fail)
    with pytest.raises(ZeroDivisionError):
        c.sum().backward(retain_graph=True)
    handle.remove()
    calls.clear()
    c.sum().backward()
    assert calls == [[[3, 3], [2, 2], [1, 1], None]]


def test_an_unknown_mode_is_refused(torch: Any) -> None:
    with pytest.raises(ValueError, match=r"Expects mode to be one of .* but got some"):
        torch.autograd.graph.register_multi_grad_hook((), print, mode="some")


def test_leaves_count_in_each_graph(torch: Any) -> None:
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    calls: list[Any] = []
    torch.autograd.graph.register_multi_grad_hook((a, b), lambda given: calls.append([g is not None for g in given]))
    (a * b).sum().backward()
    gc.collect()
    (b * 2).sum().backward()
    assert calls == [[True, True], [False, True]]


def test_a_hook_is_freed_with_its_tensors_without_the_collector() -> None:
    import glasstorch

    def watched() -> weakref.ref[Any]:
        a = glasstorch.ones(2, requires_grad=True)
        b = a * 2

        def hook(given: Any) -> None:
            return None

        glasstorch.autograd.graph.register_multi_grad_hook((a, b), hook)
        b.sum().backward()
        return weakref.ref(hook)

    gc.collect()
    gc.disable()
    try:
        assert watched()() is None
    finally:
        gc.enable()


def test_a_hook_keeps_no_pass_alive() -> None:
    import glasstorch
    from glasstorch.autograd.engine import running

    a = glasstorch.ones(2, requires_grad=True)
    passes: list[Any] = []
    glasstorch.autograd.graph.register_multi_grad_hook(
        (a,), lambda given: passes.append(weakref.ref(running.get())), mode="any"
    )
    (a * 2).sum().backward()
    gc.collect()
    assert passes[0]() is None
    assert running.get() is None


def test_a_pass_calls_back_when_it_is_done() -> None:
    import glasstorch
    from glasstorch.autograd.engine import running

    a = glasstorch.ones(2, requires_grad=True)
    seen: list[Any] = []

    def hook(grad: Any) -> None:
        task = running.get()
        assert task is not None
        task.callbacks.append(lambda: seen.append(a.grad.tolist()))

    a.register_hook(hook)
    (a * 2).sum().backward()
    assert seen == [[2, 2]]


def test_all_of_the_tensors_must_have_a_gradient(torch: Any) -> None:
    tensors = torch.ones(2, requires_grad=True), torch.ones(2)
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        torch.autograd.graph.register_multi_grad_hook(tensors, print)
    torch.autograd.graph.register_multi_grad_hook(tensors, print, mode="any").remove()
