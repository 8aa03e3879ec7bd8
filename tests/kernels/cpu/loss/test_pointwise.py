"""Are losses that compare element with element right for every reduction, size and dtype?"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import glasstorch

random = np.random.default_rng(0)

# mse_loss -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), [((), ()), ((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0, 2), (0, 2))])
@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_mse_loss(torch: Any, a: tuple[int, ...], b: tuple[int, ...], reduction: int) -> None:
    x, y = random.standard_normal(a), random.standard_normal(b)
    squares = np.square(x - y)
    loss = torch.ops.aten.mse_loss(*map(torch.from_numpy, map(np.asarray, (x, y))), reduction)
    with np.errstate(invalid="ignore"):
        expected = [squares, np.divide(squares.sum(), squares.size), squares.sum()][reduction]
    np.testing.assert_allclose(loss.numpy(), expected)


@pytest.mark.parametrize(("shape", "reduction"), [*itertools.product([(3,), (2, 3)], ["none", "mean", "sum"])])
def test_mse_gradients_twice(shape: tuple[int, ...], reduction: str) -> None:
    x, y = (glasstorch.from_numpy(random.standard_normal(shape)).requires_grad_() for _ in range(2))
    loss = glasstorch.nn.functional.mse_loss
    assert glasstorch.autograd.gradcheck(lambda x, y: loss(x, y, reduction=reduction) ** 2, (x, y))
    assert glasstorch.autograd.gradgradcheck(lambda x, y: loss(x, y, reduction=reduction) ** 2, (x, y))
    assert loss(x, y).grad_fn.name() == "MseLossBackward0"


def test_mse_promotes_and_rounds(torch: Any) -> None:
    x = torch.tensor([1.0, 3.0])
    assert torch.nn.functional.mse_loss(x, torch.tensor([0, 1])).item() == 2.5
    assert torch.nn.functional.mse_loss(x, x.double() + 1).dtype == torch.float64
    assert torch.nn.functional.mse_loss(x.half(), x.half() + 300).item() == math.inf  # 90000 is no float16


# Where pieces meet ----------------------------------------------------------------------------------------------


def test_slopes_on_both_sides_of_beta_and_delta(torch: Any) -> None:
    x = torch.tensor([-3.0, -2.0, -1.0, 0.0, 2.0, 5.0], requires_grad=True)
    zeros = torch.zeros(6)
    functional = torch.nn.functional
    functional.smooth_l1_loss(x, zeros, reduction="sum", beta=2.0).backward()
    assert x.grad.tolist() == [-1, -1, -0.5, 0, 1, 1]
    x.grad = None
    functional.huber_loss(x, zeros, reduction="sum", delta=2.0).backward()
    assert x.grad.tolist() == [-2, -2, -1, 0, 2, 2]


# Shares ---------------------------------------------------------------------------------------------------------


def test_logarithms_of_shares_have_a_floor(torch: Any) -> None:
    x = torch.tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True)
    y = torch.tensor([0.0, 1.0, 1.0, 0.0])
    loss = torch.nn.functional.binary_cross_entropy(x, y, reduction="none")
    assert loss.tolist() == [0, 0, 100, 100]
    loss.sum().backward()
    np.testing.assert_allclose(x.grad.tolist(), [0, 0, -1e12, 1e12])


@pytest.mark.parametrize("name", ["input", "target"])
def test_what_is_no_share_is_refused(torch: Any, name: str) -> None:
    fitting = torch.tensor([0.5])
    for number in (-0.1, 1.1, math.nan):
        given = {"input": fitting, "target": fitting, name: torch.tensor([number])}
        with pytest.raises(RuntimeError, match=f"all elements of {name} should be between 0 and 1"):
            torch.nn.functional.binary_cross_entropy(**given)
