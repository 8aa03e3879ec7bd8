"""Which helpers do the formulas of indexing operators call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (scatter_reduce_backward, index_reduce_backward),
    tools/autograd/derivatives.yaml (index_add, index_copy, index_fill, put),
    torch/csrc/autograd/functions/basic_ops.h (DelayedError)
Differs: scatter_reduce and index_reduce share one formula.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from glasstorch.autograd.history import gradient_edge, requires_grad, set_history
from glasstorch.autograd.hooks import Gradients
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Node
from glasstorch.core.errors import AutogradError
from glasstorch.core.geometry import Shape, broadcast_shapes, wrap_dim
from glasstorch.core.hooks import decides
from glasstorch.operators.generated.functions import (
    _unsafe_masked_index,
    _unsafe_masked_index_put_accumulate,
    eq,
    gt,
    index_put,
    ones_like,
    unique_dim,
    where,
    zeros_like,
)

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Step = Callable[["Tensor"], "Tensor"]
Combine = Callable[["Tensor", "Tensor"], "Tensor"]


def index_slices(grad: Tensor, dim: int, index: Tensor, source: Tensor, ndim: int) -> Tensor:
    """The slices of a gradient at the indices, in the shape of the source, which may be 0-dim."""
    return grad.index_select(dim, index).reshape_as(source) if ndim else grad.index_select(dim, index).reshape([])


def index_fill_value_backward(grad: Tensor, dim: int, index: Tensor) -> Tensor:
    """The gradient of the written number: the sum over the positions; a repeated index counts once."""
    return grad.index_select(dim, unique_dim(index.reshape(-1), 0)[0]).sum()


def take_backward(grad: Tensor, self: Tensor, index: Tensor) -> Tensor:
    """Each gradient, added at the flat index that its element was taken from."""
    flat = grad.new_zeros((self.numel(),))
    return index_put(flat, [index.reshape(-1)], grad.reshape(-1), True).reshape(self.shape)


def put_self_backward(grad: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Tensor:
    """Overwritten elements have no gradient; those that were added to keep it."""
    return grad if accumulate else grad.put(index, grad.new_zeros(source.shape), False)


# Reductions at indices ------------------------------------------------------------------------------------------


def scatter_reduce_backward(
    grad: Tensor, self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool, result: Tensor
) -> tuple[Tensor, Tensor]:
    """The gradients of the tensor and of the source of scatter_reduce."""
    if reduce == "sum":
        kept = grad if include_self else grad.scatter(dim, index, 0)
        return kept, grad.gather(dim, index)
    kept, placed = _reduced_at(
        "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are scattered to the same "
        "position in self",
        grad,
        self,
        src,
        result,
        reduce,
        include_self,
        lambda tensor: tensor.gather(dim, index),
        lambda tensor, values: tensor.scatter_add(dim, index, values),
        lambda tensor, values: tensor.scatter_reduce(dim, index, values, reduce, include_self=include_self),
    )
    return kept if include_self else kept.scatter(dim, index, 0), placed


def index_reduce_backward(
    grad: Tensor, self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool, result: Tensor
) -> tuple[Tensor, Tensor]:
    """The gradients of the tensor and of the source of index_reduce."""
    kept, placed = _reduced_at(
        "index_reduce(): Double backward is unsupported for source when >1 zeros in source are scattered to the same "
        "position in self",
        grad,
        self,
        source,
        result,
        reduce,
        include_self,
        lambda tensor: index_slices(tensor, dim, index, source, source.ndim),
        lambda tensor, values: tensor.index_add(dim, index, values),
        lambda tensor, values: tensor.index_reduce(dim, index, values, reduce, include_self=include_self),
    )
    return kept if include_self else kept.index_fill(dim, index, 0), placed


def _reduced_at(
    refusal: str,
    grad: Tensor,
    self: Tensor,
    source: Tensor,
    result: Tensor,
    reduce: str,
    include_self: bool,
    picked: Step,
    added: Combine,
    reduced: Combine,
) -> tuple[Tensor, Tensor]:
    """The gradients of a product, a mean or an extremum at indices, as if the tensor itself were included.

    `picked` gathers at the positions of the source, `added` scatters with addition, `reduced` is the operator itself.
    """
    if reduce in ("max", "min"):
        raise AutogradError(
            f"Expected 'reduce' to be one of 'sum', 'prod', 'mean', 'amax', 'amin' but got {reduce}."
        )  # as in PyTorch, which has no gradient for these names
    if reduce == "prod":
        return _product_backward(refusal, grad, self, source, result, picked, added, reduced)
    if reduce == "mean":
        counts = added(ones_like(grad) if include_self else zeros_like(grad), ones_like(source))
        counts = counts.masked_fill(eq(counts, 0), 1)
        return grad / counts, picked(grad) / picked(counts)
    ours, theirs = eq(self, result).to(self.dtype), eq(source, picked(result)).to(self.dtype)
    share = grad / added(ours, theirs)  # equal elements share the gradient
    return ours * share, theirs * picked(share)


def _product_backward(
    refusal: str,
    grad: Tensor,
    self: Tensor,
    source: Tensor,
    result: Tensor,
    picked: Step,
    added: Combine,
    reduced: Combine,
) -> tuple[Tensor, Tensor]:
    """The product of all other elements is the product divided by the element, unless that is 0."""
    ours = self.masked_fill(eq(self, 0), 1)
    kept = grad * reduced(ours, source) / ours
    zero = eq(source, 0)
    zeros = picked(added(zeros_like(self), zero.to(self.dtype)))  # how many elements share this element's position
    alone = zero & eq(zeros, 1)
    others = reduced(self, source.masked_fill(alone, 1))
    placed = where(alone, picked(grad * others), picked(grad * result) / source.masked_fill(zero, 1))
    return kept, placed if not decides(placed) or not gt(zeros, 1).any() else delayed_error(placed, refusal)


# A gradient without a double backward -----------------------------------------------------------------------


class DelayedErrorNode(Node):
    """A node that raises an error with its own message when it runs."""

    def __init__(self, message: str, tensor: Tensor) -> None:
        super().__init__([gradient_edge(tensor)])
        self.message = message

    def apply(self, grads: Gradients) -> Gradients:
        raise AutogradError(self.message)

    def name(self) -> str:
        return "DelayedError"


def delayed_error(tensor: Tensor, message: str) -> Tensor:
    """The tensor, with a node that raises an error if its gradient is needed."""
    if not (grad_mode.get() and requires_grad(tensor)):
        return tensor
    result = tensor.detach()
    set_history(result, DelayedErrorNode(message, tensor))
    return result


def index_backward(grad: Tensor, shape: Shape, indices: list[Any]) -> Tensor:
    """Each element receives the sum of the gradients of its copies."""
    return index_put(grad.new_zeros(shape), indices, grad, True)


def masked_index_backward(grad: Tensor, shape: Shape, mask: Tensor, indices: list[Any]) -> Tensor:
    """As index_backward, but for the copies that were overwritten where a mask is False."""
    return _unsafe_masked_index_put_accumulate(grad.new_zeros(shape), mask, indices, grad)


def masked_index(grad: Tensor, mask: Tensor, indices: list[Any]) -> Tensor:
    """The gradient of what was added at indices; 0 where a mask is False."""
    return _unsafe_masked_index(grad, mask, indices, 0)


def index_put_self_backward(grad: Tensor, indices: list[Any], accumulate: bool) -> Tensor:
    """Overwritten elements have no gradient; those that were added to keep it."""
    return grad if accumulate else index_put(grad, indices, grad.new_zeros(()), False)


def gather_backward(grad: Tensor, self: Tensor, dim: int, index: Tensor, sparse_grad: bool) -> Tensor:
    """The adjoint of gather; there are no sparse tensors, and `sparse_grad` makes no difference."""
    return grad.new_zeros(self.shape).scatter_add(dim, index, grad)


def index_select_backward(grad: Tensor, shape: Shape, dim: int, index: Tensor) -> Tensor:
    """The adjoint of index_select."""
    if not shape:
        return grad.reshape(()) if grad.dim() else grad
    d = wrap_dim(dim, len(shape))
    return index_put(grad.new_zeros(shape), [*[None] * d, index.reshape(-1)], grad, True)


def masked_select_backward(grad: Tensor, self: Tensor, mask: Tensor) -> Tensor:
    """The gradients at the masked positions of the tensor's and the mask's broadcast shape."""
    whole = broadcast_shapes(self._shape, mask._shape)
    flat = mask.expand(whole).reshape(-1)  # a 0-dim mask cannot index a 0-dim tensor
    return index_put(grad.new_zeros(flat.shape), [flat], grad, False).reshape(whole)
