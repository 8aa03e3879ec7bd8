"""Programs of a batch of rows with twelve features, whose number of rows is a symbol; most give such a batch again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import glasstorch as torch

F = torch.nn.functional
W, B = torch.linspace(-1, 1, 144).view(12, 12).sin(), torch.linspace(-1, 1, 12)
Program = Callable[[Any], Any]


def written(x: Any) -> Any:
    y = x.clone()
    y[:, 1:4] = y[:, 5:8] * 2
    y.add_(1)
    return y


def attention(x: Any) -> Any:
    q = x.view(x.size(0), 3, 2, 2).transpose(1, 2)
    return ((q @ q.transpose(-2, -1)).softmax(-1) @ q).transpose(1, 2).reshape(x.size(0), -1)


PROGRAMS: dict[str, Program] = {
    "chain": lambda x: (x * 2 + B).sigmoid() * x,
    "linear": lambda x: F.gelu(F.linear(x, W, B)),
    "softmax": lambda x: (x @ W).softmax(-1),
    "log_softmax": lambda x: F.log_softmax(x, 0),
    "norm": lambda x: F.layer_norm(x, (12,), B, B),
    "sum": lambda x: x - x.sum(0) / 10,
    "mean": lambda x: x * x.mean(0, keepdim=True),
    "total": lambda x: x * (x * x).mean(),
    "largest": lambda x: x - x.amax(1, keepdim=True) + x.amin(0),
    "views": lambda x: x.reshape(-1, 2, 6).transpose(1, 2).reshape(x.shape[0], -1) + 1,
    "flat": lambda x: (x.flatten() * 3).view(-1, 12),
    "length": lambda x: x * x.shape[0] + x.size(0) // 2,
    "joined": lambda x: torch.cat([x[:, :3], x[:, 3:] * 2], 1),
    "doubled": lambda x: torch.cat([x, x * 2], 0)[: x.shape[0]] + 1,
    "new": lambda x: x + torch.ones(x.shape[0], 1) * torch.zeros_like(x),
    "counted": lambda x: x * torch.arange(x.shape[0]).unsqueeze(1),
    "masked": lambda x: x.masked_fill(x > 0.5, 0.0).where(x > -0.5, x * 2),
    "written": written,
    "attention": attention,
    "normalized": lambda x: F.normalize(x.tanh(), dim=1),
    "gram": lambda x: (x @ x.t()).relu() @ x / 10,
}


def chain_of(programs: list[Program]) -> Program:
    """One program after the other."""

    def f(x: Any) -> Any:
        for program in programs:
            x = program(x).tanh()
        return x

    return f
