"""Are sizes, dtype and order in memory of pointwise results those of PyTorch, for any strides of the inputs?"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core.errors import DeviceError
from glasstorch.operators.shapes.pointwise.broadcast import binary

DTYPES = ("bool", "int64", "float16", "float32")
OPERATORS: dict[str, tuple[int, Callable[..., Any]]] = {
    "exp": (1, lambda t, x: x.exp()),
    "relu": (1, lambda t, x: x.relu()),
    "add": (2, lambda t, x, y: x + y),
    "less": (2, lambda t, x, y: x < y),
    "divide": (2, lambda t, x, y: x / y),
    "power": (2, lambda t, x, y: x.float() ** y),
    "power of a number": (1, lambda t, x: 2.0**x),
    "where": (3, lambda t, x, y, z: t.where(x > 0, y, z)),
    "addcmul": (3, lambda t, x, y, z: t.addcmul(x.float(), y, z)),
    "clamp": (3, lambda t, x, y, z: t.clamp(x.float(), y, z)),
    "masked_fill": (2, lambda t, x, y: x.masked_fill(y > 0, 1)),
}
Layout = tuple[str, tuple[int, ...], tuple[int, ...]]  # dtype, sizes, strides


def layouts(count: int, seed: int) -> list[Layout]:
    """Inputs that broadcast together: permuted, expanded, with gaps, with dimensions of size 1."""
    rng = random.Random(seed)
    sizes = [rng.choice((1, 2, 3, 4)) for _ in range(rng.randint(1, 4))]
    found: list[Layout] = []
    for _ in range(count):
        own = [1 if rng.random() < 0.15 else size for size in sizes][rng.choice((0, 0, 0, 1)) :]
        strides = [0] * len(own)
        step = rng.choice((1, 1, 1, 2))
        order = list(range(len(own)))[::-1]
        if rng.random() < 0.6:
            rng.shuffle(order)
        for dim in order:
            strides[dim] = step if rng.random() < 0.9 else 0
            step *= own[dim]
        found.append((rng.choice(DTYPES), tuple(own), tuple(strides)))
    return found


def build(torch: Any, layout: Layout) -> Any:
    dtype, sizes, strides = layout
    needed = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    return torch.ones(needed).to(getattr(torch, dtype)).as_strided(sizes, strides)


@pytest.mark.parametrize("name", OPERATORS)
def test_every_layout_gives_the_layout_that_torch_gives(name: str, require: Callable[[str], Any]) -> None:
    torch = require("torch")
    count, call = OPERATORS[name]

    def answer(library: Any, inputs: list[Layout]) -> tuple[Any, ...]:
        try:
            result = call(library, *[build(library, layout) for layout in inputs])
        except RuntimeError as error:
            return (str(error).partition("\n")[0],)
        return tuple(result.shape), repr(result.dtype), tuple(result.stride())

    for seed in range(400):
        inputs = layouts(count, seed)
        assert answer(glasstorch, inputs) == answer(torch, inputs), inputs


def test_a_zero_dim_cpu_tensor_may_join_any_device() -> None:
    meta = glasstorch.empty((2, 3), device="meta")
    assert binary(meta, glasstorch.tensor(1.0)).shape == (2, 3)
    with pytest.raises(DeviceError, match="at least two devices, meta and cpu"):
        binary(meta, glasstorch.ones(3))


def test_meta_tensors_have_sizes_dtype_and_strides_and_no_values() -> None:
    x = glasstorch.empty((3, 2), dtype=glasstorch.int64, device="meta").t()
    y = x / 2
    assert (tuple(y.shape), y.stride(), y.dtype, y.device.type) == ((2, 3), (1, 2), glasstorch.float32, "meta")
