"""Does gradcheck accept right gradients and refuse wrong ones?"""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # PyTorch's own use of it


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


def test_float32_is_checked_with_a_warning(torch: Any) -> None:
    x = torch.tensor([0.3, 1.2], requires_grad=True)
    said = "Input #0 requires gradient and is not a double precision floating point or complex. This check will likely"
    with pytest.warns(UserWarning, match=said):
        assert torch.autograd.gradcheck(lambda a: a * 2, (x,), eps=1e-2, atol=1e-3)
    with pytest.warns(UserWarning, match=said):
        assert not torch.autograd.gradcheck(lambda a: a.sin() * 1000, (x,), raise_exception=False)


def test_inputs_that_share_memory_are_refused(torch: Any) -> None:
    x = torch.ones(2, dtype=torch.float64).expand(3, 2).requires_grad_()
    with pytest.raises(RuntimeError, match=r"The 1th input has a dimension with stride 0\. gradcheck only supports"):
        torch.autograd.gradcheck(torch.mul, (double(torch, 2.0), x))
    assert torch.autograd.gradcheck(torch.sin, x[:1])


def test_questions_that_contradict_each_other_are_refused(torch: Any) -> None:
    x = double(torch, 0.3)
    for check, options, message in (
        (
            torch.autograd.gradcheck,
            {"check_backward_ad": False},
            "at least one of check_forward_ad or check_backward_ad",
        ),
        (
            torch.autograd.gradcheck,
            {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
            "check_batched_grad=True requires check_backward_ad",
        ),
        (
            torch.autograd.gradcheck,
            {"check_batched_forward_grad": True},
            "check_batched_forward_grad=True requires check_forward_ad",
        ),
        (
            torch.autograd.gradgradcheck,
            {"check_rev_over_rev": False},
            "at least one of check_fwd_over_rev or check_rev",
        ),
        (
            torch.autograd.gradgradcheck,
            {"check_rev_over_rev": False, "check_fwd_over_rev": True},
            "check_undefined_grad=True requires check_rev_over_rev",
        ),
    ):
        with pytest.raises(AssertionError, match=message):
            check(torch.sin, (x,), **options)


def test_a_backward_that_gives_other_numbers_each_time_is_refused(torch: Any) -> None:
    class Drifting(torch.autograd.Function):
        calls = 0

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            Drifting.calls += 1
            return g * (2 + Drifting.calls * 1e-8)

    x = double(torch, 0.3, 1.2)
    for fast_mode in (False, True):
        with pytest.raises(RuntimeError, match="Backward is not reentrant") as caught:
            torch.autograd.gradcheck(Drifting.apply, (x,), fast_mode=fast_mode)
        assert "The tolerance for nondeterminism was 0.0.\n\nNOTE: If your op relies on" in str(caught.value)
        assert torch.autograd.gradcheck(Drifting.apply, (x,), fast_mode=fast_mode, nondet_tol=1e-4)


def test_forward_mode_is_checked_where_asked(torch: Any) -> None:
    x, y = double(torch, 0.3, 1.2), double(torch, 2.0, -1.0)
    for fast_mode in (False, True):
        assert torch.autograd.gradcheck(
            lambda a, b: ((a * b).sin(), a.exp()), (x, y), check_forward_ad=True, fast_mode=fast_mode
        )
        assert torch.autograd.gradgradcheck(
            lambda a, b: ((a * b).sin(), a.exp()), (x, y), check_fwd_over_rev=True, fast_mode=fast_mode
        )
        only = {"check_forward_ad": True, "check_backward_ad": False, "raise_exception": False, "fast_mode": fast_mode}
        assert not torch.autograd.gradcheck(lambda a: a.sin() + a.detach(), (x,), **only)
        assert torch.autograd.gradcheck(function(torch, lambda x, g: g), (double(torch, 0.0),), fast_mode=fast_mode)


def test_complex_functions_are_checked_in_forward_mode(torch: Any) -> None:
    z = torch.tensor([0.3 + 0.7j, -1.2 + 0.2j], dtype=torch.complex128, requires_grad=True)
    y = double(torch, 2.0, -1.0)
    for fast_mode in (False, True):
        for f in (lambda a, b: (a * b).sin() + a.conj(), lambda a, b: (a.abs() * b, a.real)):
            assert torch.autograd.gradcheck(f, (z, y), check_forward_ad=True, fast_mode=fast_mode)
            assert torch.autograd.gradgradcheck(f, (z, y), check_fwd_over_rev=True, fast_mode=fast_mode)


def test_gradients_of_outputs_may_be_given_or_drawn(torch: Any) -> None:
    wrong = function(torch, lambda x, g: g * x.detach().cos())
    x, ones = double(torch, 0.3, 1.2), torch.ones(2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="Numerical gradient for function expected to be zero"):
        torch.autograd.gradgradcheck(wrong, (x,), ones)
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        torch.autograd.gradgradcheck(wrong, (x,), [ones.requires_grad_()])
    torch.manual_seed(0)
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.gradgradcheck(wrong, (x,), gen_non_contig_grad_outputs=True)
    assert "analytical:tensor([[0., 0.],\n        [0., 0.]], dtype=torch.float64)" in str(caught.value)
    assert torch.autograd.gradgradcheck(torch.sin, (x,), gen_non_contig_grad_outputs=True)


def test_what_has_no_requires_grad_is_no_output(torch: Any) -> None:
    for result in (3, None):
        with pytest.raises(AttributeError, match="has no attribute 'requires_grad'"):
            torch.autograd.gradcheck(lambda a, result=result: (a, result), (double(torch, 0.3),))


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
