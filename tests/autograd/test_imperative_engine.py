"""Does the engine's own interface do what libraries expect of it?"""

from __future__ import annotations

from typing import Any

import pytest


def engine_of(torch: Any) -> Any:
    return torch.autograd.Variable._execution_engine


def test_callbacks_run_after_the_last_node_in_their_order_with_those_that_they_add(torch: Any) -> None:
    engine, seen = engine_of(torch), []
    a = torch.ones(2, requires_grad=True)
    b = a * 2

    def first() -> None:
        seen.append(("first", a.grad.tolist()))
        engine.queue_callback(lambda: seen.append("third"))

    def hook(grad: Any) -> None:
        engine.queue_callback(first)
        engine.queue_callback(lambda: seen.append(("second", torch.is_grad_enabled())))

    b.register_hook(hook)
    b.sum().backward()
    assert seen == [("first", [2.0, 2.0]), ("second", False), "third"]


def test_a_callback_belongs_to_the_innermost_pass(torch: Any) -> None:
    engine, seen = engine_of(torch), []
    a, x = torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)
    b = a * 2
    x.register_hook(lambda grad: engine.queue_callback(lambda: seen.append("inner")))

    def hook(grad: Any) -> None:
        engine.queue_callback(lambda: seen.append("outer"))
        with torch.enable_grad():
            (x * 3).sum().backward()
        seen.append("after the inner pass")

    b.register_hook(hook)
    b.sum().backward()
    assert seen == ["inner", "after the inner pass", "outer"]


def test_a_callback_outside_a_pass_is_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match=r"Final callbacks can only be installed during backward pass\."):
        engine_of(torch).queue_callback(lambda: None)


def test_an_error_of_a_callback_reaches_the_caller_and_one_of_a_node_leaves_callbacks_out(torch: Any) -> None:
    engine, seen = engine_of(torch), []
    a = torch.ones(2, requires_grad=True)

    def fail(grad: Any = None) -> None:
        raise KeyError("mine")

    handle = a.register_hook(lambda grad: engine.queue_callback(fail))
    with pytest.raises(KeyError, match="mine"):
        (a * 2).sum().backward()
    assert a.grad.tolist() == [2.0, 2.0]
    handle.remove()

    b = a * 2
    c = b * 3
    c.register_hook(lambda grad: engine.queue_callback(lambda: seen.append("ran")))
    b.register_hook(fail)
    with pytest.raises(KeyError, match="mine"):
        c.sum().backward()
    (a * 2).sum().backward()
    assert seen == []


def test_run_backward_returns_gradients_or_adds_them_to_leaves(torch: Any) -> None:
    engine = engine_of(torch)
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    root, one = (a * 2).sum(), torch.tensor(1.0)
    (found,) = engine.run_backward((root,), (one,), True, False, (a,), accumulate_grad=False)
    assert (found.tolist(), a.grad) == ([2.0, 2.0], None)
    assert engine.run_backward((root,), (one,), True, False, (b,), allow_unreachable=True) == (None,)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        engine.run_backward((root,), (one,), True, False, (b,))
    assert engine.run_backward((root,), (one,), False, False, (), True, accumulate_grad=True) is None
    assert a.grad.tolist() == [2.0, 2.0]
    assert engine.is_checkpoint_valid()


def test_run_backward_takes_tuples_of_one_length(torch: Any) -> None:
    root, one = torch.ones(1, requires_grad=True).sum(), torch.tensor(1.0)
    with pytest.raises(RuntimeError, match="tensors argument is expected to be a tuple, but got list"):
        engine_of(torch).run_backward([root], (one,), False, False)
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        engine_of(torch).run_backward((root,), (one, one), False, False)
