"""What do convolutions cost?

The convolutions of ResNet-18 for images of 224 by 224, forward and backward, for one image and for four; and an epoch
of a small network of convolutions on data of the digits' shape. `python -m benchmarks convolution`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Contest, Run, repeat

SAMPLES, BATCH = 1437, 64
AT_MOST = 3.0  # no convolution takes longer than that, in times of torch's
TOGETHER_AT_MOST = 2.0  # nor do all of ResNet-18 together
EPOCH_AT_MOST = 1.6


class Layer(NamedTuple):
    """A convolution of square images with a square kernel, and how often the network has it."""

    channels: int
    made: int
    kernel: int
    stride: int
    size: int
    count: int

    @property
    def padding(self) -> int:
        return self.kernel // 2

    @property
    def words(self) -> str:
        step = f" in steps of {self.stride}" if self.stride > 1 else ""
        made = f" to {self.made}" if self.made != self.channels else ""
        return f"{self.channels}{made} channels, {self.kernel}x{self.kernel}{step}, {self.size}x{self.size}"


RESNET18 = (
    Layer(3, 64, 7, 2, 224, 1),
    Layer(64, 64, 3, 1, 56, 4),
    Layer(64, 128, 3, 2, 56, 1),
    Layer(64, 128, 1, 2, 56, 1),
    Layer(128, 128, 3, 1, 28, 3),
    Layer(128, 256, 3, 2, 28, 1),
    Layer(128, 256, 1, 2, 28, 1),
    Layer(256, 256, 3, 1, 14, 3),
    Layer(256, 512, 3, 2, 14, 1),
    Layer(256, 512, 1, 2, 14, 1),
    Layer(512, 512, 3, 1, 7, 3),
)


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    for batch in (1, 4):
        for layer in RESNET18:
            runs = {name: repeat(prepared(step, module, layer, batch)) for name, module in modules.items()}
            yield Contest(f"convolution: {layer.words}, batch {batch}", runs, 1, rounds=12, budget=AT_MOST)
        together = {name: repeat(prepared(network, module, batch)) for name, module in modules.items()}
        yield Contest(f"convolution: all of ResNet-18, batch {batch}", together, 1, rounds=6, budget=TOGETHER_AT_MOST)
    epochs = {name: _epochs(module) for name, module in modules.items()}
    yield Contest("convolution: digits, one epoch", epochs, 1, rounds=6, budget=EPOCH_AT_MOST)


def prepared(make: Callable[..., Callable[[], object]], *arguments: Any) -> Callable[[], object]:
    """What `make` makes of the arguments, which it makes when it is called first."""
    made = cache(make)

    def run() -> object:
        return made(*arguments)()

    return run


def step(module: Any, layer: Layer, batch: int) -> Callable[[], object]:
    """A convolution and its gradients; the network's first layer has no gradient of its input."""
    random = np.random.default_rng(0)

    def drawn(*sizes: int) -> Any:
        return module.from_numpy(random.standard_normal(sizes, np.float32))

    x = drawn(batch, layer.channels, layer.size, layer.size)
    weight = drawn(layer.made, layer.channels, layer.kernel, layer.kernel)
    grad = module.ones_like(module.conv2d(x, weight, None, layer.stride, layer.padding))
    how = ([layer.stride] * 2, [layer.padding] * 2, [1, 1], False, [0, 0], 1, [layer.channels > 3, True, False])

    backward = module.ops.aten.convolution_backward

    def forward_and_backward() -> None:
        module.conv2d(x, weight, None, layer.stride, layer.padding)
        backward(grad, x, weight, None, *how)

    return forward_and_backward


def network(module: Any, batch: int) -> Callable[[], object]:
    """All convolutions of the network, one after another."""
    steps = [step(module, layer, batch) for layer in RESNET18 for _ in range(layer.count)]

    def all_steps() -> None:
        for one in steps:
            one()

    return all_steps


def _epochs(module: Any) -> Run:
    """Seconds for `number` epochs of a network with two convolutions, a pool and a linear layer."""
    generator = np.random.default_rng(0)
    data = module.from_numpy(generator.random((SAMPLES, 1, 8, 8), dtype=np.float32))
    labels = module.from_numpy(generator.integers(0, 10, SAMPLES))
    nn = module.nn
    module.manual_seed(0)
    model = nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU()),
        *(nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 10)),
    )
    loss_of = nn.CrossEntropyLoss()
    optimizer = module.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    def run(number: int) -> float:
        start = time.perf_counter()
        for _ in range(number):
            for first in range(0, SAMPLES, BATCH):
                loss = loss_of(model(data[first : first + BATCH]), labels[first : first + BATCH])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        return time.perf_counter() - start

    return run
