# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 07.6 Attention in a hurry
#
# If the kernel of blocks cannot be used, the library composes attention from
# products and a softmax. `_hasty` below does this, and is correct for queries
# and keys of equal length without a mask. Its users report:
#
# - with a cache, when there are fewer queries than keys, `is_causal=True` lets
#   a query see keys that PyTorch hides from it;
# - the wider the heads are, the less effect a mask of numbers has, such as a
#   position bias;
# - a query from which a mask hides every key gets NaN, and so do the
#   gradients;
# - with `enable_gqa=True`, heads read the keys and values of the wrong group.
#
# There are four places to change. `_hasty` returns the output and the weights.

# %%
import math

import glasstorch as torch
from glasstorch import Tensor


def _hasty(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    dropout_mask: Tensor | None,
    scale: float | None,
    enable_gqa: bool,
) -> tuple[Tensor, Tensor]:
    """Attention, written in a hurry."""
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    if is_causal:
        length, keys = query.shape[-2], key.shape[-2]
        seen = torch.ones(length, keys, dtype=torch.bool).tril(keys - length)
        attn_mask = torch.zeros(length, keys, dtype=query.dtype)
        attn_mask = attn_mask.masked_fill(seen.logical_not(), -math.inf)
    if enable_gqa:
        heads = torch.arange(query.shape[-3]) % key.shape[-3]
        key, value = key.index_select(-3, heads), value.index_select(-3, heads)
    scores = torch.matmul(query, key.transpose(-2, -1))
    if attn_mask is not None:
        scores = scores + attn_mask
    weights = (scores * scale).softmax(-1)
    if dropout_p > 0:
        weights = torch.dropout(weights, dropout_p, True)
    return torch.matmul(weights, value), weights


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    dropout_mask: Tensor | None,
    scale: float | None,
    enable_gqa: bool,
) -> tuple[Tensor, Tensor]:
    """The output of attention and its weights: `_hasty`, mended.

    Queries are (..., heads, L, E), keys (..., heads, S, E) and values (...,
    heads, S, V). `attn_mask` is None or a tensor of numbers. With `is_causal`,
    query i sees the keys from 0 to i. With `enable_gqa` there are fewer heads
    of keys and values: the first of them serves the first few heads of the
    queries, the second the next few, and so on.

    The output of a query that sees no key is zeros, and
    `torch._safe_softmax(scores, -1)` is a softmax that does this.
    `dropout_mask` is always None here.

    >>> q = torch.zeros(1, 2, 4)
    >>> k, v = torch.zeros(1, 2, 4), torch.eye(2).view(1, 2, 2)
    >>> attend(q, k, v, None, 0.0, True, None, None, False)[0]
    tensor([[[1.0000, 0.0000],
             [0.5000, 0.5000]]])
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 07.6`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 07.6` gives a hint, and
# `.venv/bin/workbook lab 07.6` opens a sheet for experiments.
