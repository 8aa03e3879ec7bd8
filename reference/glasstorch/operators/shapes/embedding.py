"""What shape have rows that are looked up in a table, and which tables and indices are refused?

Mirrors: aten/src/ATen/native/Embedding.cpp, EmbeddingBag.cpp
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS, STORED_ONLY, dtype, int32, int64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

SUM, MEAN, MAX = 0, 1, 2  # the modes of embedding_bag


def check_indices(indices: Tensor, name: str, function: str, position: int = 1) -> None:
    """Indices are int64 or int32."""
    if indices.dtype not in (int64, int32):
        raise DtypeError(
            f"Expected tensor for argument #{position} '{name}' to have one of the following scalar types: Long, Int; "
            f"but got torch.{indices.dtype.scalar_name}Tensor instead (while checking arguments for {function})"
        )


def embedding(weight: Tensor, indices: Tensor, padding_idx: int, scale_grad_by_freq: bool, sparse: bool) -> Result:
    """A row of the table for each index."""
    if len(weight._shape) != 2:
        raise ShapeError("'weight' must be 2-D")
    check_indices(indices, "indices", "embedding")
    return Result((*indices._shape, weight._shape[1]), weight.dtype, None, same_dtype)


def embedding_dense_backward(
    grad_output: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Result:
    """The shape of the table."""
    check_indices(indices, "indices", "embedding_backward", 2)
    if grad_output._shape[:-1] != indices._shape:
        raise ShapeError(
            f"expected a gradient of sizes {[*indices._shape, '*']}, those of the result, got "
            f"{list(grad_output._shape)}"
        )
    if grad_output.dtype in STORED_ONLY:
        raise not_implemented_for("add_stub", grad_output.dtype)
    return Result((num_weights, grad_output._shape[-1]), grad_output.dtype, None, same_dtype)


def embedding_renorm(self: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Result:
    """The shape of the table."""
    if len(self._shape) != 2:
        raise ShapeError(
            f"Expected 2-dimensional tensor, but got {len(self._shape)}-dimensional tensor for argument #1 'self' "
            "(while checking arguments for embedding_renorm_)"
        )
    check_indices(indices, "indices", "embedding_renorm_", 2)
    return Result(self._shape, self.dtype, None, same_dtype)


# Bags -----------------------------------------------------------------------------------------------------------


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int,
) -> tuple[Result, Result, Result, Result]:
    """A row for each bag; the bag of each index; how many indices a bag has; the rows that its maxima are from."""
    if not (len(indices._shape) in (1, 2) and len(offsets._shape) == 1):
        raise ShapeError(
            f"input has to be a 1D or 2D Tensor, and offsets a 1D Tensor, but got Tensors of dimension "
            f"{len(indices._shape)} and {len(offsets._shape)}"
        )
    if len(weight._shape) != 2:
        raise ShapeError(f"weight has to be a 2D Tensor, but got Tensor of dimension {len(weight._shape)}")
    check_indices(indices, "indices", "embedding_bag")
    check_indices(offsets, "offsets", "embedding_bag")
    _check_table_dtype(weight, "weight", "embedding_bag")
    _check_weights(weight, indices, mode, per_sample_weights)
    if include_last_offset and not offsets._shape[0]:
        raise ArgumentError("include_last_offset: number of offset should be at least 1")
    bags = offsets._shape[0] - (1 if include_last_offset else 0)
    kind, features = joined(indices, offsets), weight._shape[1]
    counted = (bags, features) if mode == MAX else (bags,)
    return (
        Result((bags, features), weight.dtype, None, same_dtype),
        Result((prod(indices._shape),), kind, None, same_dtype),
        Result((bags,), kind, None, same_dtype),
        Result(counted, kind, None, same_dtype),
    )


def _check_table_dtype(tensor: Tensor, name: str, function: str) -> None:
    if tensor.dtype not in FLOATS:
        raise DtypeError(
            f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: Half, BFloat16, "
            f"Float, Double; but got torch.{tensor.dtype.scalar_name}Tensor instead (while checking arguments for "
            f"{function})"
        )


def joined(indices: Tensor, offsets: Tensor) -> dtype:
    """The dtype that both are computed in."""
    return int64 if int64 in (indices.dtype, offsets.dtype) else int32


def _check_weights(weight: Tensor, indices: Tensor, mode: int, per_sample_weights: Tensor | None) -> None:
    if per_sample_weights is None:
        return
    if mode != SUM:
        raise ArgumentError(
            "embedding_bag: per_sample_weights only supported with mode='sum'; use a mode of 0 or leave them out"
        )
    if per_sample_weights.dtype is not weight.dtype:
        raise DtypeError(
            f"expected scalar type {weight.dtype.scalar_name} but found {per_sample_weights.dtype.scalar_name}"
        )
    if per_sample_weights._shape != indices._shape:
        raise ShapeError(
            f"embedding_bag: expected a weight for each of the indices, {list(indices._shape)}, got "
            f"{list(per_sample_weights._shape)}"
        )


def _embedding_bag_dense_backward(
    grad: Tensor,
    indices: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Tensor | None,
    padding_idx: int,
) -> Result:
    """The shape of the table."""
    _check_table_dtype(grad, "grad_", "embedding_bag_backward")
    return Result((num_weights, grad._shape[1]), grad.dtype, None, same_dtype)


def _embedding_bag_per_sample_weights_backward(
    grad: Tensor,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    mode: int,
    padding_idx: int,
) -> Result:
    """A gradient for each index."""
    if grad.dtype not in FLOATS:
        raise not_implemented_for("_embedding_bag_per_sample_weights_backward_cpu", grad.dtype)
    if mode != SUM:
        raise ArgumentError("embedding_bag_backward: per_sample_weights only supported for mode='sum'")
    return Result((prod(indices._shape),), grad.dtype, None, same_dtype)
