"""Trains a language model of words, two layers of LSTM, on the documentation that comes with Python.

    python -m glasstorch examples/word_lstm.py       with glasstorch
    python examples/word_lstm.py                     with PyTorch, where it is installed

Its state goes on from one stretch of text to the next, while gradients stop there (truncated backpropagation).
"""

from __future__ import annotations

import math
import pydoc_data.topics
import re
from collections import Counter
from typing import Any

import runs
import torch
import torch.nn.functional as F
from torch import nn

COLUMNS, STRETCH, KINDS = 16, 20, 600  # texts side by side; words between two stops; words that have a number


class WordModel(nn.Module):
    """Words as numbers, of size (length, columns), to scores of the next ones."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.words, self.drop = nn.Embedding(KINDS, width), nn.Dropout(0.2)
        self.cells = nn.LSTM(width, width, num_layers=2, dropout=0.2)
        self.scores = nn.Linear(width, KINDS)
        self.scores.weight = self.words.weight
        nn.init.uniform_(self.words.weight, -0.1, 0.1)

    def forward(self, words: torch.Tensor, memory: tuple[torch.Tensor, ...] | None) -> tuple[torch.Tensor, ...]:
        outputs, memory = self.cells(self.drop(self.words(words)), memory)
        return self.scores(self.drop(outputs)), *memory


class Reader:
    """Where in the text the training is, and what the model remembers there; a part of the checkpoint."""

    def __init__(self) -> None:
        self.place, self.memory = 0, None

    def state_dict(self) -> dict[str, Any]:
        return {"place": self.place, "memory": self.memory}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.place, self.memory = state["place"], state["memory"]


def columns_of(words: list[str]) -> torch.Tensor:
    """The words as numbers, of size (length, COLUMNS); all rare words have the number 0."""
    common = [word for word, _ in Counter(words).most_common(KINDS - 1)]
    numbers = {word: number for number, word in enumerate(common, start=1)}
    text = torch.tensor([numbers.get(word, 0) for word in words])
    return text[: len(text) // COLUMNS * COLUMNS].view(COLUMNS, -1).t().contiguous()


def main() -> None:
    """Train, then tell the perplexity of the last steps."""
    run = runs.Run("An LSTM of words on Python's documentation", steps=400)
    device = run.device
    topics = pydoc_data.topics.topics
    text = columns_of(re.findall(r"\w+|[^\w\s]", " ".join(topics[name] for name in sorted(topics)[:30]).lower()))
    model = WordModel().to(device)
    print(f"{text.numel()} words, {sum(p.numel() for p in model.parameters())} parameters")
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    reader = Reader()

    def step() -> torch.Tensor:
        if reader.place + STRETCH >= len(text):
            reader.place, reader.memory = 0, None
        stretch = text[reader.place : reader.place + STRETCH + 1].to(device)
        scores, *memory = model(stretch[:-1], reader.memory)
        reader.place, reader.memory = reader.place + STRETCH, tuple(part.detach() for part in memory)
        loss = F.cross_entropy(scores.flatten(0, 1), stretch[1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    run.train(step, model, optimizer, reader)
    last = run.losses["loss"][-50:]
    perplexity = math.exp(sum(last) / len(last))
    print(f"perplexity {perplexity:.1f} of {KINDS}")
    run.close(perplexity=perplexity)


if __name__ == "__main__":
    main()
