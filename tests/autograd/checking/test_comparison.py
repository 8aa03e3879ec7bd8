"""What does gradcheck report of a derivative that is wrong?"""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # PyTorch's own use of it


def sine(torch: Any, backward: Any) -> Any:
    """The sine, with a backward of one's own."""

    class Sin(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return backward(ctx.saved_tensors[0], g)

    return Sin.apply


def report(torch: Any, func: Any, inputs: Any, **kwargs: Any) -> str:
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.gradcheck(func, inputs, **kwargs)
    assert type(caught.value).__name__ == "GradcheckError"
    return str(caught.value)


def point(torch: Any) -> Any:
    return torch.tensor([0.3, 1.2], dtype=torch.float64, requires_grad=True)


def complex_point(torch: Any) -> Any:
    return torch.tensor([0.3 + 0.7j, -1.2 + 0.2j], dtype=torch.complex128, requires_grad=True)


SLOW = """Jacobian mismatch for output 0 with respect to input 0,
numerical:tensor([[0.9553, 0.0000],
        [0.0000, 0.3624]], dtype=torch.float64)
analytical:tensor([[0.9649, 0.0000],
        [0.0000, 0.3660]], dtype=torch.float64)
"""

# The numbers of the fast mode are PyTorch's too: its directions are drawn by a generator with the default seed.
FAST = """Jacobian mismatch for output 0 with respect to input 0,
numerical:0.44530797
analytical:0.44976105

The above quantities relating the numerical and analytical jacobians are computed{space}
in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background{space}
about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:

Numerical:
 tensor([[0.9553, 0.0000],
        [0.0000, 0.3624]], dtype=torch.float64)
Analytical:
tensor([[0.9649, 0.0000],
        [0.0000, 0.3660]], dtype=torch.float64)

The max per-element difference (slow mode) is: 0.00955336
"""

FORWARD = """Jacobian computed with forward mode mismatch for output 0 with respect to input 0,
numerical:tensor([[1.9553, 0.0000],
        [0.0000, 1.3624]], dtype=torch.float64)
analytical:tensor([[0.9553, 0.0000],
        [0.0000, 0.3624]], dtype=torch.float64)
"""

COMPLEX = """While considering the imaginary part of complex outputs only, Jacobian mismatch for output 0 with respect \
to input 0,
numerical:tensor([[-0.2242+1.1991j,  0.0000+0.0000j],
        [ 0.0000+0.0000j,  0.1877+0.3696j]], dtype=torch.complex128)
analytical:tensor([[ 0.2242+1.1991j,  0.0000+0.0000j],
        [ 0.0000+0.0000j, -0.1877+0.3696j]], dtype=torch.complex128)
"""


def test_the_report_of_the_slow_mode(torch: Any) -> None:
    assert report(torch, sine(torch, lambda x, g: g * x.cos() * 1.01), point(torch)) == SLOW


def test_the_report_of_the_fast_mode(torch: Any) -> None:
    text = report(torch, sine(torch, lambda x, g: g * x.cos() * 1.01), point(torch), fast_mode=True)
    lines = [line[:20] if line.startswith(("numerical:0", "analytical:0")) else line for line in text.splitlines()]
    lines = [line[:57] if line.startswith("The max") else line for line in lines]
    cut = [
        line[:20] if line.startswith(("numerical:0", "analytical:0")) else line
        for line in FAST.format(space=" ").splitlines()
    ]
    assert lines == cut


def test_the_report_of_forward_mode(torch: Any) -> None:
    text = report(torch, lambda x: x.sin() + x.detach(), point(torch), check_forward_ad=True, check_backward_ad=False)
    assert text == FORWARD


def test_the_report_of_forward_mode_that_is_fast(torch: Any) -> None:
    text = report(
        torch,
        lambda x: x.sin() + x.detach(),
        point(torch),
        check_forward_ad=True,
        check_backward_ad=False,
        fast_mode=True,
    )
    head = "Jacobian computed with forward mode mismatch for output 0 with respect to input 0,\nnumerical:tensor([0.57"
    assert text.startswith(head)
    assert "The max per-element difference (slow mode) is: " in text


def test_the_report_of_a_complex_function(torch: Any) -> None:
    assert report(torch, sine(torch, lambda x, g: g * x.cos()), complex_point(torch)) == COMPLEX
    fast = report(torch, sine(torch, lambda x, g: g * x.cos()), complex_point(torch), fast_mode=True)
    assert fast.splitlines()[0] == COMPLEX.splitlines()[0]
    assert fast.splitlines()[1].startswith("numerical:(0.0334107")


def test_the_report_of_a_complex_function_in_forward_mode(torch: Any) -> None:
    for fast_mode in (False, True):
        text = report(
            torch,
            lambda z: z.sin() + z.detach(),
            complex_point(torch),
            check_forward_ad=True,
            check_backward_ad=False,
            fast_mode=fast_mode,
        )
        assert text.startswith(
            "While considering the imaginary part of complex inputs only, Jacobian computed with forward mode mismatch "
            "for output 0 with respect to input 0,"
        )


def test_an_error_that_only_the_fast_mode_finds_is_said_to_be_small(torch: Any) -> None:
    # The errors, of both signs, are within the tolerance of their elements, but the values along a direction cancel.
    signs = torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float64)
    x = torch.tensor([0.9, 0.2, 0.5, 0.7], dtype=torch.float64, requires_grad=True)

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * signs * 100

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * (signs * 100 + 0.08)

    assert torch.autograd.gradcheck(Scaled.apply, x)
    text = report(torch, Scaled.apply, x, fast_mode=True)
    assert "\nFast gradcheck failed but element-wise differences are small. This means that the\ntest might" in text


def test_outputs_that_change_their_shape_or_dtype_are_refused(torch: Any) -> None:
    x = torch.tensor([1e-7], dtype=torch.float64, requires_grad=True)

    def longer(a: Any) -> Any:
        return a * 2 if a > 0 else torch.cat([a, a])

    def single(a: Any) -> Any:
        return a * 2 if a > 0 else a.float()

    where = "when inputs are perturbed on index (0,) by 1e-06, but got:"
    for function, what in (
        (longer, f"the same shape {where} shapes torch.Size([2]) and torch.Size([1])."),
        (single, f"the same dtype {where} dtypes torch.float32 and torch.float64."),
    ):
        with pytest.raises(AssertionError) as caught:
            torch.autograd.gradcheck(function, (x,))
        assert str(caught.value) == f"Expected `func` to return outputs with {what}"
        with pytest.raises(AssertionError, match="when inputs are perturbed by 1e-06"):
            torch.autograd.gradcheck(function, (x,), fast_mode=True)


def test_a_function_that_changes_branch_is_found_out(torch: Any) -> None:
    x = torch.tensor([1e-7], dtype=torch.float64, requires_grad=True)
    for fast_mode in (False, True):
        text = report(torch, lambda a: a * 2 if a > 0 else a * 3, x, fast_mode=fast_mode)
        assert text.startswith("Jacobian mismatch for output 0 with respect to input 0,\nnumerical:")
        assert torch.autograd.gradcheck(lambda a: a * 2, (x,), fast_mode=fast_mode)


def test_outputs_of_whole_numbers_are_left_out(torch: Any) -> None:
    x = torch.tensor([[0.3, 1.2], [0.1, 0.2]], dtype=torch.float64, requires_grad=True)
    for fast_mode in (False, True):
        assert torch.autograd.gradcheck(lambda a: a.max(1), (x,), fast_mode=fast_mode, check_forward_ad=True)
        assert torch.autograd.gradcheck(torch.sort, (x,), fast_mode=fast_mode, check_forward_ad=True)
    with pytest.raises(RuntimeError, match="two bool tensors is not supported"):
        torch.autograd.gradcheck(lambda a: a > 0, (x,))


def test_inputs_may_be_empty_strided_or_without_dimensions(torch: Any) -> None:
    base = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    for x in (
        torch.tensor(3.0, dtype=torch.float64, requires_grad=True),
        torch.zeros(0, 3, dtype=torch.float64, requires_grad=True),
        base[:, ::2].requires_grad_(),
        (base.detach().requires_grad_() * 1).t(),
    ):
        for fast_mode in (False, True):
            if x.numel() or not fast_mode:
                assert torch.autograd.gradcheck(torch.sin, x, fast_mode=fast_mode, check_forward_ad=True)
                assert torch.autograd.gradcheck(torch.sin, [x], fast_mode=fast_mode, check_batched_grad=True)
