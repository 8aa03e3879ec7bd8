"""Physics and numerics: a network that solves an equation, meta-learning by second gradients, filters, FFTs, solvers."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.set_printoptions(precision=4, sci_mode=False)
torch.manual_seed(0)

net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.995)
times = torch.linspace(0, 1, 30).view(-1, 1).requires_grad_()


def derivative(values, of):
    return torch.autograd.grad(values.sum(), of, create_graph=True)[0]


for step in range(151):  # a damped spring that starts at 1, at rest
    place = net(times)
    speed = derivative(place, times)
    push = derivative(speed, times)
    start = (place[0] - 1).square().sum() + 0.1 * speed[0].square().sum()
    loss = start + 1e-2 * (push + 2 * speed + 4 * place).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    decay.step()
    if step % 50 == 0:
        print(f"{step} {loss.item():.6f} {place[-1].item():.5f} {decay.get_last_lr()[0]:.6f}")

w = torch.randn(3, requires_grad=True)
meta = torch.optim.SGD([w], lr=0.05)
for step in range(3):
    total = 0
    for task in range(4):
        target = torch.tensor([task, 1.0, -task])
        inner = ((w - target) ** 2).sum() + w.prod()
        (g,) = torch.autograd.grad(inner, w, create_graph=True)
        fast = w - 0.1 * g
        total = total + ((fast - target) ** 2).sum()
    meta.zero_grad()
    total.backward()
    meta.step()
    print(f"meta {step} {total.item():.5f}", w.grad)

A = torch.randn(4, 4)
S = A @ A.mT + torch.eye(4)
b = torch.randn(4, 2)
x = torch.linalg.solve(S, b)
print(torch.dist(S @ x, b) < 1e-10, torch.linalg.det(S), torch.logdet(S), torch.linalg.cond(S))
L = torch.linalg.cholesky(S)
print(torch.cholesky_solve(b, L).sub(x).abs().max() < 1e-10, torch.linalg.eigvalsh(S), torch.linalg.matrix_rank(A))
Q, R = torch.linalg.qr(A)
print(torch.allclose(Q @ R, A), torch.linalg.svdvals(A), torch.linalg.norm(A, ord="fro"), torch.trace(A))
print(torch.linalg.lstsq(torch.randn(6, 3), torch.randn(6, 1)).solution.shape, torch.pinverse(A).shape)

signal = torch.sin(2 * math.pi * 5 * torch.linspace(0, 1, 64)) + 0.3 * torch.randn(64)
spectrum = torch.fft.rfft(signal)
print(spectrum.abs().argmax(), torch.fft.irfft(spectrum, 64).sub(signal).abs().max() < 1e-12, spectrum.dtype)
print(torch.stft(signal, 16, hop_length=8, window=torch.hann_window(16), return_complex=True).shape)

image = torch.arange(36.0).view(1, 1, 6, 6)
sobel = torch.tensor([[[[1.0, 0, -1], [2, 0, -2], [1, 0, -1]]]])
print(F.conv2d(image, sobel, padding=1)[0, 0, :2])
print(F.unfold(image, 3, stride=3).shape, F.fold(F.unfold(image, 2, stride=2), (6, 6), 2, stride=2).equal(image))
print(F.interpolate(image, scale_factor=0.5, mode="bilinear", align_corners=False))
theta = torch.tensor([[[math.cos(0.3), -math.sin(0.3), 0], [math.sin(0.3), math.cos(0.3), 0]]])
print(F.grid_sample(image, F.affine_grid(theta, [1, 1, 3, 3], align_corners=False), align_corners=False))
print(
    F.pad(image[0, 0, :2, :3], (1, 1), mode="constant", value=9), image.flip(-1)[0, 0, 0], image.rot90(1, (2, 3)).shape
)

points = torch.tensor(np.random.RandomState(0).randn(50, 2))
centroids = points[:3].clone()
for _ in range(10):
    assign = torch.cdist(points, centroids).argmin(dim=1)
    centroids = torch.stack([points[assign == k].mean(dim=0) for k in range(3)])
print(centroids, torch.bincount(assign))
print(
    torch.cov(points.T), torch.corrcoef(points.T), torch.quantile(points[:, 0], torch.tensor([0.1, 0.5, 0.9])), sep="\n"
)
u, s, v = torch.pca_lowrank(points, q=2)
print(s, torch.histc(points, bins=5, min=-2, max=2), torch.histogram(points[:, 1], 4).hist)
scatter = torch.zeros(3).scatter_add_(0, assign, torch.ones(50))
print(scatter, torch.cumsum(scatter, 0), torch.searchsorted(torch.cumsum(scatter, 0), torch.tensor([1.0, 30.0])))
z = torch.complex(torch.tensor([1.0, 2.0]), torch.tensor([0.5, -1.0]))
print(z, z.abs(), z.angle(), (z * z.conj()).real, torch.view_as_real(z))
print(torch.special.expit(torch.tensor(0.3)), torch.lgamma(torch.tensor(4.5)), torch.erf(torch.tensor(0.5)))
print(
    torch.trapezoid(torch.sin(torch.linspace(0, math.pi, 101)), dx=math.pi / 100),
    torch.cross(points[:2, [0, 1, 0]], points[2:4, [1, 0, 1]], dim=1),
)
print(points[:3].sum(1), torch.tensor([3, 1, 2]).sort(descending=True))
