"""Have the gradients of normalization the derivatives that central differences and PyTorch give them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch as torch

aten = torch.ops.aten


def numbers(*shape: int, seed: int = 0) -> Any:
    values = np.random.default_rng(seed).normal(size=shape)
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def batch_norm(x: Any, w: Any, b: Any) -> Any:
    return aten.native_batch_norm(x, w, b, None, None, True, 0.1, 1e-5)[0]


def batch_norm_by_running_statistics(x: Any, w: Any, b: Any) -> Any:
    mean, var = numbers(4, seed=7).detach(), numbers(4, seed=8).detach().square() + 1
    return aten.native_batch_norm(x, w, b, mean, var, False, 0.1, 1e-5)[0]


def group_norm(x: Any, w: Any, b: Any) -> Any:
    return aten.native_group_norm(x, w, b, 3, 4, 2, 2, 1e-5)


def layer_norm(x: Any, w: Any, b: Any) -> Any:
    return aten.native_layer_norm(x.transpose(1, 2), [4], w, b, 1e-5)[0]


@pytest.mark.parametrize("function", [batch_norm, batch_norm_by_running_statistics, group_norm, layer_norm])
@pytest.mark.parametrize("parameters", ["both", "weight", "none"])
def test_derivatives(function: Callable[..., Any], parameters: str) -> None:
    w = None if parameters == "none" else numbers(4, seed=1)
    b = numbers(4, seed=2) if parameters == "both" else None
    given = [t for t in (numbers(3, 4, 2), w, b) if t is not None]
    missing = [None] * (3 - len(given))
    assert torch.autograd.gradcheck(lambda *a: function(*a, *missing), given)
    assert torch.autograd.gradgradcheck(lambda *a: function(*a, *missing), given)


def test_derivatives_of_a_gradient_in_its_own_right() -> None:
    """The three gradients as functions of what they are computed from."""
    x, w, b = numbers(3, 4), numbers(4, seed=1), numbers(4, seed=2)
    _, mean, rstd = aten.native_layer_norm(x.detach(), [4], w, b, 1e-5)

    def gradients(grad: Any, w: Any) -> Any:
        return aten.native_layer_norm_backward(grad, x.detach(), [4], mean, rstd, w, b, [True, True, True])

    assert torch.autograd.gradcheck(gradients, (numbers(3, 4, seed=3), w))


@pytest.mark.parametrize("mask", [[True, True, True], [True, False, False], [False, True, True], [False, False, True]])
def test_only_what_the_mask_asks_for_is_computed(mask: list[bool], require: Callable[[str], Any]) -> None:
    theirs = require("torch")
    found = []
    for library in (torch, theirs):
        x, grad = (library.tensor(numbers(3, 4, seed=i).detach().numpy()) for i in (0, 3))
        w = library.ones(4, dtype=library.float64) * 2
        ops = library.ops.aten
        _, mean, rstd = ops.native_layer_norm(x, [4], w, w, 1e-5)
        found.append(ops.native_layer_norm_backward(grad, x, [4], mean, rstd, w, w, mask))
    for ours, expected in zip(*found, strict=True):
        assert (ours is None) == (expected is None or not expected.numel())
        if ours is not None:
            np.testing.assert_allclose(ours.numpy(), expected.numpy(), 1e-12, 1e-12)


def test_a_channel_without_its_parameters_is_refused() -> None:
    with pytest.raises(RuntimeError, match="running_mean should contain 4 elements not 3"):
        torch.batch_norm(numbers(2, 4), None, None, torch.zeros(3), None, True, 0.1, 1e-5, True)
    x = numbers(2, 4)
    with pytest.raises(RuntimeError, match="expected a gradient of sizes"):
        aten.native_batch_norm_backward(x[:1], x, None, None, None, x[0], x[0], True, 1e-5, [True] * 3)
