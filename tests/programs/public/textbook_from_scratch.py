"""A textbook's first chapters: regression and classification with bare tensors, then with modules; convolution; masks."""

import math
import random

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils import data

torch.manual_seed(0)
random.seed(0)
slope, shift = torch.tensor([2.0, -3.4]), 4.2
X = torch.normal(0, 1, (500, 2))
y = (torch.mv(X, slope) + shift + torch.normal(0.0, 0.01, (500,))).unsqueeze(-1)


def shuffled(size):
    rows = list(range(len(X)))
    random.shuffle(rows)
    for start in range(0, len(rows), size):
        chosen = torch.tensor(rows[start : start + size])
        yield X[chosen], y[chosen]


def descend(parameters, rate):
    with torch.no_grad():
        for parameter in parameters:
            parameter -= rate * parameter.grad
            parameter.grad.zero_()


w, b = torch.normal(0, 0.01, size=(2, 1), requires_grad=True), torch.zeros(1, requires_grad=True)
for epoch in range(3):
    for rows, answers in shuffled(10):
        (0.5 * (rows @ w + b - answers) ** 2).mean().backward()
        descend([w, b], 0.03)
    with torch.no_grad():
        print(
            f"epoch {epoch}: {float((rows @ w + b - answers).square().mean()):.2e}"[:12],
            w.view(-1).sub(slope).abs() < 0.05,
        )

net = nn.Sequential(nn.LazyLinear(1))
print(net)
net(X[:2])
net[0].weight.data.normal_(0, 0.01)
net[0].bias.data.fill_(0)
trainer = torch.optim.SGD(net.parameters(), lr=0.03)
for epoch in range(2):
    for rows, answers in data.DataLoader(data.TensorDataset(X, y), 10, shuffle=True):
        trainer.zero_grad()
        F.mse_loss(net(rows), answers).backward()
        trainer.step()
    print(f"epoch {epoch}: {F.mse_loss(net(X), y).item():.5f}", [round(v, 2) for v in net[0].weight.view(-1).tolist()])

middles = torch.randn(3, 5) * 2
classes = torch.randint(0, 3, (300,))
points = middles[classes] + torch.randn(300, 5)
W, c = torch.zeros(5, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
for epoch in range(4):
    hits = 0
    for rows, answers in zip(points.split(32), classes.split(32)):
        exponentials = torch.exp(rows @ W + c)
        chances = exponentials / exponentials.sum(1, keepdim=True)
        loss = -torch.log(chances[range(len(chances)), answers]).mean()
        loss.backward()
        descend([W, c], 0.1)
        hits += int((chances.argmax(axis=1).type(answers.dtype) == answers).sum())
    print(f"epoch {epoch}: loss {loss.item():.4f}, {hits} of 300")
weights = nn.Parameter(torch.zeros(5, 3))
decayed = torch.optim.SGD([{"params": weights, "weight_decay": 0.1}, {"params": [c]}], lr=0.1)
F.cross_entropy(points @ weights + c, classes).backward()
decayed.step()
print(f"{weights.norm().item():.4f}", len(decayed.param_groups))


def correlate(image, kernel):
    height, width = kernel.shape
    rows, columns = image.shape[0] - height + 1, image.shape[1] - width + 1
    found = [[(image[i : i + height, j : j + width] * kernel).sum() for j in range(columns)] for i in range(rows)]
    return torch.tensor(found)


stripes = torch.ones((5, 7))
stripes[:, 2:5] = 0
edges = correlate(stripes, torch.tensor([[1.0, -1.0]]))
print(edges)
learned = nn.LazyConv2d(1, kernel_size=(1, 2), bias=False)
for step in range(10):
    error = (learned(stripes[None, None]) - edges).square().sum()
    learned.zero_grad()
    error.backward()
    learned.weight.data[:] -= 3e-2 * learned.weight.grad
    if step % 3 == 0:
        print(f"step {step}: {error:.3f}")
print(learned.weight.data.reshape(1, 2).round(decimals=1))


def dropout(values, share):
    if share in (0, 1):
        return values * (1 - share)
    return (torch.rand(values.shape) > share).float() * values / (1.0 - share)


print(dropout(torch.arange(16, dtype=torch.float32).reshape((2, 8)), 0.5))
print(dropout(torch.ones(3), 1))
q, k, v = (torch.normal(0, 1, (2, length, 4)) for length in (1, 5, 5))
lengths = torch.tensor([2, 5])
scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
beyond = torch.arange(5)[None, None, :] >= lengths[:, None, None]
attention = F.softmax(scores.masked_fill(beyond, -1e6), dim=-1)
print(attention, torch.bmm(attention, v), sep="\n")
batch = nn.BatchNorm1d(4, affine=False)
print(batch(v[0]).mean(0).abs().max() < 1e-6, batch.running_var)
