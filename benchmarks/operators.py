"""What do sums, products, softmax and the loss cost, small and large?

Where the tensor is small the way to the kernel is measured, where it is large the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Run, repeat

Use = Callable[..., object]  # given the library and its tensors


def layer_gradients(t: Any, *tensors: Any) -> object:
    """The gradients of layer_norm with respect to input, weight and bias."""
    x, weight, bias = (tensor.detach().requires_grad_() for tensor in tensors)
    y = t.layer_norm(x, weight.shape, weight, bias)
    return t.autograd.grad(y, (x, weight, bias), x.detach())


# name, sizes of the tensors (an int: so many classes below 10), what is done with them, repetitions in a batch
CASES: list[tuple[str, list[tuple[int, ...] | int], Use, int]] = [
    ("`x.sum()`, 8 floats", [(8,)], lambda t, x: x.sum(), 20_000),
    ("`x.sum()`, 1,000,000 floats", [(1_000_000,)], lambda t, x: x.sum(), 100),
    ("`x.sum(0)`, 64x128", [(64, 128)], lambda t, x: x.sum(0), 5_000),
    ("`mm`, 64x64 by 64x128", [(64, 64), (64, 128)], lambda t, a, b: t.mm(a, b), 2_000),
    ("`linear`, 64x64 to 128", [(64, 64), (128, 64), (128,)], lambda t, *x: t.nn.functional.linear(*x), 2_000),
    ("`log_softmax`, 4096x1000", [(4096, 1000)], lambda t, x: t.log_softmax(x, 1), 5),
    ("`layer_norm`, 1024x64", [(1024, 64), (64,), (64,)], lambda t, x, *wb: t.layer_norm(x, (64,), *wb), 100),
    ("`layer_norm`, 4096x768", [(4096, 768), (768,), (768,)], lambda t, x, *wb: t.layer_norm(x, (768,), *wb), 5),
    ("`layer_norm` and gradients, 1024x64", [(1024, 64), (64,), (64,)], layer_gradients, 50),
    ("`layer_norm` and gradients, 4096x768", [(4096, 768), (768,), (768,)], layer_gradients, 3),
    (
        "`batch_norm`, 32x16x28x28",
        [(32, 16, 28, 28)],
        lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True),
        20,
    ),
    ("`cross_entropy`, 64x10", [(64, 10), 64], lambda t, x, y: t.nn.functional.cross_entropy(x, y), 2_000),
]

BUDGETS = {
    "`linear`, 64x64 to 128": 1.4,
    "`log_softmax`, 4096x1000": 2.0,
    "`cross_entropy`, 64x10": 1.6,
    "`layer_norm`, 1024x64": 3.0,
    "`layer_norm`, 4096x768": 4.0,
    "`layer_norm` and gradients, 1024x64": 3.0,
    "`layer_norm` and gradients, 4096x768": 4.0,
}


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    for name, sizes, use, number in CASES:
        random = np.random.default_rng(0)
        arrays = [
            random.integers(0, 10, size) if isinstance(size, int) else random.standard_normal(size).astype(np.float32)
            for size in sizes
        ]
        runs = {m: _run(module, arrays, use) for m, module in modules.items()}
        yield Contest(name, runs, number, budget=BUDGETS.get(name))


def _run(module: ModuleType, arrays: list[Any], use: Use) -> Run:
    tensors = [module.from_numpy(array.copy()) for array in arrays]
    return repeat(lambda: use(module, *tensors))
