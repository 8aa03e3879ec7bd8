"""Trains a convolutional network on handwritten digits that are shifted and turned anew each time they are seen.

    python -m glasstorch examples/digits_cnn.py                              with glasstorch
    python examples/digits_cnn.py                                            with PyTorch, where it is installed
    python -m glasstorch examples/digits_cnn.py --checkpoint cnn.pt          goes on from cnn.pt after an interruption

The images, of 8 x 8 pixels, come with scikit-learn. The loader's workers, if it has any, shift and turn them.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

import runs
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

EPOCH = 23  # batches of 64 images


class Digits(Dataset):
    """Images of size (1, 8, 8) from 0 to 1, each with its digit; those for training are moved anew each time."""

    def __init__(self, *, training: bool) -> None:
        from sklearn.datasets import load_digits

        raw = load_digits()
        order = torch.randperm(len(raw.images), generator=torch.Generator().manual_seed(0))
        chosen = order[:1437] if training else order[1437:]
        self.images = (torch.from_numpy(raw.images).float() / 16)[chosen].unsqueeze(1)
        self.labels, self.training = torch.from_numpy(raw.target)[chosen], training

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        image = self.images[index]
        return moved(image) if self.training else image, self.labels[index]


def moved(image: torch.Tensor) -> torch.Tensor:
    """The image turned by up to 12 degrees and shifted by up to half a pixel, drawn from the random stream."""
    angle, right, down = (torch.rand(3) * 2 - 1) * torch.tensor([12 * math.pi / 180, 0.125, 0.125])
    rows = torch.stack([angle.cos(), -angle.sin(), right, angle.sin(), angle.cos(), down]).view(1, 2, 3)
    grid = F.affine_grid(rows, [1, 1, 8, 8], align_corners=False)
    return F.grid_sample(image[None], grid, align_corners=False)[0]


def make_model() -> nn.Module:
    """Images of size (n, 1, 8, 8) to scores of size (n, 10)."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Dropout2d(0.1),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 10),
    )


def without_end(loader: DataLoader) -> Iterator[list[torch.Tensor]]:
    """The batches of one epoch after another."""
    while True:
        yield from loader


def main() -> None:
    """Train and test."""

    def options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--workers", type=int, default=0, help="processes that prepare batches (default 0)")

    # A checkpoint between two epochs: an order that was half gone through is not kept.
    run = runs.Run("A convolutional network on handwritten digits", 18 * EPOCH, options, every=EPOCH)
    device = run.device
    model = make_model().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=run.options.steps)
    loader = DataLoader(Digits(training=True), batch_size=64, shuffle=True, num_workers=run.options.workers)
    batches = without_end(loader)

    def step() -> torch.Tensor:
        model.train()
        images, labels = next(batches)
        loss = F.cross_entropy(model(images.to(device)), labels.to(device), label_smoothing=0.05)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss

    run.train(step, model, optimizer, schedule)
    model.eval()
    right = 0
    with torch.no_grad():
        for images, labels in DataLoader(Digits(training=False), batch_size=360):
            right += int((model(images.to(device)).argmax(dim=1).cpu() == labels).sum())
    print(f"{right} of 360 images that it has not seen are read correctly")
    run.close(right=right)


if __name__ == "__main__":
    main()
