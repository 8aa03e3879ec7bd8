"""What shape and dtype do rows looked up in a table have, and which indices are refused?

Mirrors: aten/src/ATen/native/Embedding.cpp, EmbeddingBag.cpp (check_arguments, make_bag_size, make_max_indices)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS, dtype, int32, int64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

SUM, MEAN, MAX = 0, 1, 2  # the integers that stand for what is done with the rows of a bag


def embedding_dense_backward(
    grad_output: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Result:
    """A table of `num_weights` rows."""
    check_indices(indices, 2, "indices", "embedding_backward")
    width = grad_output._shape[-1]
    if grad_output.numel() != indices.numel() * width:
        raise ShapeError(f"shape '[{indices.numel()}, {width}]' is invalid for input of size {grad_output.numel()}")
    return Result((num_weights, width), grad_output.dtype, None, same_dtype)


def embedding_renorm_(self: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Result:
    """The table's own shape."""
    if len(self._shape) != 2:
        raise ShapeError(
            f"Expected 2-dimensional tensor, but got {len(self._shape)}-dimensional tensor for argument #1 'self' "
            f"(while checking arguments for embedding_renorm_)"
        )
    check_indices(indices, 2, "indices", "embedding_renorm_")
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        raise DtypeError(
            f"norm(): input dtype should be either floating point or complex. Got {self.dtype.scalar_name} instead."
        )
    return Result(self._shape, self.dtype)


def check_indices(indices: Tensor, position: int, name: str, function: str) -> None:
    """Indices are int64 or int32."""
    _check_types(indices, (int64, int32), "Long, Int", position, name, function)


def _check_types(
    tensor: Tensor, accepted: tuple[dtype, ...] | frozenset[dtype], names: str, position: int, name: str, function: str
) -> None:
    if tensor.dtype not in accepted:
        raise DtypeError(
            f"Expected tensor for argument #{position} '{name}' to have one of the following scalar types: {names}; "
            f"but got torch.{tensor.dtype.scalar_name}Tensor instead (while checking arguments for {function})"
        )


# embedding_bag --------------------------------------------------------------------------------------------------


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
    """A row for each bag; the bag of each index; the size of each bag; and where its largest elements are from."""
    if len(weight._shape) != 2:
        raise ShapeError(f"weight has to be a 2D Tensor, but got Tensor of dimension {len(weight._shape)}")
    check_indices(indices, 1, "indices", "embedding_bag")
    check_indices(offsets, 1, "offsets", "embedding_bag")
    _check_types(weight, FLOATS, "Half, BFloat16, Float, Double", 1, "weight", "embedding_bag")
    if mode not in (SUM, MEAN, MAX):
        raise ArgumentError("`mode` must be sum, mean, or max.")
    for name, tensor in (("input", indices), ("offsets", offsets)):
        if len(tensor._shape) != 1:
            raise ShapeError(f"{name} has to be a 1D Tensor, but got Tensor of dimension {len(tensor._shape)}")
    if per_sample_weights is not None:
        _check_sample_weights(weight, indices, mode, per_sample_weights)
    bags = offsets._shape[0] - include_last_offset
    if bags < 0:
        raise ShapeError("include_last_offset: number of offset should be at least 1")
    width = weight._shape[1]
    return (
        Result((bags, width), weight.dtype, None, same_dtype),
        Result(indices._shape, indices.dtype, None, same_dtype),
        Result((bags,), indices.dtype, None, same_dtype),
        Result((bags, width) if mode == MAX else (bags,), indices.dtype, None, same_dtype),
    )


def _check_sample_weights(weight: Tensor, indices: Tensor, mode: int, per_sample_weights: Tensor) -> None:
    """A weight of the table's dtype for each index, in sums only."""
    if mode != SUM:
        raise ArgumentError("embedding_bag: per_sample_weights only supported with mode='sum'")
    if per_sample_weights.dtype is not weight.dtype:
        found, expected = (tensor.dtype.scalar_name for tensor in (per_sample_weights, weight))
        raise DtypeError(
            f"Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type torch.{expected}Tensor does not equal torch.{found}Tensor (while "
            f"checking arguments for embedding_bag)"
        )
    if per_sample_weights.numel() != indices.numel():
        raise ShapeError(
            f"Expected a weight for each of the {indices.numel()} indices, but per_sample_weights has "
            f"{per_sample_weights.numel()} elements"
        )


def embedding_bag_dense_backward(
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
    """A table of `num_weights` rows."""
    check_indices(indices, 1, "indices", "embedding_bag")
    _check_types(grad, FLOATS, "Half, BFloat16, Float, Double", 1, "grad", "embedding_bag")
    if mode == MAX and scale_grad_by_freq:
        raise ArgumentError("embedding_bag: scale_grad_by_freq is not supported with mode='max'")
    return Result((num_weights, grad._shape[1]), grad.dtype, None, same_dtype)


def embedding_bag_per_sample_weights_backward(
    grad: Tensor, weight: Tensor, indices: Tensor, offsets: Tensor, offset2bag: Tensor, mode: int, padding_idx: int
) -> Result:
    """An element for each index."""
    if mode != SUM:
        raise ArgumentError("embedding_bag_backward: per_sample_weights only supported for mode='sum'")
    if grad._shape[1:] != weight._shape[1:]:
        raise ShapeError(
            f"Expected grad and weight to have equally many columns, but got: {list(grad._shape)} and "
            f"{list(weight._shape)}"
        )
    check_indices(indices, 1, "indices", "embedding_bag")
    return Result(indices._shape, grad.dtype, None, same_dtype)
