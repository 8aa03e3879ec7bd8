"""What does a step of a network cost, in time and in memory?

A small GPT (2 layers of 64 features, a context of 64, 16 texts at once), an LSTM of 128 features over 64 steps, and the
functions that such steps are made of. The growth of peak memory is that of ten steps over the process that has made
the model and its data, in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Contest, Row, Run, repeat

Step = Callable[[], object]
VOCABULARY, CONTEXT, FEATURES, TEXTS = 65, 64, 64, 16

# name, how large the input is, what is done, repetitions in a batch, the ratio that the project set itself
FUNCTIONS: list[tuple[str, tuple[int, ...], Callable[[Any, Any], object], int, float]] = [
    ("`softmax`, 1024x64", (1024, 64), lambda t, x: t.softmax(x, 1), 100, 3.5),
    ("`log_softmax`, 1024x64", (1024, 64), lambda t, x: t.log_softmax(x, 1), 100, 3.5),
    ("`softmax`, 4096x1000", (4096, 1000), lambda t, x: t.softmax(x, 1), 5, 2.2),
]


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest | Growth]:
    """The contests of this file, for the modules that are installed."""
    for name, sizes, use, number, budget in FUNCTIONS:
        array = np.random.default_rng(0).standard_normal(sizes, np.float32)
        runs = {m: _called(module, array, use) for m, module in modules.items()}
        yield Contest(name, runs, number, budget=budget)
    for words, make, budget in (
        ("GPT of 2 layers, a step", gpt, 1.6),
        ("LSTM of 128 over 64 steps, a step", lstm, 2.0),
        ("GRU of 128 over 64 steps, a step", gru, None),
    ):
        runs = {m: repeat(make(module)) for m, module in modules.items()}
        yield Contest(words, runs, 2, rounds=12, budget=budget)
    for words, make in (("MLP", mlp), ("CNN", cnn), ("GPT", gpt)):
        yield Growth(f"growth of peak memory by steps of the {words}", make.__name__, 1.15, modules)


def _called(module: Any, array: Any, use: Callable[[Any, Any], object]) -> Run:
    x = module.from_numpy(array.copy())
    return repeat(lambda: use(module, x))


class Growth(NamedTuple):
    """A contest in memory."""

    name: str
    made_by: str  # a function of this file
    budget: float
    modules: dict[str, ModuleType]

    def measure(self) -> Row:
        program = (
            "import importlib, sys; from benchmarks import networks; "
            "print(networks.growth(importlib.import_module(sys.argv[1]), getattr(networks, sys.argv[2])))"
        )
        found = {}
        for module in self.modules:
            command = [sys.executable, "-c", program, module, self.made_by]
            runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(3)]
            found[module] = min(float(run.stdout) for run in runs)
        ratio = found["glasstorch"] / found["torch"] if "torch" in found else None
        note = ", ".join(f"{module} {megabytes:.1f} MB" for module, megabytes in found.items())
        return Row(f"{self.name} ({note})", {}, self.budget, share=ratio)


def growth(module: Any, make: Callable[[Any], Step]) -> float:
    """The megabytes by which ten steps raise the most memory that this process ever had."""
    if hasattr(module, "set_num_threads"):
        module.set_num_threads(1)
    take_step = make(module)
    before = _peak()
    for _ in range(10):
        take_step()
    return _peak() - before


def _peak() -> float:
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def _training(module: Any, model: Any, data: Any, labels: Any, optimizer: Any) -> Step:
    def step() -> None:
        output = model(data)
        loss = module.nn.functional.cross_entropy(output.reshape(-1, output.shape[-1]), labels.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def mlp(module: Any) -> Step:
    """A step of a network of linear layers over 4,096 rows of 256 features."""
    random, nn = np.random.default_rng(0), module.nn
    data = module.from_numpy(random.random((4096, 256), dtype=np.float32))
    labels = module.from_numpy(random.integers(0, 10, 4096))
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    return _training(module, model, data, labels, module.optim.SGD(model.parameters(), 0.05, 0.9))


def cnn(module: Any) -> Step:
    """A step of a network of two convolutions over 64 images of 64 x 64."""
    random, nn = np.random.default_rng(0), module.nn
    data = module.from_numpy(random.random((64, 1, 64, 64), dtype=np.float32))
    labels = module.from_numpy(random.integers(0, 10, 64))
    model = nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU()),
        *(nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 32 * 32, 10)),
    )
    return _training(module, model, data, labels, module.optim.SGD(model.parameters(), 0.05, 0.9))


def gpt(module: Any, compiled: str | None = None) -> Step:
    """A step of a small language model, compiled by the backend of this name if there is one."""
    nn = module.nn

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.before, self.after = nn.LayerNorm(FEATURES), nn.LayerNorm(FEATURES)
            self.split, self.join = nn.Linear(FEATURES, 3 * FEATURES), nn.Linear(FEATURES, FEATURES)
            self.mlp = nn.Sequential(nn.Linear(FEATURES, 4 * FEATURES), nn.GELU(), nn.Linear(4 * FEATURES, FEATURES))

        def forward(self, x: Any) -> Any:
            n, length, _ = x.shape
            q, k, v = (
                one.view(n, length, 4, 16).transpose(1, 2) for one in self.split(self.before(x)).chunk(3, dim=-1)
            )
            seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.join(seen.transpose(1, 2).reshape(n, length, FEATURES))
            return x + self.mlp(self.after(x))

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(VOCABULARY, FEATURES), nn.Embedding(CONTEXT, FEATURES)
            self.blocks = nn.Sequential(Block(), Block())
            self.last, self.head = nn.LayerNorm(FEATURES), nn.Linear(FEATURES, VOCABULARY, bias=False)

        def forward(self, text: Any) -> Any:
            x = self.words(text) + self.places(module.arange(text.shape[1]))
            return self.head(self.last(self.blocks(x)))

    random = np.random.default_rng(0)
    text = module.from_numpy(random.integers(0, VOCABULARY, (TEXTS, CONTEXT)))
    following = module.from_numpy(random.integers(0, VOCABULARY, (TEXTS, CONTEXT)))
    model = Model()
    if compiled is not None:
        model.compile(backend=compiled)
    return _training(module, model, text, following, module.optim.AdamW(model.parameters(), 1e-3))


def lstm(module: Any) -> Step:
    """Forward and backward of an LSTM."""
    return _recurrent(module, module.nn.LSTM(128, 128))


def gru(module: Any) -> Step:
    """Forward and backward of a GRU."""
    return _recurrent(module, module.nn.GRU(128, 128))


def _recurrent(module: Any, layer: Any) -> Step:
    x = module.from_numpy(np.random.default_rng(0).standard_normal((64, 16, 128), np.float32))

    def step() -> None:
        layer.zero_grad()
        layer(x)[0].sum().backward()

    return step
