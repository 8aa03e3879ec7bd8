"""Programs that are traced by both libraries: each takes a library, and gives a function or a module."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable
from typing import Any

Library = Any


def a_network(t: Library) -> Any:
    """A module with a parameter, a buffer, children, parameters of all kinds, and containers as its result."""

    class Network(t.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.linear = t.nn.Linear(2, 2)
            self.scale = t.nn.Parameter(t.ones(2))
            self.register_buffer("shift", t.ones(2))
            self.layers = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.ReLU())

        def forward(self, x, k=3, *args, flag: bool = True, **kw):  # type: ignore[no-untyped-def]
            y = self.layers(x)
            total = t.relu(self.linear(y) + self.scale + self.shift).sum(dim=-1) * k
            return total, {"a": y[0:1, ..., None], "b": [y, t.nn.functional.gelu(y)]}

    return Network()


def annotated(t: Library) -> Any:
    """A function whose parameters have types of many kinds."""

    def function(  # type: ignore[no-untyped-def]
        x: t.Tensor,
        y: typing.Optional[t.Tensor],  # noqa: UP045
        z: list[int],
        w: typing.List[t.Tensor],  # noqa: UP006
        v: int | None,
        u: "int | str" = 2,  # noqa: UP037
    ) -> typing.Tuple[t.Tensor, int]:  # noqa: UP006
        return x

    function.__annotations__ = {
        "x": t.Tensor,
        "y": typing.Optional[t.Tensor],  # noqa: UP045
        "z": list[int],
        "w": typing.List[t.Tensor],  # noqa: UP006
        "v": int | None,
        "u": "int | str",
        "return": typing.Tuple[t.Tensor, int],  # noqa: UP006
    }
    return function


def of_pairs(t: Library) -> Any:
    """A function that makes an object of a class whose construction is recorded."""

    class Pair(metaclass=t.fx.ProxyableClassMeta):
        def __init__(self, left: Any, right: Any) -> None:
            self.left, self.right = left, right

        def add(self, other: Any) -> Any:
            return Pair(self.left + other.left, self.right + other.right)

    return lambda x, y: x.add(Pair(y, y))


def branch(t: Library) -> Any:
    """A function with a branch on a parameter that is no tensor."""

    def function(a, b):  # type: ignore[no-untyped-def]
        if b:
            return a
        return a * 2

    return function


def summed(t: Library) -> Any:
    """A function of a dict."""

    def function(x):  # type: ignore[no-untyped-def]
        total = 0
        for value in x.values():
            total += value
        return {"total": total}

    return function


def unpacked(x):  # type: ignore[no-untyped-def]
    """A function that unpacks its argument into two names."""
    left, right = x
    return left + right


# What is recorded, or why it cannot be.
TRACED: dict[str, Callable[[Library], Any]] = {
    "a network": a_network,
    "annotations": annotated,
    "construction of objects": of_pairs,
    "functions of several modules": lambda t: (
        lambda x: (
            t.nn.functional.softmax(t.nn.functional.linear(x, t.ones(2, 2)), -1) + t.fft.fft(x).real + t.linalg.norm(x)
        )
    ),
    "arithmetic": lambda t: lambda x, y: x @ y // 2 - 3.5 * x**2 % y,
    "comparisons": lambda t: lambda a, b: (a == b) | ~(a < b) & (a >= 2) ^ (a != b),
    "shifts": lambda t: lambda x: (x << 1) >> 2,
    "exchanged operands": lambda t: lambda x: 2 - x + 2 / x + 2 // x + 2**x % 3,
    "signs": lambda t: lambda x: abs(x) + (-x) + (+x),
    "methods": lambda t: lambda x: x.view(-1, x.shape[0]).t().contiguous(),
    "lists": lambda t: lambda x: t.cat([x, x.unsqueeze(0)], dim=1),
    "math": lambda t: lambda x: math.sqrt(x),
    "dropout": lambda t: lambda x: t.nn.functional.dropout(x, p=0.3, training=False),
    "an overload": lambda t: lambda x: t.ops.aten.add.Tensor(x, 1),
    "a packet": lambda t: lambda x: t.ops.aten.relu(x),
    "settings": lambda t: lambda x: t.zeros(x.shape, dtype=t.float64, device="cpu"),
    "attributes": lambda t: lambda x: x.T.shape[-1] + x.size(0),
    "a constant": lambda t: lambda x: t.add(x, t.tensor([1.0, 2.0]), alpha=2),
    "a generator": lambda t: lambda x: t.bernoulli(x, generator=t.Generator()),
    "a branch": lambda t: lambda x: x if x.sum() > 0 else -x,
    "a loop": lambda t: lambda x: [y for y in x],  # noqa: C416
    "a length": lambda t: lambda x: len(x),
    "unpacked names": lambda t: unpacked,
    "split": lambda t: lambda x: t.split(x, 2)[0],
    "a field": lambda t: lambda x: t.max(x, 1).values,
    "convolution": lambda t: lambda x: t.nn.functional.conv2d(x, t.ones(1, 1, 1, 1)),
    "any number of arguments": lambda t: lambda *args: args[0] + 1,
    "any keywords": lambda t: lambda **names: names["a"],
    "keywords only": lambda t: lambda a, *, b=2: a * b,
    "einsum": lambda t: lambda x: t.einsum("ij->ji", x),
    "initialization": lambda t: lambda x: t.nn.init.normal_(x),
    "a dtype": lambda t: lambda x: x.to(t.float16),
    "values of all kinds": lambda t: lambda x: [x, (x, 1, None, "s", 1.5, float("inf"), float("nan"), 1j, ...)],
    "a slice of slices": lambda t: lambda x: x[:, None, 1:3, ::2, ...],
    "a memory format": lambda t: lambda x: t.full_like(x, True, memory_format=t.contiguous_format),
    "a builtin's name": lambda t: lambda input: input.neg().abs(),
    "a trailing underscore": lambda t: lambda self_: self_ + 1,
    "attention": lambda t: lambda x: t.nn.functional.scaled_dot_product_attention(x, x, x),
    "pooling": lambda t: lambda x: t.nn.functional.max_pool2d(x, 2),
    "tuples": lambda t: lambda x: t.stack((x, x)),
    "where": lambda t: lambda x: t.where(x > 0, x, t.tensor(0.0)),
    "an index that is a tensor": lambda t: lambda x: x[t.tensor([0, 1])],
    "chunk": lambda t: lambda x: x.chunk(2, dim=0)[1],
    "interpolation": lambda t: lambda x: t.nn.functional.interpolate(x, scale_factor=2.0),
    "a range": lambda t: lambda x: t.arange(x.shape[0]),
    "a tensor on the left": lambda t: lambda x: t.ones(2) + x,
    "a tensor's method": lambda t: lambda x: t.ones(2).add(x),
    "a flag": lambda t: lambda x: x.requires_grad,
    "losses": lambda t: lambda x: t.nn.functional.mse_loss(x, x) + t.nn.functional.cross_entropy(x, x),
    "one hot": lambda t: lambda x: t.nn.functional.one_hot(x),
    "a special function": lambda t: lambda x: t.special.expit(x),
    "a norm": lambda t: lambda x: t.norm(x),
    "an unknown attribute": lambda t: lambda x: x.foo.bar(2),
    "in-place": lambda t: lambda x: t.relu_(x).add_(1),
    "a layer": lambda t: t.nn.Linear(2, 2),
    "an encoder": lambda t: t.nn.TransformerEncoderLayer(4, 2),
    "a container": lambda t: t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Dropout()),
    "a dict": lambda t: lambda x: {"a": x, "b": [x, {"c": 2}]},
    "what is not recorded": lambda t: lambda x: 3,
    "an unhashable constant": lambda t: lambda x: t.tensor_split(x, [1, 2]),
    "the same name often": lambda t: lambda x: x.relu().relu().relu() + t.relu(x),
    "a name with a number": lambda t: lambda relu_1: relu_1.relu().relu(),
}
