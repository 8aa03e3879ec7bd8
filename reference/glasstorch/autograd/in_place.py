"""How does autograd record an operator that changes its first argument?

Mirrors: torch/csrc/autograd/generated/VariableType_*.cpp (the in-place forms), VariableTypeUtils.h
Differs: a function for each number of arguments makes the kernels, where PyTorch generates one for each operator. What
    an operator's node saves is in `generated/autograd_kernels.py`, and so are the rows of those that save only the
    tensor that is changed. See Note [Makers of kernels] (inplace_or_view.py).
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

from glasstorch.autograd.history import (
    check_inplace,
    gradient_edge,
    rebase_history,
    requires_grad,
)
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Node
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.keys import BELOW_AUTOGRAD
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.dispatch.operator import Boxed, DispatchTable
from glasstorch.operators.generated.registry import table

Save = Callable[..., None]  # called with the node, then with the operator's arguments

recording = grad_mode.get


class Form(NamedTuple):
    """An in-place operator: the data that a maker's kernel closes over."""

    table: DispatchTable
    node: type[Node]
    save: Save | None  # before the write
    keep: Callable[[Node, Any], None] | None  # after the write, to save the result
    history: Callable[[Any, Node], None]  # sets the node as the producer of the tensor's new value
    differentiable: tuple[int, ...]  # positions of the differentiable arguments
    real_or_complex: bool  # whether an integer tensor records nothing, even if another argument has a gradient


def in_place(
    autograd: KernelTable,
    name: str,
    node: type[Node],
    maker: Callable[[Form], Boxed],
    *differentiable: int,
    save: Save | None = None,
    keep: Callable[[Node, Any], None] | None = None,
    history: Callable[[Any, Node], None] = rebase_history,
    real_or_complex: bool = False,
    where: str | None = None,
) -> None:
    """Register the autograd kernel of an in-place operator."""
    kernel = maker(Form(table(name), node, save, keep, history, differentiable, real_or_complex))
    kernel.__name__ = kernel.__qualname__ = name.replace(".", "_")
    autograd.add(name, kernel, where or caller(1))


def in_place_saving(
    autograd: KernelTable,
    name: str,
    node: type[Node],
    maker: Callable[[Form], Boxed],
    *differentiable: int,
    **more: Any,
) -> Callable[[Save], Save]:
    """Register the autograd kernel of an in-place operator whose node saves what the decorated function saves."""
    where = caller(1)

    def decorate(save: Save) -> Save:
        in_place(autograd, name, node, maker, *differentiable, save=save, where=where, **more)
        return save

    return decorate


def old_self(node: Any, self: Any, *others: Any) -> None:
    """Save the tensor as it was before the write."""
    node.saved_self = SavedVariable(self.clone())


def new_self(node: Any, self: Any) -> None:
    """Save the tensor as it is after the write: the result."""
    node.saved_result = SavedVariable(self, node, 0)


# The tensor alone has a gradient --------------------------------------------------------------------------------


def alone_of_one(form: Form) -> Boxed:
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if self._autograd_meta is None or not recording():
            return table[below](below, self)
        if requires_grad(self):
            check_inplace(self)  # before a view is given a new node
        edge = gradient_edge(self)
        if edge is None and not requires_grad(self):
            return table[below](below, self)
        node = make_node((edge,))
        if save is not None:
            save(node, self)
        table[below](below, self)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


def alone_of_two(form: Form) -> Boxed:
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any, a: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if self._autograd_meta is None or not recording():
            return table[below](below, self, a)
        if requires_grad(self):
            check_inplace(self)  # before a view is given a new node
        edge = gradient_edge(self)
        if edge is None and not requires_grad(self):
            return table[below](below, self, a)
        node = make_node((edge,))
        if save is not None:
            save(node, self, a)
        table[below](below, self, a)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


def alone_of_three(form: Form) -> Boxed:
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any, a: Any, b: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if self._autograd_meta is None or not recording():
            return table[below](below, self, a, b)
        if requires_grad(self):
            check_inplace(self)  # before a view is given a new node
        edge = gradient_edge(self)
        if edge is None and not requires_grad(self):
            return table[below](below, self, a, b)
        node = make_node((edge,))
        if save is not None:
            save(node, self, a, b)
        table[below](below, self, a, b)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


def alone_of_four(form: Form) -> Boxed:
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if self._autograd_meta is None or not recording():
            return table[below](below, self, a, b, c)
        if requires_grad(self):
            check_inplace(self)  # before a view is given a new node
        edge = gradient_edge(self)
        if edge is None and not requires_grad(self):
            return table[below](below, self, a, b, c)
        node = make_node((edge,))
        if save is not None:
            save(node, self, a, b, c)
        table[below](below, self, a, b, c)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


# The tensor and the second argument have gradients --------------------------------------------------------------


def two_of_two(form: Form) -> Boxed:
    table, make_node, save, keep, history, _, real_or_complex = form

    def kernel(keys: int, self: Any, other: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if (self._autograd_meta is None and other._autograd_meta is None) or not recording():
            return table[below](below, self, other)
        if real_or_complex and not (self.dtype.is_floating_point or self.dtype.is_complex):
            return table[below](below, self, other)
        if requires_grad(self) or requires_grad(other):
            check_inplace(self)
        edge = gradient_edge(self)
        edge_other = None if other._autograd_meta is None else gradient_edge(other)
        if edge is None and edge_other is None and not requires_grad(self):
            return table[below](below, self, other)
        node = make_node((edge, edge_other))
        if save is not None:
            save(node, self, other)
        table[below](below, self, other)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


def two_of_three(form: Form) -> Boxed:
    table, make_node, save, keep, history, _, real_or_complex = form

    def kernel(keys: int, self: Any, other: Any, a: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if (self._autograd_meta is None and other._autograd_meta is None) or not recording():
            return table[below](below, self, other, a)
        if real_or_complex and not (self.dtype.is_floating_point or self.dtype.is_complex):
            return table[below](below, self, other, a)
        if requires_grad(self) or requires_grad(other):
            check_inplace(self)
        edge = gradient_edge(self)
        edge_other = None if other._autograd_meta is None else gradient_edge(other)
        if edge is None and edge_other is None and not requires_grad(self):
            return table[below](below, self, other, a)
        node = make_node((edge, edge_other))
        if save is not None:
            save(node, self, other, a)
        table[below](below, self, other, a)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


# The tensor and others have gradients: those with the numbers in `differentiable` -------------------------------


def recorded(make_node: type[Node], tensors: tuple[Any, ...]) -> Node | None:
    """The node of a call with these differentiable arguments, self first; None where nothing is to be recorded."""
    for tensor in tensors:
        if tensor is not None and tensor._autograd_meta is not None and requires_grad(tensor):
            break
    else:
        return None
    self = tensors[0]
    check_inplace(self)
    edges = tuple(map(gradient_edge, tensors))
    return make_node(edges) if any(edges) or requires_grad(self) else None


def several_of_three(form: Form) -> Boxed:
    table, make_node, save, keep, history, differentiable, _ = form
    pick = itemgetter(*differentiable)

    def kernel(keys: int, self: Any, a: Any, b: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if not recording():
            return table[below](below, self, a, b)
        node = recorded(make_node, pick((self, a, b)))
        if node is None:
            return table[below](below, self, a, b)
        if save is not None:
            save(node, self, a, b)
        table[below](below, self, a, b)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


def several_of_four(form: Form) -> Boxed:
    table, make_node, save, keep, history, differentiable, _ = form
    pick = itemgetter(*differentiable)

    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if not recording():
            return table[below](below, self, a, b, c)
        node = recorded(make_node, pick((self, a, b, c)))
        if node is None:
            return table[below](below, self, a, b, c)
        if save is not None:
            save(node, self, a, b, c)
        table[below](below, self, a, b, c)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


def several_of_five(form: Form) -> Boxed:
    table, make_node, save, keep, history, differentiable, _ = form
    pick = itemgetter(*differentiable)

    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if not recording():
            return table[below](below, self, a, b, c, d)
        node = recorded(make_node, pick((self, a, b, c, d)))
        if node is None:
            return table[below](below, self, a, b, c, d)
        if save is not None:
            save(node, self, a, b, c, d)
        table[below](below, self, a, b, c, d)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


def several_of_six(form: Form) -> Boxed:
    table, make_node, save, keep, history, differentiable, _ = form
    pick = itemgetter(*differentiable)

    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if not recording():
            return table[below](below, self, a, b, c, d, e)
        node = recorded(make_node, pick((self, a, b, c, d, e)))
        if node is None:
            return table[below](below, self, a, b, c, d, e)
        if save is not None:
            save(node, self, a, b, c, d, e)
        table[below](below, self, a, b, c, d, e)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel
