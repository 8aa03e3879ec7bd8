"""Which programs are traced with symbolic sizes?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


class Program(NamedTuple):
    """A function of a library, and the sizes of its arguments; an int stands for itself, a list for indices."""

    text: str
    sizes: tuple[Any, ...]
    is_backward: bool = False

    def function(self, torch: Any) -> Callable[..., Any]:
        names = {"torch": torch, "F": torch.nn.functional, "math": math}
        function: Callable[..., Any] = eval(f"lambda x, y=None, z=None: {self.text}", names)
        parameters = "xyz"[: len(self.sizes)]
        plain: Callable[..., Any] = eval(f"lambda {', '.join(parameters)}: f({', '.join(parameters)})", {"f": function})
        if not self.is_backward:
            return plain

        def gradients(*args: Any) -> Any:
            leaves = [t.detach().requires_grad_() for t in args]
            return torch.autograd.grad(function(*leaves).sum(), leaves)

        return gradients

    def arguments(self, torch: Any, more: int = 0) -> Iterator[Any]:
        """Arguments, with each size that is at least 2 larger by `more`."""
        for number, size in enumerate(self.sizes):
            if isinstance(size, list):
                yield torch.tensor(size)
            elif isinstance(size, int):
                yield size
            else:
                sizes = [n + more if n > 1 else n for n in size]
                count = math.prod(sizes)
                yield (torch.arange(count, dtype=torch.float32).reshape(sizes) + number) / count - 0.3


# Of which PyTorch's code, the values in it and the guards are the same.
SAME = [
    Program(text, sizes)
    for text, *sizes in (
        ("x.view(x.size(0) * x.size(1))", (3, 4)),
        ("x + y", (3, 4), (3, 4)),
        ("x + y", (3, 4), (4,)),
        ("torch.cat([x, y])", (3, 4), (5, 4)),
        ("x @ y", (3, 4), (4, 6)),
        ("x.sum(0) if x.shape[0] > 2 else x.sum(1)", (3, 4)),
        ("x * x.shape[0]", (3, 4)),
        ("x / x.shape[-1] ** 0.5", (3, 4)),
        ("x.mean()", (3, 4)),
        ("torch.zeros(x.size(0) + 1, 3)", (3, 4)),
        ("torch.arange(x.size(0))", (3, 4)),
        ("torch.full((x.size(0),), x.size(1))", (3, 4)),
        ("x.new_zeros(x.size(1), 2 * x.size(0))", (3, 4)),
        ("x[1:]", (3, 4)),
        ("x[: x.size(0) - 1]", (3, 4)),
        ("x[:, :2]", (3, 4)),
        ("x.t().contiguous().view(-1)", (3, 4)),
        ("F.softmax(x, -1)", (3, 4)),
        ("F.layer_norm(x, [x.shape[-1]])", (3, 4)),
        ("x.expand(5, x.shape[0], x.shape[1])", (3, 4)),
        ("x.unsqueeze(0).expand(2, -1, -1)", (3, 4)),
        ("x.repeat(2, 1)", (3, 4)),
        ("(x.shape[0], x.sum())", (3, 4)),
        ("x.shape[0] * x.shape[1] + 1", (3, 4)),
        ("x + y", (3, 4), 5),
        ("x.sum(y)", (6, 4), 1),
        ("torch.ones_like(x)", (6, 4)),
        ("F.pad(x, (1, x.shape[0]))", (6, 4)),
        ("torch.sym_max(x.shape[0], x.shape[1]) * x", (6, 4)),
        ("x[x.shape[0] // 2]", (6, 4)),
        ("x.flatten(1)", (2, 3, 4)),
        ("F.linear(x, y, z)", (7, 4), (5, 4), (5,)),
        ("F.cross_entropy(x, y)", (5, 7), [0, 1, 6, 2, 3]),
        ("x[y]", (5, 7), [0, 4, 2]),
        ("x.nonzero()", (3, 4)),
        ("x[x > 0]", (3, 4)),
        ("(x.float().numel(), x.stride(0))", (3, 4)),
        ("x.as_strided((x.shape[0],), (x.stride(0),))", (3, 4)),
        ("torch.empty_strided((x.shape[0], x.shape[1]), (x.shape[1], 1)).fill_(0)", (3, 4)),
        ("x.add_(1)", (3, 4)),
        ("torch.stack([x, x]).sum(0)", (3, 4)),
        ("x.sum() / x.numel()", (3, 4)),
        ("F.gelu(x).topk(2)", (3, 4)),
        ("(x > 0).sum().item()", (3, 4)),
        ("math.floor(x.shape[0] / 2) * x", (3, 4)),
    )
] + [
    Program(text, sizes, is_backward=True)
    for text, *sizes in (("x * 2", (3, 4)), ("x.expand(5, -1, -1).sum(0)", (3, 4)))
]
# Of which the code is the same; more or other guards are noted, or nodes are in another order.
RUN = [
    Program(text, sizes)
    for text, *sizes in (
        ("torch.cat([x, y]).view(-1, x.shape[1] // 2)", (3, 4), (5, 4)),
        ("x.view(y, -1)", (6, 4), 3),
        ("x[:y]", (6, 4), 3),
        ("x.chunk(2)", (6, 4)),
        ("x.split(x.shape[0] // 2)", (6, 4)),
        ("x.view(x.shape[0], torch.sym_min(x.shape[1], 100))", (6, 4)),
        ("F.conv2d(x, y)", (2, 3, 8, 9), (5, 3, 3, 3)),
        ("F.max_pool2d(x, 2)", (2, 3, 8, 8)),
        ("x.reshape(-1, x.shape[1] // 2)", (3, 4)),
        ("x.permute(1, 0).reshape(x.shape[1], x.shape[0])", (6, 4)),
        ("torch.einsum('ij,jk->ik', x, y)", (3, 4), (4, 5)),
        ("torch.outer(x[0], x[:, 0])", (3, 4)),
        ("torch.linspace(0, 1, x.shape[0])", (3, 4)),
        ("x.view(2, x.shape[0] // 2, 4)", (6, 4)),
        ("torch.eye(x.shape[0], x.shape[1])", (3, 4)),
        ("torch.broadcast_tensors(x, y)", (3, 4), (4,)),
        ("x.tensor_split(3)", (7, 4)),
        ("F.batch_norm(x, y, z, training=False)", (5, 3), (3,), (3,)),
        ("F.interpolate(x, scale_factor=2)", (1, 2, 3, 4)),
        ("F.scaled_dot_product_attention(x, y, z)", (2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4)),
    )
] + [
    Program(text, sizes, is_backward=True)
    for text, *sizes in (
        ("x[1:] * 3", (3, 4)),
        ("x + y", (3, 4), (4,)),
        ("x @ y", (3, 4), (4, 5)),
        ("x.view(-1) ** 2", (3, 4)),
        ("F.softmax(x, 1) * x", (3, 4)),
        ("x.mean(0)", (3, 4)),
        ("torch.cat([x, y]) * 3", (3, 4), (2, 4)),
        ("F.layer_norm(x, [x.shape[-1]])", (3, 4)),
        ("x.reshape(-1, 2).sum(1)", (3, 4)),
    )
]
