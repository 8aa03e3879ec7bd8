"""Finding discs in noise with a network that goes down and up again: skips, two ways of growing, a loss of overlap."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

SIDE = 18


def pair(into, out):
    return nn.Sequential(
        nn.Conv2d(into, out, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(out),
        nn.ReLU(inplace=True),
        nn.Conv2d(out, out, kernel_size=3, padding="same", bias=False),
        nn.GroupNorm(num_groups=2, num_channels=out),
        nn.ReLU(inplace=True),
    )


class Grow(nn.Module):
    """Twice as large, brought to the size of what is skipped to, and joined with it."""

    def __init__(self, into, out, learned):
        super().__init__()
        if learned:
            self.larger = nn.ConvTranspose2d(into, out, kernel_size=2, stride=2)
        else:
            upsample = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.larger = nn.Sequential(upsample, nn.Conv2d(into, out, kernel_size=1))
        self.pair = pair(2 * out, out)

    def forward(self, small, skipped):
        grown = self.larger(small)
        down, right = (wanted - has for wanted, has in zip(skipped.shape[-2:], grown.shape[-2:]))
        grown = F.pad(grown, (right // 2, right - right // 2, down // 2, down - down // 2))
        return self.pair(torch.cat((skipped, grown), dim=1))


class Segmenter(nn.Module):
    def __init__(self, learned, widths=(4, 8, 16)):
        super().__init__()
        self.entry = pair(1, widths[0])
        self.down = nn.ModuleList(pair(a, b) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(Grow(b, a, learned) for a, b in reversed(list(zip(widths, widths[1:]))))
        self.exit = nn.Conv2d(widths[0], 2, kernel_size=1)

    def forward(self, images):
        levels = [self.entry(images)]
        for step in self.down:
            levels.append(step(F.max_pool2d(levels[-1], 2)))
        x = levels.pop()
        for step in self.up:
            x = step(x, levels.pop())
        return self.exit(x)


def overlap(chances, truth, smooth=1e-6):
    both = (chances * truth).sum(dim=(-1, -2))
    either = chances.sum(dim=(-1, -2)) + truth.sum(dim=(-1, -2))
    return ((2 * both + smooth) / (either + smooth)).mean()


torch.manual_seed(0)
middles, radii = SIDE * torch.rand(40, 2), 2 + 4 * torch.rand(40)
rows, columns = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
far = torch.hypot(rows - middles[:, :1, None], columns - middles[:, 1:, None])
masks = (far < radii[:, None, None]).long()
images = masks.unsqueeze(1) + 0.3 * torch.randn(40, 1, SIDE, SIDE)
split = torch.Generator().manual_seed(3)
training, held_out = random_split(TensorDataset(images, masks), [32, 8], generator=split)
print(training.indices[:5], held_out.indices)
for learned in (True, False):
    torch.manual_seed(5)
    model = Segmenter(learned)
    print(sum(p.numel() for p in model.parameters()))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3, weight_decay=1e-8, momentum=0.5)
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.5]))
    for epoch in range(3):
        model.train()
        losses = []
        for batch, truth in DataLoader(training, batch_size=8, shuffle=True):
            scores = model(batch)
            hot = F.one_hot(truth, 2).permute(0, 3, 1, 2).float()
            loss = criterion(scores, truth) + 1 - overlap(scores.softmax(dim=1), hot)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.detach())
        print(f"learned={learned} epoch {epoch}: {torch.stack(losses).mean():.3f}")
    model.eval()
    with torch.inference_mode():
        batch, truth = next(iter(DataLoader(held_out, batch_size=8)))
        scores = model(batch)
        guess = scores.argmax(dim=1)
    both, either = (guess & truth).sum(), (guess | truth).sum()
    print(f"held out: {criterion(scores, truth).item():.3f}", guess.shape, bool(both <= either))
