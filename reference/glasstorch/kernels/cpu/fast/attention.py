"""How is attention to few keys computed fast?

# Note [Exponentials without a maximum]
Softmax subtracts the largest score of each row so that no exponential overflows, and so that not all of a row become
0. Scores of a trained network are small: where none is large, and no sum is tiny, the exponentials of the scores
themselves are as exact. One maximum of a whole block of scores and one minimum of its sums tell; they take a tenth of
the time of the maxima of all rows. Exponentials that a causal mask hides are then multiplied by 0.

Mirrors: aten/src/ATen/native/cpu/FlashAttentionKernel.cpp (cpu_flash_attention)
Differs: one block holds all keys, so that nothing is scaled down later.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu import attention as plain
from glasstorch.kernels.cpu.attention import KEYS, Problem, keys_seen, products

SCORE: Final = 40.0  # no score is above: the sum of the exponentials of a block stays below 1e20
SUM: Final = 1e-20  # no sum is below: what is lost in it is lost in the sum after subtraction, too


@fast(plain.attend, when="up to 512 keys, scores up to 40", benchmark="GPT of 2 layers, a step", exact=16.0)
def attend(one: Problem, output: Array, logsumexp: Array) -> None:
    """See Note [Exponentials without a maximum]."""
    keys = slice(keys_seen(one))
    if keys.stop > KEYS or not one.key.size or not one.query.size:
        plain.attend.plain(one, output, logsumexp)
        return
    weights = products(one, keys)
    if not weights.max() < SCORE:  # nor is it NaN
        plain.attend.plain(one, output, logsumexp)
        return
    np.exp(weights, out=weights)
    if one.causal:
        weights *= np.tri(weights.shape[-1], keys.stop, one.first, weights.dtype).T
    total = np.ones((1, weights.shape[-2]), weights.dtype) @ weights
    if not total.min() > SUM:
        plain.attend.plain(one, output, logsumexp)
        return
    np.matmul(weights.swapaxes(-1, -2), one.value[..., keys, :], out=output)
    output /= total.swapaxes(-1, -2)
    np.log(total[..., 0, :], out=logsumexp)
