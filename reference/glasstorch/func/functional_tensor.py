"""What does a tensor remember that is changed without being written to?

Mirrors: aten/src/ATen/FunctionalTensorWrapper.{h,cpp}, FunctionalStorageImpl.{h,cpp}
Differs: what PyTorch keeps in the wrapping tensor stands in its storage here, so that whatever copies a tensor's fields
    copies it too. Updates are kept as plain tuples.

# Note [Functional tensors]
A functional tensor wraps a value that nobody writes to. An operator that would write computes new values instead, and
they become the wrapper's value. All wrappers that stand for views of one tensor share its `Base`: the value of the
whole, and the updates that are still to be worked into it. A wrapper knows the views that lead from the base to it.
When another wrapper was updated, this one is out of date; before it is used next, `sync` works the updates into the
base, each through the inverses of its views, and makes the views again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor, tensor_of
from glasstorch.core.keys import FUNCTIONALIZE, MATH_BITS, WRAPPED
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.operator import Operator
from glasstorch.func.layers import call
from glasstorch.func.view_inverses import Inverse, Views


class View(NamedTuple):
    """One step from a base to a view of it: an operator with its arguments, how to go back, and which result it is."""

    operator: Operator  # the view operator, whose copy is called where `views` says so
    rest: tuple[Any, ...]
    number: int | None  # of one result among several
    inverse: Inverse | None  # None where PyTorch has none either: a write through the view is refused
    views: Views

    def make(self, base: Tensor) -> Tensor:
        made = call(self.views.operator(self.operator.qualified_overload), [base, *self.rest])
        return made if self.number is None else made[self.number]  # type: ignore[no-any-return]

    def put_back(self, base: Tensor, changed: Tensor) -> Tensor:
        """The base with the view's elements replaced by the changed ones."""
        if self.inverse is None:
            raise RuntimeError(
                f"{self.operator} has no inverse here, so a write through this view cannot be functionalized; clone "
                f"the view before it is written to"
            )
        return self.inverse(base, changed, self.views, self.number or 0, *self.rest)


class Base:
    """The value that all aliases of a tensor share, and the updates that are not worked into it yet."""

    __slots__ = ("generation", "updates", "value")

    def __init__(self, value: Tensor) -> None:
        self.value = value
        self.updates: list[tuple[Tensor, tuple[View, ...]]] = []
        self.generation = 0  # the number of updates so far

    def add(self, value: Tensor, path: tuple[View, ...]) -> None:
        self.updates.append((value, path))
        self.generation += 1

    def apply_updates(self) -> None:
        """Work the pending updates into the value."""
        self.value = worked_in(self.value, self.updates)
        self.updates.clear()


def worked_in(value: Tensor, updates: Sequence[tuple[Tensor, tuple[View, ...]]]) -> Tensor:
    """The value of a base after updates, in the order in which they came.

    An update is what a view was changed to, and the views that lead from the base to it.
    """
    for changed, path in updates:
        befores = [value]  # what each view of the path is a view of
        for view in path[:-1]:
            befores.append(view.make(befores[-1]))
        for view, before in zip(reversed(path), reversed(befores), strict=False):
            changed = view.put_back(before, changed)
        value = changed
    return value


class FunctionalStorage(UntypedStorage):
    """The storage of a functional tensor, see Note [Functional tensors]; reading its memory brings it up to date."""

    __slots__ = ("base", "changed_data", "changed_shape", "changed_storage", "count", "owner", "path", "seen", "value")

    base: Base
    owner: object  # the transform that wrapped the tensor; None outside of one
    value: Tensor
    path: tuple[View, ...]  # from the base to the value
    seen: int  # the generation of the base that the value belongs to
    count: int  # how often the value was replaced
    changed_data: bool
    changed_shape: bool
    changed_storage: bool  # by `resize_` or `set_`

    def __init__(self, value: Tensor, owner: object, base: Base, path: tuple[View, ...]) -> None:
        self._nbytes = 0
        self.device = value.device
        self.may_resize = False
        self.cloned_at_once = False
        self.block = self.lazy = self.shared = None
        self.value, self.owner, self.base, self.path = value, owner, base, path
        self.seen = base.generation
        self.count = 0
        self.changed_data = self.changed_shape = self.changed_storage = False

    def sync(self) -> None:
        """Bring the value up to date with what was written through other aliases."""
        if self.seen == self.base.generation:
            return
        self.base.apply_updates()
        value = self.base.value
        for view in self.path:
            value = view.make(value)
        self.value = value
        self.count += 1
        self.seen = self.base.generation

    def replace(self, value: Tensor) -> None:
        """Take a new value, in the dtype of the old one."""
        if value.dtype is not self.value.dtype:
            value = value.to(self.value.dtype)
        self.value = value
        self.count += 1
        self.changed_data = True

    @property
    def generation(self) -> int:  # type: ignore[override]
        """A number that is another one for each value: a view of the memory made before is out of date."""
        self.sync()
        return self.count << 32 | self.value.untyped_storage().generation

    @property
    def memory(self) -> Any:  # type: ignore[override]
        self.sync()
        return self.value.untyped_storage().memory

    def data_ptr(self) -> int:
        return 0  # there is no memory of its own

    def nbytes(self) -> int:
        return self.value.untyped_storage().nbytes()

    def materialize(self) -> None:
        self.value.untyped_storage().materialize()


def is_functional(value: Any) -> bool:
    """Whether a value is a functional tensor."""
    return isinstance(value, TensorImpl) and bool(value.key_set & FUNCTIONALIZE)


def inside(tensor: TensorImpl) -> FunctionalStorage:
    """What a functional tensor remembers."""
    storage = tensor._storage
    assert isinstance(storage, FunctionalStorage)
    return storage


def functional(value: Tensor, owner: object = None) -> Tensor:
    """A functional tensor around a value, with a base of its own."""
    return _wrapper(value, FunctionalStorage(value, owner, Base(value), ()))


def view_of(wrapper: TensorImpl, value: Tensor, view: View) -> Tensor:
    """A functional tensor around a value that is a view of another's."""
    found = inside(wrapper)
    storage = FunctionalStorage(value, found.owner, found.base, (*found.path, view))
    storage.seen = found.seen
    return _wrapper(value, storage)


def _wrapper(value: Tensor, storage: FunctionalStorage) -> Tensor:
    keys = (value.key_set & ~WRAPPED) | FUNCTIONALIZE
    result = tensor_of(value.dtype, value._shape, keys, None, storage, value.strides(), value._offset)
    result._generation = -1  # no memory was read yet
    result._number = value._number
    return result


def refresh(wrapper: TensorImpl) -> None:
    """Take over the geometry of the value inside."""
    value = inside(wrapper).value
    wrapper._shape, wrapper._strides, wrapper._offset = value._shape, value.strides(), value._offset
    wrapper._array = None
    wrapper.key_set = (wrapper.key_set & ~MATH_BITS) | (value.key_set & MATH_BITS)


def _refresh_sizes(wrapper: TensorImpl) -> None:
    """Take over the geometry of a value that was written; of the same sizes, it is laid out as what it was written to.

    What is a view of the old value is so one of the new value too, and `reshape` copies where it would have copied.
    """
    shape, strides = wrapper._shape, wrapper._strides
    refresh(wrapper)
    if wrapper._shape == shape:
        wrapper._strides = strides


def sync(wrapper: TensorImpl) -> None:
    """Bring a functional tensor up to date with what was written through its aliases."""
    found = inside(wrapper)
    before = found.count
    found.sync()
    if found.count != before:
        _refresh_sizes(wrapper)


def replace(wrapper: TensorImpl, value: Tensor) -> None:
    """Give a functional tensor a new value; its aliases learn of it by `commit_update`."""
    inside(wrapper).replace(value)
    _refresh_sizes(wrapper)


def commit_update(wrapper: TensorImpl) -> None:
    """Let the aliases of a functional tensor see the value that it was given."""
    found = inside(wrapper)
    found.base.add(found.value, found.path)


def step(wrapper: TensorImpl, value: Tensor, view: View) -> None:
    """Turn a functional tensor itself into a view of what it was, as `transpose_` does."""
    found = inside(wrapper)
    found.path = (*found.path, view)
    found.value = value
    found.count += 1
    found.changed_shape = True
    refresh(wrapper)


def functional_tensors(values: Iterable[Any]) -> Sequence[TensorImpl]:
    """The functional tensors among arguments, in lists too."""
    found: list[TensorImpl] = []
    for value in values:
        if is_functional(value):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found.extend(functional_tensors(value))
    return found
