"""Functions that are captured: each entry takes a library and gives a function and its arguments."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

Program = Callable[[Any], tuple[Any, ...]]

WIDTH = 3
SCALES = [1.0, 2.0]
SETTINGS = {"bias": 0.5}
Pair = namedtuple("Pair", "left right")  # noqa: PYI024  # a class without types, as programs have them


class Typed(NamedTuple):
    x: Any
    y: Any = 2


class Config:
    """A user's object with attributes and methods."""

    factor = 3

    def __init__(self, shift: float) -> None:
        self.shift = shift

    def apply(self, x: Any) -> Any:
        return x * self.factor + self.shift

    @staticmethod
    def halved(x: Any) -> Any:
        return x / 2

    @classmethod
    def tripled(cls, x: Any) -> Any:
        return x * cls.factor


def helper(x: Any, scale: float = 2.0, *, shift: float = 0.0) -> Any:
    return x * scale + shift


def branches(x: Any, flag: bool, n: int | None = None) -> Any:
    if flag and x.dim() == 2:
        x = x + 1
    elif not flag or n is None:
        x = x - 1
    return x if n is not None else -x


def loops(x: Any) -> Any:
    total = x
    for i in range(3):
        if i == 1:
            continue
        total = total + i * x
    k = 0
    while k < 2:
        total = total * 2
        k += 1
    total = total - 1
    for scale, (i, item) in zip(SCALES, enumerate([x, total]), strict=True):
        total = total + scale * item + i
        if i > 5:
            break
    return total


def containers(x: Any) -> Any:
    items = [x, x + 1]
    items.append(x * 2)
    items.extend((x, 4))
    first, *middle, last = items
    table = {"a": first, "b": middle[0], "n": last}
    table["c"] = table.pop("a") + table.get("z", 1)
    items[0], items[1] = items[1], items[0]
    return table, items[:2], tuple(reversed(middle)), len(items), "b" in table, Pair(x, last), Typed(x)


def comprehensions(x: Any) -> Any:
    doubled = [y * 2 for y in (x, x + 1) if y is not None]
    named = {f"k{i}": y for i, y in enumerate(doubled)}
    return doubled, named, sum(y for y in [1, 2, 3]) if False else 6, sorted([3, 1, 2]), max(WIDTH, 2)


def closures(x: Any) -> Any:
    count = 1

    def inner(y: Any, times: int = 2) -> Any:
        nonlocal count
        count += times
        return y * count

    def twice(function: Callable[..., Any], value: Any) -> Any:
        return function(function(value))

    return twice(inner, x) + twice(lambda y: inner(y, times=1), x), count


def unpacking(x: Any, *rest: Any, scale: int = 2, **named: Any) -> Any:
    args = (x, *rest)
    return helper(*args[:1], **{"scale": scale, **named}), len(rest), [*rest], {**named}


def formats(x: Any) -> Any:
    text = f"{x.shape[0]:>3}|{WIDTH!r}|{'a'!s}" + "b".upper() + "-".join(["c", "d"] * 2)
    return x + len(text), text


def in_place(t: Any) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        y = t.zeros(2, 2)
        y[0] = x[0]
        y += 1
        y.mul_(2)
        return y

    return function


def closed_over(t: Any, n: int, weight: Any) -> Callable[..., Any]:
    return lambda x: t.relu(x) * n + weight


def of_an_object(config: Config) -> Callable[..., Any]:
    return lambda x: config.apply(x) + config.halved(x) + config.tripled(x)


def a_network(t: Any) -> Any:
    class Block(t.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self, width: int) -> None:
            super().__init__()
            self.linear = t.nn.Linear(width, width)
            self.norm = t.nn.LayerNorm(width)
            self.drop = t.nn.Dropout(0.5)
            self.register_buffer("shift", t.ones(width))
            self.width = width

        def forward(self, x: Any) -> Any:
            y = self.norm(self.linear(x)) + self.shift
            return x + (self.drop(y) if self.training else y * self.width)

    class Network(t.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.blocks = t.nn.ModuleList([Block(4), Block(4)])
            self.head = t.nn.Sequential(t.nn.Linear(4, 2), t.nn.ReLU())

        def forward(self, x: Any, mask: Any = None) -> Any:
            for block in self.blocks:
                x = block(x)
            if mask is not None:
                x = x * mask
            return self.head(x)

    return Network().eval()


def square(t: Any) -> Any:
    return t.arange(4.0).view(2, 2)


# What both libraries capture as one graph.
WHOLE: dict[str, Program] = {
    "a chain": lambda t: (lambda x: t.sin(x) + t.cos(x) * 2, square(t)),
    "branches": lambda t: (branches, square(t), True, 3),
    "the other branches": lambda t: (branches, square(t), False),
    "loops": lambda t: (loops, square(t)),
    "containers": lambda t: (containers, square(t)),
    "comprehensions": lambda t: (comprehensions, square(t)),
    "closures": lambda t: (closures, square(t)),
    "unpacking": lambda t: (lambda x: unpacking(x, 1, 2, scale=3, shift=0.5), square(t)),
    "formats": lambda t: (formats, square(t)),
    "in-place": lambda t: (in_place(t), square(t)),
    "variables of an outer function": lambda t: (closed_over(t, 3, t.ones(2)), square(t)),
    "globals": lambda t: (lambda x: x * WIDTH + SCALES[1] + SETTINGS["bias"], square(t)),
    "sizes": lambda t: (lambda x: x.view(x.shape[0] * x.size(1)) + x.numel() + x.dim(), square(t)),
    "facts": lambda t: (
        lambda x: x.to(x.dtype) + (1 if x.is_floating_point() and x.device.type == "cpu" else 0), square(t),
    ),
    "mathematics": lambda t: (lambda x: x * math.sqrt(x.shape[-1]) + math.pi, square(t)),
    "an object": lambda t: (of_an_object(Config(0.25)), square(t)),
    "a method": lambda t: (Config(0.5).apply, square(t)),
    "isinstance": lambda t: (
        lambda x: x + 1 if isinstance(x, t.Tensor) and not isinstance(x, (int, list)) else x, square(t),
    ),
    "getattr": lambda t: (lambda x: getattr(x, "T") + (1 if hasattr(x, "nope") else 2), square(t)),  # noqa: B009
    "several results": lambda t: (lambda x: t.max(x, 1).values + t.topk(x, 1)[0], square(t)),
    "split": lambda t: (lambda x: t.cat([y * 2 for y in x.split(1)], dim=0), square(t)),
    "rows": lambda t: (lambda x: [row + 1 for row in x], square(t)),
    "indexing": lambda t: (lambda x: x[0, None] + x[..., 1:] + x[:, t.tensor([0, 1])], square(t)),
    "lists of tensors": lambda t: (lambda items: items[0] + items[1]["b"], [t.ones(2), {"b": t.ones(2)}]),
    "nothing to compute": lambda t: (lambda x, n: (x, n + 1), square(t), 2),
    "a result twice": lambda t: ((lambda x: (lambda y: (y, y, x))(x + 1)), square(t)),  # noqa: PLC3002
    "conditions": lambda t: (
        lambda x, n: x + (n or 3) + (n and 5) + (0 if n is None else 1) + (1 < n < 5), square(t), 4,
    ),
    "a network": lambda t: (a_network(t).forward, t.ones(3, 4)),
    "a network with an argument": lambda t: (a_network(t).forward, t.ones(3, 4), t.ones(3, 1)),
    "functions of nn.functional": lambda t: (
        lambda x: t.nn.functional.softmax(t.nn.functional.gelu(x), dim=-1).sum(), square(t),
    ),
    "attention": lambda t: (
        lambda q: t.nn.functional.scaled_dot_product_attention(q, q, q).mean(), t.ones(1, 2, 3, 4),
    ),
    "comparison of tensors": lambda t: (lambda x: (x > 1) & (x <= 2) | ~(x == 0), square(t)),
    "exchanged operands": lambda t: (lambda x: 1 - x + 2 / (x + 1) + 2**x, square(t)),
    "a conversion": lambda t: (lambda x: x.float().to(t.float64) + t.ones_like(x), square(t)),
    "a tensor and numbers": lambda t: (lambda x, y: x + y[0] * y[1], square(t), (2, 3.5)),
}  # fmt: skip

# What is not captured as one graph here; PyTorch's graph asks for the number of two of them.
BROKEN: dict[str, Program] = {
    "a branch on a tensor": lambda t: (lambda x: x if x.sum() > 0 else -x, square(t)),
    "an element": lambda t: (lambda x: x * x.sum().item(), square(t)),
    "a loop on a tensor": lambda t: (lambda x: next(x + i for i in range(10) if x.sum() < i + 100), square(t)),
    "printing": lambda t: (lambda x: (print(end=""), x + 1)[1], square(t)),
    "a number of an element": lambda t: (lambda x: x + int(x.max()), square(t)),
}
BROKEN_IN_BOTH = ("a branch on a tensor", "a loop on a tensor", "printing")
