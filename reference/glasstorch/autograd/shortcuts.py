"""Which hops of a call that records nothing can be taken at once?

Mirrors: nothing in PyTorch, whose hops cost nanoseconds
Differs: it changes what a call costs, and nothing else about it.

# Note [Hops taken at once]
An operator on plain tensors finds its autograd kernel first. Where no argument has a record, that kernel masks its key
out, looks the next kernel up and calls it; for a view the ADInplaceOrView kernel then does the same once more. Each hop
costs about 100 ns, and adding eight numbers 250. So the table holds a shortcut in place of the autograd kernel: a
function that knows the backend's kernel, calls it where no tensor has a record, and leaves the rest to the autograd
kernel, its plain twin.

A shortcut is made where the kernels on the way are the generated ones, whose work is known. It lives in the operator's
table, and goes with it when somebody registers a kernel. While a trace is on there are none: it sees every hop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch.autograd.generated import autograd_kernels, inplace_or_view_kernels
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import AutogradMeta, MadeBy
from glasstorch.core.errors import MissingKernelError
from glasstorch.core.keys import ADINPLACEORVIEW, AUTOGRAD, BELOW_ADINPLACEORVIEW, BELOW_AUTOGRAD
from glasstorch.dispatch.operator import Boxed, Operator, registry
from glasstorch.dispatch.resolve import Resolution, resolve

Maker = Callable[..., Boxed]

recording = grad_mode.get


def shortened(operator: Operator, keys: int, resolution: Resolution) -> Boxed:
    """The table's entry for a key set: a shortcut where there is one, else the kernel that was resolved."""
    entry = resolution.entry
    if not (keys & AUTOGRAD and _is_generated(resolution, autograd_kernels)):
        return entry
    arguments = operator.schema.arguments
    tensors = sum(a.type.is_tensor_like for a in arguments)
    plain = all(
        not (a.type.is_list or a.type.is_optional) if i < tensors else not a.type.is_tensor_like
        for i, a in enumerate(arguments)
    )
    try:
        below = keys & BELOW_AUTOGRAD
        lower = resolve(operator, below)
        if plain and (maker := VIEWS.get(len(arguments))) and tensors == 1 and _records_a_view(operator, below, lower):
            below &= BELOW_ADINPLACEORVIEW
            return maker(entry, resolve(operator, below).entry, below)
    except MissingKernelError:  # the call will say so
        return entry
    made = MAKERS.get((tensors, len(arguments) - tensors)) if plain else None
    return made(entry, lower.entry, below) if made else entry


def _is_generated(resolution: Resolution, module: Any) -> bool:
    kernel = resolution.choice.kernel
    return kernel is not None and getattr(kernel.function, "__module__", "") == module.__name__


def _records_a_view(operator: Operator, below: int, lower: Resolution) -> bool:
    """Whether a kernel is the generated one that calls the next and then `as_view`."""
    schema = operator.schema
    one_view = schema.is_view and not schema.is_inplace and not schema.returns[0].type.is_list
    return one_view and bool(below & ADINPLACEORVIEW) and _is_generated(lower, inplace_or_view_kernels)


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


# (tensors, other arguments) -> what makes the shortcut
MAKERS: dict[tuple[int, int], Maker] = {
    (1, 0): one_tensor,
    (1, 1): one_tensor_and_one,
    (1, 2): one_tensor_and_two,
    (1, 3): one_tensor_and_three,
    (2, 0): two_tensors,
    (2, 1): two_tensors_and_one,
}


def seen_from(base: Any, view: Any) -> Any:  # hot path: benchmarks/eager.py
    """`as_view` for a base without a record, outside inference mode."""
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


def view_of(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any) -> Any:
        return plain(keys, self) if self._autograd_meta is not None else seen_from(self, kernel(below, self))

    return entry


def view_by_one(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any, a: Any) -> Any:  # hot path: benchmarks/eager.py
        return plain(keys, self, a) if self._autograd_meta is not None else seen_from(self, kernel(below, self, a))

    return entry


def view_by_two(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any, a: Any, b: Any) -> Any:  # hot path: benchmarks/eager.py
        if self._autograd_meta is not None:
            return plain(keys, self, a, b)
        return seen_from(self, kernel(below, self, a, b))

    return entry


def view_by_four(plain: Boxed, kernel: Boxed, below: int) -> Boxed:
    def entry(keys: int, self: Any, a: Any, b: Any, c: Any, d: Any) -> Any:  # hot path: benchmarks/eager.py
        if self._autograd_meta is not None:
            return plain(keys, self, a, b, c, d)
        return seen_from(self, kernel(below, self, a, b, c, d))

    return entry


# arguments -> what makes the shortcut of a view operator
VIEWS: dict[int, Maker] = {1: view_of, 2: view_by_one, 3: view_by_two, 5: view_by_four}

registry.shorten = shortened
