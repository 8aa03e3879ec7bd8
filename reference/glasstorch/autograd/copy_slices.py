"""How does an in-place change of a view affect its base's gradient?

Mirrors: torch/csrc/autograd/functions/tensor.h and tensor.cpp (CopySlices), torch/csrc/autograd/variable.cpp
    (rebase_history)
Differs: the view operators that are replayed, and when: seen.py.

# Note [In place on a view]
`v.mul_(w)`, where v is a view of part of b, changes b: b is now its old value with one part replaced. So b's new node
is CopySlices. Its gradient has two parts: within v, the gradient passes through the operator, `mul_`'s own node;
outside, the gradient of the new b passes unchanged. And v is a view of the new b: its node is created again.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from glasstorch.autograd.history import AutogradMeta, gradient_edge, keep_gradient_at, set_view_hooks
from glasstorch.autograd.hooks import Gradients
from glasstorch.autograd.node import Edge, Node, Unseen, only_wanted
from glasstorch.autograd.seen import Look, edge_seen_in, seen_in, steps_of, strided_view_of
from glasstorch.autograd.views import refresh_view
from glasstorch.core.layout import contiguous_format
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


class CopySlices(Node):
    """A tensor with one part replaced: the gradient of the part goes through the operator that changed it."""

    input_metadata: Unseen

    def __init__(self, base: Tensor, view: Tensor, function: Node) -> None:
        super().__init__((gradient_edge(base), *function.next_edges[1:]))
        self.base, self.view = Look.of(base), steps_of(view)
        self.function: Node | None = function
        self.input_metadata = ((base._shape, base.dtype, base.device),)
        function.within = weakref.ref(self)

    def part_edge(self) -> Edge:
        """The edge of the view after the change, for a result that the operator's own node saved."""
        base, view = self.base, self.view[-1]
        if len(self.view) == 1 and view[3:] == base[3:]:
            return strided_view_of((self, 0), base[:3], view[:3], (view.shape, *self.input_metadata[0][1:])), 0
        changed = f.empty_strided(base.shape, base.strides, dtype=base.dtype, device=self.input_metadata[0][2])
        meta = changed._autograd_meta = AutogradMeta()
        meta.grad_fn = self
        return edge_seen_in(changed, base, self.view)

    def apply(self, grads: Gradients) -> Gradients:
        """The gradients of the old base and of the operator's other arguments, from that of the new base."""
        grad = grads[0]
        if grad is None:
            return (None,) * len(self.next_edges)
        function = self.function
        if function is None:
            return (self.unpack(None),)  # raises the error that the graph was freed
        result = grad.new_empty_strided(self.base.shape, self.base.strides).copy_(grad)
        part = seen_in(result, self.base, self.view)
        with only_wanted(None):  # the first edge of the operator's own node leads out of the graph
            results = list(function.apply([part.clone(memory_format=contiguous_format)]))
        if self.next_edges[0] is not None and results[0] is not None:
            part.copy_(results[0])
            results[0] = result
        return results

    def release_variables(self) -> None:
        self.released = True
        function, self.function = self.function, None
        if function is not None:
            function.release_variables()


def rebase_view(view: Tensor, meta: AutogradMeta, function: Node) -> None:
    """Make an in-place change of a view, recorded as `function`, part of its base's history."""
    base = meta.base
    assert base is not None
    node = CopySlices(base, view, function)
    base_meta = base._autograd_meta
    if base_meta is None:
        base_meta = base._autograd_meta = AutogradMeta()
    keep_gradient_at(base_meta, node)
    base_meta.grad_fn, base_meta.output_nr = node, 0
    refresh_view(view, meta)


class _Views:
    """Fills history.ViewHooks."""

    def refresh_view(self, view: Tensor, meta: AutogradMeta) -> None:
        refresh_view(view, meta)

    def rebase_view(self, view: Tensor, meta: AutogradMeta, function: Node) -> None:
        rebase_view(view, meta, function)


set_view_hooks(_Views())
