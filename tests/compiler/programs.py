"""Functions that are compiled with their gradients: each takes a library and gives a function and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Program = Callable[[Any], tuple[Any, ...]]


def ones(t: Any, *sizes: int) -> Any:
    return t.ones(*sizes, requires_grad=True)


def ramp(t: Any, *sizes: int) -> Any:
    """Different numbers, whose gradient is wanted."""
    count = 1
    for size in sizes:
        count *= size
    return (t.arange(float(count)).view(*sizes) / count + 0.1).requires_grad_()


def in_place(t: Any) -> Callable[..., Any]:
    def function(x: Any, y: Any) -> Any:
        y.mul_(2)
        z = x * 3
        z[0] = y[1]
        return z.relu_()

    return function


def without_gradient(t: Any) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        with t.no_grad():
            x.add_(1)
        return x * 2

    return function


def module(t: Any) -> Callable[..., Any]:
    def function(x: Any, w: Any, b: Any) -> Any:
        hidden = t.nn.functional.gelu(t.nn.functional.linear(x, w, b))
        return t.nn.functional.layer_norm(hidden, (hidden.shape[-1],)).sum()

    return function


# Their graphs are PyTorch's, line by line.
SAME_GRAPHS: dict[str, Program] = {
    "a saved result": lambda t: (lambda x: t.sigmoid(x).mul(x.detach()).sum(), ones(t, 3)),
    "a product": lambda t: (lambda x, w: t.relu(x @ w), t.ones(2, 3), ones(t, 3, 2)),
    "several results": lambda t: (lambda x: (x.sin(), x.cos(), 3), ramp(t, 2)),
    "no gradient": lambda t: (lambda x: x.sin(), t.ones(2)),
    "an argument that is written to": lambda t: (lambda x: (x.add_(1), x * 2)[1], t.ones(2)),
    "a view of an argument": lambda t: (lambda x: x.view(-1), ones(t, 2, 2)),
    "an argument itself": lambda t: (lambda x: x, ones(t, 2)),
    "a chain": lambda t: (lambda x: x.exp().sin().exp().sum(), ramp(t, 3)),
    "a dict": lambda t: (lambda x: {"a": x["b"] * 2}, {"b": ramp(t, 2)}),
    "a result without a gradient": lambda t: (lambda x: (x * 2, x > 1), ramp(t, 3)),
    "an argument that is not used": lambda t: (lambda x, y: x * 2, ramp(t, 3), ramp(t, 2)),
    "a number": lambda t: (lambda x, n: x * n, ramp(t, 3), 4),
    "an argument with a history that is written to": lambda t: (lambda x: (x.mul_(3), x.sin())[1], ramp(t, 3) * 1),
    "a leaf that is written to without a gradient": lambda t: (without_gradient(t), ramp(t, 3)),
    "two views of a tensor": lambda t: (lambda x: (lambda y: (y[0], y[1]))(x * 2), ramp(t, 2, 2)),  # noqa: PLC3002
    "a norm": lambda t: (lambda x: t.nn.functional.layer_norm(x, (3,)).sum(), ramp(t, 2, 3)),
    "a loss": lambda t: (lambda x: t.nn.functional.cross_entropy(x, t.tensor([1, 0])), ramp(t, 2, 3)),
}

# The order of some operators differs, or a formula is written otherwise; results and gradients are the same.
SAME_RESULTS: dict[str, Program] = SAME_GRAPHS | {
    "writes inside": lambda t: (in_place(t), ramp(t, 3), t.ones(3)),
    "a layer": lambda t: (module(t), t.ones(2, 3), ramp(t, 4, 3), ramp(t, 4)),
    "softmax": lambda t: (lambda x, w: t.nn.functional.softmax(x @ w, -1) * x, ramp(t, 2, 2), ramp(t, 2, 2)),
    "indexing": lambda t: (lambda x: x[0] * x[:, 1], ramp(t, 2, 2)),
    "the greatest": lambda t: (lambda x: x.max(1)[0], ramp(t, 2, 3)),
    "a convolution": lambda t: (
        lambda x, w: t.nn.functional.conv2d(x, w, padding=1), t.ones(1, 2, 4, 4), ramp(t, 3, 2, 3, 3),
    ),
    "attention": lambda t: (
        lambda q, k: t.nn.functional.scaled_dot_product_attention(q, k, k), ramp(t, 1, 1, 2, 2), ramp(t, 1, 1, 3, 2),
    ),
    "an argument that gets a gradient": lambda t: (lambda x, y: (y.add_(x), y * 2)[1], ramp(t, 3), t.ones(3)),
    "the same result twice": lambda t: (lambda x: (lambda y: (y, y))(x * 2), ramp(t, 2)),  # noqa: PLC3002
    "views of an argument that is written to": lambda t: (lambda x: (x.add_(1), x[0], x.t())[1:], t.ones(2, 2)),
    "parts of a tensor": lambda t: (lambda x: (x * 2).chunk(2), ramp(t, 4)),
    "two results that share memory": lambda t: (lambda x: (lambda y: (y, y[0]))(x * 2), ramp(t, 2, 2)),  # noqa: PLC3002
}  # fmt: skip
