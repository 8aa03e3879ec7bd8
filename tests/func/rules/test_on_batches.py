"""Do the rules give what a loop over the examples gives, whichever argument has a batch, and in which dimension?"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import glasstorch as torch

NN = torch.nn.functional
LONG = torch.int64


def numbers(*shape: int) -> Any:
    return torch.randn(shape, dtype=torch.float64)


def whole(high: int, *shape: int) -> Any:
    return torch.randint(high, shape)


# A function of tensors, and for each tensor what makes one example.
CASES: dict[str, tuple[Any, ...]] = {
    # elements
    "add": (torch.add, lambda: numbers(3, 1), lambda: numbers(2)),
    "masked_fill": (torch.masked_fill, lambda: numbers(3), lambda: whole(2, 3).bool(), lambda: numbers()),
    "copy_": (lambda x, y: (x + 0 * y).copy_(y), lambda: numbers(3), lambda: numbers(3)),
    # dims
    "sum": (lambda x: x.sum(-1), lambda: numbers(2, 3)),
    "sum of a number": (lambda x: x.sum(0), lambda: numbers()),
    "max": (lambda x: x.max(1)[0], lambda: numbers(2, 3)),
    "unsqueeze": (lambda x: x.unsqueeze(-1), lambda: numbers(2)),
    "stack": (lambda x, y: torch.stack([x, y], -1), lambda: numbers(2), lambda: numbers(2)),
    "cat": (lambda x, y: torch.cat([x, y], -1), lambda: numbers(2, 3), lambda: numbers(2, 1)),
    "select and its gradient": (torch.func.grad(lambda x: (x[..., 1] ** 2).sum()), lambda: numbers(2, 3)),
    "narrow and its gradient": (torch.func.grad(lambda x: (x[..., 1:] ** 2).sum()), lambda: numbers(2, 3)),
    "diagonal and its gradient": (torch.func.grad(lambda x: (x.diagonal() ** 2).sum()), lambda: numbers(3, 3)),
    "view": (lambda x: x.view(3, -1), lambda: numbers(2, 3)),
    "expand": (lambda x: x.expand(2, -1, 4), lambda: numbers(3, 1)),
    "permute": (lambda x: x.permute(-1, 0), lambda: numbers(2, 3)),
    "movedim": (lambda x: x.movedim([0, 1], [-2, -1]), lambda: numbers(2, 3, 4)),
    "roll": (lambda x: x.roll((1, -1), (0, 1)), lambda: numbers(2, 3)),
    "roll of all": (lambda x: x.roll(2), lambda: numbers(2, 3)),
    "cumprod at zeros": (torch.func.grad(lambda x: x.cumprod(0).sum()), lambda: whole(2, 4).double()),
    # products
    "matmul": (torch.matmul, lambda: numbers(2, 3), lambda: numbers(3, 4)),
    "mv": (torch.mv, lambda: numbers(2, 3), lambda: numbers(3)),
    "dot": (torch.dot, lambda: numbers(3), lambda: numbers(3)),
    "addmm": (
        lambda a, b, c: torch.addmm(a, b, c, beta=2, alpha=3),
        lambda: numbers(4),
        lambda: numbers(2, 3),
        lambda: numbers(3, 4),
    ),
    "solve": (torch.linalg.solve, lambda: numbers(3, 3), lambda: numbers(3, 2)),
    "solve for a vector": (torch.linalg.solve, lambda: numbers(3, 3), lambda: numbers(3)),
    "triangular": (
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=True),
        lambda: numbers(3, 3),
        lambda: numbers(2, 3, 1),
    ),
    # indexing
    "gather": (lambda x, i: x.gather(1, i), lambda: numbers(2, 3), lambda: whole(3, 2, 2)),
    "gather of a number": (lambda x, i: x.gather(0, i), lambda: numbers(3), lambda: whole(3)),
    "scatter_add": (
        lambda x, i, y: x.scatter_add(0, i, y),
        lambda: numbers(3),
        lambda: whole(3, 2),
        lambda: numbers(2),
    ),
    "index_select": (lambda x, i: x.index_select(1, i), lambda: numbers(2, 3), lambda: whole(3, 2)),
    "index_add": (
        lambda x, i, y: x.index_add(1, i, y, alpha=2),
        lambda: numbers(2, 3),
        lambda: whole(3, 2),
        lambda: numbers(2, 2),
    ),
    "index": (lambda x, i: x[i], lambda: numbers(3, 2), lambda: whole(3, 4)),
    "index of the second": (lambda x, i: x[:, i], lambda: numbers(2, 3, 2), lambda: whole(3, 2, 2)),
    "index of two": (lambda x, i, j: x[i, j], lambda: numbers(2, 3, 2), lambda: whole(2, 4), lambda: whole(3, 1)),
    "index of two apart": (
        lambda x, i, j: x[i, :, j],
        lambda: numbers(2, 3, 2),
        lambda: whole(2, 4),
        lambda: whole(2, 4),
    ),
    "index_put": (
        lambda x, i, y: x.index_put((i,), y, accumulate=True),
        lambda: numbers(3, 2),
        lambda: whole(3, 4),
        lambda: numbers(2),
    ),
    "index_put of the second": (
        lambda x, i, y: torch.ops.aten.index_put(x, [None, i], y, True),
        lambda: numbers(2, 3),
        lambda: whole(3, 4),
        lambda: numbers(2, 4),
    ),
    "embedding": (lambda w, i: NN.embedding(i, w), lambda: numbers(4, 3), lambda: whole(4, 2)),
    "embedding backward": (
        torch.func.grad(lambda w, i: (NN.embedding(i, w, padding_idx=1) ** 2).sum()),
        lambda: numbers(4, 3),
        lambda: whole(4, 5),
    ),
    "as_strided": (lambda x: x.contiguous().as_strided((2, 2), (1, 2)), lambda: numbers(4)),
    # images
    "conv2d": (
        lambda x, w, b: NN.conv2d(x, w, b, padding=1),
        lambda: numbers(2, 4, 5, 5),
        lambda: numbers(6, 4, 3, 3),
        lambda: numbers(6),
    ),
    "conv1d in groups": (
        lambda x, w, b: NN.conv1d(x, w, b, groups=2),
        lambda: numbers(2, 4, 5),
        lambda: numbers(6, 2, 3),
        lambda: numbers(6),
    ),
    "conv_transpose1d": (
        lambda x, w: NN.conv_transpose1d(x, w, groups=2),
        lambda: numbers(2, 4, 5),
        lambda: numbers(4, 3, 3),
    ),
    "conv2d backward": (
        lambda x, w: torch.func.grad(lambda x, w: (NN.conv2d(x, w, groups=2, stride=2) ** 2).sum(), (0, 1))(x, w)[1],
        lambda: numbers(2, 4, 5, 5),
        lambda: numbers(6, 2, 3, 3),
    ),
    "max_pool2d": (lambda x: NN.max_pool2d(x, 2), lambda: numbers(2, 3, 4, 4)),
    "avg_pool2d backward": (torch.func.grad(lambda x: (NN.avg_pool2d(x, 2) ** 2).sum()), lambda: numbers(2, 3, 4, 4)),
    "interpolate backward": (
        torch.func.grad(lambda x: (NN.interpolate(x, scale_factor=2, mode="bilinear") ** 2).sum()),
        lambda: numbers(2, 1, 3, 3),
    ),
    "pad": (lambda x: NN.pad(x, (1, 0), value=2.0), lambda: numbers(2, 3)),
    "reflection pad": (lambda x: NN.pad(x, (1, 1), mode="reflect"), lambda: numbers(2, 2, 3)),
    # decompositions
    "layer_norm": (lambda x, w: NN.layer_norm(x, (3,), w), lambda: numbers(2, 3), lambda: numbers(3)),
    "layer_norm backward": (
        lambda x, w: torch.func.grad(lambda x, w: (NN.layer_norm(x, (3,), w) ** 3).sum(), (0, 1))(x, w)[0],
        lambda: numbers(2, 3),
        lambda: numbers(3),
    ),
    "group_norm": (lambda x, w: NN.group_norm(x, 2, w), lambda: numbers(2, 4, 3), lambda: numbers(4)),
    "batch_norm": (
        lambda x, w: NN.batch_norm(x, None, None, w, training=True),
        lambda: numbers(5, 3, 2),
        lambda: numbers(3),
    ),
    "cross_entropy": (NN.cross_entropy, lambda: numbers(4, 3), lambda: whole(3, 4)),
    "cross_entropy of one": (torch.func.grad(NN.cross_entropy), lambda: numbers(3), lambda: whole(3)),
    "nll_loss with weights": (
        lambda x, t, w: NN.nll_loss(x, t, w, ignore_index=1),
        lambda: numbers(6, 3),
        lambda: torch.tensor([0, 1, 2, 0, 2, 1]),
        lambda: numbers(3).abs() + 1,
    ),
    "mse_loss backward": (torch.func.grad(NN.mse_loss), lambda: numbers(4), lambda: numbers(4)),
    "huber_loss": (NN.huber_loss, lambda: numbers(4) * 3, lambda: numbers(4)),
    "smooth_l1_loss": (NN.smooth_l1_loss, lambda: numbers(4) * 3, lambda: numbers(4)),
    "binary_cross_entropy": (NN.binary_cross_entropy, lambda: numbers(4).sigmoid(), lambda: numbers(4).sigmoid()),
    "logsigmoid": (NN.logsigmoid, lambda: numbers(4)),
}


@pytest.fixture(autouse=True)
def without_loops() -> Iterator[None]:
    """A rule that falls back to a loop warns, which fails here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="There is a performance drop")
        yield


@pytest.mark.parametrize("name", CASES)
def test_a_batch_gives_what_its_examples_give(name: str) -> None:
    function, *makers = CASES[name]
    for batched in itertools.product((True, False), repeat=len(makers)):
        if not any(batched):
            continue
        torch.manual_seed(0)
        in_dims = tuple((-1 if i % 2 else 0) if b else None for i, b in enumerate(batched))
        given = [
            torch.stack([make() for _ in range(3)], 0 if dim is None else dim) if b else make()
            for make, b, dim in zip(makers, batched, in_dims, strict=True)
        ]
        found = torch.func.vmap(function, in_dims=in_dims)(*given)
        for i in range(3):
            one = function(*(x if dim is None else x.select(dim, i) for x, dim in zip(given, in_dims, strict=True)))
            assert torch.allclose(found[i].double(), one.double(), atol=1e-10), (batched, i)
