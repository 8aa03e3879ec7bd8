"""What a beginner tries with tensors: making, looking, slicing, joining, arithmetic, NumPy, printing."""

import numpy as np
import torch

table = torch.tensor([[1, 2], [3, 4]])
print(table, table.dtype, torch.from_numpy(np.arange(4.0).reshape(2, 2)).dtype)
torch.manual_seed(0)
print(
    torch.rand(2, 3), torch.zeros((2, 1)), torch.ones_like(table), torch.rand_like(table, dtype=torch.float), sep="\n"
)
print(torch.eye(3), torch.full((2, 2), 7), torch.linspace(0, 1, 5), torch.logspace(0, 2, 3), sep="\n")
t = torch.rand(3, 4)
print(f"{t.shape} {t.dtype} {t.device} {t.ndim} {t.numel()} {t.layout}")
if torch.cuda.is_available():
    t = t.to("cuda")

square = torch.ones(4, 4)
square[:, 1] = 0
print(square[0], square[:, 0], square[..., -1], torch.cat([square, square], dim=1), sep="\n")
product, again = square @ square.T, torch.empty(4, 4)
torch.matmul(square, square.T, out=again)
print(torch.equal(product, again), (product == again).all(), square.mul(square).sum().item(), type(square.sum().item()))
square.add_(5).sub_(torch.arange(4.0))
print(square)

shared = torch.ones(5)
array = shared.numpy()
shared.add_(1)
np.multiply(array, 3, out=array)
print(shared, array)

z = torch.arange(24).reshape(2, 3, 4)
print(z[0, 1:, ::2], z[z % 5 == 0], z[:, [0, 2]].shape, z[..., None].shape, z[None].shape, sep="\n")
print(z.float().mean(dim=(0, 2)), z.argmax(), z.max(dim=1).values, z.float().std(), z.float().norm(), sep="\n")
values, indices = torch.topk(torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0]), 2)
print(values, indices)
print(torch.where(z > 11, z, torch.zeros_like(z)).sum(), torch.unique(z // 7, return_counts=True))
a, b = z.chunk(2)
print(a.shape, torch.stack([a, b], dim=-1).shape, torch.squeeze(a).shape, a.squeeze().unsqueeze(1).size())
print(z.stride(), z.transpose(0, 2).is_contiguous(), z.permute(2, 0, 1).contiguous().stride())
print(torch.einsum("bij,bkj->bik", z.double(), z.double()))
print(1 / torch.arange(1, 4), torch.tensor([1.5, -2.5]).round(), torch.tensor(2) ** -1.0, 7 // torch.tensor(2))
print(torch.tensor([1e-8, 1.0, 1e8]), torch.tensor([float("nan"), float("inf")]), torch.tensor([]), torch.tensor(3.0))
print(torch.tensor([True, False]) & torch.tensor([True, True]), ~torch.tensor([1, 2]), torch.tensor([1, 2]) << 2)
print(torch.randint(0, 10, (2, 3)), torch.randperm(5), torch.randn(2), torch.bernoulli(torch.full((4,), 0.5)), sep="\n")
print(
    torch.randn(30, 40), torch.arange(2000), torch.tensor([1 + 2j, -0.5j]), torch.tensor(7, dtype=torch.int8), sep="\n"
)
for wrong in (
    lambda: torch.ones(2) + torch.ones(3),
    lambda: torch.ones(2, 3) @ torch.ones(2, 3),
    lambda: z[3],
    lambda: torch.tensor("a"),
):
    try:
        wrong()
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        print(type(error).__name__, "|", error)
