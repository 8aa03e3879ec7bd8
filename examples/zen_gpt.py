"""Trains the GPT of char_gpt.py, at a quarter of its size, on the Zen of Python, and prints the loss of each step.

    python -m glasstorch examples/zen_gpt.py        with glasstorch
    python examples/zen_gpt.py                      with PyTorch, where it is installed

The text is the same in every version of Python, so two runs can be compared line by line.
"""

from __future__ import annotations

import codecs
import contextlib
import io
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from char_gpt import CharGPT
from torch import nn

with contextlib.redirect_stdout(io.StringIO()):  # the module prints its text when it is imported
    import this

TEXT = codecs.decode(this.s, "rot13")
KNOWN = sorted(set(TEXT))
NUMBERS = torch.tensor([KNOWN.index(character) for character in TEXT])
LENGTH = 32  # characters of each window


def made() -> CharGPT:
    """The model, with the weights that seed 0 gives."""
    torch.manual_seed(0)
    return CharGPT(len(KNOWN), width=32, heads=2)


def losses(model: CharGPT, steps: int = 40, rate: float = 5e-3) -> Iterator[float]:
    """Take so many steps, and give the loss of each; the first ten warm up."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.95), weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=10)
    for _ in range(steps):
        starts = torch.randint(len(NUMBERS) - LENGTH, (8, 1))
        windows = NUMBERS[starts + torch.arange(LENGTH + 1)]
        scores = model(windows[:, :-1])
        loss = F.cross_entropy(scores.flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        yield loss.item()


def main() -> None:
    """Print the loss of each step."""
    for step, loss in enumerate(losses(made()), start=1):
        print(f"{step:2d} {loss:.3f}")


if __name__ == "__main__":
    main()
