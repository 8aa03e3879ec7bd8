"""What do the operators of the family attention compute?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.agreement.samples import SAME, Dtype, Row, always, call, row, t

Array = np.ndarray[Any, Any]
EXACT = ("float32", "float64")


def shares(x: Array, dim: int = -1, *_: Any) -> Array:
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def both(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    dropout_mask: None = None,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[Array, Array]:
    """The output and the weights."""
    if enable_gqa:
        key, value = (np.repeat(one, query.shape[-3] // one.shape[-3], -3) for one in (key, value))
    scores = query @ key.swapaxes(-1, -2) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = scores + mask
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    weights = shares(scores)
    return weights @ value, weights


def attention(*args: Any, **kwargs: Any) -> Array:
    return both(*args, **kwargs)[0]


def flash(
    query: Array,
    key: Array,
    value: Array,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Array | None = None,
    scale: float | None = None,
) -> tuple[Array, Array]:
    scores = query @ key.swapaxes(-1, -2) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if attn_mask is not None:
        scores = scores + attn_mask
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    return shares(scores) @ value, np.log(np.exp(scores).sum(-1))


Q, K = t(2, 4, 3, 5), t(2, 4, 6, 5)
FEW = t(2, 2, 6, 5)  # heads that each serve two of the query's

ROWS: tuple[Row, ...] = (
    row("scaled_dot_product_attention", attention, call(t(3, 5), t(4, 5), t(4, 2)),
        call(t(2, 3, 5), t(2, 4, 5), t(2, 4, 5), t(3, 4)), call(t(2, 3, 5), t(2, 3, 5), t(2, 3, 5), is_causal=True),
        call(t(4, 3, 5), t(2, 6, 5), t(2, 6, 5), enable_gqa=True, scale=0.3), dtypes=EXACT, cuda=False),
    row("_scaled_dot_product_attention_math", both, call(Q, K, K), call(Q, K, K, t(3, 6)),
        call(Q, Q, Q, None, 0.0, True), call(Q, FEW, FEW, scale=-0.5, enable_gqa=True), dtypes=EXACT,
        result=(SAME, SAME), cuda=False),
    row("_scaled_dot_product_flash_attention_for_cpu", flash, call(Q, K, K), call(Q, Q, Q, 0.0, True),
        call(Q, K, K, attn_mask=t(3, 6, grad=False)), call(Q, K, K, attn_mask=t(2, 1, 1, 6, grad=False), scale=0.3),
        dtypes=EXACT, result=(SAME, SAME), twice=False),
    row("_safe_softmax", shares, call(t(2, 3), -1), call(t(2, 3), 0),
        call(t(2, 3), -1, Dtype("float64"), result=always("float64")), dtypes=EXACT),
)  # fmt: skip
