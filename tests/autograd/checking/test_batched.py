"""Does gradcheck compare the gradients of a batch with those of its examples?"""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # PyTorch's own use of it


def twice(torch: Any, backward: Any) -> Any:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return backward(g)

    return Twice.apply


def point(torch: Any) -> Any:
    return torch.tensor([0.3, 1.2], dtype=torch.float64, requires_grad=True)


def test_right_gradients_of_a_batch_are_accepted(torch: Any) -> None:
    z = torch.tensor([0.3 + 0.7j, -1.2 + 0.2j], dtype=torch.complex128, requires_grad=True)
    for function, inputs in (
        (lambda a, b: (a * b).sin() + a, (point(torch), point(torch))),
        (lambda a: (a[0].exp(), a.sum(), a.unsqueeze(0).expand(3, 2)[1:]), (point(torch),)),
        (lambda a: (a.abs(), a.real, a.imag), (z,)),
        (lambda a, b: a.exp(), (point(torch), point(torch))),
    ):
        assert torch.autograd.gradcheck(function, inputs, check_batched_grad=True)
        assert torch.autograd.gradgradcheck(function, inputs, check_batched_grad=True)


def test_a_backward_that_reads_its_gradient_is_refused(torch: Any) -> None:
    reading = twice(torch, lambda g: g * (2 if g.sum().item() > -1e9 else 0))
    assert torch.autograd.gradcheck(reading, (point(torch),))
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.gradcheck(reading, (point(torch),), check_batched_grad=True)
    assert type(caught.value).__name__ == "GradcheckError"
    assert str(caught.value).startswith("While computing batched gradients, got: ")
    assert "\n\ngradcheck or gradgradcheck failed while testing batched gradient computation.\n" in str(caught.value)


def test_gradients_that_differ_in_a_batch_are_reported(torch: Any) -> None:
    if torch.__name__ == "torch":
        in_batch = torch._C._functorch.is_legacy_batchedtensor
    else:
        from glasstorch.func.wrapped import Wrapping

        def in_batch(g: Any) -> bool:
            return isinstance(g.untyped_storage(), Wrapping)

    single = twice(torch, lambda g: g * (3 if in_batch(g) else 2))
    with pytest.raises(RuntimeError, match=r"For output 0 and input 0:\n\ngradcheck or gradgradcheck failed") as caught:
        torch.autograd.gradcheck(single, (point(torch),), check_batched_grad=True)
    assert "\n\nGot:\ntensor(" in str(caught.value)
    assert "\n\nExpected:\ntensor(" in str(caught.value)


def test_tangents_of_a_batch_are_accepted(torch: Any) -> None:
    z = torch.tensor([0.3 + 0.7j, -1.2 + 0.2j], dtype=torch.complex128, requires_grad=True)
    for function, inputs in (
        (lambda a, b: ((a * b).sin() + a, b.detach()), (point(torch), point(torch))),
        (lambda a, b: a * b, (z, point(torch))),
        (torch.sin, (torch.tensor(3.0, dtype=torch.float64, requires_grad=True),)),
    ):
        assert torch.autograd.gradcheck(
            function, inputs, check_forward_ad=True, check_backward_ad=False, check_batched_forward_grad=True
        )


def test_a_forward_mode_that_reads_a_tangent_is_refused(torch: Any) -> None:
    def reading(x: Any) -> Any:
        return x * (2 if x.sum().item() > -1e9 else 0) if x.requires_grad else x * x.sum().item()

    with pytest.raises((RuntimeError, ValueError)):
        torch.autograd.gradcheck(
            reading, (point(torch),), check_forward_ad=True, check_backward_ad=False, check_batched_forward_grad=True
        )
