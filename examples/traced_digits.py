"""Trains the network of digits.py, traces it, and saves it as a program that needs no source.

    python -m glasstorch examples/traced_digits.py      with glasstorch
    python examples/traced_digits.py                    with PyTorch, where it is installed

What is traced takes the pixels as a scanner gives them, numbers from 0 to 16: bringing them to the scale that the
network was trained on is part of the program. Reading the saved file takes the library alone:

    python -c "import glasstorch as torch; print(torch.jit.load('digits.pt').code)"
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import torch
from digits import Data, accuracy, load_digits, make_model, make_optimizer, train
from torch import nn


class Reader(nn.Module):
    """From raw pixels to scores: the trained network behind the change of scale."""

    def __init__(self, network: nn.Module, training: Data) -> None:
        super().__init__()
        self.network = network
        mean = training.images.mean(0)  # (64,)
        self.register_buffer("mean", mean)
        self.register_buffer("spread", (training.images - mean).pow(2).mean(0).sqrt() + 0.1)  # (64,)

    def scaled(self, images: torch.Tensor) -> torch.Tensor:
        """Images from 0 to 1, to mean 0 and about equal spread; (n, 64)."""
        return (images - self.mean) / self.spread

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """Scores of the ten digits, (n, 10), for images of pixels from 0 to 16, (n, 64)."""
        return self.network(self.scaled(pixels / 16))


def main() -> None:
    """Train, trace, save, load, compare."""
    parser = argparse.ArgumentParser(description="Traces a network that reads handwritten digits.")
    parser.add_argument("--epochs", type=int, default=10, help="passes over the training data (default 10)")
    parser.add_argument("--file", type=Path, default=Path("digits.pt"), help="where to save (default digits.pt)")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    training, test = load_digits(torch.device("cpu"))
    reader = Reader(make_model(), training)
    optimizer = make_optimizer("sgd", reader, None)
    with torch.no_grad():
        scaled = Data(reader.scaled(training.images), training.digits)
    for _ in range(arguments.epochs):
        loss = list(train(reader.network, optimizer, scaled, 64))[-1]
    print(f"trained for {arguments.epochs} epochs, the last loss is {loss:.4f}")

    pixels = Data(test.images * 16, test.digits)
    reader.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch's word on torch.jit
        traced = torch.jit.trace(reader, pixels.images[:1])
        torch.jit.save(traced, str(arguments.file))
        loaded = torch.jit.load(str(arguments.file))
    print(f"what was traced:\n{traced.code}")
    with torch.no_grad():
        print(f"what runs:\n{traced.graph_for(pixels.images)}")
    reached = [accuracy(model, pixels) for model in (reader, traced, loaded)]
    print("read correctly: {:.1%} by the module, {:.1%} traced, {:.1%} loaded from {}".format(*reached, arguments.file))


if __name__ == "__main__":
    main()
