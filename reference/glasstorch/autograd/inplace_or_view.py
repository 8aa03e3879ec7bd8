"""How does a write increment a tensor's version, and how is a view's base recorded?

Mirrors: tools/autograd/gen_inplace_or_view_type.py, torch/csrc/autograd/generated/ADInplaceOrViewType_*.cpp
Differs: a function for each number of arguments makes the kernels of all operators that take that many, where PyTorch
    generates one for each operator. Backend kernels do neither. The rows that map operators to makers are in
    `generated/inplace_or_view_kernels.py`.

# Note [Makers of kernels]
The code around a call of the next kernel is the same for hundreds of operators, so it is written once, as a closure
over an operator's table. A maker serves one number of arguments: a kernel that takes `*arguments` builds a tuple and
calls with it, which makes a recorded call 10 % slower. Only kernels that have more than seven arguments do so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

from glasstorch.autograd.views import as_view
from glasstorch.core.keys import BELOW_ADINPLACEORVIEW
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.dispatch.operator import Boxed, DispatchTable
from glasstorch.operators.generated.registry import table

ADINPLACEORVIEW = KernelTable("ADInplaceOrView")

Remember = Callable[[Any, Any], Any]


def row(name: str, maker: Callable[..., Boxed], *more: Any) -> None:
    """Register the kernel that a maker makes for an operator: one row of `generated/inplace_or_view_kernels.py`."""
    kernel = maker(table(name), *more)
    kernel.__name__ = kernel.__qualname__ = name.replace(".", "_")
    ADINPLACEORVIEW.add(name, kernel, caller(1))


# Operators that write to their first argument: in-place forms ---------------------------------------------------


def writes_first_of_one(table: DispatchTable) -> Boxed:
    def kernel(keys: int, self: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        if (storage := self._storage) is not None and storage.lazy is not None:
            storage.materialize()
        returned = table[below](below, self)
        self.bump_version()
        return returned

    return kernel


def writes_first_of_two(table: DispatchTable) -> Boxed:
    def kernel(keys: int, self: Any, a: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        if (storage := self._storage) is not None and storage.lazy is not None:
            storage.materialize()
        returned = table[below](below, self, a)
        self.bump_version()
        return returned

    return kernel


def writes_first_of_three(table: DispatchTable) -> Boxed:
    def kernel(keys: int, self: Any, a: Any, b: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        if (storage := self._storage) is not None and storage.lazy is not None:
            storage.materialize()
        returned = table[below](below, self, a, b)
        self.bump_version()
        return returned

    return kernel


def resizes_first_of_three(table: DispatchTable) -> Boxed:
    """Count the call as a change only if the sizes are others after it."""

    def kernel(keys: int, self: Any, a: Any, b: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        if (storage := self._storage) is not None and storage.lazy is not None:
            storage.materialize()
        before = self._shape
        returned = table[below](below, self, a, b)
        if self._shape != before:
            self.bump_version()
        return returned

    return kernel


def writes_first_of_four(table: DispatchTable) -> Boxed:
    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        if (storage := self._storage) is not None and storage.lazy is not None:
            storage.materialize()
        returned = table[below](below, self, a, b, c)
        self.bump_version()
        return returned

    return kernel


def writes_first_of_five(table: DispatchTable) -> Boxed:
    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        if (storage := self._storage) is not None and storage.lazy is not None:
            storage.materialize()
        returned = table[below](below, self, a, b, c, d)
        self.bump_version()
        return returned

    return kernel


def writes_first_of_six(table: DispatchTable) -> Boxed:
    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        if (storage := self._storage) is not None and storage.lazy is not None:
            storage.materialize()
        returned = table[below](below, self, a, b, c, d, e)
        self.bump_version()
        return returned

    return kernel


# Operators that write to their last argument: out= forms --------------------------------------------------------


def writes_last_of_two(table: DispatchTable) -> Boxed:
    def kernel(keys: int, a: Any, out: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        if (storage := out._storage) is not None and storage.lazy is not None:
            storage.materialize()
        returned = table[below](below, a, out)
        out.bump_version()
        return returned

    return kernel


def writes_last_of_three(table: DispatchTable) -> Boxed:
    def kernel(keys: int, a: Any, b: Any, out: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        if (storage := out._storage) is not None and storage.lazy is not None:
            storage.materialize()
        returned = table[below](below, a, b, out)
        out.bump_version()
        return returned

    return kernel


def writes_last_of_four(table: DispatchTable) -> Boxed:
    def kernel(keys: int, a: Any, b: Any, c: Any, out: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        if (storage := out._storage) is not None and storage.lazy is not None:
            storage.materialize()
        returned = table[below](below, a, b, c, out)
        out.bump_version()
        return returned

    return kernel


def writes_last_of_five(table: DispatchTable) -> Boxed:
    def kernel(keys: int, a: Any, b: Any, c: Any, d: Any, out: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        if (storage := out._storage) is not None and storage.lazy is not None:
            storage.materialize()
        returned = table[below](below, a, b, c, d, out)
        out.bump_version()
        return returned

    return kernel


def writes_last_of_six(table: DispatchTable) -> Boxed:
    def kernel(keys: int, a: Any, b: Any, c: Any, d: Any, e: Any, out: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        if (storage := out._storage) is not None and storage.lazy is not None:
            storage.materialize()
        returned = table[below](below, a, b, c, d, e, out)
        out.bump_version()
        return returned

    return kernel


def writes_last_of_seven(table: DispatchTable) -> Boxed:
    def kernel(keys: int, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, out: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        if (storage := out._storage) is not None and storage.lazy is not None:
            storage.materialize()
        returned = table[below](below, a, b, c, d, e, f, out)
        out.bump_version()
        return returned

    return kernel


# Operators that write to several arguments: out= forms with several results --------------------------------------
# The tensors that are written to are the arguments at the positions `written`.


def _materialize(outs: Iterable[Any]) -> None:
    """Make lazy copies real before they are written to."""
    for out in outs:
        if (storage := out._storage) is not None and storage.lazy is not None:
            storage.materialize()


def writes_several_of_three(table: DispatchTable, *written: int) -> Boxed:
    of = itemgetter(*written)

    def kernel(keys: int, self: Any, a: Any, b: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        outs = of((self, a, b))
        _materialize(outs)
        returned = table[below](below, self, a, b)
        for out in outs:
            out.bump_version()
        return returned

    return kernel


def writes_several_of_four(table: DispatchTable, *written: int) -> Boxed:
    of = itemgetter(*written)

    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        outs = of((self, a, b, c))
        _materialize(outs)
        returned = table[below](below, self, a, b, c)
        for out in outs:
            out.bump_version()
        return returned

    return kernel


def writes_several_of_five(table: DispatchTable, *written: int) -> Boxed:
    of = itemgetter(*written)

    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        outs = of((self, a, b, c, d))
        _materialize(outs)
        returned = table[below](below, self, a, b, c, d)
        for out in outs:
            out.bump_version()
        return returned

    return kernel


def writes_several_of_six(table: DispatchTable, *written: int) -> Boxed:
    of = itemgetter(*written)

    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        outs = of((self, a, b, c, d, e))
        _materialize(outs)
        returned = table[below](below, self, a, b, c, d, e)
        for out in outs:
            out.bump_version()
        return returned

    return kernel


def writes_several_of_seven(table: DispatchTable, *written: int) -> Boxed:
    of = itemgetter(*written)

    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        outs = of((self, a, b, c, d, e, f))
        _materialize(outs)
        returned = table[below](below, self, a, b, c, d, e, f)
        for out in outs:
            out.bump_version()
        return returned

    return kernel


def writes_several(table: DispatchTable, *written: int) -> Boxed:
    """For more than seven arguments."""

    def kernel(keys: int, *arguments: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        outs = [arguments[i] for i in written]
        _materialize(outs)
        returned = table[below](below, *arguments)
        for out in outs:
            out.bump_version()
        return returned

    return kernel


# Operators that return views of their first argument ------------------------------------------------------------
# `remember` is `as_view`, `as_views` for several results, or `shares_version` where no gradient flows.


def views_first_of_one(table: DispatchTable, remember: Remember = as_view) -> Boxed:
    def kernel(keys: int, self: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        return remember(self, table[below](below, self))

    return kernel


def views_first_of_two(table: DispatchTable, remember: Remember = as_view) -> Boxed:
    def kernel(keys: int, self: Any, a: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        return remember(self, table[below](below, self, a))

    return kernel


def views_first_of_three(table: DispatchTable, remember: Remember = as_view) -> Boxed:
    def kernel(keys: int, self: Any, a: Any, b: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        return remember(self, table[below](below, self, a, b))

    return kernel


def views_first_of_four(table: DispatchTable, remember: Remember = as_view) -> Boxed:
    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        return remember(self, table[below](below, self, a, b, c))

    return kernel


def views_first_of_five(table: DispatchTable, remember: Remember = as_view) -> Boxed:
    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        return remember(self, table[below](below, self, a, b, c, d))

    return kernel


def views_first_of_seven(table: DispatchTable, remember: Remember = as_view) -> Boxed:
    def kernel(keys: int, self: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
        below = keys & BELOW_ADINPLACEORVIEW
        return remember(self, table[below](below, self, a, b, c, d, e, f))

    return kernel
