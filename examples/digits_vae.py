"""Trains a variational autoencoder on handwritten digits, and draws new digits.

    python -m glasstorch examples/digits_vae.py --pictures new_digits.png       with glasstorch
    python examples/digits_vae.py --pictures new_digits.png                     with PyTorch, where it is installed

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
from torch.distributions import Bernoulli, Independent, Normal, kl_divergence

LATENT = 8


class Autoencoder(nn.Module):
    """Images of size (n, 64) to a distribution of codes, and codes to a distribution of images."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 2 * LATENT))
        self.decoder = nn.Sequential(nn.Linear(LATENT, 128), nn.ReLU(), nn.Linear(128, 64))

    def encode(self, images: torch.Tensor) -> Independent:
        mean, scale = self.encoder(images).chunk(2, dim=-1)
        return Independent(Normal(mean, F.softplus(scale)), 1)

    def decode(self, codes: torch.Tensor) -> Independent:
        return Independent(Bernoulli(logits=self.decoder(codes), validate_args=False), 1)


def main() -> None:
    """Train, then draw."""

    def options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--pictures", type=Path, help="a PNG file for 64 new digits")

    run = runs.Run("A variational autoencoder on handwritten digits", steps=800, add_options=options)
    device = run.device
    from sklearn.datasets import load_digits

    images = torch.from_numpy(load_digits().data).float().div(16).to(device)
    model = Autoencoder().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    prior = Independent(Normal(torch.zeros(LATENT, device=device), torch.ones(LATENT, device=device)), 1)

    def step() -> dict[str, torch.Tensor]:
        batch = images[torch.randint(len(images), (64,)).to(device)]
        codes = model.encode(batch)
        shown = -model.decode(codes.rsample()).log_prob(batch).mean()
        told = kl_divergence(codes, prior).mean()
        optimizer.zero_grad()
        (shown + told).backward()
        optimizer.step()
        return {"loss": (shown + told).detach(), "picture": shown.detach(), "code": told.detach()}

    run.train(step, model, optimizer)
    with torch.no_grad():
        drawn = model.decode(prior.sample((64,))).mean.view(64, 8, 8)
    if run.options.pictures is not None:
        write_grid(run.options.pictures, drawn.cpu())
        print(f"64 new digits are drawn in {run.options.pictures}")
    run.close(mean=drawn.mean().item())


if __name__ == "__main__":
    main()
