"""How are losses composed that want vectors near each other or far apart?

Mirrors: aten/src/ATen/native/Loss.cpp (hinge_embedding_loss, cosine_embedding_loss, margin_ranking_loss,
    triplet_margin_loss)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.errors import ShapeError
from glasstorch.operators.composite.loss.pointwise import reduced
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

TINY = 1e-12  # added to squared lengths: vectors of zeros have a cosine too


def hinge_embedding_loss(self: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    """The distance itself for the target 1, what it lacks of the margin for -1."""
    zeros = f.zeros_like(self)
    lacking = f.where(target != 1, (f.full_like(self, margin) - self).clamp_min(0), zeros)
    distances = f.where(target != -1, self, zeros)
    return reduced(lacking + distances, reduction)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    """`1 - cosine` for the target 1, the cosine above the margin for -1: vectors (N, D) and targets (N), or (D), ()."""
    dims = len(target._shape)
    if dims > 1:
        raise ShapeError("0D or 1D target tensor expected, multi-target not supported")
    if not len(input1._shape) == len(input2._shape) == dims + 1:
        raise ShapeError(
            f"{dims}D target tensor expects {dims + 1}D input tensors, but found inputs with sizes "
            f"{list(input1._shape)} and {list(input2._shape)}."
        )
    squares = ((x * x).sum(dims) + TINY for x in (input1, input2))
    first, second = squares
    cosine = (input1 * input2).sum(dims) / (first * second).sqrt()
    zeros = f.zeros_like(cosine)
    near = f.where(target == 1, 1 - cosine, zeros)
    far = f.where(target == -1, (cosine - margin).clamp_min(0), zeros)
    return reduced(near + far, reduction)


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    """`max(0, margin - target * (input1 - input2))`."""
    return reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float,
    p: float,
    eps: float,
    swap: bool,
    reduction: int,
) -> Tensor:
    """`max(0, margin + near - far)`; with `swap`, the negative's distance is the smaller of those to the other two."""
    dims = [len(x._shape) for x in (anchor, positive, negative)]
    if len(set(dims)) > 1:
        raise ShapeError(
            f"The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs"
        )
    near = f.pairwise_distance(anchor, positive, p, eps)
    far = f.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = f.minimum(far, f.pairwise_distance(positive, negative, p, eps))
    return reduced((margin + near - far).clamp_min(0), reduction)
