"""How is a changed view put back into its base?

Mirrors: aten/src/ATen/FunctionalInverses.cpp
Differs: the key `inverse` of a view operator's row names its function here.

Each function is called with the base, the new values of the view, the views' operators to use, the number of the view
among several results, and the rest of the view's arguments. It returns the base with the view's elements replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.autograd.formulas.views import unfold_backward
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.func.layers import call
from glasstorch.operators.generated.registry import OPERATORS


class Views(NamedTuple):
    """Which operators make a view: the views themselves, or their copies, with which no two tensors share memory."""

    reapplied: bool

    def operator(self, name: str) -> Operator:
        """`slice.Tensor`, or its copy `slice_copy.Tensor`."""
        if not self.reapplied:
            base, dot, overload = name.partition(".")
            name = f"{base}_copy{dot}{overload}"
        return registry.find(f"aten::{name}")

    def make(self, name: str, tensor: Tensor, *rest: Any) -> Tensor:
        """The view, or a copy of its elements."""
        operator = self.operator(name)
        defaults = [argument.default_value for argument in operator.schema.arguments[1 + len(rest) :]]
        return call(operator, [tensor, *rest, *defaults])  # type: ignore[no-any-return]


Inverse = Callable[..., Tensor]


def _scattered(name: str, base: Tensor, changed: Tensor, *where: Any) -> Tensor:
    return call(registry.find(f"aten::{name}"), [base, changed, *where])  # type: ignore[no-any-return]


# Views of the same elements in the same order ---------------------------------------------------------------------


def same(base: Tensor, changed: Tensor, views: Views, number: int) -> Tensor:
    """Of a view with the base's own geometry."""
    return changed


def viewed(base: Tensor, changed: Tensor, views: Views, number: int, size: Sequence[int]) -> Tensor:
    return views.make("view", changed, list(base._shape))


def reshaped(
    base: Tensor, changed: Tensor, views: Views, number: int, size: Sequence[int], stride: Sequence[int]
) -> Tensor:
    return views.make("_reshape_alias", changed, list(base._shape), list(base.strides()))


def cast(base: Tensor, changed: Tensor, views: Views, number: int, dtype: Any) -> Tensor:
    return views.make("view.dtype", changed, base.dtype)


def conjugated(base: Tensor, changed: Tensor, views: Views, number: int) -> Tensor:
    return views.make("_conj", changed)


def negated(base: Tensor, changed: Tensor, views: Views, number: int) -> Tensor:
    return views.make("_neg_view", changed)


def as_complex(base: Tensor, changed: Tensor, views: Views, number: int) -> Tensor:
    """Of `view_as_real`."""
    return views.make("view_as_complex", changed)


def as_real(base: Tensor, changed: Tensor, views: Views, number: int) -> Tensor:
    """Of `view_as_complex`."""
    return views.make("view_as_real", changed)


# Dimensions in another order, or with more or fewer of size 1 -----------------------------------------------------


def transposed(base: Tensor, changed: Tensor, views: Views, number: int, dim0: int, dim1: int) -> Tensor:
    return views.make("transpose.int", changed, dim0, dim1)


def turned(base: Tensor, changed: Tensor, views: Views, number: int) -> Tensor:
    return views.make("t", changed)


def permuted(base: Tensor, changed: Tensor, views: Views, number: int, dims: Sequence[int]) -> Tensor:
    places = [dim % len(dims) for dim in dims]
    return views.make("permute", changed, [places.index(i) for i in range(len(dims))])


def unsqueezed(base: Tensor, changed: Tensor, views: Views, number: int, dim: int) -> Tensor:
    return views.make("squeeze.dim", changed, dim)


def squeezed(base: Tensor, changed: Tensor, views: Views, number: int, dims: Any = None) -> Tensor:
    """Of all forms of `squeeze`: the dimensions of size 1 that the view has lost are put in again."""
    count = len(base._shape)
    asked = range(count) if dims is None else [dims] if isinstance(dims, int) else dims
    lost = {dim % count for dim in asked if base._shape[dim] == 1} if count else set()
    for dim in sorted(lost):
        changed = views.make("unsqueeze", changed, dim)
    return changed


def expanded(
    base: Tensor, changed: Tensor, views: Views, number: int, size: Sequence[int], implicit: bool = False
) -> Tensor:
    """Each element of the base grows by what the elements that stand for it have grown by, all together."""
    return base.add(changed.sub(base).sum_to_size(list(base._shape)))


# Some of the elements ---------------------------------------------------------------------------------------------


def selected(base: Tensor, changed: Tensor, views: Views, number: int, dim: int, index: int) -> Tensor:
    return _scattered("select_scatter", base, changed, dim, index)


def unbound(base: Tensor, changed: Tensor, views: Views, number: int, dim: int) -> Tensor:
    return _scattered("select_scatter", base, changed, dim, number)


def sliced(
    base: Tensor, changed: Tensor, views: Views, number: int, dim: int, start: int | None, end: int | None, step: int
) -> Tensor:
    return _scattered("slice_scatter", base, changed, dim, start, end, step)


def split(base: Tensor, changed: Tensor, views: Views, number: int, split_size: int, dim: int) -> Tensor:
    end = min(base._shape[dim], split_size * (number + 1))
    return _scattered("slice_scatter", base, changed, dim, split_size * number, end, 1)


def split_with_sizes(
    base: Tensor, changed: Tensor, views: Views, number: int, split_sizes: Sequence[int], dim: int
) -> Tensor:
    start = sum(split_sizes[:number])
    return _scattered("slice_scatter", base, changed, dim, start, start + split_sizes[number], 1)


def diagonal(base: Tensor, changed: Tensor, views: Views, number: int, offset: int, dim1: int, dim2: int) -> Tensor:
    return _scattered("diagonal_scatter", base, changed, offset, dim1, dim2)


def unfolded(base: Tensor, changed: Tensor, views: Views, number: int, dimension: int, size: int, step: int) -> Tensor:
    if step < size and changed._shape[dimension] > 1:
        raise RuntimeError(
            "While executing unfold, functionalization encountered a tensor being mutated that has internal overlap. "
            "When using torch.compile (or running functionalization directly), this is banned as the behavior is not "
            "well defined. Consider cloning the tensor before mutating it, or removing the mutation from your model."
        )
    return unfold_backward(changed, base._shape, dimension, size, step)


def strided(
    base: Tensor,
    changed: Tensor,
    views: Views,
    number: int,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None,
) -> Tensor:
    return _scattered("as_strided_scatter", base, changed, list(size), list(stride), storage_offset)


# Which of them belongs to a view operator -------------------------------------------------------------------------


def inverse_of(operator: Operator) -> Inverse | None:
    """The function that the operator's row names; None where it names none."""
    return _inverses().get(operator.qualified_overload)


@cache
def _inverses() -> dict[str, Inverse]:
    return {row.name: globals()[row.inverse.rpartition(".")[2]] for row in OPERATORS if row.inverse is not None}
