"""Does gradcheck find a derivative that does not cope with gradients that are not there?"""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # PyTorch's own use of it

BC = "Backwards compatibility: New undefined gradient support checking"


def twice_and_thrice(torch: Any, backward: Any, outputs: int = 2) -> Any:
    """A function of two results which is given undefined gradients as None."""

    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return (x * 2, x * 3)[:outputs] if outputs > 1 else x * 2

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            return backward(*gradients)

    return Pair.apply


def point(torch: Any) -> Any:
    return torch.tensor([0.3, 1.2], dtype=torch.float64, requires_grad=True)


def added(g: Any, h: Any) -> Any:
    terms = [gradient * factor for gradient, factor in ((g, 2), (h, 3)) if gradient is not None]
    return sum(terms) if terms else None


def test_a_backward_that_copes_is_accepted(torch: Any) -> None:
    assert torch.autograd.gradcheck(twice_and_thrice(torch, added), (point(torch),))


def test_a_backward_that_refuses_undefined_gradients_is_found(torch: Any) -> None:
    def refusing(g: Any, h: Any) -> Any:
        if g is None and h is None:
            raise RuntimeError("there is nothing to add")
        return added(g, h)

    function = twice_and_thrice(torch, refusing)
    with pytest.raises(RuntimeError) as caught, pytest.warns(UserWarning, match=BC):
        torch.autograd.gradcheck(function, (point(torch),))
    assert str(caught.value) == (
        'Expected backward function to handle undefined output grads. Please look at "Notes about undefined output '
        'gradients" in "tools/autograd/derivatives.yaml"'
    )
    assert str(caught.value.__cause__) == "there is nothing to add"
    with pytest.warns(UserWarning, match=BC):
        assert not torch.autograd.gradcheck(function, (point(torch),), raise_exception=False)
    assert torch.autograd.gradcheck(lambda x: sum(function(x)), (point(torch),), check_undefined_grad=False)


def test_a_hook_that_fails_on_an_undefined_gradient_is_found(torch: Any) -> None:
    def hooked(x: Any) -> Any:
        y = x.clone()
        y.register_hook(lambda g: g * 1)
        return y * 2

    with pytest.raises(TypeError, match="'NoneType' and 'int'"):
        torch.autograd.gradcheck(hooked, (point(torch),))
    assert torch.autograd.gradcheck(hooked, (point(torch),), check_undefined_grad=False)


def test_a_gradient_out_of_nothing_is_found(torch: Any) -> None:
    ones = torch.ones(2, dtype=torch.float64)
    function = twice_and_thrice(torch, lambda g: ones if g is None else g * 2, outputs=1)
    with pytest.raises(RuntimeError) as caught, pytest.warns(UserWarning, match=BC):
        torch.autograd.gradcheck(function, (point(torch),))
    assert str(caught.value).startswith("Expected all input grads to be undefined or zero when all output grads are")


def test_a_backward_that_forgets_the_gradient_is_found(torch: Any) -> None:
    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.sum() * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return torch.ones(2, dtype=torch.float64) * 2

    for masked in (None, True):
        with pytest.raises(RuntimeError, match=r"^backward not multiplied by grad_output$"):
            torch.autograd.gradcheck(Sum.apply, (point(torch),), masked=masked)


def test_a_missing_tangent_must_count_as_zeros(torch: Any) -> None:
    forward_ad = torch.autograd.forward_ad

    def right(x: Any, y: Any) -> Any:
        return x * y

    def wrong(x: Any, y: Any) -> Any:
        """Has another tangent where y has none."""
        made = x * y
        primal, tangent = forward_ad.unpack_dual(made)
        if tangent is None or forward_ad.unpack_dual(y).tangent is not None:
            return made
        return forward_ad.make_dual(primal, tangent * 2)

    inputs = (point(torch), point(torch))
    assert torch.autograd.gradcheck(right, inputs, check_forward_ad=True)
    assert torch.autograd.gradcheck(wrong, inputs, check_forward_ad=True, check_undefined_grad=False)
    with pytest.raises(RuntimeError, match="Mismatch in tangent values for output with index: "):
        torch.autograd.gradcheck(wrong, inputs, check_forward_ad=True)
