"""Trains a network of three layers to read handwritten digits.

    python -m glasstorch examples/digits.py      with glasstorch
    python examples/digits.py                    with PyTorch, where it is installed
    GLASSTORCH_CUDA=simulator python -m glasstorch examples/digits.py --device cuda --epochs 1
                                                 with glasstorch, on a CUDA device that the CPU simulates

One program for both libraries: `import torch` means whichever runs it. With the same seed they start from the
same weights and see the same batches, so their losses can be compared number by number (`--losses FILE`).

The 1797 images of 8 x 8 pixels come with scikit-learn (`pip install scikit-learn`); four fifths are trained
on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from line_plot import write_line_plot

try:
    import torch
    from torch import nn
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    sys.exit("PyTorch is not installed here; run this program with: python -m glasstorch examples/digits.py")

CLASSES = 10


class Data(NamedTuple):
    """Images of size (n, 64) with values from 0 to 1, and the digits they show."""

    images: torch.Tensor
    digits: torch.Tensor


def load_digits(device: torch.device) -> tuple[Data, Data]:
    """Shuffled training and test data on a device."""
    try:
        from sklearn.datasets import load_digits as load
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("sklearn"):
            raise
        sys.exit("the images come with scikit-learn, which is not installed here: pip install scikit-learn")
    raw = load()
    images = torch.from_numpy(raw.data).float() / 16  # (1797, 64)
    digits = torch.from_numpy(raw.target)  # (1797,)
    order = torch.randperm(len(images))
    training, test = order[: len(order) * 4 // 5], order[len(order) * 4 // 5 :]
    images, digits = images.to(device), digits.to(device)
    return Data(images[training], digits[training]), Data(images[test], digits[test])


def make_model() -> nn.Module:
    """64 pixels to 10 scores, one for each digit."""
    return nn.Sequential(
        nn.Linear(64, 128),
        nn.ReLU(),
        nn.Linear(128, 64),
        nn.ReLU(),
        nn.Linear(64, CLASSES),
    )


def make_optimizer(name: str, model: nn.Module, learning_rate: float | None) -> torch.optim.Optimizer:
    """Gradient descent with momentum, or Adam."""
    if name == "sgd":
        return torch.optim.SGD(model.parameters(), lr=learning_rate or 0.05, momentum=0.9)
    return torch.optim.Adam(model.parameters(), lr=learning_rate or 2e-3)


def batches(data: Data, size: int) -> Iterator[Data]:
    """The data once, in a new order, in batches; the last one may be smaller. The order is drawn on the CPU."""
    for chosen in torch.randperm(len(data.images)).split(size):
        yield Data(data.images[chosen], data.digits[chosen])


def accuracy(model: nn.Module, data: Data) -> float:
    """The share of images for which the right digit has the highest score."""
    model.eval()
    with torch.no_grad():
        guesses = model(data.images).argmax(dim=1)  # (n,)
    return (guesses == data.digits).float().mean().item()


def train(model: nn.Module, optimizer: torch.optim.Optimizer, data: Data, batch_size: int) -> Iterator[float]:
    """One pass over the data; gives the loss of each batch, taken before its step."""
    model.train()
    loss_of = nn.CrossEntropyLoss()
    for batch in batches(data, batch_size):
        loss = loss_of(model(batch.images), batch.digits)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


class Progress:
    """A moving bar on a terminal, a line every few epochs elsewhere."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs
        self.bar: Any = None
        if sys.stdout.isatty():
            from rich.progress import Progress as Bar

            self.bar = Bar()
            self.task = self.bar.add_task("training", total=epochs)
            self.bar.start()

    def epoch_done(self, epoch: int, loss: float) -> None:
        """Show how far it is, with the mean loss of the epoch."""
        if self.bar is not None:
            self.bar.update(self.task, completed=epoch, description=f"epoch {epoch}, loss {loss:.4f}")
        elif epoch in (1, self.epochs) or epoch % 5 == 0:
            print(f"epoch {epoch:3d}   loss {loss:.4f}", flush=True)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self.bar is not None:
            self.bar.stop()


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Trains a network to read handwritten digits.")
    parser.add_argument("--epochs", type=int, default=30, help="passes over the training data (default 30)")
    parser.add_argument("--seed", type=int, default=0, help="decides split, weights and batches (default 0)")
    parser.add_argument("--batch-size", type=int, default=64, help="images a step (default 64)")
    parser.add_argument("--optimizer", choices=("sgd", "adam"), default="sgd", help="(default sgd)")
    parser.add_argument("--device", type=torch.device, default="cpu", help="cpu or cuda (default cpu)")
    parser.add_argument("--learning-rate", type=float, help="(default 0.05 for sgd, 0.002 for adam)")
    parser.add_argument(
        "--plot", type=Path, default=Path("digits.svg"), help="where to draw the loss (default digits.svg)"
    )
    parser.add_argument("--losses", type=Path, help="a JSON file to write all losses and the accuracy to")
    arguments = parser.parse_args()
    for name in ("epochs", "batch_size"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1, got {getattr(arguments, name)}")
    return arguments


def main() -> None:
    """Train, test, draw."""
    arguments = parse_arguments()
    library = f"{torch.__name__} {torch.__version__}"
    device = arguments.device
    torch.manual_seed(arguments.seed)
    training, test = load_digits(device)
    model = make_model().to(device)
    optimizer = make_optimizer(arguments.optimizer, model, arguments.learning_rate)
    print(f"{library}: {len(training.images)} images to train on, {len(test.images)} to test with\n{model}")
    if device.type == "cuda":
        print(f"on {device}, {torch.cuda.get_device_name(device)}")

    losses: list[float] = []
    progress = Progress(arguments.epochs)
    start = time.perf_counter()
    try:
        for epoch in range(1, arguments.epochs + 1):
            of_epoch = list(train(model, optimizer, training, arguments.batch_size))
            losses += of_epoch
            progress.epoch_done(epoch, sum(of_epoch) / len(of_epoch))
    finally:
        progress.close()
    seconds = time.perf_counter() - start

    reached = accuracy(model, test)
    print(f"{reached:.1%} of the test images are read correctly, after {seconds:.1f} s of training")
    write_line_plot(arguments.plot, losses, f"Loss on handwritten digits ({library})", "step", "cross entropy")
    print(f"the loss is drawn in {arguments.plot}")
    if arguments.losses is not None:
        facts = {"library": library, "seed": arguments.seed, "accuracy": reached, "losses": losses}
        arguments.losses.write_text(json.dumps(facts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
