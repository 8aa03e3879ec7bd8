"""Checkpoints as scripts keep them: the best so far, going on after a break, then freezing layers for another task."""

import copy
import os
import random
import shutil
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim import lr_scheduler

os.makedirs("run", exist_ok=True)
LAST, BEST = os.path.join("run", "last.pth.tar"), os.path.join("run", "best.pth.tar")


def same_everywhere(seed):
    for fix in (random.seed, np.random.seed, torch.manual_seed, torch.cuda.manual_seed_all):
        fix(seed)
    torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic = False, True


class Mean(object):
    """A running mean that prints itself."""

    def __init__(self, name, places):
        self.name, self.places, self.total, self.count = name, places, 0.0, 0

    def add(self, value, weight):
        self.total += float(value) * weight
        self.count += weight

    def __format__(self, spec):
        return f"{self.name} {self.total / self.count:.{self.places}f}"


@torch.no_grad()
def share_within(scores, labels, most=(1, 2)):
    ranked = scores.topk(max(most), dim=1, largest=True, sorted=True).indices
    right = ranked.eq(labels[:, None].expand_as(ranked))
    return [right[:, :k].any(dim=1).float().mean().mul_(100) for k in most]


class Classifier(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        parts = OrderedDict(first=nn.Linear(10, 32), norm=nn.BatchNorm1d(32), bend=nn.SiLU())
        self.features = nn.Sequential(parts)
        self.head = nn.Linear(32, classes)

    def forward(self, points):
        return self.head(self.features(points))


same_everywhere(0)
middles = 1.5 * torch.randn(4, 10)
labels = torch.arange(200) % 4
points = middles[labels] + torch.randn(200, 10)


def begin():
    model = Classifier()
    optimizer = optim.SGD(model.parameters(), 0.05, momentum=0.9, weight_decay=1e-4, nesterov=True)
    parts = [lr_scheduler.LinearLR(optimizer, 0.1, total_iters=2), lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)]
    return model, optimizer, lr_scheduler.SequentialLR(optimizer, parts, milestones=[2])


def one_epoch(model, optimizer, epoch):
    model.train()
    loss_mean, first, second = Mean("loss", 4), Mean("top1", 1), Mean("top2", 1)
    for batch in torch.randperm(200).split(50):
        scores = model(points[batch])
        loss = F.cross_entropy(scores, labels[batch], label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_mean.add(loss.item(), len(batch))
        for mean, value in zip((first, second), share_within(scores, labels[batch])):
            mean.add(value, len(batch))
    print(f"epoch {epoch}: {loss_mean}, {first}, {second}, rate {optimizer.param_groups[0]['lr']:.5f}")
    return first.total / first.count


model, optimizer, schedule = begin()
best = 0.0
for epoch in range(6):
    reached = one_epoch(model, optimizer, epoch)
    schedule.step()
    if epoch <= 2:
        everything = {
            "next": epoch + 1,
            "kind": type(model).__name__,
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "schedule": schedule.state_dict(),
            "random": torch.get_rng_state(),
            "best": max(best, reached),
        }
        torch.save(everything, LAST)
        if reached > best:
            shutil.copyfile(LAST, BEST)
    best = max(best, reached)
without_a_break = copy.deepcopy(model.state_dict())

model, optimizer, schedule = begin()
saved = torch.load(LAST, map_location="cpu")
for part, name in ((model, "model"), (optimizer, "optimizer"), (schedule, "schedule")):
    part.load_state_dict(saved[name])
torch.set_rng_state(saved["random"])
print("going on with epoch", saved["next"], sorted(os.listdir("run")), sorted(saved))
for epoch in range(saved["next"], 6):
    one_epoch(model, optimizer, epoch)
    schedule.step()
print(all(torch.equal(value, model.state_dict()[name]) for name, value in without_a_break.items()))

for parameter in model.parameters():
    parameter.requires_grad = False
model.head = nn.Linear(model.head.in_features, 2)
trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
print([tuple(parameter.shape) for parameter in trained])
optimizer = optim.Adam(trained, lr=0.01)
steps = lr_scheduler.MultiStepLR(optimizer, milestones=[2, 4], gamma=0.1)
plateau = lr_scheduler.ReduceLROnPlateau(optimizer, "min", patience=0, factor=0.5, threshold=0.2)
before = copy.deepcopy(model.state_dict())
for step in range(6):
    optimizer.zero_grad(set_to_none=True)
    loss = F.cross_entropy(model(points), labels % 2)
    loss.backward()
    optimizer.step()
    steps.step()
    plateau.step(loss.item())
    print(f"{step}: {loss:.4f} {optimizer.param_groups[0]['lr']:.6f}")
print([name for name, value in model.state_dict().items() if not torch.equal(before[name], value)])

backbone = {name: value for name, value in saved["model"].items() if name.startswith("features")}
print(model.load_state_dict(backbone, strict=False))
try:
    model.load_state_dict(saved["model"])
except RuntimeError as error:
    print(error)
average = optim.swa_utils.AveragedModel(model, multi_avg_fn=optim.swa_utils.get_ema_multi_avg_fn(0.9))
average.update_parameters(model)
optim.swa_utils.update_bn([points[:100], points[100:]], average)
print(int(average.n_averaged), f"{average.module.features.norm.running_mean.norm().item():.4f}")
