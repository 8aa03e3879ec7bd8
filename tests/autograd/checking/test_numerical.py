"""What are the Jacobians by differences that programs ask gradcheck's module for?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import glasstorch


def point(torch: Any) -> Any:
    return torch.tensor([0.3, 1.2], dtype=torch.float64, requires_grad=True)


def module(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.autograd.gradcheck")


def test_the_jacobian_of_the_first_output(torch: Any) -> None:
    with pytest.warns(FutureWarning, match="`get_numerical_jacobian` was part of PyTorch's private API"):
        (found,) = module(torch).get_numerical_jacobian(lambda ins: ins[0] * ins[1], (point(torch), 3))
    assert torch.allclose(found, torch.eye(2, dtype=torch.float64) * 3)
    (one,) = module(torch).get_numerical_jacobian_wrt_specific_input(
        lambda a: a * a, 0, (point(torch),), (point(torch),), 1e-6
    )
    assert torch.allclose(one, torch.diag(point(torch).detach() * 2))


def test_a_target_may_be_another_tensor_than_the_inputs(torch: Any) -> None:
    weight, x = point(torch), torch.ones(2, dtype=torch.float64)
    with pytest.warns(FutureWarning):
        (found,) = module(torch).get_numerical_jacobian(lambda ins: ins[0] * weight**2, (x,), target=(weight,))
    assert torch.allclose(found, torch.diag(weight.detach() * 2), atol=1e-5)
    assert weight.tolist() == [0.3, 1.2]


def test_the_jacobian_by_autograd(torch: Any) -> None:
    x = point(torch)
    with pytest.warns(FutureWarning, match="`get_analytical_jacobian` was part of PyTorch's private API"):
        (found,), reentrant, sizes_fit, types_fit = module(torch).get_analytical_jacobian((x,), x.sin())
    assert torch.allclose(found, torch.diag(x.detach().cos()))
    assert (reentrant, sizes_fit, types_fit) == (True, True, True)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_what_is_no_longer_supported(torch: Any) -> None:
    x = point(torch)
    with pytest.raises(ValueError, match=r"Expected grad_out to be 1\.0\. get_numerical_jacobian no longer"):
        module(torch).get_numerical_jacobian(lambda ins: ins[0], (x,), grad_out=2.0)
    with pytest.raises(ValueError, match=r"Expected grad_out to be 1\.0\. get_analytical_jacobian no longer"):
        module(torch).get_analytical_jacobian((x,), x.sin(), grad_out=2.0)
    with pytest.raises(ValueError, match="get_analytical_jacobian no longer supports functions that return complex"):
        module(torch).get_analytical_jacobian((x,), x * 1j)
    with pytest.raises(ValueError, match="get_numerical_jacobian no longer supports functions that return complex"):
        module(torch).get_numerical_jacobian(lambda ins: ins[0] * 1j, (x,))


def test_the_inputs_come_back_as_they_were_after_an_error() -> None:
    x = point(glasstorch)

    def fails(a: Any) -> Any:
        if a[1] != 1.2:
            raise ZeroDivisionError
        return a * 2

    for fast_mode in (False, True):
        with pytest.raises(ZeroDivisionError):
            glasstorch.autograd.gradcheck(fails, (x,), fast_mode=fast_mode)
        assert x.tolist() == [0.3, 1.2]
