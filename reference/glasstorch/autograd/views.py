"""How does a view remember what it is a view of?

Mirrors: torch/csrc/autograd/variable.h (DifferentiableViewMeta, as_view), VariableTypeUtils.h (as_view)
Differs: a view whose base was changed in place since gets AsStridedBackward0 as its new node, where PyTorch can also
    replay the view operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.autograd.node import AutogradMeta, gradient_edge

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def shares_version(base: Tensor, other: Tensor) -> Tensor:
    """Record that `other` shows the storage of `base` and that no gradient flows between them: `detach`."""
    other._version_counter = base.version_counter()
    return other


def as_view(base: Tensor, view: Tensor) -> Tensor:
    """Record that `view` shows the storage of `base`: the root of a chain of views, and its version counter."""
    counter = base._version_counter
    view._version_counter = counter if counter is not None else base.version_counter()
    meta = base._autograd_meta
    root = base if meta is None or meta.base is None else meta.base
    view_meta = view._autograd_meta = AutogradMeta()
    view_meta.base = root
    view_meta.seen_version = view._version_counter.value
    return view


def as_views(base: Tensor, views: Any) -> Any:
    """Several views of one tensor."""
    for view in views:
        as_view(base, view)
    return views


def refresh_view(view: Tensor, meta: AutogradMeta) -> None:
    """Give a view the node that leads to what its base is now."""
    from glasstorch.autograd.generated.autograd_kernels import (
        AsStridedBackward0,
    )  # generated above this module

    base = meta.base
    assert base is not None
    edge = gradient_edge(base)
    if edge is not None:
        node = AsStridedBackward0((edge,))
        node.self_geometry = (base._shape, base.strides(), base._offset)
        node.size, node.stride, node.storage_offset = list(view._shape), list(view.strides()), view._offset
        node.metadata = ((view._shape, view.dtype),)
        meta.grad_fn, meta.output_nr = node, 0
    meta.seen_version = view._version
