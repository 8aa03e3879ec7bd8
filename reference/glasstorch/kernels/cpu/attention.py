"""How is attention computed on the CPU without ever holding all scores?

# Note [Online softmax]
The weights of a row are exp(score - top) / total, where `top` is its largest score and `total` its sum of exponentials:
both need all scores. The kernel reads the keys in blocks instead. It keeps for each row the largest score so far, the
sum so far and the output so far, relative to that score; when a block holds a larger one, sum and output are scaled
down by exp(old - new). After the last block the output is divided by the sum. What the gradient needs of all this is
one number a row, top + log(total): with it, each block's weights are computed again.

A row whose scores are all -inf has weights 0.

A causal mask hides half of the scores. The queries are then taken in parts, each with the keys up to its last query.

Mirrors: aten/src/ATen/native/cpu/FlashAttentionKernel.cpp (cpu_flash_attention, cpu_flash_attention_backward)
Differs: NumPy multiplies the matrices, of all heads at once. Half precision is computed in float32 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import finish_as, structured
from glasstorch.operators.shapes import attention as shapes

CPU = KernelTable("CPU")

KEYS = 512  # the keys of a block
QUERIES = 128  # of a part under a causal mask, at least; there are up to four parts
SCORES = 1 << 16  # that are computed at once, unless one sample has more: they stay in the processor's cache


class Problem(NamedTuple):
    """Arrays (B, H, G, length, width): each of the H heads of keys and values serves a group of G heads of queries."""

    query: Array
    key: Array
    value: Array
    mask: Array | None
    causal: bool
    scale: float
    first: int = 0  # which of all queries is the first of these

    def part(self, samples: slice, rows: slice) -> Problem:
        """The same for a part of the batch and of the queries."""
        mask = self.mask
        if mask is not None:
            mask = mask if len(mask) == 1 else mask[samples]
            mask = mask if mask.shape[-2] == 1 else mask[..., rows, :]
        query = self.query[samples][..., rows, :]
        key, value = self.key[samples], self.value[samples]
        return self._replace(query=query, key=key, value=value, mask=mask, first=rows.start)

    def parts(self) -> Iterator[tuple[slice, slice]]:
        """Parts of the batch and of the queries, small enough that a block of scores stays in the cache."""
        batch, heads, groups, queries, _ = self.query.shape
        rows = max(QUERIES, -(-queries // 4)) if self.causal else max(queries, 1)
        step = max(1, SCORES // max(1, heads * groups * min(rows, queries) * min(KEYS, self.key.shape[-2])))
        for start in range(0, batch, step):
            for first in range(0, queries, rows):
                yield slice(start, start + step), slice(first, first + rows)


def problem(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool, scale: float | None
) -> Problem:
    heads = key._shape[1]
    width = query._shape[3]
    added = None
    if mask is not None:
        array = widened(mask.array())
        added = array[(None,) * (4 - array.ndim)]
        groups = (added.shape[0], 1, 1) if added.shape[1] == 1 else (added.shape[0], heads, added.shape[1] // heads)
        added = added.reshape(*groups, *added.shape[2:])
    return Problem(
        grouped(query, heads),
        grouped(key, heads),
        grouped(value, heads),
        added,
        causal,
        scale if scale is not None else 1 / math.sqrt(width or 1),
    )


def grouped(tensor: Tensor, heads: int) -> Array:
    """(B, H * G, ...) as (B, H, G, ...); half precision as float32."""
    array = widened(tensor.array())
    return array.reshape(array.shape[0], heads, array.shape[1] // max(heads, 1), *array.shape[2:])


def keys_seen(one: Problem) -> int:
    """How many keys there are, or under a causal mask up to the last query."""
    keys: int = one.key.shape[-2]
    return min(keys, one.first + int(one.query.shape[-2])) if one.causal else keys


def blocks(one: Problem) -> Iterator[slice]:
    """The keys, block by block; under a causal mask those that some query sees."""
    seen = keys_seen(one)
    return (slice(start, min(start + KEYS, seen)) for start in range(0, seen, KEYS))


def scores(one: Problem, keys: slice) -> Array:
    """What each query scores with the keys of a block, masked: (B, H, G, keys, queries)."""
    found = products(one, keys)
    if one.causal:
        later = np.arange(keys.start, keys.stop)[:, None] > np.arange(one.first, one.first + found.shape[-1])
        np.copyto(found, -np.inf, where=later)
    return found


def products(one: Problem, keys: slice) -> Array:
    """The scores without the causal mask.

    The keys come first because NumPy adds, and finds maxima, along an outer axis several times faster.
    """
    scaled = one.query * one.query.dtype.type(one.scale)
    found: Array = one.key[..., keys, :] @ scaled.swapaxes(-1, -2)
    if one.mask is not None:
        found += (one.mask[..., keys] if one.mask.shape[-1] > 1 else one.mask).swapaxes(-1, -2)
    return found


def attention(one: Problem) -> tuple[Array, Array]:
    """The output, and the logarithm of each row's sum of exponentials; see Note [Online softmax]."""
    output = np.empty(one.query.shape, one.query.dtype)
    logsumexp = np.empty(one.query.shape[:-1], one.query.dtype)
    for at, rows in one.parts():
        attend.run(one.part(at, rows), output[at][..., rows, :], logsumexp[at][..., rows])
    return output, logsumexp


@slot
def attend(one: Problem, output: Array, logsumexp: Array) -> None:
    """Write both results for a part of the batch."""
    output[...] = 0
    top = np.full(one.query.shape[:-1], -np.inf, one.query.dtype)
    total = np.zeros_like(top)
    for keys in blocks(one):
        found = scores(one, keys)
        higher = np.maximum(top, found.max(-2))
        base = finite(higher)
        weights = exp_below(found, base)
        shrink = np.exp(top - base)
        total = total * shrink + weights.sum(-2)
        output *= shrink[..., None]
        output += weights.swapaxes(-1, -2) @ one.value[..., keys, :]
        top = higher
    total[total == 0] = 1
    output /= total[..., None]
    np.add(finite(top), np.log(total), out=logsumexp)


def exp_below(scores: Array, base: Array) -> Array:
    """exp(scores - base), in the place of the scores."""
    scores -= base[..., None, :]
    return np.exp(scores, out=scores)


def finite(top: Array) -> Any:
    """The largest scores, with 0 for rows that have seen nothing but -inf."""
    return np.where(np.isneginf(top), top.dtype.type(0), top)


def over_group(gradient: Array) -> Array:
    """The sum over the heads of a group."""
    return gradient if gradient.shape[2] == 1 else gradient.sum(2, keepdims=True)


def gradients(grad: Array, one: Problem, output: Array, logsumexp: Array) -> tuple[Array, Array, Array]:
    """The gradients of query, key and value; those of a key and a value are added over the heads of their group."""
    of_query = np.zeros(one.query.shape, one.query.dtype)
    of_key, of_value = (np.zeros(one.key.shape, one.key.dtype) for _ in range(2))
    pulled = np.einsum("...e,...e->...", grad, output)  # what softmax's gradient subtracts from each row
    for at, rows in one.parts():
        pull_back(
            one.part(at, rows),
            grad[at][..., rows, :],
            pulled[at][..., rows],
            logsumexp[at][..., rows],
            of_query[at][..., rows, :],
            of_key[at],
            of_value[at],
        )
    scale = one.query.dtype.type(one.scale)
    of_query *= scale
    of_key *= scale
    return of_query, of_key, of_value


def pull_back(
    one: Problem,
    grad: Array,
    pulled: Array,
    logsumexp: Array,
    of_query: Array,
    of_key: Array,
    of_value: Array,
) -> None:
    """Add the gradients for a part of the batch and of the queries, which lack the scale of query and key."""
    for keys in blocks(one):
        weights = exp_below(scores(one, keys), logsumexp)
        of_value[..., keys, :] += over_group(weights @ grad)
        of_scores = one.value[..., keys, :] @ grad.swapaxes(-1, -2)
        of_scores -= pulled[..., None, :]
        of_scores *= weights
        of_query += of_scores.swapaxes(-1, -2) @ one.key[..., keys, :]
        of_key[..., keys, :] += over_group(of_scores @ one.query)


@structured(CPU, "_scaled_dot_product_flash_attention_for_cpu")
def flash(
    keys: int,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Tensor | None,
    scale: float | None,
) -> tuple[Tensor, Tensor]:
    """The output (B, H, L, E), and the logarithm of each row's sum of exponentials, (B, H, L)."""
    results = shapes.flash(query, key, value, dropout_p, is_causal, attn_mask, scale)
    found = quietly(attention, problem(query, key, value, attn_mask, is_causal, scale))
    output, logsumexp = (
        finish_as(result, array.reshape(result.shape), None) for result, array in zip(results, found, strict=True)
    )
    return output, logsumexp


@structured(CPU, "_scaled_dot_product_flash_attention_for_cpu_backward")
def flash_backward(
    keys: int,
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Tensor | None,
    scale: float | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of query, key and value."""
    results = shapes.flash_backward(grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, attn_mask, scale)
    one = problem(query, key, value, attn_mask, is_causal, scale)
    heads = key._shape[1]
    found = quietly(gradients, grouped(grad_out, heads), one, grouped(out, heads), grouped(logsumexp, heads))
    first, second, third = (
        finish_as(result, array.reshape(result.shape), None) for result, array in zip(results, found, strict=True)
    )
    return first, second, third
