"""What do softmax, normalization, dropout, embedding and convolution compute of a nested tensor?

Mirrors: torch/nested/_internal/ops.py (_softmax_default, _log_softmax_default, native_layer_norm_default,
    native_dropout_default, embedding_default, convolution_default, jagged_torch_function (rms_norm))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import wrap_dim
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.nested._internal.nested_tensor import NestedTensor
from glasstorch.nested._internal.parts import from_padded, to_padded
from glasstorch.nested._internal.rules import inner, inner_dim, like, rule, run
from glasstorch.operators.generated.functions import ones

NATIVE_DROPOUT = registry.find("aten::native_dropout")


@rule("_softmax", "self: jt_all, dim: any, half_to_float: any")
def _softmax_default(operator: Operator, x: NestedTensor, dim: int, half_to_float: bool) -> Any:
    """Over a dimension of each element, or over each sequence."""
    at, place = x._ragged_idx, wrap_dim(dim, len(x._size))
    if place == 0:
        raise RuntimeError("softmax(): not supported when reducing across the batch dimension for NestedTensor")
    if place != at:
        return like(x, run(operator, inner(x), inner_dim(place, at), half_to_float))
    if at > 1:
        raise RuntimeError(
            "softmax(): not supported when reducing along the ragged dimension for ragged_idx > 1 for NestedTensor"
        )
    if x._lengths is not None:
        raise RuntimeError(
            "softmax(): not supported where lengths is not None if reducing across the ragged dimension for "
            "NestedTensor"
        )
    values = inner(x)
    rows = to_padded(values, [x._offsets], [x._max_seqlen], float("-inf"))  # e ** -inf adds nothing
    return like(x, from_padded(run(operator, rows, 1, half_to_float), [x._offsets], values._shape[0]))


@rule("_log_softmax", "self: jt_all, dim: any, half_to_float: any")
def _log_softmax_default(operator: Operator, x: NestedTensor, dim: int, half_to_float: bool) -> Any:
    """Over a dimension of each element."""
    at, place = x._ragged_idx, wrap_dim(dim, len(x._size))
    for ragged, name in ((0, "across the batch"), (at, "along the ragged")):
        if place == ragged:
            raise RuntimeError(f"log_softmax(): not supported when reducing {name} dimension for NestedTensor")
    return like(x, run(operator, inner(x), inner_dim(place, at), half_to_float))


@rule("native_layer_norm", "input: jt_all, normalized_shape: any, weight: any?, bias: any?, eps: any")
def native_layer_norm_default(
    operator: Operator,
    x: NestedTensor,
    normalized_shape: Sequence[Any],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Any:
    """Each element by itself, or each whole sequence."""
    if x.dim() <= 2:
        raise RuntimeError("layer_norm(): not supported for NestedTensor objects with 2 or fewer dimensions")
    if x.dim() == len(normalized_shape):
        raise RuntimeError("layer_norm(): not supported when normalizing over the batch dimension for NestedTensor")
    if x._size[x._ragged_idx] not in normalized_shape:
        found, mean, deviation = run(operator, inner(x), normalized_shape, weight, bias, eps)
        return like(x, found), mean, deviation
    if x._lengths is not None:
        raise RuntimeError(
            "layer_norm(): not supported where lengths is not None if operating on the ragged dimension for "
            "NestedTensor"
        )
    return _whole_sequences(x, eps)


def _whole_sequences(x: NestedTensor, eps: float) -> Any:
    """Each sequence less its mean, by its deviation: both are of all its elements, and of no padding."""
    values, longest = inner(x).flatten(x._ragged_idx), [x._max_seqlen]
    rows = to_padded(values, [x._offsets], longest, 0.0)
    marks = ones(values._shape[0], 1, dtype=x.dtype, device=x.device)
    kept = to_padded(marks, [x._offsets], longest, 0.0).expand(rows.shape)
    counts = x._offsets.diff().unsqueeze(1).unsqueeze(1) * rows._shape[2]
    mean = rows.sum((1, 2), keepdim=True) / counts
    centred = (rows - mean) * kept
    deviation = ((centred * centred).sum((1, 2), keepdim=True) / counts + eps).sqrt()
    packed = from_padded(centred / deviation, [x._offsets], values._shape[0])
    return like(x, packed.unflatten(-1, x._size[x._ragged_idx + 1 :])), mean, deviation


@rule("rms_norm", "input: jt_all, normalized_shape: any, weight: any?, eps: any?")
def rms_norm(operator: Operator, x: NestedTensor, normalized_shape: Sequence[Any], *rest: Any) -> Any:
    """Each element by itself."""
    if len(normalized_shape) > x.dim() - x._ragged_idx - 1:
        raise ValueError("rms_norm(): Normalization over the ragged dim not supported for nested tensors")
    return like(x, run(operator, inner(x), normalized_shape, *rest))


@rule("native_dropout", "self: jt, float: any, train: any?")
def native_dropout_default(operator: Operator, x: NestedTensor, p: float, train: bool | None) -> Any:
    """Some elements as zeros, and which were kept."""
    kept, mask = run(operator, inner(x), p, train)
    return like(x, kept), like(x, mask)


@rule("dropout", "input: jt_all, p: any, train: any")
def dropout(operator: Operator, x: NestedTensor, p: float, train: bool) -> Any:
    """Some elements as zeros while a model is trained."""
    if p == 0 or not train or x.numel() == 0:
        return x
    return run(NATIVE_DROPOUT, x, p, train)[0]


@rule("embedding", "weight: t, indices: jt, padding_idx: any?, scale_grad_by_freq: any?, sparse: any?")
def embedding_default(operator: Operator, weight: Tensor, indices: NestedTensor, *rest: Any) -> Any:
    """A row of the weight for each index."""
    return like(indices, run(operator, weight, indices._values, *rest))


@rule("convolution conv1d conv2d conv3d", "input: jt, weight: t, bias: t?, ...")
def convolution_default(operator: Operator, x: NestedTensor, *rest: Any) -> Any:
    """Of each element, where each is an image."""
    return like(x, run(operator, inner(x), *rest))
