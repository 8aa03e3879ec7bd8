"""How is a function of each element computed of nested tensors, also beside tensors that are not nested?

Mirrors: torch/nested/_internal/ops.py (jagged_unary_pointwise, jagged_binary_pointwise, where_self, copy_default,
    activation_backward, fill_Scalar, frexp_Tensor)
"""

from __future__ import annotations

from typing import Any

from glasstorch.dispatch.operator import Operator
from glasstorch.functional import broadcast_shapes
from glasstorch.nested._internal.nested_tensor import NestedTensor
from glasstorch.nested._internal.parts import nested_from_padded
from glasstorch.nested._internal.rules import (
    elementwise,
    inner,
    like,
    raggedness_matches,
    rule,
    run,
    short_name,
)


def unary(operator: Operator, *arguments: Any) -> Any:
    """Of one nested tensor: of its values."""
    x = next(a for a in arguments if isinstance(a, NestedTensor))
    return like(x, run(operator, *(x._values if a is x else a for a in arguments)))


def binary(operator: Operator, *arguments: Any) -> Any:
    """Of two tensors, one of which is nested or both.

    A strided one is broadcast over the sequences: it may lack the batch and the ragged dimension, or have the batch
    and a 1 in place of the ragged size.
    """
    a, b, *more = arguments
    refusal = f"cannot call binary pointwise function {short_name(operator)} with inputs of shapes {{}} and {{}}"
    if isinstance(a, NestedTensor) and isinstance(b, NestedTensor):
        if not raggedness_matches(a, b._size):
            raise RuntimeError(refusal.format(a._size, b._size))
        return like(a, run(operator, a._values, b._values, *more))
    nested, strided = (a, b) if isinstance(a, NestedTensor) else (b, a)
    if strided.dim() > nested.dim():
        raise NotImplementedError("NYI: broadcasting NT with T with larger dim")
    squeezed = strided
    while squeezed.dim() and squeezed._shape[0] == 1:
        squeezed = squeezed.squeeze(0)
    if nested.dim() >= squeezed.dim() + 2:
        pair = (nested._values, squeezed) if nested is a else (squeezed, nested._values)
        return like(nested, run(operator, *pair, *more))
    if nested.dim() != strided.dim() or nested._size[0] != strided._shape[0]:
        raise RuntimeError(refusal.format(a.shape, b.shape))
    at = nested._ragged_idx
    total = nested._values._shape[at - 1]
    longest = nested._maybe_max_seqlen
    rows = strided.expand([*strided._shape[:at], total if longest is None else longest, *strided._shape[at + 1 :]])
    packed = nested_from_padded(rows, nested)
    return run(operator, *((nested, packed) if nested is a else (packed, nested)), *more)


elementwise |= {1: unary, 2: binary}


@rule("where.self", "condition: jt_all, self: any, other: any")
def where_self(operator: Operator, condition: Any, x: Any, other: Any) -> Any:
    """Elements of two tensors, broadcast together with the condition."""
    condition, x, other = broadcast_together([condition, x, other])
    return like(condition, run(operator, inner(condition), inner(x), inner(other)))


@rule("broadcast_tensors", "tensors: any")
def broadcast_tensors(operator: Operator, tensors: Any) -> Any:
    """All tensors as nested ones of one shape."""
    if len(tensors) == 1:
        return tensors[0]
    return tuple(broadcast_together(tensors))


def broadcast_together(tensors: Any) -> list[Any]:
    """Nested tensors of one shape; a strided tensor must have fewer dimensions."""
    shape = broadcast_shapes(*(t.shape for t in tensors))
    first = next(t for t in tensors if isinstance(t, NestedTensor))
    found: list[Any] = []
    for t in tensors:
        if isinstance(t, NestedTensor):
            found.append(t.expand(shape))
        elif t.dim() < len(shape):
            found.append(like(first, t.broadcast_to(first._values.shape)))
        else:
            raise ValueError(
                "broadcast_tensors(): broadcasting nested tensors with dense tensors of equal or higher dim is not "
                "currently supported"
            )
    return found


@rule("masked_fill.Scalar", "self: jt_all, mask: any, ...")
def masked_fill(operator: Operator, x: NestedTensor, mask: Any, value: Any) -> Any:
    """One value where the mask says so."""
    if not isinstance(mask, NestedTensor):
        return binary(operator, x, mask, value)
    if not raggedness_matches(x, mask._size):
        raise RuntimeError(
            f"cannot call binary pointwise function {short_name(operator)} with inputs of shapes {x._size} and "
            f"{mask._size}"
        )
    return like(x, run(operator, inner(x), mask._values, value))


@rule("frexp.Tensor", "self: jt_all")
def frexp_Tensor(operator: Operator, x: NestedTensor) -> Any:
    """Mantissas and exponents."""
    found = run(operator, inner(x))
    return type(found)(like(x, part) for part in found)


@rule("fill_.Scalar zero_", "self: jt_all, value: any?", only_below=True)
def fill__Scalar(operator: Operator, x: NestedTensor, *value: Any) -> Any:
    """One value everywhere, in place."""
    run(operator, x._values, *value)
    return x


@rule("copy_", "self: jt_all, src: jt_all, non_blocking: any?", only_below=True)
def copy_default(operator: Operator, x: NestedTensor, src: NestedTensor, non_blocking: bool) -> Any:
    """The elements of another; where the ragged sizes are other symbols, the lengths must be the same."""
    if x._size != src._size:
        mine, theirs = x.unbind(), src.unbind()
        if [t.shape for t in mine] != [t.shape for t in theirs]:
            raise RuntimeError(f"copy_(): expected compatible input and src shapes, but got: {x.shape} and {src.shape}")
    run(operator, x._values, src._values, non_blocking)
    return x


@rule(
    "elu_backward hardshrink_backward hardsigmoid_backward hardtanh_backward leaky_relu_backward mish_backward "
    "softplus_backward softshrink_backward",
    "self: jt_all, ...",
    only_below=True,
)
def activation_backward(operator: Operator, *arguments: Any) -> Any:
    """The gradient of a function of each element: of the values of what is nested."""
    grad = next(a for a in arguments if isinstance(a, NestedTensor))
    return like(grad, run(operator, *(a._values if isinstance(a, NestedTensor) else a for a in arguments)))
