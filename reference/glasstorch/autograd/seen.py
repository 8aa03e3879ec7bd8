"""Which node has the current elements of a view, after its base was changed?

Mirrors: torch/csrc/autograd/functions/tensor.cpp (CopySlices::apply_impl), torch/csrc/autograd/variable.h (ViewInfo)
Differs: which view operator is replayed is read off the change of dtype or bits, where PyTorch keeps a function; only
    where a program asks for all views to be replayed is one kept here, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from glasstorch.autograd.history import gradient_edge
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Edge, Metadata, Node
from glasstorch.core.geometry import Shape
from glasstorch.core.keys import CONJUGATE, MATH_BITS
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor
    from glasstorch.core.dtype import dtype


class Look(NamedTuple):
    """How a tensor is laid over its storage: geometry, dtype and bits.

    `replay` makes it from the tensor before it on the way to a view, where the program asked for that: view_replay.py.
    """

    shape: Shape
    strides: Shape
    offset: int
    dtype: dtype
    bits: int
    replay: Callable[[Tensor], Tensor] | None = None

    @classmethod
    def of(cls, tensor: Tensor) -> Look:
        """The current layout of a tensor."""
        return cls(tensor._shape, tensor.strides(), tensor._offset, tensor.dtype, tensor.key_set & MATH_BITS)


# A view, by the looks on the way to it from its base: one for each view operator, or only its own where all on the way
# have the base's dtype and bits and none is replayed.
Steps = tuple[Look, ...]


def steps_of(view: Tensor) -> Steps:
    """The looks on the way to a view; its own is the last."""
    last = Look.of(view)
    steps: Steps = view._autograd_meta.steps or ()
    return steps if steps and steps[-1]._replace(replay=None) == last else (*steps, last)


def seen_in(tensor: Tensor, base: Look, view: Steps) -> Tensor:
    """The elements of a view, taken from a tensor with the base's geometry, dtype and bits."""
    before = base
    for look in view:
        if look.replay is not None:
            tensor = look.replay(tensor)
        elif look.dtype is not before.dtype:
            tensor = f.view_as_real(tensor) if before.dtype.is_complex else f.view_as_complex(tensor)
        elif changed := look.bits ^ before.bits:
            tensor = f._conj(tensor) if changed & CONJUGATE else f._neg_view(tensor)
        else:
            start = tensor._offset + look.offset - before.offset
            tensor = tensor.as_strided(list(look.shape), list(look.strides), start)
        before = look
    return tensor


def edge_seen_in(tensor: Tensor, base: Look, view: Steps) -> Edge:
    """The edge of the elements of a view, in a tensor as for `seen_in`."""
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
    node.self_placement = base
    node.size, node.stride, node.storage_offset = list(view[0]), list(view[1]), view[2]
    node.input_metadata = (metadata,)
    return node
