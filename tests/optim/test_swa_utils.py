"""Are weights averaged as PyTorch averages them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch

Require = Callable[[str], Any]


def averaged(library: Any, use_buffers: bool = False, **options: Any) -> list[np.ndarray]:
    """The averages of four models, with the buffers."""
    library.manual_seed(0)
    model = library.nn.Linear(3, 2)
    model.register_buffer("seen", library.zeros(2))
    model.register_buffer("count", library.tensor([3]))
    made = {name: make(library) for name, make in options.items()}
    average = library.optim.swa_utils.AveragedModel(model, use_buffers=use_buffers, **made)
    for step in range(4):
        with library.no_grad():
            for parameter in model.parameters():
                parameter.add_(step + 1)
            model.seen.add_(step)
            model.count.add_(5)
        average.update_parameters(model)
    assert average.n_averaged.item() == 4
    assert average(library.ones(1, 3)).shape == (1, 2)
    return [tensor.detach().numpy() for tensor in average.state_dict().values()]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"avg_fn": lambda t: t.optim.swa_utils.get_ema_avg_fn(0.9)},
    {"avg_fn": lambda t: t.optim.swa_utils.get_swa_avg_fn()},
    {"multi_avg_fn": lambda t: t.optim.swa_utils.get_ema_multi_avg_fn(0.9)},
    {"multi_avg_fn": lambda t: t.optim.swa_utils.get_swa_multi_avg_fn()},
    {"avg_fn": lambda t: lambda average, parameter, count: (average * count + parameter) / (count + 1)},
]


@pytest.mark.parametrize("use_buffers", [False, True])
@pytest.mark.parametrize("options", OPTIONS)
def test_averages_as_pytorch_does(options: dict[str, Any], use_buffers: bool, require: Require) -> None:
    torch = require("torch")
    if use_buffers and "multi_avg_fn" in options and OPTIONS.index(options) == 4:
        for library in (glasstorch, torch):  # the count is a whole number
            with pytest.raises(RuntimeError, match="Integer division with addcdiv is no longer supported"):
                averaged(library, use_buffers, **options)
        return
    for mine, theirs in zip(
        averaged(glasstorch, use_buffers, **options), averaged(torch, use_buffers, **options), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_an_average_is_the_mean_of_the_models() -> None:
    model = glasstorch.nn.Linear(1, 1, bias=False)
    average = glasstorch.optim.swa_utils.AveragedModel(model)
    glasstorch.nn.init.constant_(average.module.weight, float("inf"))  # the first model is copied, whatever was there
    for weight, mean in ((1.0, 1.0), (3.0, 2.0), (8.0, 4.0)):
        glasstorch.nn.init.constant_(model.weight, weight)
        average.update_parameters(model)
        assert average.module.weight.tolist() == [[mean]]


def test_refuses_what_pytorch_refuses(torch: Any) -> None:
    utils = torch.optim.swa_utils
    for make in (utils.get_ema_avg_fn, utils.get_ema_multi_avg_fn):
        with pytest.raises(ValueError, match=r"Invalid decay value 2 provided. Please provide a value in \[0,1\]"):
            make(2)
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn should be provided"):
        utils.AveragedModel(torch.nn.Linear(1, 1), avg_fn=max, multi_avg_fn=max)


class Norm(glasstorch.nn.Module):
    """What update_bn asks of a batch norm."""

    def __init__(self) -> None:
        super().__init__()
        self.momentum: float | None = 0.1
        self.register_buffer("running_mean", glasstorch.zeros(2))
        self.count = 0
        self.modes: list[bool] = []

    def reset_running_stats(self) -> None:
        self.count = 0
        self.running_mean.zero_()

    def forward(self, x: Any) -> Any:
        assert self.momentum is None
        self.modes.append(self.training)
        self.count += 1
        self.running_mean += (x.mean(0) - self.running_mean) / self.count
        return x


def test_running_averages_are_computed_anew() -> None:
    norm = Norm()
    model = glasstorch.nn.Sequential(norm).eval()
    norm.running_mean.fill_(9)
    batches = [glasstorch.full((4, 2), 1.0), (glasstorch.full((4, 2), 3.0), "labels")]
    glasstorch.optim.swa_utils.update_bn(batches, model)
    assert norm.running_mean.tolist() == [2, 2]
    assert norm.momentum == 0.1
    assert norm.modes == [True, True]
    assert not model.training
    glasstorch.optim.swa_utils.update_bn(batches, glasstorch.nn.Sequential())  # nothing to do
