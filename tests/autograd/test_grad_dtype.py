"""Are gradients cast to the dtype that a leaf asks for, as in PyTorch?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from tests.refusals import same_refusal


@pytest.fixture
def oracle() -> Any:
    return pytest.importorskip("torch")


def told(value: Any) -> Any:
    return value if value is None or isinstance(value, bool) else str(value).replace("glasstorch", "torch")


def doubles(torch: Any, x: Any) -> Any:
    """A function whose gradient is float64, whatever `x` is."""

    class Doubles(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad.double()

    return Doubles.apply(x)


def leaf(torch: Any, dtype: str | None) -> Any:
    x = torch.ones(2, requires_grad=True)
    x.grad_dtype = None if dtype is None else getattr(torch, dtype)
    return x


def everything(torch: Any) -> list[Any]:
    """What gradients are where the dtype is set before, after and between passes, and by whom they are seen."""
    log: list[Any] = [torch.ones(2).grad_dtype, torch.ones(2, dtype=torch.int32).grad_dtype]
    x = leaf(torch, "float16")
    x.register_hook(lambda grad: log.append(grad.dtype))
    x.register_post_accumulate_grad_hook(lambda x: log.append(x.grad.dtype))
    log += [torch.autograd.grad((x * 2).sum(), x)[0], x.grad_dtype, x.detach().grad_dtype]
    for _ in range(2):
        (x * 2).sum().backward()
    log.append(x.grad)
    x = leaf(torch, "float16")
    result = (x * 3).sum()
    x.grad_dtype = torch.float64
    result.backward(create_graph=False)
    log.append(x.grad)
    for dtype in ("bfloat16", None):
        x = leaf(torch, dtype)
        doubles(torch, x).sum().backward()
        log += [x.grad, x.grad_dtype]
    x = leaf(torch, None)
    x.grad = torch.ones(2, dtype=torch.float64)
    (x * 2).sum().backward()
    log.append(x.grad)
    x = leaf(torch, None)
    x.backward(torch.ones(2, dtype=torch.float64))
    log.append(x.grad)
    later = torch.ones(2)
    later.grad_dtype = torch.float16
    (later.requires_grad_() * 2).sum().backward()
    return [told(value) for value in [*log, later.grad]]


def test_gradients_have_the_dtype_that_was_asked_for(oracle: Any) -> None:
    assert everything(glasstorch) == everything(oracle)


def of_a_result(torch: Any) -> Any:
    return (leaf(torch, None) * 2).grad_dtype


def of_a_result_set(torch: Any) -> None:
    (leaf(torch, None) * 2).grad_dtype = torch.float16


def no_dtype(torch: Any) -> None:
    torch.ones(2).grad_dtype = 3


def against_a_gradient(torch: Any) -> None:
    x = leaf(torch, "float16")
    (x * 2).sum().backward()
    x.grad_dtype = torch.float64


def another_gradient(torch: Any) -> None:
    leaf(torch, "float16").grad = torch.ones(2)


@pytest.mark.parametrize("call", [of_a_result, of_a_result_set, no_dtype, against_a_gradient])
def test_what_is_refused(call: Any, oracle: Any) -> None:
    same_refusal(oracle, call)


def test_a_gradient_of_another_dtype_is_refused(oracle: Any) -> None:
    for torch in (oracle, glasstorch):
        with pytest.raises(RuntimeError, match="a gradient with dtype 'float' to a tensor with grad_dtype 'Half'"):
            another_gradient(torch)
