"""Which random calls reach the fast attention?"""

from __future__ import annotations

from typing import Any

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, HALVES, one_of, tensor
from tests.kernels.cpu.fast.held import Call


def attention(rng: np.random.Generator) -> Call:
    """Few queries and keys, or more keys than a block; scores of every size, and masks of both kinds or none."""
    batch, heads, width = (int(rng.integers(1, 4)) for _ in range(3))
    queries, keys = one_of(rng, [1, 30, 30, 300]), one_of(rng, [1, 30, 30, 600])
    dtype = one_of(rng, [*FLOATS, "float32", one_of(rng, HALVES)])
    query = tensor(rng, (batch, queries, heads, width), dtype).transpose(1, 2) * one_of(rng, [1, 1, 1, 30])
    key, value = (tensor(rng, (batch, heads, keys, width), dtype) for _ in range(2))
    way = rng.integers(4)
    mask = None
    if way == 1:
        mask = tensor(rng, (queries, keys), dtype) * one_of(rng, [1, 1, 200])
    elif way == 2:
        mask = torch.where(tensor(rng, (queries, keys), "bool"), 0.0, -torch.inf).to(query.dtype)
    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    return Call(flash, (query, key, value, 0.0, way == 0), {"attn_mask": mask}, scale=size)


def size(query: Tensor, key: Tensor, value: Tensor, *_: Any, attn_mask: Tensor | None) -> Tensor:
    """A score is rounded, and its exponential is off by as much, in parts of itself."""
    scores = query.abs() @ key.abs().transpose(-1, -2)
    if attn_mask is not None:
        scores = scores + attn_mask.abs().nan_to_num(posinf=0.0)
    return (1 + scores.max()) * (1 + value.abs().max())


CALLS = {"cpu.attention.attend": attention}
