"""Does a variational autoencoder learn to draw digits?

Convolutions down and transposed ones up, batch norm, a draw from the latent distribution by `randn_like`, the evidence
lower bound as loss; Adamax.
"""

from __future__ import annotations

from typing import Any

from tests.programs.training import Training, digits, in_batches


def vae(torch: Any) -> Training:
    nn, functional = torch.nn, torch.nn.functional

    class VAE(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self, latent: int = 6) -> None:
            super().__init__()
            self.encoder = nn.Sequential(
                nn.Conv2d(1, 8, 4, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(8),
                nn.LeakyReLU(0.1),
                nn.Conv2d(8, 16, 4, stride=2, padding=1),
                nn.LeakyReLU(0.1),
                nn.Flatten(),
            )
            self.mean = nn.Linear(64, latent)
            self.log_variance = nn.Linear(64, latent)
            self.decoder = nn.Sequential(
                nn.Linear(latent, 64),
                nn.Unflatten(1, (16, 2, 2)),
                nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(8),
                nn.ELU(),
                nn.ConvTranspose2d(8, 1, 3, stride=2, padding=1, output_padding=1),
            )

        def forward(self, x: Any) -> tuple[Any, Any, Any]:
            hidden = self.encoder(x)
            mean, log_variance = self.mean(hidden), self.log_variance(hidden)
            z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
            return self.decoder(z), mean, log_variance

    torch.manual_seed(3)
    images, _ = digits(torch)
    model = VAE()
    optimizer = torch.optim.Adamax(model.parameters(), lr=5e-3)
    batches = in_batches(torch, (images,), 32)

    def step() -> Any:
        model.train()
        (x,) = next(batches)
        drawn, mean, log_variance = model(x)
        likelihood = functional.binary_cross_entropy_with_logits(drawn, x, reduction="sum")
        divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
        loss = (likelihood + divergence) / len(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def answer() -> Any:
        model.eval()
        mean = model.mean(model.encoder(images[:32]))
        return torch.cat([model.decoder(mean), torch.sigmoid(model.decoder(torch.zeros(1, 6)))])

    return Training(model, step, answer)
