"""einops: tensors rearranged by a formula, as functions and as layers."""

import torch
from einops import EinopsError, einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce

x = torch.arange(24.0).view(2, 3, 4)
print(rearrange(x, "b c (h w) -> b (h c) w", h=2))
print(reduce(x, "b c w -> b", "mean"), reduce(x, "b c w -> c w", "max"), reduce(x, "b c (w 2) -> w", "prod"))
print(repeat(x[0], "c w -> c w k", k=2))
print(einsum(x, x, "b c w, b d w -> b c d"))
packed, shapes = pack([x, x[:, :, 0]], "b *")
print(packed.shape, [tuple(part.shape) for part in unpack(packed, shapes, "b *")])

torch.manual_seed(0)
net = torch.nn.Sequential(
    Rearrange("b c w -> b (c w)"),
    torch.nn.Linear(12, 4),
    Rearrange("b (k l) -> b k l", k=2),
    Reduce("b k l -> b k", "sum"),
)
print(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    loss = net(x / 24).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
mix = EinMix("b c w -> b c o", weight_shape="w o", bias_shape="o", w=4, o=5)
print(mix, mix(x).shape)
try:
    rearrange(x, "b c -> c b")
except EinopsError:
    print("the formula does not fit")
