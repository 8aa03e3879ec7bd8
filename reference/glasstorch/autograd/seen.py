"""Which node has the current elements of a view, after its base was changed?

Mirrors: torch/csrc/autograd/functions/tensor.cpp (CopySlices::apply_impl), aten/src/ATen/FunctionalInverses.cpp
Differs: a view with another dtype or other bits is rebuilt from its geometry, where PyTorch keeps a function that
    replays the view operators.
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
    """How a tensor is laid over its storage: geometry, dtype and bits."""

    shape: Shape
    strides: Shape
    offset: int
    dtype: dtype
    bits: int

    @classmethod
    def of(cls, tensor: Tensor) -> Look:
        """The current layout of a tensor."""
        return cls(tensor._shape, tensor.strides(), tensor._offset, tensor.dtype, tensor.key_set & MATH_BITS)


def seen_in(tensor: Tensor, base: Look, view: Look) -> Tensor:
    """The elements of a view of `base`, taken from a tensor with the base's geometry at storage offset 0."""
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
    """The edge of the elements of a view of `base`, in a tensor as for `seen_in`."""
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
    """The node of a view with given sizes, strides and offset of a tensor with its own."""
    from glasstorch.autograd.generated.autograd_kernels import (
        AsStridedBackward0,  # all formulas: loaded when one is needed
    )

    node = AsStridedBackward0((edge,))
    node.self_geometry = base
    node.size, node.stride, node.storage_offset = list(view[0]), list(view[1]), view[2]
    node.metadata = (metadata,)
    return node
