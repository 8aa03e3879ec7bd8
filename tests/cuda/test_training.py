"""Do modules, losses and optimizers train on a CUDA device as on the CPU, with no code of their own?"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch import nn, optim
from tests.devices.devices import Devices

LIBRARY = Path(glasstorch.__file__).parent

OPTIMIZERS: dict[str, Callable[[Any], optim.Optimizer]] = {
    "SGD": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
    "Adam": lambda p: optim.Adam(p, lr=0.05, amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.05),
}


def network() -> nn.Module:
    glasstorch.manual_seed(0)
    return nn.Sequential(
        nn.Flatten(), nn.Linear(12, 9), nn.Tanh(), nn.Linear(9, 7), nn.ReLU(), nn.Linear(7, 5, bias=False), nn.Sigmoid()
    )


def steps(model: nn.Module, optimizer: optim.Optimizer, loss_of: nn.Module, device: Any, count: int = 6) -> list[float]:
    """The losses of a few steps on one batch."""
    glasstorch.manual_seed(1)
    images, classes = glasstorch.randn(8, 3, 4).to(device), glasstorch.randint(0, 5, (8,)).to(device)
    target = classes if not isinstance(loss_of, nn.MSELoss) else glasstorch.rand(8, 5).to(device)
    losses = []
    for _ in range(count):
        optimizer.zero_grad()
        loss = loss_of(model(images), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
@pytest.mark.parametrize("loss_of", [nn.CrossEntropyLoss, nn.MSELoss])
def test_losses_and_weights_are_those_of_the_cpu(
    cuda: Devices, optimizer: Callable[[Any], optim.Optimizer], loss_of: type[nn.Module]
) -> None:
    found = []
    for device in ("cpu", cuda.device):
        model = network().to(device)
        losses = steps(model, optimizer(model.parameters()), loss_of(), device)
        found.append((losses, [p.tolist() for p in model.parameters()]))
    assert found[1][0] == pytest.approx(found[0][0], abs=1e-5)
    assert found[1][0][-1] < found[1][0][0]
    for ours, theirs in zip(found[1][1], found[0][1], strict=True):
        assert glasstorch.tensor(ours).allclose(glasstorch.tensor(theirs), atol=1e-4)


def test_an_optimizer_follows_a_module_that_moves(cuda: Devices) -> None:
    model = network()
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    weights = list(model.parameters())
    assert model.cuda() is model.to(0) is model
    assert [p is q for p, q in zip(model.parameters(), weights, strict=True)] == [True] * len(weights)
    assert {p.device for p in model.parameters()} == {cuda.device}
    losses = steps(model, optimizer, nn.CrossEntropyLoss(), cuda.device)
    assert losses[-1] < losses[0]
    assert all(p.grad is not None and p.grad.device is cuda.device for p in weights)
    model.cpu()
    assert all(p.device.type == "cpu" and p.grad is not None and p.grad.device.type == "cpu" for p in weights)


def test_the_state_of_training_moves_with_the_weights(cuda: Devices) -> None:
    model = network()
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    steps(model, optimizer, nn.CrossEntropyLoss(), "cpu", 2)
    twin = network().cuda()
    twin.load_state_dict(model.state_dict())
    followed = optim.Adam(twin.parameters(), lr=0.05)
    followed.load_state_dict(optimizer.state_dict())
    expected = steps(model, optimizer, nn.CrossEntropyLoss(), "cpu", 2)
    assert steps(twin, followed, nn.CrossEntropyLoss(), cuda.device, 2) == pytest.approx(expected, abs=1e-5)
    assert all(value.device is cuda.device for value in twin.state_dict().values())


def test_layers_are_made_on_a_device(cuda: Devices) -> None:
    layer = nn.Linear(3, 2, device=cuda.device)
    assert layer.weight.device is cuda.device
    assert layer(glasstorch.ones(4, 3, device=cuda.device)).shape == (4, 2)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        layer(glasstorch.ones(4, 3))


# What moves tensors, what asks which form of a step a device has, attention, whose fast path asks for the device, what
# spreads a module over devices, the conversions that a parameter without sizes permits, and the vector of all
# parameters, which refuses those of several devices.
NAMING_DEVICES = (
    "module.py",
    "conversion.py",
    "packing.py",
    "forms.py",
    "attention.py",
    "devices.py",
    "profiler_legacy.py",
    "saved_hooks.py",
    "uninitialized.py",
    "convert_parameters.py",
)


def test_nothing_above_the_kernels_has_code_for_cuda() -> None:
    """Neither autograd nor nn nor optim has code for CUDA: a few files name the device, none calls it."""
    for folder in ("autograd", "nn", "optim"):
        for path in sorted((LIBRARY / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            words = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            words |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            words |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value == "cuda"}
            named = {"cuda", "is_cuda"} if path.name in NAMING_DEVICES else set()
            assert {word for word in words if "cuda" in word} <= named, path
