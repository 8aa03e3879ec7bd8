"""Does gradient descent take PyTorch's steps?"""

from typing import Any

import pytest

import glasstorch as torch
from glasstorch import optim
from tests.optim.steps import agrees_with_torch

RECORDED: list[tuple[dict[str, Any], list[float]]] = [
    ({}, [0.9, 0.8, 0.7]),
    ({"momentum": 0.9}, [0.9, 0.71, 0.439]),
    ({"momentum": 0.9, "nesterov": True}, [0.81, 0.539, 0.1951]),
    ({"momentum": 0.9, "dampening": 0.5}, [0.9, 0.76, 0.584]),
    ({"weight_decay": 0.5}, [0.85, 0.7075, 0.572125]),
    ({"maximize": True}, [1.1, 1.2, 1.3]),
]


@pytest.mark.parametrize(("options", "expected"), RECORDED)
def test_takes_the_recorded_steps(options: dict[str, Any], expected: list[float]) -> None:
    parameter = torch.tensor([1.0], requires_grad=True)
    optimizer = optim.SGD([parameter], lr=0.1, **options)
    for value in expected:
        parameter.grad = torch.ones(1)
        optimizer.step()
        assert parameter.item() == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex128"])
@pytest.mark.parametrize(
    "options",
    [
        *(options for options, _ in RECORDED),
        {"momentum": 0.9, "weight_decay": 0.01, "nesterov": True, "maximize": True},
    ],
)
def test_agrees_with_torch_step_by_step(options: dict[str, Any], dtype: str) -> None:
    agrees_with_torch("SGD", {"lr": 0.1, **options}, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_agrees_with_torch_s_kernels_for_many_tensors(dtype: str) -> None:
    agrees_with_torch("SGD", {"lr": 0.1, "momentum": 0.9, "foreach": True}, dtype)


def test_the_learning_rate_may_be_a_tensor() -> None:
    parameter = torch.tensor([1.0], requires_grad=True)
    optimizer = optim.SGD([parameter], lr=torch.tensor(0.5))
    parameter.grad = torch.ones(1)
    optimizer.step()
    assert parameter.item() == 0.5
