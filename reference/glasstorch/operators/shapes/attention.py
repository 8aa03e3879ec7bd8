"""Which shape and strides have the results of attention, and which inputs are refused?

Mirrors: aten/src/ATen/native/transformers/attention.cpp (_scaled_dot_product_flash_attention_cpu and its backward,
    validate_sdpa_input)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS, bfloat16, bool_, dtype, float16, float32
from glasstorch.core.errors import ArgumentError, DeviceError, DtypeError, ShapeError
from glasstorch.core.geometry import Shape, strides_like
from glasstorch.operators.shapes.result import C_NAMES, Result

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

FLASH = "scaled_dot_product_attention_flash_attention"


def check_inputs(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None) -> None:
    """Query, key and value have one dtype, one device and at least two dimensions; a mask is bool or floating."""
    three = (query, key, value)
    if any(one.dtype is not query.dtype for one in three):
        raise DtypeError(
            "Expected query, key, and value to have the same dtype, but got "
            f"{_each('dtype', [_c_name(one.dtype) for one in three])} instead."
        )
    if any(one.device != query.device for one in three):
        raise DeviceError(
            "Expected query, key, and value to have the same device type, but got "
            f"{_each('device', [str(one.device) for one in three])} instead."
        )
    if any(one.dim() < 2 for one in three):
        raise ShapeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got "
            f"{_each('dim', [str(one.dim()) for one in three])} instead."
        )
    if attn_mask is not None and attn_mask.dtype not in (bool_, float32, query.dtype):
        raise DtypeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{_c_name(attn_mask.dtype)} and  query.dtype: {_c_name(query.dtype)} instead."
        )


def _each(fact: str, words: list[str]) -> str:
    query, key, value = words
    return f"query.{fact}: {query} key.{fact}: {key} and value.{fact}: {value}"


def _c_name(dtype: dtype) -> str:
    return {"int64": "long int"}.get(dtype.name, C_NAMES[dtype.name])


# flash ----------------------------------------------------------------------------------------------------------


def heads_last(batch: int, heads: int, length: int, *width: int) -> tuple[Shape, Shape]:
    """The sizes (B, H, L, ...) and the strides of a tensor that lies in memory as (B, L, H, ...)."""
    inner = width[0] if width else 1
    return (batch, heads, length, *width), (length * heads * inner, inner, heads * inner, *(1 for _ in width))


def flash(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Tensor | None,
    scale: float | None,
) -> tuple[Result, Result]:
    """The output (B, H, L, E), laid out as the query; the logarithm of each row's sum of exponentials."""
    if query.dtype not in FLOATS:
        raise DtypeError(
            f"{FLASH}: Expected data type in FP32, FP64, BF16, FP16, but got {query.dtype.scalar_name} instead."
        )
    if any(one.dim() != 4 for one in (query, key, value)):
        raise ShapeError(f"{FLASH}: Accept only 4 dims inputs shape of {{B, H, T, K}}")
    if dropout_p != 0:
        raise ArgumentError(f"{FLASH}: Currently do not support dropout > 0")
    if not query._shape[3] == key._shape[3] == value._shape[3]:
        raise ShapeError(f"{FLASH}: Q/K/V should have the same head size")
    if attn_mask is not None:
        if attn_mask.dtype not in (float32, query.dtype):
            raise DtypeError(f"{FLASH}: Attention mask is the same data type as query")
        if attn_mask.dim() not in (2, 4):
            raise ShapeError(f"{FLASH}: Attention mask dim in {{2, 4}}")
    for other in (key, value):
        if other.dtype is not query.dtype:
            raise DtypeError(f"expected scalar type {query.dtype.scalar_name} but found {other.dtype.scalar_name}")
    batch, heads, length, _ = query._shape
    sums = float32 if query.dtype in (float16, bfloat16) else query.dtype
    output = Result(query._shape, query.dtype, strides_like(query._shape, query.strides()))
    shape, strides = heads_last(batch, heads, length)
    return output, Result(shape, sums, strides)


def flash_backward(
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
) -> tuple[Result, Result, Result]:
    """The sizes of query, key and value."""
    flash(query, key, value, dropout_p, is_causal, attn_mask, scale)
    if grad_out._shape != query._shape:
        raise ShapeError(f"expected a gradient of sizes {list(query._shape)}, got {list(grad_out._shape)}")
    first, second, third = (
        Result(shape, query.dtype, strides)
        for shape, strides in (heads_last(*one._shape) for one in (query, key, value))
    )
    return first, second, third
