"""Which node has what a view shows of a tensor, as that tensor is now?

Mirrors: torch/csrc/autograd/functions/tensor.cpp (CopySlices::apply_impl), aten/src/ATen/FunctionalInverses.cpp
Differs: a view of another dtype or with other bits is found again from its geometry, where PyTorch keeps a function
    that replays the view operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from glasstorch.autograd.history import gradient_edge
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Edge, Metadata, Node
from glasstorch.core.geometry import Shape
from glasstorch.core.keys import CONJUGATE, MATH_BITS, NEGATIVE
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor
    from glasstorch.core.dtype import dtype


class Look(NamedTuple):
    """How a tensor looks at its storage."""

    shape: Shape
    strides: Shape
    offset: int
    dtype: dtype
    bits: int

    @classmethod
    def of(cls, tensor: Tensor) -> Look:
        """That of a tensor as it is now."""
        return cls(tensor._shape, tensor.strides(), tensor._offset, tensor.dtype, tensor.key_set & MATH_BITS)


def seen_in(tensor: Tensor, base: Look, view: Look) -> Tensor:
    """What a view of `base` shows, in a tensor of its sizes and strides that begins where its storage does."""
    shape, strides = list(view.shape), list(view.strides)
    if view.dtype is base.dtype:
        part = tensor.as_strided(shape, strides, tensor._offset + view.offset - base.offset)
    elif base.dtype.is_complex:
        part = f.view_as_real(tensor).as_strided(shape, strides, 2 * tensor._offset + view.offset - 2 * base.offset)
    else:
        pairs = [2 * step for step in strides]
        start = tensor._offset + 2 * view.offset - base.offset
        part = f.view_as_complex(tensor.as_strided([*shape, 2], [*pairs, 1], start))
    changed = base.bits ^ view.bits
    if changed & CONJUGATE:
        part = f._conj(part)
    return f._neg_view(part) if changed & NEGATIVE else part


def edge_seen_in(tensor: Tensor, base: Look, view: Look) -> Edge:
    """The node of what a view of `base` shows, in a tensor as `seen_in` takes it."""
    token = grad_mode.set(True)
    try:
        edge = gradient_edge(seen_in(tensor, base, view))
    finally:
        grad_mode.reset(token)
    assert edge is not None
    return edge


def strided_view_of(
    edge: Edge | None, base: tuple[Shape, Shape, int], view: tuple[Shape, Shape, int], metadata: Metadata
) -> Node:
    """The node of a view that looks at some sizes, strides and offset of a tensor, of which others are given."""
    from glasstorch.autograd.generated.autograd_kernels import (
        AsStridedBackward0,  # all formulas: loaded when one is needed
    )

    node = AsStridedBackward0((edge,))
    node.self_geometry = base
    node.size, node.stride, node.storage_offset = list(view[0]), list(view[1]), view[2]
    node.metadata = (metadata,)
    return node
