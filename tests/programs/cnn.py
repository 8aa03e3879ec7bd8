"""Does a small residual convolutional network learn digits?

Images with noise, batch norm, a depthwise convolution, dropped channels and pooling; He's initialization; RMSprop with
momentum, and a rate that goes up and down once.
"""

from __future__ import annotations

from typing import Any

from tests.programs.training import Training, digits, in_batches


def cnn(torch: Any) -> Training:
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):  # type: ignore[misc,name-defined]
        """A convolution for each channel, one across them, and the way around both."""

        def __init__(self, channels: int) -> None:
            super().__init__()
            self.depthwise = nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False)
            self.norm = nn.BatchNorm2d(channels)
            self.pointwise = nn.Conv2d(channels, channels, 1)

        def forward(self, x: Any) -> Any:
            return x + self.pointwise(functional.silu(self.norm(self.depthwise(x))))

    class Network(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, padding="same", bias=False), nn.BatchNorm2d(16), nn.SiLU())
            self.block = Block(16)
            self.down = nn.Conv2d(16, 32, 3, stride=2, padding=1)
            self.drop = nn.Dropout2d(0.1)
            self.head = nn.Linear(32, 10)
            for module in self.modules():
                if isinstance(module, nn.Conv2d):
                    nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

        def forward(self, x: Any) -> Any:
            x = functional.max_pool2d(self.block(self.stem(x)), 2)  # (n, 16, 4, 4)
            x = self.drop(functional.relu(self.down(x)))  # (n, 32, 2, 2)
            return self.head(functional.adaptive_avg_pool2d(x, 1).flatten(1))

    torch.manual_seed(4)
    images, labels = digits(torch)
    model = Network()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, alpha=0.95, eps=1e-4, momentum=0.5)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-3, total_steps=200)
    batches = in_batches(torch, (images, labels), 32)

    def step() -> Any:
        model.train()
        x, y = next(batches)
        x = x + 0.1 * torch.randn_like(x)
        loss = functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss

    def answer() -> Any:
        model.eval()
        with torch.no_grad():
            return model(images[:64])

    return Training(model, step, answer)
