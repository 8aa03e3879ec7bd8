"""Which dispatch hops can be skipped in a call that records nothing?

Mirrors: nothing in PyTorch, whose hops cost nanoseconds
Differs: it changes only the cost of a call.

# Note [Hops taken at once]
An operator on plain tensors finds its autograd kernel first. Where no argument has a record, that kernel masks its key
out, looks the next kernel up and calls it; for a view the ADInplaceOrView kernel then does the same once more. Each hop
costs about 100 ns, and adding eight numbers 250. So the table holds a shortcut in place of the autograd kernel: a
function that knows the backend's kernel, calls it where no tensor has a record, and leaves the rest to the autograd
kernel, its plain twin.

A shortcut is made where the kernels on the way are of the generated tables, whose work is known, or where the fallback
of autograd stands in the place of a kernel that a user's operator does not have. It lives in the
operator's table, and is dropped with it when a kernel is registered. While a trace is on there are none: it sees every
hop. An operator that records nothing (records_nothing.py) needs no question: the kernel below stands in the table.

Four views are asked for more often than all others: a slice, one index, and `view` and `reshape` of a row-major tensor.
There the work of the backend's kernel is written out too: `Frequent views` below. Composite operators whose way leads
through several others have shortcuts of their own: composite_shortcuts.py.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from glasstorch._tensor import make_view
from glasstorch.autograd import inplace_or_view, not_implemented
from glasstorch.autograd.composite_shortcuts import COMPOSITES, shortened_composite
from glasstorch.autograd.generated import autograd_kernels
from glasstorch.autograd.history import AutogradMeta, MadeBy
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.records_nothing import NOTHING_RECORDED
from glasstorch.autograd.unregistered import unregistered
from glasstorch.autograd.views import as_view
from glasstorch.core.errors import MissingKernelError
from glasstorch.core.geometry import contiguous_strides, slice_bounds
from glasstorch.core.keys import (
    ADINPLACEORVIEW,
    AUTOGRAD,
    BELOW_ADINPLACEORVIEW,
    BELOW_AUTOGRAD,
    MATH_BITS,
    DispatchKey,
)
from glasstorch.core.symbols import SymInt
from glasstorch.dispatch.library import KernelTable
from glasstorch.dispatch.operator import Boxed, Operator, registry
from glasstorch.dispatch.resolve import Resolution, has_kernel, resolve
from glasstorch.operators.composite.views import shapes as composite_views

Maker = Callable[..., Boxed]

RESHAPE = composite_views.reshape
EVERY_BACKEND = DispatchKey.CompositeExplicitAutograd
recording = grad_mode.get


def shortened(operator: Operator, keys: int, resolution: Resolution) -> Boxed:
    """The table's entry for a key set: a shortcut where there is one, else the kernel that was resolved."""
    entry = resolution.entry
    kernel = resolution.choice.kernel
    if kernel is not None and kernel.function is RESHAPE:
        return _shortened_reshape(operator, keys, entry)
    if operator.name in COMPOSITES:
        return shortened_composite(operator, keys, resolution)
    if kernel is NOTHING_RECORDED:
        try:
            return operator.table[keys & BELOW_AUTOGRAD]
        except MissingKernelError:  # the call raises the error
            return entry
    is_known = (kernel and kernel.function is unregistered) or any(
        _is_from(resolution, known) for known in (autograd_kernels.AUTOGRAD, not_implemented.AUTOGRAD)
    )
    if not (keys & AUTOGRAD and is_known and has_kernel(operator, keys & BELOW_AUTOGRAD)):
        return entry
    arguments = operator.schema.arguments
    tensors = sum(a.type.is_tensor_like for a in arguments)
    plain = all(
        not (a.type.is_list or a.type.is_optional) if i < tensors else not a.type.is_tensor_like
        for i, a in enumerate(arguments)
    )
    table = operator.table
    try:
        below = keys & BELOW_AUTOGRAD
        lower = resolve(operator, below)
        if plain and (maker := VIEWS.get(len(arguments))) and tensors == 1 and _records_a_view(operator, below, lower):
            table[below]  # the hop keeps its place in the table, which says what runs under which keys
            below &= BELOW_ADINPLACEORVIEW
            view = maker(entry, table[below], below)
            written_out = _written_out(operator, below)
            return written_out(view) if written_out else view
    except MissingKernelError:  # the call raises the error
        return entry
    if plain:
        made = MAKERS.get((tensors, len(arguments) - tensors))
    else:
        made = number_and_tensor if [str(a.type) for a in arguments] == ["Scalar", "Tensor"] else None
    if made is None:
        return entry
    with_shortcut = getattr(table[below], "with_shortcut", None)  # of a kernel that has one written out
    return with_shortcut(entry, below, len(arguments)) if with_shortcut else made(entry, table[below], below)


def _shortened_reshape(reshape: Operator, keys: int, entry: Boxed) -> Boxed:
    """`reshape` of a row-major tensor is `view`, and has its shortcut where that has one."""
    view = registry.find("aten::view")
    view.relied_on_by.add(reshape)
    return of_shape(entry) if _is_written_out(view, keys) else entry


def _is_written_out(view: Operator, keys: int) -> bool:
    """Whether `shortened` gives a view operator a shortcut that writes out its kernel."""
    below = keys & BELOW_AUTOGRAD
    try:
        return (
            bool(keys & AUTOGRAD)
            and _is_from(resolve(view, keys), autograd_kernels.AUTOGRAD)
            and _records_a_view(view, below, resolve(view, below))
            and _written_out(view, below & BELOW_ADINPLACEORVIEW) is not None
        )
    except MissingKernelError:
        return False


def _written_out(view: Operator, below: int) -> Callable[[Boxed], Boxed] | None:
    """The maker of a shortcut that writes out the library's kernel of a view; None if there is none.

    The kernel is the one for all backends: a layout that is not strided may have another.
    """
    kernel = resolve(view, below).choice.kernel
    table = None if kernel is None else kernel.table
    is_written_out = isinstance(table, KernelTable) and table.key is EVERY_BACKEND
    return FREQUENT.get(view.name) if is_written_out else None


def _is_from(resolution: Resolution, table: KernelTable) -> bool:
    """Whether the resolved kernel comes from one of the library's own tables."""
    kernel = resolution.choice.kernel
    return kernel is not None and kernel.table is table


def _records_a_view(operator: Operator, below: int, lower: Resolution) -> bool:
    """Whether a kernel calls the next one and then `as_view`."""
    schema = operator.schema
    one_view = schema.is_view and not schema.is_inplace and not schema.returns[0].type.is_list
    return one_view and bool(below & ADINPLACEORVIEW) and _is_from(lower, inplace_or_view.ADINPLACEORVIEW)


# Shortcuts ------------------------------------------------------------------------------------------------------
# Each takes the autograd kernel, the kernel below, and the keys that this one is called with. A function for every
# number of arguments: `*arguments` would cost a fifth of what a hop does.


def one_tensor(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any) -> Any:  # hot path: benchmarks/eager.py
        return plain(keys, self) if self._autograd_meta is not None else kernel(below, self)

    return entry


def one_tensor_and_one(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any, a: Any) -> Any:
        return plain(keys, self, a) if self._autograd_meta is not None else kernel(below, self, a)

    return entry


def one_tensor_and_two(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any, a: Any, b: Any) -> Any:
        return plain(keys, self, a, b) if self._autograd_meta is not None else kernel(below, self, a, b)

    return entry


def one_tensor_and_three(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any, a: Any, b: Any, c: Any) -> Any:
        return plain(keys, self, a, b, c) if self._autograd_meta is not None else kernel(below, self, a, b, c)

    return entry


def two_tensors(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any, other: Any) -> Any:  # hot path: benchmarks/eager.py
        if self._autograd_meta is not None or other._autograd_meta is not None:
            return plain(keys, self, other)
        return kernel(below, self, other)

    return entry


def two_tensors_and_one(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any, other: Any, a: Any) -> Any:  # hot path: benchmarks/eager.py
        if self._autograd_meta is not None or other._autograd_meta is not None:
            return plain(keys, self, other, a)
        return kernel(below, self, other, a)

    return entry


def number_and_tensor(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, a: Any, other: Any) -> Any:  # hot path: benchmarks/eager.py
        return plain(keys, a, other) if other._autograd_meta is not None else kernel(below, a, other)

    return entry


# (tensors, other arguments) -> what makes the shortcut
MAKERS: dict[tuple[int, int], Maker] = {
    (1, 0): one_tensor,
    (1, 1): one_tensor_and_one,
    (1, 2): one_tensor_and_two,
    (1, 3): one_tensor_and_three,
    (2, 0): two_tensors,
    (2, 1): two_tensors_and_one,
}


def seen_from(base: Any, self: Any, view: Any) -> Any:  # hot path: benchmarks/eager.py
    """`as_view` for a base without a record, outside inference mode; `self` may be a view of it."""
    if view.dtype is not base.dtype or (view.key_set ^ base.key_set) & MATH_BITS:
        return as_view(self, view)
    counter = base._version_counter
    if counter is None:
        counter = base.version_counter()
    view._version_counter = counter
    view._autograd_meta = meta = AutogradMeta()
    meta.seen_version = counter.value
    meta.base = base
    if not recording():
        meta.made = MadeBy.NO_GRAD
    return view


def unrecorded_base(view: Any) -> Any:
    """The root base of a chain of views; None if one of them may require a gradient."""
    meta = view._autograd_meta
    base = meta.base
    if base is None or base._autograd_meta is not None or meta.grad_fn is not None or meta.requires_grad:
        return None
    return None if meta.made or meta.steps is not None else base


def view_of(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any) -> Any:
        base = self if self._autograd_meta is None else unrecorded_base(self)
        return plain(keys, self) if base is None else seen_from(base, self, kernel(below, self))

    return entry


def view_by_one(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any, a: Any) -> Any:  # hot path: benchmarks/eager.py
        base = self if self._autograd_meta is None else unrecorded_base(self)
        return plain(keys, self, a) if base is None else seen_from(base, self, kernel(below, self, a))

    return entry


def view_by_two(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any, a: Any, b: Any) -> Any:  # hot path: benchmarks/eager.py
        base = self if self._autograd_meta is None else unrecorded_base(self)
        return plain(keys, self, a, b) if base is None else seen_from(base, self, kernel(below, self, a, b))

    return entry


def view_by_four(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any, a: Any, b: Any, c: Any, d: Any) -> Any:  # hot path: benchmarks/eager.py
        base = self if self._autograd_meta is None else unrecorded_base(self)
        return plain(keys, self, a, b, c, d) if base is None else seen_from(base, self, kernel(below, self, a, b, c, d))

    return entry


# arguments -> what makes the shortcut of a view operator
VIEWS: dict[int, Maker] = {1: view_of, 2: view_by_one, 3: view_by_two, 5: view_by_four}


# Frequent views -------------------------------------------------------------------------------------------------
# Each takes the shortcut, or kernel, that it stands in front of. `seen_from` is written out in both: the call would be
# a twentieth of what such a view costs.


def of_shape(plain: Boxed) -> Boxed:
    """`view` and `reshape` to a shape that leaves nothing open, or to one dimension."""

    def entry(keys: int, self: Any, size: Any) -> Any:  # hot path: benchmarks/tensors.py
        if self._strides is not None or self._autograd_meta is not None or type(size) is not tuple:
            return plain(keys, self, size)
        total = prod(self._shape)
        if prod(size) != total or not (size[0] >= 0 <= size[-1] if 0 < len(size) < 3 else all(n >= 0 for n in size)):
            if size != (-1,):
                return plain(keys, self, size)
            size = (total,)
        view = make_view(self, size, None, self._offset)
        counter = self._version_counter
        if counter is None:
            counter = self.version_counter()
        view._version_counter = counter
        view._autograd_meta = meta = AutogradMeta()
        meta.base = self
        if counter.value:
            meta.seen_version = counter.value
        if not recording():
            meta.made = MadeBy.NO_GRAD
        return view

    return entry


def of_part(plain: Boxed) -> Boxed:
    """A slice in steps of 1, of a tensor or of a view."""

    def entry(
        keys: int, self: Any, dim: int, start: Any, end: Any, step: int
    ) -> Any:  # hot path: benchmarks/tensors.py, benchmarks/autograd.py
        shape, strides = self._shape, self._strides
        base = self if self._autograd_meta is None else unrecorded_base(self)
        if base is None or step != 1 or not 0 <= dim < len(shape):
            return plain(keys, self, dim, start, end, step)
        size = shape[dim]
        if type(size) is not int or type(start) is SymInt or type(end) is SymInt:
            return plain(keys, self, dim, start, end, step)
        first, last = 0 if start is None else start, size if end is None else end
        if not 0 <= first <= last <= size:
            first, last = slice_bounds(size, start, end)
        offset = self._offset
        if dim:
            if strides is None and (first or last < size):
                strides = contiguous_strides(shape)
            sliced = shape[:dim] + (last - first,) + shape[dim + 1 :]
        else:
            sliced = (last - first,) + shape[1:]
        if first:
            offset += first * (strides or contiguous_strides(shape))[dim]
        view = make_view(self, sliced, strides, offset)
        counter = base._version_counter
        if counter is None:
            counter = base.version_counter()
        view._version_counter = counter
        view._autograd_meta = meta = AutogradMeta()
        meta.base = base
        if counter.value:
            meta.seen_version = counter.value
        if not recording():
            meta.made = MadeBy.NO_GRAD
        return view

    return entry


def of_place(plain: Boxed) -> Boxed:
    """One index along a dimension, neither counted from the end, of a tensor or of a view."""

    def entry(keys: int, self: Any, dim: int, index: int) -> Any:  # hot path: benchmarks/tensors.py
        shape, strides = self._shape, self._strides
        base = self if self._autograd_meta is None else unrecorded_base(self)
        if base is None or not 0 <= dim < len(shape) or not 0 <= index < shape[dim]:
            return plain(keys, self, dim, index)
        steps = strides or contiguous_strides(shape)
        offset = self._offset + index * steps[dim]
        if dim:
            view = make_view(self, shape[:dim] + shape[dim + 1 :], steps[:dim] + steps[dim + 1 :], offset)
        else:
            view = make_view(self, shape[1:], None if strides is None else steps[1:], offset)
        counter = base._version_counter
        if counter is None:
            counter = base.version_counter()
        view._version_counter = counter
        view._autograd_meta = meta = AutogradMeta()
        meta.base = base
        if counter.value:
            meta.seen_version = counter.value
        if not recording():
            meta.made = MadeBy.NO_GRAD
        return view

    return entry


# view operator -> the maker of its shortcut
FREQUENT = {"aten::view": of_shape, "aten::slice.Tensor": of_part, "aten::select.int": of_place}

registry.shorten = shortened
