"""How many floating-point operations does a call of an operator take?

Mirrors: torch/utils/flop_counter.py (flop_registry, register_flop_formula and the formulas)
Differs: only of operators that are here; the attention of cuDNN, of nested tensors and of flex_attention are not.

Only products of matrices are counted, a multiplication and an addition as two. As in PyTorch, the CPU's kernel of
`scaled_dot_product_attention` has no formula; `sdpa_flop` and `sdpa_backward_flop` are formulas for it:

    FlopCounterMode(custom_mapping={torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: sdpa_flop})
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.calls.ops import OpOverloadPacket, ops

Shape = Sequence[int]
Formula = Callable[..., int]

aten = ops.aten
flop_registry: dict[Any, Formula] = {}


def get_shape(i: Any) -> Any:
    """The shape of a tensor; anything else unchanged."""
    return i.shape if isinstance(i, Tensor) else i


def shape_wrapper(f: Formula) -> Formula:
    """The formula as a function of the tensors themselves; it gets their shapes, that of the result as `out_shape`."""

    @wraps(f)
    def with_tensors(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        shapes = {name: _shapes(value) for name, value in kwargs.items()}
        return f(*map(_shapes, args), out_shape=_shapes(out_val), **shapes)

    return with_tensors


def _shapes(value: Any) -> Any:
    return type(value)(map(_shapes, value)) if type(value) in (list, tuple) else get_shape(value)


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Formula], Formula]:
    """A decorator: count calls of these operators (`torch.ops.mylib.foo`, or a list of such) by this formula.

    It is called as the operator is, with shapes in place of tensors, and that of the result as `out_shape`. With
    `get_raw` it gets the tensors, and the result as `out_val`.
    """
    listed = list(targets) if isinstance(targets, list | tuple) else [targets]

    def register(formula: Formula) -> Formula:
        for target in listed:
            if not isinstance(target, OpOverloadPacket):
                raise ValueError(
                    f"register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. "
                    f"torch.ops.mylib.foo), got {target} which is of type {type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
        wrapped = formula if get_raw else shape_wrapper(formula)
        flop_registry.update(dict.fromkeys(listed, wrapped))
        return wrapped

    return register


def _check(fits: bool, message: str) -> None:
    if not fits:
        raise AssertionError(message)


# Products of matrices ---------------------------------------------------------------------------------------------


@register_flop_formula(aten.mm)
def mm_flop(a_shape: Shape, b_shape: Shape, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """(m, k) @ (k, n): each of m * n results is a sum of k products."""
    (m, k), (k2, n) = a_shape, b_shape
    _check(k == k2, f"matmul: inner dimensions must match (k == k2), got {k} and {k2}")
    return m * n * 2 * k


@register_flop_formula(aten.addmm)
def addmm_flop(self_shape: Shape, a_shape: Shape, b_shape: Shape, out_shape: Any = None, **kwargs: Any) -> int:
    """As mm: what is added is not counted."""
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape: Shape, b_shape: Shape, out_shape: Any = None, **kwargs: Any) -> int:
    """As mm, for each of the batch."""
    (b, *a_shape), (b2, *b_shape) = a_shape, b_shape
    _check(b == b2, f"bmm: batch dimensions must match (b == b2), got {b} and {b2}")
    return b * mm_flop(a_shape, b_shape)


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(self_shape: Shape, a_shape: Shape, b_shape: Shape, out_shape: Any = None, **kwargs: Any) -> int:
    """As bmm."""
    return bmm_flop(a_shape, b_shape)


# Convolutions -----------------------------------------------------------------------------------------------------


def conv_flop_count(x_shape: Shape, w_shape: Shape, out_shape: Shape, transposed: bool = False) -> int:
    """The filter is applied once for each place of the result, or of the input where the convolution is transposed.

    Padding counts as input, and groups are taken care of by the shape of the weight.
    """
    batch = x_shape[0]
    places = prod((x_shape if transposed else out_shape)[2:])
    return places * prod(w_shape) * batch * 2


@register_flop_formula([aten.convolution, aten._convolution])
def conv_flop(
    x_shape: Shape,
    w_shape: Shape,
    _bias: Any,
    _stride: Any,
    _padding: Any,
    _dilation: Any,
    transposed: bool,
    *args: Any,
    out_shape: Shape = (),
    **kwargs: Any,
) -> int:
    """The forward pass; a bias is not counted."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed=transposed)


@register_flop_formula(aten.convolution_backward)
def conv_backward_flop(
    grad_out_shape: Shape,
    x_shape: Shape,
    w_shape: Shape,
    _bias: Any,
    _stride: Any,
    _padding: Any,
    _dilation: Any,
    transposed: bool,
    _output_padding: Any,
    _groups: Any,
    output_mask: Sequence[bool],
    out_shape: Sequence[Shape],
    **kwargs: Any,
) -> int:
    """The gradients that are asked for: each is a convolution of the other kind.

    That of the input is a transposed convolution of `grad_out` with the weight. That of the weight is a convolution of
    the input with `grad_out`, or the other way round where the forward pass was transposed; batch and channels change
    places, since the sum goes over the batch.
    """
    flops = 0
    if output_mask[0]:
        flops += conv_flop_count(grad_out_shape, w_shape, out_shape[0], not transposed)
    if output_mask[1]:
        image, filters = (grad_out_shape, x_shape) if transposed else (x_shape, grad_out_shape)
        flops += conv_flop_count(_swapped(image), _swapped(filters), _swapped(out_shape[1]), transposed=False)
    return flops


def _swapped(shape: Shape) -> Shape:
    """With batch and channels exchanged."""
    return [shape[1], shape[0], *shape[2:]]


# Attention --------------------------------------------------------------------------------------------------------


def sdpa_flop_count(query_shape: Shape, key_shape: Shape, value_shape: Shape) -> int:
    """Two products of matrices (batch, heads, length, width): scores, and their sums of values.

    Keys and values may have fewer heads than queries. A mask is not regarded: all scores count.
    """
    b, h, s_q, d_q, s_k, d_v = _attention_sizes("sdpa_flop_count", query_shape, key_shape, value_shape)
    scores = bmm_flop((b * h, s_q, d_q), (b * h, d_q, s_k))
    return scores + bmm_flop((b * h, s_q, s_k), (b * h, s_k, d_v))


def sdpa_backward_flop_count(grad_out_shape: Shape, query_shape: Shape, key_shape: Shape, value_shape: Shape) -> int:
    """Five products: the scores once more, and the gradients of scores, values, queries and keys."""
    b, h, s_q, d_q, s_k, d_v = _attention_sizes("sdpa_backward_flop_count", query_shape, key_shape, value_shape)
    fits = tuple(grad_out_shape) == (b, h, s_q, d_v)
    _check(fits, f"sdpa_backward_flop_count: expected grad_out {(b, h, s_q, d_v)}, got {tuple(grad_out_shape)}")
    n = b * h
    return (
        bmm_flop((n, s_q, d_q), (n, d_q, s_k))
        + bmm_flop((n, s_q, d_v), (n, d_v, s_k))
        + bmm_flop((n, s_k, s_q), (n, s_q, d_v))
        + bmm_flop((n, s_q, s_k), (n, s_k, d_q))
        + bmm_flop((n, d_q, s_q), (n, s_q, s_k))
    )


def _attention_sizes(function: str, query: Shape, key: Shape, value: Shape) -> tuple[int, int, int, int, int, int]:
    """The sizes of batch, heads, queries, width, keys, and width of the values."""
    (b, h_q, s_q, d_q), (b_k, h_k, s_k, d_k), (b_v, h_v, s_v, d_v) = query, key, value
    fits = b == b_k == b_v and h_k == h_v and d_q == d_k and s_k == s_v
    _check(fits, f"{function}: query/key/value shapes are incompatible: q={query}, k={key}, v={value}")
    grouped = h_q >= h_k and h_q % h_k == 0
    _check(grouped, f"{function}: query heads ({h_q}) must be a multiple of key/value heads ({h_k})")
    return b, h_q, s_q, d_q, s_k, d_v


def sdpa_flop(
    query_shape: Shape, key_shape: Shape, value_shape: Shape, *args: Any, out_shape: Any = None, **kwargs: Any
) -> int:
    """A formula for kernels of attention, forward."""
    return sdpa_flop_count(query_shape, key_shape, value_shape)


def sdpa_backward_flop(
    grad_out_shape: Shape,
    query_shape: Shape,
    key_shape: Shape,
    value_shape: Shape,
    *args: Any,
    out_shape: Any = None,
    **kwargs: Any,
) -> int:
    """A formula for kernels of attention, backward."""
    return sdpa_backward_flop_count(grad_out_shape, query_shape, key_shape, value_shape)
