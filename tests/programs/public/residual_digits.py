"""A residual network on digits: shifted images, mixed pairs, soft labels, one cycle of the rate, a look inside after."""

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn, optim
from torch.utils.data import DataLoader, Dataset, Subset


class Residual(nn.Module):
    def __init__(self, into: int, out: int, stride: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(into, out, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(out),
            nn.ReLU(inplace=True),
            nn.Conv2d(out, out, 3, padding=1, bias=False),
            nn.BatchNorm2d(out),
        )
        same = stride == 1 and into == out
        self.skip = nn.Identity() if same else nn.Sequential(nn.Conv2d(into, out, 1, stride), nn.BatchNorm2d(out))

    def forward(self, x: Tensor) -> Tensor:
        y = self.body(x)
        y += self.skip(x)
        return F.relu(y, inplace=True)


class ResidualNet(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.stem = nn.Sequential()
        self.stem.add_module("conv", nn.Conv2d(1, width, 3, padding=1, bias=False))
        self.stem.add_module("norm", nn.BatchNorm2d(width))
        self.stages = nn.ModuleList([Residual(width, width), Residual(width, 2 * width, stride=2)])
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(2 * width, 10)
        for name, module in self.named_modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif name.endswith("body.4"):
                nn.init.zeros_(module.weight)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x).relu_()
        for stage in self.stages:
            x = stage(x)
        return self.head(self.pool(x).flatten(1))


class Digits(Dataset):
    def __init__(self, shift: int = 0) -> None:
        raw = load_digits()
        self.images = torch.from_numpy(raw.images).float().unsqueeze(1)[:640]
        self.images = (self.images - self.images.mean()) / self.images.std()
        self.labels, self.shift = torch.from_numpy(raw.target)[:640], shift

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        image = self.images[index]
        if self.shift:
            padded = F.pad(image, [self.shift] * 4, value=float(image.min()))
            top, left = torch.randint(2 * self.shift + 1, (2,)).tolist()
            image = padded[:, top : top + 8, left : left + 8]
        return image, self.labels[index]


torch.manual_seed(10)
rng = np.random.RandomState(10)
training, held_out = Subset(Digits(shift=1), range(512)), Subset(Digits(), range(512, 640))
loader = DataLoader(training, batch_size=64, shuffle=True, drop_last=True)
model = ResidualNet().to(memory_format=torch.channels_last)
print(model.stages[1])
print(f"{sum(p.numel() for p in model.parameters()):,} parameters", model.stem.conv.weight.stride())
plain, decayed = [], []
for parameter in model.parameters():
    (decayed if parameter.ndim > 1 else plain).append(parameter)
optimizer = optim.SGD(
    [{"params": decayed, "weight_decay": 5e-4}, {"params": plain}], lr=0.1, momentum=0.9, nesterov=True
)
schedule = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=[0.2, 0.1], epochs=2, steps_per_epoch=len(loader))
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
for epoch in range(2):
    model.train()
    total = torch.zeros(())
    for images, labels in loader:
        share, partner = float(rng.beta(0.4, 0.4)), torch.randperm(len(images))
        mixed = torch.lerp(images[partner], images, share).contiguous(memory_format=torch.channels_last)
        scores = model(mixed)
        loss = share * criterion(scores, labels) + (1 - share) * criterion(scores, labels[partner])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.detach() / len(loader)
    settings = [(round(group["lr"], 6), round(group["momentum"], 4)) for group in optimizer.param_groups]
    print(f"epoch {epoch}: loss {total:.2f}", settings)

model.eval()
counts = torch.zeros(10, 10, dtype=torch.long)
with torch.no_grad():
    for images, labels in DataLoader(held_out, batch_size=128):
        counts.index_put_((labels, model(images).argmax(1)), torch.tensor(1), accumulate=True)
print(counts.sum(), counts.shape, model.stem.norm.num_batches_tracked)
fused = nn.utils.fuse_conv_bn_eval(model.stem.conv, model.stem.norm)
some = torch.stack([held_out[index][0] for index in range(4)])
print(torch.allclose(fused(some), model.stem(some), atol=1e-5), fused.bias is not None)
kept = {}
hooks = [s.register_forward_hook(lambda m, i, o, n=n: kept.__setitem__(n, o.shape)) for n, s in enumerate(model.stages)]
some.requires_grad_()
model(some).max(dim=1).values.sum().backward()
print(kept, some.grad.abs().amax(dim=(1, 2, 3)).shape)
for hook in hooks:
    hook.remove()
