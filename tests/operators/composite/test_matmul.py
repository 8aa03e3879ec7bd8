"""Which operator computes a product, and are all of them right?"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.operators.composite.matmul import plan

random = np.random.default_rng(0)


def tensor(torch: Any, *shape: int, grad: bool = False) -> Any:
    return torch.from_numpy(random.standard_normal(shape)).requires_grad_(grad)


# left, right, whether the smaller one wants a gradient, the operator
PLANS = [
    ((3,), (3,), False, "dot"),
    ((2, 3), (3,), False, "mv"),
    ((3,), (3, 4), False, "mm"),
    ((2, 3), (3, 4), False, "mm"),
    ((5, 2, 3), (3, 4), False, "mm"),
    ((5, 2, 3), (3,), False, "mv"),
    ((2, 3), (5, 3, 4), False, "bmm"),
    ((2, 3), (5, 3, 4), True, "mm"),
    ((3,), (5, 3, 4), False, "bmm"),
    ((3,), (5, 3, 4), True, "mv"),
    ((5, 2, 3), (5, 3, 4), False, "bmm"),
    ((1, 2, 3), (5, 3, 4), False, "bmm"),
    ((1, 2, 3), (5, 3, 4), True, "mm"),
    ((5, 2, 3), (1, 3, 4), True, "mm"),
    ((6, 1, 2, 3), (5, 3, 4), True, "bmm"),
]


@pytest.mark.parametrize(("left", "right", "grad", "operator"), PLANS)
def test_the_operator_is_chosen_as_in_pytorch(
    left: tuple[int, ...], right: tuple[int, ...], grad: bool, operator: str
) -> None:
    left_is_smaller = math.prod(left) < math.prod(right)
    a = tensor(glasstorch, *left, grad=grad and left_is_smaller)
    b = tensor(glasstorch, *right, grad=grad and not left_is_smaller)
    assert plan(a, b, has_out=False).operator.__name__ == operator


def test_batches_that_are_not_evenly_spaced_are_not_folded() -> None:
    a, b = tensor(glasstorch, 2, 5, 3).transpose(0, 1), tensor(glasstorch, 3, 4)
    assert plan(a, b, has_out=False).operator.__name__ == "bmm"
    assert plan(a.contiguous(), b, has_out=False).operator.__name__ == "mm"


SHAPES = [(3,), (3, 3), (2, 3, 3), (1, 3, 3), (4, 2, 3, 3), (4, 1, 3, 3), (0, 3, 3)]


@pytest.mark.parametrize(("left", "right"), [*itertools.product(SHAPES, SHAPES)])
def test_products_are_numpys(torch: Any, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = tensor(torch, *left), tensor(torch, *right)
    try:
        wanted = np.matmul(a.numpy(), b.numpy())
    except ValueError:
        with pytest.raises(RuntimeError, match="must match the size of tensor b"):
            a @ b
        return
    for grad in (False, True):
        result = a.clone().requires_grad_(grad) @ b.clone().requires_grad_(grad)
        np.testing.assert_allclose(result.detach().numpy(), wanted, atol=1e-12)
        out = torch.matmul(a, b, out=torch.empty(0, dtype=torch.float64))
        np.testing.assert_allclose(out.numpy(), wanted, atol=1e-12)


@pytest.mark.parametrize(("left", "right", "grad", "operator"), PLANS)
def test_gradients_pass_through_every_plan(
    left: tuple[int, ...], right: tuple[int, ...], grad: bool, operator: str
) -> None:
    a, b = tensor(glasstorch, *left, grad=True), tensor(glasstorch, *right, grad=True)
    assert glasstorch.autograd.gradcheck(glasstorch.matmul, (a, b))
    assert glasstorch.autograd.gradgradcheck(glasstorch.matmul, (a, b))


def test_a_result_may_be_changed_in_place(torch: Any) -> None:
    a, b = tensor(torch, 3, grad=True), tensor(torch, 3, 4, grad=True)
    (a @ b).add_(1).sum().backward()
    assert a.grad.shape == (3,)


@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 5, 3), (4, 2, 5, 3)])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("contiguous", [True, False])
def test_linear(torch: Any, shape: tuple[int, ...], bias: bool, contiguous: bool) -> None:
    x = tensor(torch, *shape) if contiguous else tensor(torch, *shape[::-1]).permute(tuple(range(len(shape)))[::-1])
    w, b = tensor(torch, 4, 3), tensor(torch, 4) if bias else None
    wanted = x.numpy() @ w.numpy().T + (b.numpy() if b is not None else 0)
    result = torch.nn.functional.linear(x, w, b)
    assert result.is_contiguous()
    np.testing.assert_allclose(result.numpy(), wanted, atol=1e-12)
    out = torch.nn.functional.linear(x, w, b, out=torch.empty(0, dtype=torch.float64))
    np.testing.assert_allclose(out.numpy(), wanted, atol=1e-12)


def test_a_batch_with_a_bias_is_one_addmm(torch: Any) -> None:
    x, w, b = tensor(torch, 2, 3), tensor(torch, 4, 3, grad=True), tensor(torch, 4)
    assert torch.nn.functional.linear(x, w, b).grad_fn.name() == "AddmmBackward0"
    assert torch.nn.functional.linear(x, w).grad_fn.name() == "MmBackward0"


REFUSED = {
    "a scalar": (
        lambda t: t.zeros(()) @ t.zeros(3),
        "both arguments to matmul need to be at least 1D, but they are 0D",
    ),
    "a number": (lambda t: t.nn.functional.linear(t.zeros(()), t.zeros(2, 3)), "both arguments to linear need to be"),
    "batches": (
        lambda t: t.zeros(5, 2, 3) @ t.zeros(2, 3, 4),
        "tensor a \\(5\\) must match the size of tensor b \\(2\\)",
    ),
    "a folded batch": (lambda t: t.zeros(5, 2, 3) @ t.zeros(2, 3), "cannot be multiplied \\(10x3 and 2x3\\)"),
    "a bias of another size": (
        lambda t: t.nn.functional.linear(t.zeros(2, 3), t.zeros(4, 3), t.zeros(3)),
        "The expanded size of the tensor \\(4\\) must match the existing size \\(3\\)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(torch: Any, case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises(RuntimeError, match=message):
        call(torch)
