"""Does a backward that gives no second derivatives refuse to be differentiated?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


def square(torch: Any) -> Any:
    once_differentiable = import_module(f"{torch.__name__}.autograd.function").once_differentiable

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            assert isinstance(ctx, import_module(f"{torch.__name__}.autograd.function").FunctionCtx)
            ctx.save_for_backward(x)
            return x * x + y

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, grad: Any) -> Any:
            """What it computes."""
            assert not torch.is_grad_enabled()
            (x,) = ctx.saved_tensors
            return 2 * x * grad, grad if ctx.needs_input_grad[1] else None

    return Square


@pytest.mark.parametrize("create_graph", [False, True])
def test_first_derivatives_are_given_and_not_recorded(torch: Any, create_graph: bool) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    (grad,) = torch.autograd.grad(square(torch).apply(x, torch.ones(())), x, create_graph=create_graph)
    assert grad.item() == 6
    assert grad.grad_fn is None
    assert square(torch).backward.__doc__ == "What it computes."


def test_gradients_that_depend_on_one_refuse_to_be_differentiated(torch: Any) -> None:
    x, y = (torch.tensor(value, requires_grad=True) for value in (3.0, 1.0))
    weight = torch.tensor(2.0, requires_grad=True)
    given = torch.autograd.grad(square(torch).apply(x, y), (x, y), weight, create_graph=True)
    assert [grad.item() for grad in given] == [12, 2]
    for grad in given:
        assert (grad.grad_fn.name(), type(grad.grad_fn).__name__) == ("torch::autograd::Error", "Error")
        assert "grad_fn=<Error>" in repr(grad)
        with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with @once_"):
            grad.backward()


def test_a_result_without_a_gradient_stays_none(torch: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    weight = torch.tensor(2.0, requires_grad=True)
    y = square(torch).apply(x, torch.ones(()))
    (grad,) = torch.autograd.grad(y, x, weight, create_graph=True)
    assert grad.requires_grad
