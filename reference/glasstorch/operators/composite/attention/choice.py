"""Which way of computing attention is taken, and why not another?

    >>> import glasstorch as torch
    >>> x = torch.rand(1, 2, 8, 4)  # (batch, heads, length, width)
    >>> torch._fused_sdp_choice(x, x, x), torch._fused_sdp_choice(x[0], x[0], x[0])
    (1, 0)
    >>> why_not_flash(Request(x[0], x[0], x[0], None, 0.0, False))
    'All fused kernels requires query, key and value to be 4 dimensional, but got Query dim: 3, Key dim: 3, Value dim: \
3 instead.'

The numbers are those of `nn.attention.SDPBackend`. What the user allows is said with `nn.attention.sdpa_kernel`.

Mirrors: aten/src/ATen/native/transformers/sdp_utils_cpp.cpp (select_sdp_backend_cpp), sdp_utils_cpp.h
Differs: one function gives the reason as text. The ways of CUDA's libraries can be allowed, and are never taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from glasstorch.core.dtype import FLOATS
from glasstorch.core.errors import ArgumentError
from glasstorch.core.user_line import warn_user

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

ERROR, MATH, FLASH = -1, 0, 1

# What the user allows; changed by backends/cuda and nn/attention.
ALLOWED: Final = {"cudnn": True, "flash": True, "mem_efficient": True, "math": True, "overrideable": True}

# The order in which the ways are tried: flash, efficient, math, cudnn, overrideable. Changed by nn/attention.
ORDER: Final = [1, 2, 0, 3, 4]


class Settings:
    """What else the user decides."""

    half_sums = False  # whether the products of half precision may be added in half precision; backends/cuda
    fast_path = True  # whether layers may be one operator where no gradient is recorded; backends/mha


SHAPES_OF_MASKS = (
    "Please use the following attn mask shapes: 2d - ({Q_seq_len, 1}  x {KV_seq_len, 1}); "
    "4d - ({Batch, 1} x {Num_heads, 1} x {Q_seq_len, 1}  x {KV_seq_len, 1})"
)


class Request(NamedTuple):
    """What a call of scaled_dot_product_attention asks for, as far as the choice depends on it."""

    query: Tensor
    key: Tensor
    value: Tensor
    attn_mask: Tensor | None
    dropout_p: float
    enable_gqa: bool

    def each(self, fact: str, separator: str = " ") -> str:
        """`Query dim: 3, Key dim: 3, Value dim: 3`: what a fact is of each of the three."""
        three = zip(("Query", "Key", "Value"), (self.query, self.key, self.value), strict=True)
        return ", ".join(f"{name}{separator}{fact}: {FACTS[fact](tensor)}" for name, tensor in three)


FACTS: Final[dict[str, Callable[[Tensor], object]]] = {
    "dim": lambda tensor: tensor.dim(),
    "sizes()": lambda tensor: list(tensor._shape),
    "size(-1)": lambda tensor: tensor._shape[-1],
    "stride(-1)": lambda tensor: tensor.strides()[-1],
}


def fused_sdp_choice(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> int:
    """The number of the way that is taken: flash if it can be, else math; without either an error."""
    if query.device.type != "cpu":
        return MATH
    if not ALLOWED["math"] and not ALLOWED["flash"]:
        return ERROR
    reason = why_not_flash(Request(query, key, value, attn_mask, dropout_p, enable_gqa))
    if reason is None:
        return FLASH
    if ALLOWED["math"]:
        return MATH
    warn_user("Flash attention kernel not used because:")
    warn_user(reason)
    raise ArgumentError("No available kernel.  Aborting execution.")


def why_not_flash(request: Request) -> str | None:
    """Why the flash kernel cannot serve a request; None if it can."""
    query, key, value, attn_mask, dropout_p, enable_gqa = request
    three = (query, key, value)
    if any(one.dtype not in FLOATS or one.dtype is not query.dtype for one in three):
        found = [one.dtype.scalar_name for one in three]
        return (
            "Expected query, key and value to all be of dtype: {Float, Double, BFloat16, Half}. Got Query dtype: "
            f"{found[0]}, Key dtype: {found[1]}, and Value dtype: {found[2]} instead."
        )
    if not ALLOWED["flash"]:
        return "Flash attention has been runtime disabled."
    if dropout_p > 0:
        return "Both fused kernels do not support non-zero dropout."
    if any(one.dim() != 4 for one in three):
        return (
            "All fused kernels requires query, key and value to be 4 dimensional, but got "
            f"{request.each('dim')} instead."
        )
    return (
        _why_not_these_heads(request, enable_gqa)
        or _why_not_this_mask(query, key, attn_mask)
        or _why_not_these_sizes(request)
    )


def _why_not_these_heads(request: Request, enable_gqa: bool) -> str | None:
    """All three have one batch size and one number of heads; with `enable_gqa` key and value may have a fraction."""
    (query_batch, query_heads), (key_batch, key_heads), (value_batch, value_heads) = (
        one._shape[:2] for one in request[:3]
    )
    if not query_batch == key_batch == value_batch:
        kind = "batch_size"
    elif enable_gqa and key_heads == value_heads and (key_heads == 0 or query_heads % key_heads == 0):
        return None
    elif not query_heads == key_heads == value_heads:
        kind = "num_heads"
    else:
        return None
    return (
        f"For dense input, both fused kernels require query, key and value to have the same {kind}. "
        f"{request.each('sizes()')} instead. To broadcast dense inputs, try using "
        "unsqueeze and expand_to before passing them into the kernel."
    )


def _why_not_this_mask(query: Tensor, key: Tensor, attn_mask: Tensor | None) -> str | None:
    """A mask has no gradient and two or four dimensions, which broadcast with (B, H, L, S)."""
    if attn_mask is None:
        return None
    wanted = (*query._shape[:3], key._shape[2])
    dims = attn_mask.dim()
    fits = all(size in (1, full) for size, full in zip(attn_mask._shape, wanted[-dims:], strict=False))
    return None if dims in (2, 4) and fits and not attn_mask.requires_grad else SHAPES_OF_MASKS


def _why_not_these_sizes(request: Request) -> str | None:
    query, key, value = request[:3]
    if not query._shape[-1] == key._shape[-1] == value._shape[-1]:
        return (
            f"Flash attention requires q,k,v to have the same last dimension. Got {_dotted(request, 'size(-1)')} "
            "instead."
        )
    if 0 in (query._shape[-2], key._shape[-2]):
        return "All fused kernels do not support zero seq_len_q or seq_len_kv."
    if any(one.strides()[-1] != 1 for one in (query, key, value)):
        return (
            "All fused kernels require the last dimension of the input to have stride 1. Got "
            f"{_dotted(request, 'stride(-1)')}"
        )
    return None


def _dotted(request: Request, fact: str) -> str:
    return request.each(fact, separator=".")
