"""How are random tensors drawn?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import glasstorch
from glasstorch import Tensor

FLOATS = ("float32", "float64")
HALVES = ("float16", "bfloat16")
WHOLE = ("int64", "int32", "int16", "int8", "uint8")


def tensor(rng: np.random.Generator, shape: Sequence[int], dtype: str = "float32", special: float = 0.0) -> Tensor:
    """A tensor of normal numbers, or of small whole ones; a share `special` of a float's elements is not finite."""
    if dtype == "bool":
        return glasstorch.from_numpy(rng.integers(0, 2, shape).astype(bool))
    if dtype in WHOLE:
        return glasstorch.from_numpy(np.asarray(rng.integers(0, 100, shape))).to(getattr(glasstorch, dtype))
    values = np.asarray(rng.standard_normal(shape))
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape)
    elif special:
        chosen = rng.random(shape) < special
        values = np.where(chosen, rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], shape), values)
    return glasstorch.from_numpy(np.asarray(values)).to(getattr(glasstorch, dtype))


def laid_out(rng: np.random.Generator, shape: Sequence[int], dtype: str = "float32", special: float = 0.0) -> Tensor:
    """As `tensor`, sometimes as a transposed, a stepped or an expanded view."""
    way = rng.integers(6)
    if way == 0 and len(shape) > 1:
        turned = tensor(rng, [*shape[:-2], shape[-1], shape[-2]], dtype, special)
        return turned.transpose(-1, -2)
    if way == 1 and len(shape):
        return tensor(rng, [*shape[:-1], 2 * shape[-1]], dtype, special)[..., ::2]
    if way == 2 and len(shape) > 1:
        return tensor(rng, [1, *shape[1:]], dtype, special).expand(*shape)
    return tensor(rng, shape, dtype, special)


def one_of(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    """One of the choices."""
    return choices[rng.integers(len(choices))]


def sizes_of(rng: np.random.Generator, total: int, dims: int) -> list[int]:
    """Sizes of some dimensions, whose product is near a total."""
    cuts = np.sort(rng.random(dims - 1))
    parts = np.diff(np.concatenate([[0.0], cuts, [1.0]]))
    return [max(1, round(float(total**part))) for part in parts]
