"""Does Adam take PyTorch's steps?"""

from typing import Any

import pytest

import glasstorch as torch
from glasstorch import optim
from tests.optim.steps import agrees_with_torch


def test_the_first_step_is_the_learning_rate_whatever_the_gradient() -> None:
    parameter = torch.tensor([1.0, 1.0, 1.0], requires_grad=True)
    optimizer = optim.Adam([parameter], lr=0.25)
    parameter.grad = torch.tensor([1e-3, 5.0, -700.0])
    optimizer.step()
    assert parameter.tolist() == pytest.approx([0.75, 0.75, 1.25], rel=1e-4)
    state = optimizer.state[parameter]
    assert list(state) == ["step", "exp_avg", "exp_avg_sq"]
    assert state["step"].item() == 1


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex128"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lr": 0.1, "betas": (0.5, 0.75)},
        {"lr": 0.1, "amsgrad": True},
        {"lr": 0.1, "weight_decay": 0.1},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True},
        {"lr": 0.1, "maximize": True, "eps": 1e-3},
        {"lr": 0.1, "foreach": False, "capturable": False},
    ],
)
def test_agrees_with_torch_step_by_step(options: dict[str, Any], dtype: str) -> None:
    agrees_with_torch("Adam", options, dtype)


@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.3, "amsgrad": True}])
def test_adamw_agrees_with_torch(options: dict[str, Any]) -> None:
    agrees_with_torch("AdamW", {"lr": 0.1, **options}, "float32")
