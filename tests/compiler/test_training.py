"""Does a small GPT, compiled, learn what it learns in eager mode, and is it compiled again for each batch size?

Nothing of a compiled step may drift: after fifty steps the losses are those of the same program without the compiler.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch import nn
from glasstorch.compiler.backends import lookup_backend
from glasstorch.compiler.loops import machine_code
from glasstorch.nn import functional as F

VOCABULARY, CONTEXT, WIDTH, HEADS = 32, 16, 24, 3
SIZES = [8] * 20 + [5] * 15 + [3] * 15  # of the batch, for each step


class Attention(nn.Module):
    """Causal attention, written out."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.register_buffer("mask", torch.tril(torch.ones(CONTEXT, CONTEXT)))

    def forward(self, x: Any) -> Any:
        batch, length, width = x.size()
        q, k, v = (
            part.view(batch, length, HEADS, width // HEADS).transpose(1, 2)
            for part in self.qkv(x).split(width, dim=2)
        )  # fmt: skip
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        scores = scores.masked_fill(self.mask[:length, :length] == 0, float("-inf"))
        return self.out((F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """Attention and a small network, each around a residual."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.attention = Attention()
        self.network = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.norms[0](x))
        return x + self.network(self.norms[1](x))


class SmallGPT(nn.Module):
    """It returns its logits, and the loss where targets are given."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens: Any, targets: Any = None) -> Any:
        assert tokens.size(1) <= CONTEXT, "the text is longer than the context"
        x = self.tokens(tokens) + self.places(torch.arange(tokens.size(1)).unsqueeze(0))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        loss = None if targets is None else F.cross_entropy(logits.view(-1, VOCABULARY), targets.reshape(-1))
        return logits, loss


def losses(compiled: Callable[[Any], Any]) -> list[float]:
    """The losses of fifty steps, from the same parameters on the same data."""
    torch.manual_seed(7)
    model = SmallGPT()
    run, optimizer = compiled(model), torch.optim.AdamW(model.parameters(), lr=3e-3)
    found = []
    for size in SIZES:
        text = torch.randint(0, VOCABULARY, (size, CONTEXT + 1))
        _, loss = run(text[:, :-1], text[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


@pytest.mark.parametrize("name", ["aot_eager", "inductor"])
def test_fifty_compiled_steps_have_the_losses_of_eager_mode_and_two_graphs_serve_all_batch_sizes(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs, texts = [], []
    original = machine_code.machine_code

    def noted(text: str, *options: Any) -> Any:
        texts.append(text)
        return original(text, *options)

    monkeypatch.setattr(machine_code, "machine_code", noted)

    def backend(module: Any, inputs: Any) -> Any:
        graphs.append(module)
        return lookup_backend(name)(module, inputs)

    expected = losses(lambda model: model)
    assert losses(lambda model: torch.compile(model, backend=backend, fullgraph=True)) == pytest.approx(
        expected, abs=1e-5
    )
    assert expected[-1] < expected[0]
    assert len(graphs) == 2
    assert len(texts) == (4 if name == "inductor" else 0)  # a forward and a backward text in C++ for each graph
