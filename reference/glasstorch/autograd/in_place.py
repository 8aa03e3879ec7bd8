"""How does autograd record an operator that changes its first argument?

Mirrors: torch/csrc/autograd/generated/VariableType_*.cpp (the in-place forms), VariableTypeUtils.h
Differs: a function for each number of arguments makes the kernels, where PyTorch generates one for each operator. What
    an operator's node saves is in `generated/autograd_kernels.py`, and so are the rows of those that save only the
    tensor that is changed. See Note [Makers of kernels] (inplace_or_view.py).
"""

from __future__ import annotations

from collections.abc import Callable
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
    real_or_complex: bool  # whether an integer tensor records nothing, even if another argument has a gradient


def in_place(
    autograd: KernelTable,
    name: str,
    node: type[Node],
    maker: Callable[[Form], Boxed],
    *,
    save: Save | None = None,
    keep: Callable[[Node, Any], None] | None = None,
    history: Callable[[Any, Node], None] = rebase_history,
    real_or_complex: bool = False,
    where: str | None = None,
) -> None:
    """Register the autograd kernel of an in-place operator."""
    kernel = maker(Form(table(name), node, save, keep, history, real_or_complex))
    kernel.__name__ = kernel.__qualname__ = name.replace(".", "_")
    autograd.add(name, kernel, where or caller(1))


def in_place_saving(
    autograd: KernelTable,
    name: str,
    node: type[Node],
    maker: Callable[[Form], Boxed],
    **more: Any,
) -> Callable[[Save], Save]:
    """Register the autograd kernel of an in-place operator whose node saves what the decorated function saves."""
    where = caller(1)

    def decorate(save: Save) -> Save:
        in_place(autograd, name, node, maker, save=save, where=where, **more)
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


def alone_of_six(form: Form) -> Boxed:
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if self._autograd_meta is None or not recording():
            return table[below](below, self, a, b, c, d, e)
        if requires_grad(self):
            check_inplace(self)  # before a view is given a new node
        edge = gradient_edge(self)
        if edge is None and not requires_grad(self):
            return table[below](below, self, a, b, c, d, e)
        node = make_node((edge,))
        if save is not None:
            save(node, self, a, b, c, d, e)
        table[below](below, self, a, b, c, d, e)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


# The tensor and the second argument have gradients --------------------------------------------------------------


def two_of_two(form: Form) -> Boxed:
    table, make_node, save, keep, history, real_or_complex = form

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
    table, make_node, save, keep, history, real_or_complex = form

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


# The tensor, the second and the third argument have gradients -------------------------------------------------------


def three_of_three(form: Form) -> Boxed:
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any, other: Any, another: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if (
            self._autograd_meta is None and other._autograd_meta is None and another._autograd_meta is None
        ) or not recording():
            return table[below](below, self, other, another)
        if requires_grad(self) or requires_grad(other) or requires_grad(another):
            check_inplace(self)
        edge = gradient_edge(self)
        edge_other = None if other._autograd_meta is None else gradient_edge(other)
        edge_another = None if another._autograd_meta is None else gradient_edge(another)
        if edge is None and edge_other is None and edge_another is None and not requires_grad(self):
            return table[below](below, self, other, another)
        node = make_node((edge, edge_other, edge_another))
        if save is not None:
            save(node, self, other, another)
        table[below](below, self, other, another)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


def three_of_four(form: Form) -> Boxed:
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any, other: Any, another: Any, a: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if (
            self._autograd_meta is None and other._autograd_meta is None and another._autograd_meta is None
        ) or not recording():
            return table[below](below, self, other, another, a)
        if requires_grad(self) or requires_grad(other) or requires_grad(another):
            check_inplace(self)
        edge = gradient_edge(self)
        edge_other = None if other._autograd_meta is None else gradient_edge(other)
        edge_another = None if another._autograd_meta is None else gradient_edge(another)
        if edge is None and edge_other is None and edge_another is None and not requires_grad(self):
            return table[below](below, self, other, another, a)
        node = make_node((edge, edge_other, edge_another))
        if save is not None:
            save(node, self, other, another, a)
        table[below](below, self, other, another, a)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


def three_of_five(form: Form) -> Boxed:
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any, other: Any, another: Any, a: Any, b: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if (
            self._autograd_meta is None and other._autograd_meta is None and another._autograd_meta is None
        ) or not recording():
            return table[below](below, self, other, another, a, b)
        if requires_grad(self) or requires_grad(other) or requires_grad(another):
            check_inplace(self)
        edge = gradient_edge(self)
        edge_other = None if other._autograd_meta is None else gradient_edge(other)
        edge_another = None if another._autograd_meta is None else gradient_edge(another)
        if edge is None and edge_other is None and edge_another is None and not requires_grad(self):
            return table[below](below, self, other, another, a, b)
        node = make_node((edge, edge_other, edge_another))
        if save is not None:
            save(node, self, other, another, a, b)
        table[below](below, self, other, another, a, b)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


def optional_of_three(form: Form) -> Boxed:
    """For an operator whose second and third argument may be None."""
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any, other: Any, another: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if not recording():
            return table[below](below, self, other, another)
        if (
            requires_grad(self)
            or (other is not None and requires_grad(other))
            or (another is not None and requires_grad(another))
        ):
            check_inplace(self)
        edge = gradient_edge(self)
        edge_other = gradient_edge(other)
        edge_another = gradient_edge(another)
        if edge is None and edge_other is None and edge_another is None and not requires_grad(self):
            return table[below](below, self, other, another)
        node = make_node((edge, edge_other, edge_another))
        if save is not None:
            save(node, self, other, another)
        table[below](below, self, other, another)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


# The tensor and the third argument have gradients -------------------------------------------------------------------


def third_of_three(form: Form) -> Boxed:
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any, a: Any, other: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if (self._autograd_meta is None and other._autograd_meta is None) or not recording():
            return table[below](below, self, a, other)
        if requires_grad(self) or requires_grad(other):
            check_inplace(self)
        edge = gradient_edge(self)
        edge_other = None if other._autograd_meta is None else gradient_edge(other)
        if edge is None and edge_other is None and not requires_grad(self):
            return table[below](below, self, a, other)
        node = make_node((edge, edge_other))
        if save is not None:
            save(node, self, a, other)
        table[below](below, self, a, other)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


def third_of_four(form: Form) -> Boxed:
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any, a: Any, other: Any, b: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if (self._autograd_meta is None and other._autograd_meta is None) or not recording():
            return table[below](below, self, a, other, b)
        if requires_grad(self) or requires_grad(other):
            check_inplace(self)
        edge = gradient_edge(self)
        edge_other = None if other._autograd_meta is None else gradient_edge(other)
        if edge is None and edge_other is None and not requires_grad(self):
            return table[below](below, self, a, other, b)
        node = make_node((edge, edge_other))
        if save is not None:
            save(node, self, a, other, b)
        table[below](below, self, a, other, b)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


# The tensor and the fourth argument have gradients ------------------------------------------------------------------


def fourth_of_four(form: Form) -> Boxed:
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any, a: Any, b: Any, other: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if (self._autograd_meta is None and other._autograd_meta is None) or not recording():
            return table[below](below, self, a, b, other)
        if requires_grad(self) or requires_grad(other):
            check_inplace(self)
        edge = gradient_edge(self)
        edge_other = None if other._autograd_meta is None else gradient_edge(other)
        if edge is None and edge_other is None and not requires_grad(self):
            return table[below](below, self, a, b, other)
        node = make_node((edge, edge_other))
        if save is not None:
            save(node, self, a, b, other)
        table[below](below, self, a, b, other)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


def fourth_of_five(form: Form) -> Boxed:
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any, a: Any, b: Any, other: Any, c: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if (self._autograd_meta is None and other._autograd_meta is None) or not recording():
            return table[below](below, self, a, b, other, c)
        if requires_grad(self) or requires_grad(other):
            check_inplace(self)
        edge = gradient_edge(self)
        edge_other = None if other._autograd_meta is None else gradient_edge(other)
        if edge is None and edge_other is None and not requires_grad(self):
            return table[below](below, self, a, b, other, c)
        node = make_node((edge, edge_other))
        if save is not None:
            save(node, self, a, b, other, c)
        table[below](below, self, a, b, other, c)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel


def fourth_of_six(form: Form) -> Boxed:
    table, make_node, save, keep, history, *_ = form

    def kernel(keys: int, self: Any, a: Any, b: Any, other: Any, c: Any, d: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        if (self._autograd_meta is None and other._autograd_meta is None) or not recording():
            return table[below](below, self, a, b, other, c, d)
        if requires_grad(self) or requires_grad(other):
            check_inplace(self)
        edge = gradient_edge(self)
        edge_other = None if other._autograd_meta is None else gradient_edge(other)
        if edge is None and edge_other is None and not requires_grad(self):
            return table[below](below, self, a, b, other, c, d)
        node = make_node((edge, edge_other))
        if save is not None:
            save(node, self, a, b, other, c, d)
        table[below](below, self, a, b, other, c, d)
        history(self, node)
        if keep is not None:
            keep(node, self)
        return self

    return kernel
