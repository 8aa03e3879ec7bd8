"""Does a model that trains under autocast print the losses that it prints in PyTorch?

Products of matrices in bfloat16 are rounded to 8 bits, and two libraries add in different orders. So losses agree to
the precision of bfloat16, and for the first steps to the digits that programs print; the dtypes agree exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.devices.devices import Devices

Require = Callable[[str], Any]
STEPS = 8


def mlp(lib: Any) -> Any:
    nn = lib.nn
    return nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4))


def cnn(lib: Any) -> Any:
    nn = lib.nn
    return nn.Sequential(
        nn.Unflatten(1, (2, 2, 2)),
        nn.Conv2d(2, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.GELU(),
        nn.Conv2d(8, 8, 2),
        nn.MaxPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 4),
    )


def gpt(lib: Any) -> Any:
    nn, functional = lib.nn, lib.nn.functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before, self.after = nn.LayerNorm(16), nn.LayerNorm(16)
            self.attention, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
            self.wide, self.narrow = nn.Linear(16, 32), nn.Linear(32, 16)

        def forward(self, x: Any) -> Any:
            q, k, v = (t.unflatten(-1, (2, 8)).transpose(1, 2) for t in self.attention(self.before(x)).split(16, -1))
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).flatten(-2))
            return x + self.narrow(functional.gelu(self.wide(self.after(x))))

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(10, 16), nn.Embedding(8, 16)
            self.blocks = nn.Sequential(Block(), Block())
            self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 10, bias=False)

        def forward(self, x: Any) -> Any:
            x = self.tokens(x) + self.places(lib.arange(8))
            return self.head(self.norm(self.blocks(x))).flatten(0, 1)

    return Model()


def lstm(lib: Any) -> Any:
    nn = lib.nn

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cells = nn.ModuleList([nn.LSTMCell(8, 8), nn.GRUCell(8, 8), nn.RNNCell(8, 8)])
            self.head = nn.Linear(8, 4)

        def forward(self, x: Any) -> Any:
            lstm, gru, rnn = self.cells
            hidden, state = lstm(x)
            return self.head(rnn(gru(hidden, state)))

    return Model()


def batch(lib: Any, model: Any) -> tuple[Any, Any]:
    random = np.random.default_rng(1)
    if model is gpt:
        tokens = random.integers(0, 10, (4, 9))
        return lib.from_numpy(tokens[:, :-1].copy()), lib.from_numpy(tokens[:, 1:].copy()).flatten()
    return lib.from_numpy(random.standard_normal((16, 8), np.float32)), lib.from_numpy(random.integers(0, 4, 16))


def train(lib: Any, model: Any, dtype: str, scaled: bool, weights: list[np.ndarray]) -> tuple[list[float], list[str]]:
    """The losses, and every dtype that the outputs and gradients had."""
    net, (inputs, targets) = model(lib), batch(lib, model)
    with lib.no_grad():
        for parameter, values in zip(net.parameters(), weights, strict=True):
            parameter.copy_(lib.from_numpy(values.copy()))
    optimizer = lib.optim.AdamW(net.parameters(), lr=1e-2)
    scaler = lib.amp.GradScaler("cpu", init_scale=1024.0, enabled=scaled)
    losses, dtypes = [], []
    for _ in range(STEPS):
        optimizer.zero_grad()
        with lib.autocast("cpu", dtype=getattr(lib, dtype)):
            outputs = net(inputs)
            loss = lib.nn.functional.cross_entropy(outputs, targets)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        lib.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
        dtypes += [str(t.dtype) for t in (outputs, loss, *(p.grad for p in net.parameters()))]
    return losses, dtypes


def initial(model: Any) -> list[np.ndarray]:
    glasstorch.manual_seed(0)
    return [p.detach().numpy().copy() for p in model(glasstorch).parameters()]


@pytest.mark.parametrize("model", [mlp, cnn, gpt, lstm])
def test_losses_under_autocast_are_pytorchs(model: Any, require: Require) -> None:
    weights = initial(model)
    (ours, dtypes), (theirs, expected) = (
        train(lib, model, "bfloat16", False, weights) for lib in (glasstorch, require("torch"))
    )
    assert dtypes == expected
    assert ours[0] == pytest.approx(theirs[0], rel=2**-9)
    assert ours == pytest.approx(theirs, rel=2**-6)
    assert ours[-1] < ours[0]


@pytest.mark.parametrize("model", [mlp, gpt])
def test_losses_in_float16_with_a_scaler_are_pytorchs(model: Any, require: Require) -> None:
    weights = initial(model)
    (ours, dtypes), (theirs, expected) = (
        train(lib, model, "float16", True, weights) for lib in (glasstorch, require("torch"))
    )
    assert dtypes == expected
    assert ours == pytest.approx(theirs, rel=2**-9)


def test_without_autocast_the_losses_are_others() -> None:
    """So the comparisons above tell a model that is cast from one that is not."""
    weights = initial(mlp)
    with pytest.warns(UserWarning, match="Disabling autocast"):
        single, dtypes = train(glasstorch, mlp, "float32", False, weights)
    half, cast = train(glasstorch, mlp, "bfloat16", False, weights)
    assert (dtypes.count("torch.bfloat16"), cast.count("torch.bfloat16")) == (0, STEPS)
    assert single != half


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_attention_gives_what_pytorch_gives(dtype: str, require: Require) -> None:
    values = np.random.default_rng(0).standard_normal((3, 2, 2, 5, 8)).astype(np.float32)
    found = []
    for lib in (glasstorch, require("torch")):
        with lib.autocast("cpu", dtype=getattr(lib, dtype)):
            query, key, value = lib.from_numpy(values.copy())
            result = lib.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            weights = (query @ key.mT / math.sqrt(8)).softmax(-1)
        found.append((str(result.dtype), str(weights.dtype), result.double().numpy(), weights.double().numpy()))
    assert found[0][:2] == found[1][:2]
    for ours, theirs in zip(found[0][2:], found[1][2:], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-2 if dtype == "bfloat16" else 2e-3)


def test_a_step_on_cuda_is_in_float16_and_learns(cuda: Devices) -> None:
    glasstorch.manual_seed(0)
    net = glasstorch.nn.Sequential(glasstorch.nn.Linear(4, 8), glasstorch.nn.ReLU(), glasstorch.nn.Linear(8, 2)).cuda()
    inputs, targets = glasstorch.randn(6, 4).cuda(), glasstorch.tensor([0, 1, 0, 1, 0, 1]).cuda()
    optimizer, scaler = glasstorch.optim.SGD(net.parameters(), lr=0.5), glasstorch.amp.GradScaler()
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        with glasstorch.autocast("cuda"):
            outputs = net(inputs)
            loss = glasstorch.nn.functional.cross_entropy(outputs, targets)
        assert (outputs.dtype, loss.dtype) == (glasstorch.float16, glasstorch.float32)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
