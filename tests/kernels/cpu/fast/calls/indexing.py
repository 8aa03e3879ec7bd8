"""Which random calls reach the fast ways to pick, place and accumulate by index?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of, tensor
from tests.kernels.cpu.fast.held import Call

DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64", "int64", "uint8", "bool")
TOTALS = (30, 1_000, 100_000)


def indices(rng: np.random.Generator, shape: Sequence[int], size: int, negative: bool = False) -> Tensor:
    """Indices of a dimension; now and then one is out of range."""
    drawn = np.asarray(rng.integers(-size if negative else 0, size, shape))
    if drawn.size and rng.integers(10) == 0:
        drawn.reshape(-1)[rng.integers(drawn.size)] = one_of(rng, [size, -size - 1])
    return torch.from_numpy(drawn).to(one_of(rng, [torch.int64, torch.int64, torch.int32]))


def target(rng: np.random.Generator, dims: int) -> tuple[Tensor, int]:
    """A tensor, and one of its dimensions."""
    shape = sizes_of(rng, one_of(rng, TOTALS), dims)
    dtype = one_of(rng, DTYPES)
    return laid_out(rng, shape, dtype, one_of(rng, [0, 0.1])), int(rng.integers(dims))


def source(rng: np.random.Generator, x: Tensor, shape: Sequence[int]) -> Tensor:
    """A source with the dtype of a tensor."""
    return laid_out(rng, shape, x.dtype.name, one_of(rng, [0, 0.1]))


def picked(rng: np.random.Generator) -> Call:
    """A tensor of indices for the first dimension, which may have dimensions of its own, or several indices."""
    x, _ = target(rng, int(rng.integers(1, 4)))
    if rng.integers(3) == 0:
        return Call(torch.ops.aten.index.Tensor, (x, several(rng, x)))
    shape = [int(rng.integers(0 if rng.integers(10) == 0 else 1, 20)) for _ in range(int(rng.integers(3)))]
    return Call(torch.Tensor.__getitem__, (x, indices(rng, shape, x.shape[0], negative=True)))


def added(rng: np.random.Generator) -> Call:
    """Values added at a vector of indices of some dimension."""
    x, dim = target(rng, int(rng.integers(1, 4)))
    at = [None] * dim + [indices(rng, [int(rng.integers(1, 200))], x.shape[dim], negative=True)]
    shape = [*x.shape[:dim], len(at[-1]), *x.shape[dim + 1 :]]  # type: ignore[arg-type]
    return Call(torch.index_put, (x, at, source(rng, x, shape if rng.integers(3) else [1]), True))


def mask(rng: np.random.Generator, shape: Sequence[int]) -> Tensor:
    return laid_out(rng, shape, "bool") if rng.integers(4) else tensor(rng, shape, "uint8") % 2


def put(rng: np.random.Generator) -> Call:
    """Values written or added at one index, at several, or where a mask is true."""
    if rng.integers(2):
        return added(rng)
    x, _ = target(rng, int(rng.integers(1, 4)))
    at = several(rng, x) if rng.integers(3) else [mask(rng, x.shape[: int(rng.integers(x.dim() + 1))])]
    return Call(torch.index_put, (x, at, source(rng, x, [1]), bool(rng.integers(2))))


def several(rng: np.random.Generator, x: Tensor) -> list[Tensor | None]:
    """An index of each of some dimensions: none, integers, a vector of truth, or a mask without dimensions."""
    drawn: list[Tensor | None] = []
    for size in x.shape[: int(rng.integers(1, x.dim() + 1))]:
        way = rng.integers(10)
        shape = one_of(rng, [[4], [2, 4], [1], []])
        drawn.append(None if way < 3 else mask(rng, [size]) if way < 5 else indices(rng, shape, size, negative=True))
    return drawn if rng.integers(10) else [*drawn, mask(rng, [])]


def gathered(rng: np.random.Generator) -> Call:
    x, dim = target(rng, int(rng.integers(1, 4)))
    shape = [max(1, size - int(rng.integers(3))) for size in x.shape]
    shape[dim] = int(rng.integers(1, 2 + 100_000 // x.numel()))
    return Call(torch.gather, (x, dim, indices(rng, shape, x.shape[dim])))


def placed(rng: np.random.Generator) -> Call:
    """A scatter of a number or of a tensor, perhaps with a reduction."""
    x, dim = target(rng, int(rng.integers(1, 4)))
    shape = [max(1, size - int(rng.integers(3))) for size in x.shape]
    shape[dim] = int(rng.integers(1, 2 + 100_000 // x.numel()))
    at = indices(rng, shape, x.shape[dim])
    if rng.integers(3) == 0:
        return Call(torch.scatter, (x, dim, at, int(rng.integers(5))))
    values = source(rng, x, [size + int(rng.integers(2)) for size in shape])
    reduce = one_of(rng, ["sum", "prod", "mean", "amax", "amin", None])
    if reduce is None:
        return Call(torch.scatter, (x, dim, at, values))
    return Call(torch.scatter_reduce, (x, dim, at, values, reduce), {"include_self": bool(rng.integers(2))})


def slices(rng: np.random.Generator) -> Call:
    """Slices added or reduced, at few places often or at many places rarely."""
    x, dim = target(rng, int(rng.integers(1, 4)))
    count = int(rng.integers(1, 2 + 200_000 // (x.numel() // x.shape[dim])))
    at = indices(rng, [count], x.shape[dim])
    values = source(rng, x, [*x.shape[:dim], count, *x.shape[dim + 1 :]])
    if rng.integers(2):
        return Call(torch.index_add, (x, dim, at, values))
    return Call(torch.index_reduce, (x, dim, at, values, one_of(rng, ["prod", "mean", "amax", "amin"])))


def written(rng: np.random.Generator) -> Call:
    """Slices of which the last stays."""
    call = slices(rng)
    return Call(torch.index_copy, call.args[:2] + (call.args[2].long(), call.args[3]))


def taken(rng: np.random.Generator) -> Call:
    """Elements by flat index, from tensors small and large."""
    x, _ = target(rng, int(rng.integers(1, 4)))
    return Call(torch.take, (x, indices(rng, [int(rng.integers(200))], x.numel(), negative=True).long()))


CALLS = {
    "aten::index.Tensor": picked,
    "cpu.indexing.advanced.put_at": put,
    "cpu.indexing.advanced.first_outside": gathered,
    "cpu.indexing.scattering.gathered": gathered,
    "cpu.indexing.scattering.place": placed,
    "cpu.indexing.along.reduce_slices": slices,
    "cpu.indexing.along.write_slices": written,
    "cpu.indexing.placing.taken": taken,
}
