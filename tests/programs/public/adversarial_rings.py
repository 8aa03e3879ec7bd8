"""Two convolutional networks against each other: one draws rings, the other tells drawn from real."""

import random

import torch
import torch.nn as nn
import torch.nn.parallel
import torch.optim
import torch.utils.data as data_utils

SIDE, NOISE, WIDTH = 16, 8, 8
random.seed(11)
torch.manual_seed(11)
torch.use_deterministic_algorithms(True)
torch.backends.cudnn.benchmark = True
torch.backends.cudnn.deterministic = True


class Rings(data_utils.Dataset):
    """Rings of random radius, in the range of tanh."""

    def __init__(self, count):
        axis = torch.arange(SIDE) - (SIDE - 1) / 2
        self.distance = torch.hypot(axis[:, None], axis[None, :])
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        radius = torch.empty(()).uniform_(2, 7)
        return torch.exp(-(self.distance - radius).square()).mul(2).sub(1)[None]


def artist():
    return nn.Sequential(
        nn.ConvTranspose2d(NOISE, 2 * WIDTH, kernel_size=4, bias=False),
        nn.BatchNorm2d(2 * WIDTH),
        nn.ReLU(True),
        nn.ConvTranspose2d(2 * WIDTH, WIDTH, kernel_size=4, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(WIDTH),
        nn.ReLU(True),
        nn.ConvTranspose2d(WIDTH, 1, kernel_size=4, stride=2, padding=1, bias=False),
        nn.Tanh(),
    )


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(
            nn.Conv2d(1, WIDTH, 4, stride=2, padding=1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(WIDTH, 2 * WIDTH, 4, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(2 * WIDTH),
            nn.LeakyReLU(0.2, inplace=True),
        )
        self.judge = nn.Sequential(nn.Conv2d(2 * WIDTH, 1, kernel_size=4, bias=False), nn.Sigmoid())

    def forward(self, images):
        return self.judge(self.look(images)).flatten()


def small_weights(module):
    name = type(module).__name__
    if "Conv" in name:
        nn.init.normal_(module.weight, std=0.02)
    elif "BatchNorm" in name:
        nn.init.normal_(module.weight, mean=1.0, std=0.02)
        nn.init.zeros_(module.bias)


generator, critic = artist().apply(small_weights), Critic().apply(small_weights)
print(generator, critic, sep="\n")
print([type(module).__name__ for module in critic.modules()])
if torch.cuda.device_count() > 1:
    generator = nn.DataParallel(generator)
judge_loss = nn.BCELoss()
watched = torch.randn(32, NOISE, 1, 1)
optimizers = {
    "critic": torch.optim.Adam(critic.parameters(), lr=5e-4, betas=(0.5, 0.999)),
    "generator": torch.optim.Adam(generator.parameters(), lr=5e-4, betas=(0.5, 0.999)),
}
for epoch in range(2):
    for number, real in enumerate(data_utils.DataLoader(Rings(96), batch_size=16, shuffle=True)):
        ones, zeros = torch.ones(len(real)), torch.zeros(len(real))
        drawn = generator(torch.randn(len(real), NOISE, 1, 1))

        critic.zero_grad(set_to_none=True)
        on_real, on_drawn = critic(real), critic(drawn.detach())
        critic_loss = judge_loss(on_real, ones) + judge_loss(on_drawn, zeros)
        critic_loss.backward()
        optimizers["critic"].step()

        generator.zero_grad(set_to_none=True)
        fooled = critic(drawn)
        generator_loss = judge_loss(fooled, ones)
        generator_loss.backward()
        optimizers["generator"].step()
        if number % 3 == 0:
            means = ", ".join("%.3f" % scores.mean().item() for scores in (on_real, on_drawn, fooled))
            print(f"epoch {epoch} batch {number}: {critic_loss.item():.3f} {generator_loss.item():.3f} ({means})")
generator.eval()
with torch.no_grad():
    pictures = generator(watched)
grid = pictures.view(4, 8, SIDE, SIDE).permute(0, 2, 1, 3).reshape(4 * SIDE, 8 * SIDE)
print(grid.shape, f"{grid.mean().item():.4f} {grid.std().item():.4f}")
print(generator[1].running_mean[:3], generator[1].num_batches_tracked)
