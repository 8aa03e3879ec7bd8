"""Trains two networks against each other: one draws handwritten digits, the other tells drawn from real.

    python -m glasstorch examples/digits_gan.py --pictures drawn.png       with glasstorch
    python examples/digits_gan.py --pictures drawn.png                     with PyTorch, where it is installed

The images, of 8 x 8 pixels, come with scikit-learn.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import runs
import torch
import torch.nn.functional as F
from pictures import write_grid
from torch import nn

NOISE = 16


def make_artist() -> nn.Module:
    """Noise of size (n, NOISE) to images of size (n, 1, 8, 8) from -1 to 1."""
    return nn.Sequential(
        nn.Linear(NOISE, 64 * 2 * 2, bias=False),
        nn.Unflatten(1, (64, 2, 2)),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.ConvTranspose2d(64, 32, kernel_size=4, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.ConvTranspose2d(32, 1, kernel_size=4, stride=2, padding=1),
        nn.Tanh(),
    )


def make_judge() -> nn.Module:
    """Images of size (n, 1, 8, 8) to scores of size (n, 1): above zero means real."""
    return nn.Sequential(
        nn.Conv2d(1, 32, kernel_size=4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(32, 64, kernel_size=4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Dropout(0.2),
        nn.Flatten(),
        nn.Linear(64 * 2 * 2, 1),
    )


def verdict(scores: torch.Tensor, real: float) -> torch.Tensor:
    """How far the scores are from saying real (1) or drawn (0)."""
    return F.binary_cross_entropy_with_logits(scores, torch.full_like(scores, real))


def main() -> None:
    """Train both, then draw."""

    def options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--pictures", type=Path, help="a PNG file for 64 drawn digits")

    run = runs.Run("Two networks on handwritten digits", steps=600, add_options=options)
    device = run.device
    from sklearn.datasets import load_digits

    images = torch.from_numpy(load_digits().images).float().div(8).sub(1).unsqueeze(1).to(device)
    both = nn.ModuleDict({"artist": make_artist(), "judge": make_judge()}).to(device)
    artist, judge = both["artist"], both["judge"]
    of_artist = torch.optim.Adam(artist.parameters(), lr=2e-3, betas=(0.5, 0.999))
    of_judge = torch.optim.Adam(judge.parameters(), lr=5e-4, betas=(0.5, 0.999))

    def step() -> dict[str, torch.Tensor]:
        real = images[torch.randint(len(images), (64,)).to(device)]
        drawn = artist(torch.randn(64, NOISE).to(device))
        judged = verdict(judge(real), 0.9) + verdict(judge(drawn.detach()), 0.0)
        of_judge.zero_grad()
        judged.backward()
        of_judge.step()
        fooled = verdict(judge(drawn), 1.0)
        of_artist.zero_grad()
        fooled.backward()
        of_artist.step()
        return {"artist": fooled.detach(), "judge": judged.detach()}

    run.train(step, both, of_artist, of_judge)
    both.eval()
    with torch.no_grad():
        drawn = artist(torch.randn(64, NOISE).to(device)).squeeze(1)
    if run.options.pictures is not None:
        write_grid(run.options.pictures, drawn.cpu() / 2 + 0.5)
        print(f"64 drawn digits are in {run.options.pictures}")
    run.close(mean=drawn.mean().item())


if __name__ == "__main__":
    main()
