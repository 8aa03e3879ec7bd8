"""Mixed precision and recomputation: autocast, a scaler that has nothing to do on the CPU, accumulation, checkpoints."""

import itertools

import torch
import torch.nn as nn
from torch.amp import GradScaler, autocast
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

device = "cuda" if torch.cuda.is_available() else "cpu"
low = torch.float16 if device == "cuda" else torch.bfloat16
torch.manual_seed(0)
truth = torch.randn(64, 16, device=device) / 8
batches = [torch.randn(32, 64, device=device) for _ in range(6)]
criterion = nn.MSELoss().to(device)
for enabled in (False, True):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 16)).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
    scaler = GradScaler(device, enabled=enabled and device == "cuda")
    for epoch in range(3):
        for number, batch in enumerate(batches):
            with autocast(device_type=device, dtype=low, enabled=enabled):
                scores = net(batch)
                loss = criterion(scores, batch @ truth) / 2
            assert scores.dtype == (low if enabled else torch.float32)
            scaler.scale(loss).backward()
            if number % 2:
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
        print(f"autocast {enabled}, epoch {epoch}: {2 * loss.item():.2f}")
    print(scaler.state_dict(), scaler.is_enabled(), scaler.get_scale(), {p.dtype for p in net.parameters()})

a, b = torch.rand(4, 4), torch.rand(4, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    print((a @ b).dtype, (a + b).dtype, a.softmax(0).dtype, torch.mm(a.double(), b.double()).dtype)
    with torch.autocast("cpu", enabled=False):
        print((a @ b).dtype, torch.is_autocast_enabled("cpu"))
    print(torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled())
    print(torch.cat([a, a.bfloat16()]).dtype, nn.functional.mse_loss(a @ b, a).dtype, torch.linalg.inv(a @ b).dtype)
    print(nn.Conv2d(1, 2, 3)(torch.rand(1, 1, 5, 5)).dtype, nn.LayerNorm(4)(a @ b).dtype, nn.GRUCell(4, 4)(a).dtype)
print((a @ b).dtype)


@torch.autocast("cpu", torch.bfloat16)
def squared(x):
    return nn.functional.linear(x, x)


print(squared(a).dtype, squared.__name__, torch.is_autocast_enabled("cpu"))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * width, width)
        )

    def forward(self, x, again=False):
        return x + (checkpoint(self.body, x, use_reentrant=False) if again else self.body(x))


blocks = nn.ModuleList(Block(16) for _ in range(3))
x = torch.randn(8, 16, requires_grad=True)
gradients = {}
for again in (False, True):
    torch.manual_seed(3)
    y = x
    for block in blocks:
        y = block(y, again)
    gradients[again] = torch.autograd.grad(y.square().mean(), [x, *blocks.parameters()])
    print(f"recomputed {again}: {y.sum().item():.4f}")
print("the same gradients:", all(itertools.starmap(torch.equal, zip(*gradients.values()))))
stack = nn.Sequential(*(nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(4)))
for reentrant in (True, False):
    x.grad = None
    checkpoint_sequential(stack, 2, x, use_reentrant=reentrant).sum().backward()
    print(reentrant, f"{x.grad.norm().item():.4f}")


class Double(torch.autograd.Function):
    """Computed in float32 whatever surrounds it."""

    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x):
        print("inside:", x.dtype, torch.is_autocast_enabled("cpu"))
        return 2 * x

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, upstream):
        return 2 * upstream


with torch.autocast("cpu", dtype=torch.bfloat16):
    z = Double.apply(a @ b.requires_grad_())
z.sum().backward()
print(z.dtype, b.grad.dtype, f"{b.grad.sum().item():.1f}")
