"""Are the gradients of convolutions, asked for without a graph, those of PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.nn import grad
from tests.agreement.opinfo import in_torch

Require = Callable[[str], Any]

HOW: list[dict[str, Any]] = [{}, {"stride": 2, "padding": 1}, {"dilation": 2, "groups": 2}]


@pytest.mark.parametrize("how", HOW, ids=str)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients_without_a_graph(dims: int, how: dict[str, Any], require: Require) -> None:
    torch = require("torch")
    glasstorch.manual_seed(0)
    input = glasstorch.randn(2, 4, *[6] * dims, dtype=glasstorch.float64)
    weight = glasstorch.randn(6, 4 // how.get("groups", 1), *[2] * dims, dtype=glasstorch.float64)
    result = getattr(glasstorch.nn.functional, f"conv{dims}d")(input, weight, **how)
    given = glasstorch.randn(result.shape, dtype=glasstorch.float64)
    for name, arguments in (("input", (input.shape, weight, given)), ("weight", (input, weight.shape, given))):
        ours = getattr(grad, f"conv{dims}d_{name}")(*arguments, **how)
        theirs = [in_torch(a, torch) if isinstance(a, glasstorch.Tensor) else a for a in arguments]
        expected = getattr(torch.nn.grad, f"conv{dims}d_{name}")(*theirs, **how)
        np.testing.assert_allclose(ours.numpy(), expected.numpy(), rtol=1e-12, atol=1e-12)
