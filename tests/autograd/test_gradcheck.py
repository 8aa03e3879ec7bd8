"""Does gradcheck accept right gradients and refuse wrong ones?"""

from __future__ import annotations

from typing import Any

import pytest


def double(torch: Any, *values: float) -> Any:
    return torch.tensor(list(values), dtype=torch.float64, requires_grad=True)


def function(torch: Any, derivative: Any, second: Any = None) -> Any:
    """The sine, with a backward of one's own."""

    class Sin(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return derivative(ctx.saved_tensors[0], g)

    return Sin.apply


def test_right_gradients_are_accepted(torch: Any) -> None:
    x, y = double(torch, 0.3, 1.2), double(torch, 2.0, -1.0)
    assert torch.autograd.gradcheck(lambda a, b: (a * b).sin() + a, (x, y)) is True
    assert torch.autograd.gradgradcheck(lambda a, b: (a * b).sin() + a, (x, y)) is True
    assert torch.autograd.gradcheck(torch.sin, x) is True


def test_a_wrong_first_derivative_is_refused(torch: Any) -> None:
    wrong = function(torch, lambda x, g: g * x.sin())
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        torch.autograd.gradcheck(wrong, (double(torch, 0.3, 1.2),))
    assert torch.autograd.gradcheck(wrong, (double(torch, 0.3, 1.2),), raise_exception=False) is False


def test_a_derivative_that_is_slightly_wrong_is_refused(torch: Any) -> None:
    wrong = function(torch, lambda x, g: g * x.cos() * 1.01)
    assert not torch.autograd.gradcheck(wrong, (double(torch, 0.3),), raise_exception=False)


def test_a_gradient_in_the_wrong_place_is_refused(torch: Any) -> None:
    class Flip(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return (g * 2)[[1, 0]]

    assert not torch.autograd.gradcheck(Flip.apply, (double(torch, 0.3, 0.4),), raise_exception=False)


def test_a_wrong_second_derivative_is_refused(torch: Any) -> None:
    wrong = function(torch, lambda x, g: g * x.detach().cos())  # right once, constant the second time
    x = double(torch, 0.3, 1.2)
    assert torch.autograd.gradcheck(wrong, (x,))
    assert not torch.autograd.gradgradcheck(wrong, (x,), raise_exception=False)


def test_a_result_without_a_history_must_be_constant(torch: Any) -> None:
    x = double(torch, 0.3, 1.2)
    with pytest.raises(RuntimeError, match="Numerical gradient for function expected to be zero"):
        torch.autograd.gradcheck(lambda x: x.detach().sin(), (x,))
    assert torch.autograd.gradcheck(lambda x: torch.ones(2, dtype=torch.float64), (x,))


def test_a_first_derivative_without_a_history_is_refused(torch: Any) -> None:
    wrong = function(torch, lambda x, g: (g * x.cos()).detach())
    assert not torch.autograd.gradgradcheck(wrong, (double(torch, 0.3),), raise_exception=False)


def test_every_output_and_every_input_is_checked(torch: Any) -> None:
    wrong = function(torch, lambda x, g: g * 0)
    x, y = double(torch, 0.3), double(torch, 0.4)
    assert not torch.autograd.gradcheck(lambda a, b: (a * 2, wrong(b)), (x, y), raise_exception=False)


def test_the_inputs_come_back_as_they_were(torch: Any) -> None:
    x = double(torch, 0.3, 1.2)
    torch.autograd.gradcheck(torch.exp, (x,))
    assert x.tolist() == [0.3, 1.2]
    assert x.grad is None


def test_inputs_that_are_not_to_be_checked_are_left_alone(torch: Any) -> None:
    x, k = double(torch, 0.3), torch.tensor([2, 3])
    assert torch.autograd.gradcheck(lambda a, b: a * b, (x, k))
    with pytest.raises(ValueError, match="expects at least one input tensor to require gradient"):
        torch.autograd.gradcheck(torch.sin, (torch.ones(2, dtype=torch.float64),))


def test_float32_is_refused_because_differences_would_be_noise() -> None:
    import glasstorch

    with pytest.raises(ValueError, match=r"needs float64 or complex128 inputs: differences of torch.float32 numbers"):
        glasstorch.autograd.gradcheck(glasstorch.sin, (glasstorch.ones(2, requires_grad=True),))


def test_complex_gradients_are_checked_along_both_axes(torch: Any) -> None:
    z = torch.asarray([0.3 + 0.7j, -1.2 + 0.2j], dtype=torch.complex128).clone().requires_grad_()
    y = double(torch, 2.0, -1.0)
    assert torch.autograd.gradcheck(lambda a, b: (a * b).sin() + a.conj(), (z, y))
    assert torch.autograd.gradgradcheck(lambda a, b: a.abs() * b, (z, y))
    wrong = function(torch, lambda x, g: g * x.cos())  # not conjugated
    assert not torch.autograd.gradcheck(wrong, (z,), raise_exception=False)


def test_the_fast_mode_accepts_right_gradients(torch: Any) -> None:
    x, y = double(torch, 0.3, 1.2), double(torch, 2.0, -1.0)
    z = torch.tensor([0.3 + 1j, 1 - 0.2j], dtype=torch.complex128, requires_grad=True)
    for check in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
        assert check(lambda a, b: ((a * b).sin() + a, a.exp()), (x, y), fast_mode=True) is True
        assert check(lambda a, b: (a * b).exp() + a.conj(), (z, x), fast_mode=True) is True


def test_the_fast_mode_refuses_wrong_derivatives(torch: Any) -> None:
    x = double(torch, 0.3, 1.2, 0.7)
    first = function(torch, lambda x, g: g * x.cos() * torch.tensor([1, 1, 1.01], dtype=torch.float64))
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        torch.autograd.gradcheck(first, (x,), fast_mode=True)
    second = function(torch, lambda x, g: function(torch, lambda x, g: g * x.sin())(x + torch.pi / 2) * g)
    assert torch.autograd.gradcheck(second, (x,), fast_mode=True)
    assert not torch.autograd.gradgradcheck(second, (x,), fast_mode=True, raise_exception=False)


def test_the_fast_mode_moves_an_input_in_all_its_places(torch: Any) -> None:
    x = double(torch, 0.3, 1.2)
    assert torch.autograd.gradcheck(lambda a, b: a * b, (x, x), fast_mode=True)


def test_the_fast_mode_refuses_a_result_that_has_lost_its_history(torch: Any) -> None:
    x = double(torch, 0.3, 1.2)
    assert not torch.autograd.gradcheck(lambda a: a.detach() * 2, (x,), fast_mode=True, raise_exception=False)
