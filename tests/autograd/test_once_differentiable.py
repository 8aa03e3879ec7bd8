"""Does a backward that says it cannot be differentiated give its gradients, and an error for theirs?"""

from __future__ import annotations

from typing import Any

import pytest


def square(torch: Any, marked: bool) -> Any:
    """A Function whose backward computes beside the graph."""

    def backward(ctx: torch.autograd.function.FunctionCtx, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        ctx.recording.append(torch.is_grad_enabled())
        return 2 * x.detach() * g, None

    once = torch.autograd.function.once_differentiable if marked else lambda fn: fn

    class Square(torch.autograd.Function):
        recording: list[bool] = []  # noqa: RUF012  (the test's own record)

        @staticmethod
        def forward(ctx: Any, x: Any, name: str) -> Any:
            ctx.save_for_backward(x)
            ctx.recording = Square.recording
            return x * x

    Square.backward = staticmethod(once(backward))
    return Square


def test_it_runs_unrecorded_even_where_a_graph_is_asked_for(torch: Any) -> None:
    x = torch.tensor([3.0], requires_grad=True)
    function = square(torch, marked=True)
    (g,) = torch.autograd.grad(function.apply(x, "a").sum(), x)
    assert (g.tolist(), g.requires_grad) == ([6.0], False)
    (g,) = torch.autograd.grad(function.apply(x, "a").sum(), x, create_graph=True)
    assert (g.tolist(), g.requires_grad) == ([6.0], False)  # the gradient that it received required none
    assert function.recording == [False, False]
    marked = torch.autograd.function.once_differentiable(square(torch, marked=False).backward)
    assert marked.__name__ == "backward"


def test_its_gradients_refuse_to_be_differentiated(torch: Any) -> None:
    x = torch.tensor([3.0], requires_grad=True)
    out = square(torch, marked=True).apply(x, "a")
    (g,) = torch.autograd.grad((out * out).sum(), x, create_graph=True)
    assert (g.tolist(), g.requires_grad) == ([108.0], True)
    with pytest.raises(RuntimeError, match="differentiate twice a function that was marked with @once_differentiable"):
        g.sum().backward()


def test_without_it_the_second_derivative_is_wrong_in_silence(torch: Any) -> None:
    x = torch.tensor([3.0], requires_grad=True)
    out = square(torch, marked=False).apply(x, "a")
    (g,) = torch.autograd.grad((out * out).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x)
    assert second.tolist() == [72.0]  # of x^4 it is 12 x^2, which is 108


def test_the_context_is_one_that_programs_can_name(torch: Any) -> None:
    kind = torch.autograd.function.FunctionCtx
    out = square(torch, marked=True).apply(torch.ones(1, requires_grad=True), "a")
    assert isinstance(out.grad_fn, kind)
