"""Are complex numbers made of real ones as PyTorch makes them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from glasstorch import tensor
from glasstorch.autograd import gradcheck, gradgradcheck
from glasstorch.operators.generated.functions import complex as from_parts
from glasstorch.operators.generated.functions import polar


def test_the_parts_are_those_given(torch: Any) -> None:
    x = torch.complex(torch.tensor([1.0, 2.0]), torch.tensor([[-0.0], [3.0]]))
    assert x.tolist() == [[1 - 0j, 2 - 0j], [1 + 3j, 2 + 3j]]
    assert repr(x.dtype) == "torch.complex64"
    wide = torch.complex(torch.ones(2, 3, dtype=torch.float64).t(), torch.ones(2, 3, dtype=torch.float64).t())
    assert (repr(wide.dtype), tuple(wide.stride())) == ("torch.complex128", (1, 3))
    assert tuple(torch.complex(torch.ones(0, 3), torch.ones(1)).shape) == (0, 3)


def test_polar_numbers_have_the_angle_and_size_given(torch: Any) -> None:
    x = torch.polar(torch.tensor([1.0, 2.0], dtype=torch.float64), torch.tensor([0.5, 4.0], dtype=torch.float64))
    expected = [np.exp(0.5j), 2 * np.exp(4j)]
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-14)


def test_parts_can_be_written_to_a_given_tensor(torch: Any) -> None:
    out = torch.zeros(2, 2, dtype=torch.complex64)[:, 0]
    assert torch.complex(torch.ones(2), torch.zeros(2), out=out) is out
    assert out.tolist() == [1, 1]
    assert torch.polar(torch.ones(3), torch.zeros(1), out=torch.zeros(0, dtype=torch.complex64)).tolist() == [1, 1, 1]


Make = Callable[[Any], Any]
REFUSED: dict[str, tuple[Make, str]] = {
    "integers": (
        lambda t: t.complex(t.ones(1), t.ones(1).int()),
        "Float or Double tensors but got Float and Int",
    ),
    "bfloat16": (
        lambda t: t.polar(t.ones(1).bfloat16(), t.ones(1).bfloat16()),
        "but got BFloat16 and BFloat16",
    ),
    "two dtypes": (lambda t: t.complex(t.ones(1), t.ones(1).double()), "type Float but got scalar type Double for sec"),
    "another out=": (
        lambda t: t.complex(t.ones(1).double(), t.ones(1).double(), out=t.zeros(1) * 1j),
        "ComplexDouble but got scalar type ComplexFloat for argument 'out'",
    ),
    "other sizes": (lambda t: t.complex(t.ones(2), t.ones(3)), "must match the size of tensor"),
    "half angles": (lambda t: t.polar(t.ones(2).half(), t.ones(2).half()), "\"polar_cpu\" not implemented for 'Half'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(torch: Any, name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(RuntimeError, match=message):
        make(torch)


def test_numbers_are_no_tensors(torch: Any) -> None:
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        torch.complex(torch.ones(1), 2)


def test_sizes_are_told_without_data(torch: Any) -> None:
    x = torch.complex(torch.ones(2, 1, device="meta"), torch.ones(3, device="meta"))
    assert (tuple(x.shape), repr(x.dtype), x.is_meta) == ((2, 3), "torch.complex64", True)


@pytest.mark.parametrize("function", [from_parts, polar], ids=["complex", "polar"])
def test_gradients_are_those_of_finite_differences(function: Any) -> None:
    double = tensor(0.0).double().dtype
    # As in PyTorch, the gradient of a negative absolute value has the other sign.
    a = tensor([[0.5, 1.5], [2.0, 1.0]], dtype=double, requires_grad=True)
    b = tensor([0.3, -2.0], dtype=double, requires_grad=True)
    assert gradcheck(function, (a, b))
    assert gradgradcheck(function, (a, b))
