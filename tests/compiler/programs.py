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


# Programs that are worth computing a part of again ------------------------------------------------------------------


def attention_block(t: Any) -> tuple[Any, ...]:
    f = t.nn.functional

    def function(x: Any, queries: Any, back: Any, wide: Any, narrow: Any) -> Any:
        heads = (f.layer_norm(x, (8,)) @ queries).view(2, 4, 2, 4).transpose(1, 2)
        mixed = f.softmax(heads @ heads.transpose(-1, -2), -1) @ heads
        x = x + mixed.transpose(1, 2).reshape(2, 4, 8) @ back
        return x + f.gelu(f.layer_norm(x, (8,)) @ wide) @ narrow

    return function, ramp(t, 2, 4, 8), ramp(t, 8, 8), ramp(t, 8, 8), ramp(t, 8, 16), ramp(t, 16, 8)


def classifier(t: Any) -> tuple[Any, ...]:
    f = t.nn.functional

    def function(x: Any, w: Any, b: Any, v: Any) -> Any:
        return f.cross_entropy(f.relu(f.linear(x, w, b)) @ v, t.tensor([0, 1, 2, 0]))

    return function, t.ones(4, 6), ramp(t, 16, 6), ramp(t, 16), ramp(t, 16, 3)


def normalized_convolution(t: Any) -> tuple[Any, ...]:
    f = t.nn.functional

    def function(x: Any, w: Any, b: Any, mean: Any, var: Any) -> Any:
        return f.relu(f.batch_norm(f.conv2d(x, w, padding=1), mean, var, b, b, True))

    return function, t.ones(2, 3, 4, 4), ramp(t, 5, 3, 3, 3), ramp(t, 5), t.zeros(5), t.ones(5)


def residual(t: Any) -> tuple[Any, ...]:
    def function(x: Any, w: Any) -> Any:
        for _ in range(6):
            x = x + (x.sin() * 2).tanh() @ w
        return x

    return function, ramp(t, 4, 4), ramp(t, 4, 4)


RECOMPUTED: dict[str, Program] = {
    "an attention block": attention_block,
    "a classifier": classifier,
    "a normalized convolution": normalized_convolution,
    "a residual network": residual,
    "a long chain": lambda t: (lambda x: x.sin().cos().exp().tanh().sigmoid().sum(), ramp(t, 50)),
    "dropout": lambda t: (lambda x, w: t.dropout(t.relu(x @ w), 0.5, True).sum(), ramp(t, 4, 6), ramp(t, 6, 8)),
    "gates": lambda t: (
        lambda x, w: t.nn.functional.silu(x @ w) * t.sigmoid(x @ w) + t.nn.functional.mish(x),
        ramp(t, 4, 4),
        ramp(t, 4, 4),
    ),
    "statistics": lambda t: (lambda x: ((x - x.mean(0)) / (x.var(0) + 1).sqrt()).pow(2).sum(), ramp(t, 8, 4)),
    "logsumexp": lambda t: (lambda x: (x - x.logsumexp(-1, True)).exp().sum(), ramp(t, 4, 5)),
    "pooling": lambda t: (lambda x: t.nn.functional.max_pool2d(t.relu(x), 2).sum(), ramp(t, 1, 1, 4, 4)),
    "an embedding": lambda t: (
        lambda w, i: t.nn.functional.embedding(i, w).tanh().sum(), ramp(t, 5, 3), t.tensor([1, 2, 1]),
    ),
    "a choice": lambda t: (lambda x: t.where(x > 0.5, x.exp(), x * 2).clamp(0.2, 1.5).sum(), ramp(t, 10)),
    "a concatenation": lambda t: (lambda x, y: t.cat([x.sin(), y.cos()]).exp().sum(), ramp(t, 4), ramp(t, 5)),
    "groups": lambda t: (
        lambda x, w: t.nn.functional.group_norm(x, 2, w, w).relu().sum(), ramp(t, 2, 4, 3), ramp(t, 4),
    ),
}  # fmt: skip
