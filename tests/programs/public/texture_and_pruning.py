"""An image pulled towards a texture by L-BFGS; then weights pruned, normalised and made orthogonal; a small pupil."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrize, prune
from torch.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm

torch.manual_seed(0)
features = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(6, 8, 3), nn.Softplus())
features.double().eval().requires_grad_(False)
frozen = copy.deepcopy(features)


def responses(image):
    """The outputs of all convolutions."""
    found, x = [], image
    for layer in frozen.children():
        x = layer(x)
        if isinstance(layer, nn.Conv2d):
            found.append(x)
    return found


def correlations(maps):
    flat = maps.flatten(2).squeeze(0)
    return flat @ flat.T / flat.numel()


# In double precision: a line search divides by differences of gradients.
texture, start = torch.rand(2, 1, 3, 12, 12, dtype=torch.float64)
wanted = [correlations(maps) for maps in responses(texture)]
kept = responses(start)[-1]
image = start.clone().requires_grad_()
optimizer = torch.optim.LBFGS([image], max_iter=3, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    found = responses(image)
    loss = 100 * sum(F.mse_loss(correlations(maps), goal) for maps, goal in zip(found, wanted))
    loss = loss + F.mse_loss(found[-1], kept) + 0.01 * image.diff(dim=-1).abs().mean()
    loss.backward()
    return loss


for turn in range(2):
    loss = optimizer.step(closure)
    with torch.no_grad():
        image.clamp_(0, 1)
    print(f"turn {turn}: {loss.item():.4f}", f"{(image - start).abs().mean().item():.4f}")

net = nn.Sequential(nn.Conv2d(1, 6, 5), nn.ReLU(), nn.Conv2d(6, 8, 5), nn.Flatten(), nn.Linear(8 * 16, 12))
first = net[0]
print(prune.random_unstructured(first, name="weight", amount=0.3))
print([name for name, _ in first.named_buffers()], int((first.weight == 0).sum()))
prune.l1_unstructured(first, name="bias", amount=3)
prune.ln_structured(first, name="weight", amount=0.5, n=2, dim=0)
print([type(hook).__name__ for hook in first._forward_pre_hooks.values()], int((first.weight == 0).sum()))
prune.remove(first, "weight")
print([name for name, _ in first.named_parameters()], list(net.state_dict())[:4], prune.is_pruned(net))
prune.global_unstructured([(net[2], "weight"), (net[4], "weight")], pruning_method=prune.L1Unstructured, amount=0.25)
print([f"{(net[at].weight == 0).float().mean().item():.3f}" for at in (2, 4)], net(torch.ones(1, 1, 12, 12)).shape)

layer = spectral_norm(nn.Linear(6, 4), n_power_iterations=5)
layer(torch.randn(2, 6))
print(f"{torch.linalg.matrix_norm(layer.weight, 2).item():.2f}", parametrize.is_parametrized(layer, "weight"))
turned = orthogonal(nn.Linear(4, 4))
print(torch.allclose(turned.weight @ turned.weight.T, torch.eye(4), atol=1e-5))
split = weight_norm(nn.Linear(3, 2))
print([name for name, _ in split.named_parameters()], split, sep="\n")


class Symmetric(nn.Module):
    def forward(self, square):
        return square.triu() + square.triu(1).mT


square = nn.Linear(3, 3)
parametrize.register_parametrization(square, "weight", Symmetric())
print(torch.equal(square.weight, square.weight.T), square)
parametrize.remove_parametrizations(square, "weight", leave_parametrized=True)
print(torch.equal(square.weight, square.weight.T), type(square).__name__)

teacher, pupil = nn.Linear(8, 5), nn.Sequential(nn.Linear(8, 3), nn.ReLU(), nn.Linear(3, 5))
optimizer = torch.optim.NAdam(pupil.parameters(), lr=0.02)
points, labels = torch.randn(64, 8), torch.randint(0, 5, (64,))
with torch.no_grad():
    soft = (teacher(points) / 2).softmax(dim=-1)
for step in range(40):
    scores = pupil(points)
    taught = F.kl_div(F.log_softmax(scores / 2, dim=-1), soft, reduction="batchmean") * 4
    loss = 0.75 * taught + 0.25 * F.cross_entropy(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 13 == 0:
        print(f"{step}: {loss.item():.4f}, cosine {F.cosine_similarity(scores, teacher(points)).mean().item():.3f}")
