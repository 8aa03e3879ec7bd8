"""What is the product of a nested tensor and a matrix, or of two nested tensors?

Mirrors: torch/nested/_internal/ops.py (linear_default, matmul_default, bmm_default)
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.nested._internal.nested_tensor import NestedTensor
from glasstorch.nested._internal.parts import nested_from_padded
from glasstorch.nested._internal.rules import inner, like, raggedness_matches, rule, run
from glasstorch.operators.generated.functions import stack

MATMUL = registry.find("aten::matmul")


@rule("linear", "input: jt, weight: t, bias: t?")
def linear_default(operator: Operator, x: NestedTensor, weight: Tensor, bias: Tensor | None) -> Any:
    """Of each element of each sequence: of the values."""
    return like(x, run(operator, inner(x), weight, bias))


@rule("bmm", "self: jt_all, mat2: any")
def bmm_default(operator: Operator, x: NestedTensor, other: Any) -> Any:
    """A product of three dimensions."""
    if x.dim() != 3:
        raise ValueError("bmm(): input must be 3D")
    if other.dim() != 3:
        raise ValueError("bmm(): mat2 must be 3D")
    return matmul_default(MATMUL, x, other)


@rule("matmul", "self: any, other: any")
def matmul_default(operator: Operator, a: Any, b: Any) -> Any:
    """A product whose ragged dimension is among those that stay, or is summed over in both."""
    if a.is_nested and not b.is_nested and a._ragged_idx < a.dim() - 1:
        if a.dim() >= 3 and a.dim() == b.dim():
            return nested_from_padded(run(operator, padded(a), b), a)
        if b.dim() == 2 < a.dim():
            return like(a, run(operator, inner(a), b))
    elif b.is_nested and not a.is_nested and b._ragged_idx >= 2:
        if b.dim() >= 3 and a.dim() == b.dim():
            return nested_from_padded(run(operator, a, padded(b)), b)
        if a.dim() == 2 < b.dim():
            return like(b, run(operator, a, inner(b)))
    elif a.is_nested and b.is_nested:
        if a.dim() > 3 and b.dim() > 3 and raggedness_matches(a, b._size):
            return like(a, run(operator, inner(a), inner(b)))
        ragged = a.dim() == b.dim() == 3 and (a._ragged_idx, b._ragged_idx) == (2, 1)
        if ragged and a._size[2] == b._size[1]:
            return stack([run(operator, one, other) for one, other in zip(a.unbind(), b.unbind(), strict=True)])
    sizes = a._size if a.is_nested else a.shape
    raise RuntimeError(f"matmul(): not supported between inputs of shapes {sizes} and {b.shape}")


def padded(x: NestedTensor) -> Tensor:
    """The sequences in rows as long as the longest; as long as all together where that is not known."""
    at, longest = x._ragged_idx, x._maybe_max_seqlen
    rows = x._values._shape[at - 1] if longest is None else longest
    return x.to_padded_tensor(0.0, output_size=(*x._size[:at], rows, *x._size[at + 1 :]))
