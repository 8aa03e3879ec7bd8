"""How does a view record its base?

Mirrors: torch/csrc/autograd/variable.h (DifferentiableViewMeta, as_view), VariableTypeUtils.h (as_view)
Differs: a view has the looks on its way (seen.py) in place of a function that replays the view operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.autograd.history import (
    AutogradMeta,
    MadeBy,
    check_rebase,
    gradient_edge,
    keep_gradient_at,
    requires_grad,
)
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Node
from glasstorch.autograd.seen import Look, edge_seen_in, steps_of, strided_view_of
from glasstorch.core import inference
from glasstorch.core.keys import ADINPLACEORVIEW, MATH_BITS
from glasstorch.core.tensor_impl import count_versions_anew

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

recording = grad_mode.get


def shares_version(base: Tensor, other: Tensor) -> Tensor:
    """Record that `other` shares the storage of `base` and that no gradient flows between them, as in `detach`.

    Where one of them is an inference tensor, `other` counts versions of its own.
    """
    if not base.key_set & other.key_set & ADINPLACEORVIEW:
        count_versions_anew(other)
        return other
    other._version_counter = base.version_counter()
    return other


def as_view(base: Tensor, view: Tensor) -> Tensor:  # hot path: benchmarks/eager.py
    """Record that `view` shows the storage of `base`: the root of a chain of views, and its version counter."""
    if not base.key_set & ADINPLACEORVIEW:  # a view of an inference tensor is one too
        return view
    counter = base._version_counter
    if counter is None:
        counter = base.version_counter()
    view._version_counter = counter
    view_meta = view._autograd_meta = AutogradMeta()
    view_meta.seen_version = counter.value
    meta = base._autograd_meta
    if meta is None or meta.base is None:
        view_meta.base = base
        if view.dtype is not base.dtype or (view.key_set ^ base.key_set) & MATH_BITS:
            view_meta.steps = (Look.of(view),)
    else:
        view_meta.base = meta.base
        view_meta.made = meta.made
        view_meta.follows_base = meta.follows_base
        if meta.steps is not None or view.dtype is not base.dtype or (view.key_set ^ base.key_set) & MATH_BITS:
            view_meta.steps = (*steps_of(base), Look.of(view))
    if inference.entered and inference.mode.get():
        view_meta.made = MadeBy.INFERENCE
    elif not recording():
        view_meta.made = MadeBy.NO_GRAD
    return view


def as_views(base: Tensor, views: Any) -> Any:
    """Several views of one tensor; an in-place change of one must not be recorded."""
    if inference.entered and inference.mode.get():
        made = MadeBy.INFERENCE
    else:
        made = MadeBy.SEVERAL if recording() else MadeBy.NO_GRAD
    for view in views:
        meta = as_view(base, view)._autograd_meta
        if meta is not None:  # else they are inference tensors
            meta.made = made
    return views


def refresh_view(view: Tensor, meta: AutogradMeta) -> None:
    """Update a view's node to the current history of its base; InplaceError if the way it was made forbids that."""
    base = meta.base
    assert base is not None
    if meta.grad_fn is None and not requires_grad(base):
        return
    check_rebase(meta, "its base or another view of its base has been")
    edge = gradient_edge(base)  # None where the base was detached: the view's new node leads nowhere
    if edge is None or meta.steps is None:
        geometry = view._shape, view.strides(), view._offset
        seen = base._shape, base.strides(), base._offset
        made: Node = strided_view_of(edge, seen, geometry, (view._shape, view.dtype, view.device))
        output_nr = 0
    else:
        made, output_nr = edge_seen_in(base, Look.of(base), steps_of(view))
    keep_gradient_at(meta, made)
    meta.grad_fn, meta.output_nr = made, output_nr
    meta.seen_version = view._version
