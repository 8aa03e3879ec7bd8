"""Trains a small GPT, character by character, on the documentation that comes with Python, and lets it write.

    python -m glasstorch examples/char_gpt.py        with glasstorch
    python examples/char_gpt.py                      with PyTorch, where it is installed

The text differs a little from one version of Python to another, and so do the losses.
"""

from __future__ import annotations

import argparse
import pydoc_data.topics

import runs
import torch
import torch.nn.functional as F
from torch import nn

CONTEXT = 64  # characters that the model sees


class Block(nn.Module):
    """Attention to what came before, then a small network at each place; both are added to what goes in."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_network = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.qkv(self.before_attention(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # each (batch, heads, length, width / heads)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.network(self.before_network(x))


class CharGPT(nn.Module):
    """Characters as numbers, of size (batch, length), to scores of the next one, (batch, length, characters)."""

    def __init__(self, characters: int, width: int = 64, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.characters, self.places = nn.Embedding(characters, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, characters, bias=False)
        self.scores.weight = self.characters.weight
        for table in (self.characters, self.places):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        x = self.characters(text) + self.places(torch.arange(text.shape[1], device=text.device))
        return self.scores(self.norm(self.blocks(x)))

    @torch.no_grad()
    def write(self, text: torch.Tensor, count: int) -> torch.Tensor:
        """The text, of size (1, length), with `count` more characters, each drawn by its predicted probability."""
        for _ in range(count):
            scores = self(text[:, -CONTEXT:])[:, -1]
            text = torch.cat([text, torch.multinomial(scores.softmax(dim=-1), num_samples=1)], dim=1)
        return text


def main() -> None:
    """Train, then write."""

    def options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--write", type=int, default=300, help="characters to write at the end (default 300)")

    run = runs.Run("A GPT of characters on Python's documentation", steps=600, add_options=options)
    device = run.device
    text = "".join(pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics)[:30])
    known = sorted(set(text))
    numbers = torch.tensor([known.index(character) for character in text])
    model = CharGPT(len(known)).to(device)
    print(f"{len(text)} characters of {len(known)} kinds, {sum(p.numel() for p in model.parameters())} parameters")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1)

    def rate(step: int) -> float:
        return min((step + 1) / 20, 1.0) * (1 - step / (run.options.steps + 1))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)

    def step() -> torch.Tensor:
        starts = torch.randint(len(numbers) - CONTEXT, (16, 1))
        windows = numbers[starts + torch.arange(CONTEXT + 1)].to(device)
        scores = model(windows[:, :-1])
        loss = F.cross_entropy(scores.flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        return loss

    run.train(step, model, optimizer, schedule)
    written = model.write(numbers[None, :1].to(device), run.options.write)
    print("".join(known[number] for number in written[0].tolist()))
    run.close(characters=len(text))


if __name__ == "__main__":
    main()
