"""Three steps of training that a profile is taken of, each for torch and for glasstorch."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

Step = Callable[[], None]


def profiler_of(torch: ModuleType) -> Any:
    """The module `torch.profiler` of a library."""
    return importlib.import_module(f"{torch.__name__}.profiler")


def profile_of(torch: ModuleType, program: Callable[[], object], **settings: Any) -> Any:
    """A profile of one run of a program."""
    with profiler_of(torch).profile(**settings) as profile:
        program()
    return profile


def classifier(torch: Any) -> Step:
    """A step of a multilayer perceptron with dropout, and momentum."""
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 4))
    inputs, targets = torch.randn(5, 8), torch.tensor([0, 1, 2, 3, 0])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()

    return step


def convolutional(torch: Any) -> Step:
    """A step of a network of convolutions, with batch norm and pooling."""
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(
        *(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(4, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3)),
    )
    inputs, targets = torch.randn(2, 1, 8, 8), torch.tensor([0, 1])
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, foreach=False)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()

    return step


def transformer(torch: Any) -> Step:
    """A step of a small GPT: two blocks of two heads, written out as in minGPT, with clipped gradients."""
    nn = torch.nn
    width, heads, words, length = 16, 2, 11, 6

    class Block(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            self.register_buffer("mask", torch.tril(torch.ones(length, length))[None, None])

        def forward(self, x: Any) -> Any:
            batch, time, channels = x.size()
            parts = self.qkv(self.before_attention(x)).split(channels, dim=2)
            q, k, v = (part.view(batch, time, heads, channels // heads).transpose(1, 2) for part in parts)
            scores = (q @ k.transpose(-2, -1)) * (channels // heads) ** -0.5
            scores = scores.masked_fill(self.mask[:, :, :time, :time] == 0, float("-inf"))
            mixed = (nn.functional.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(batch, time, channels)
            x = x + self.out(mixed)
            return x + self.mlp(self.before_mlp(x))

    class GPT(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList([Block(), Block()])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

        def forward(self, tokens: Any, targets: Any) -> Any:
            x = self.words(tokens) + self.places(torch.arange(tokens.size(1)))
            for block in self.blocks:
                x = block(x)
            logits = self.head(self.norm(x))
            return nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))

    torch.manual_seed(0)
    model = GPT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    tokens, targets = torch.randint(0, words, (2, length)), torch.randint(0, words, (2, length))

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        model(tokens, targets).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step
