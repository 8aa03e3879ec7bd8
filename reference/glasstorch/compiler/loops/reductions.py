"""Which operators gather over dimensions, and how?

Mirrors: torch/_inductor/lowering.py (make_reduction, mean, any, sum_)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.compiler.loops.build import Builder
from glasstorch.compiler.loops.ir import View
from glasstorch.core.dtype import bool_, int64
from glasstorch.jit.codegen.program import Argument, Operand, Steps, UnfusableError, constant


def places(dims: Any, rank: int) -> list[int]:
    """The dimensions that an argument names, counted from 0; all of them for None and for an empty list."""
    if dims is None or (isinstance(dims, list | tuple) and not dims):
        return list(range(rank))
    return sorted({dim % rank if rank else 0 for dim in ([dims] if isinstance(dims, int) else dims)} & set(range(rank)))


def reduce(build: Builder, name: str, arguments: Sequence[Any], like: Tensor) -> View:
    """The loops of a reduction whose result has the sizes and dtype of `like`."""
    how, dims = WAYS[name]
    view = arguments[0]
    over = places(arguments[1] if dims else None, len(view.sizes))
    if not prod(view.sizes):
        raise UnfusableError("a reduction of no elements")
    made = how(build, view, over, like)
    return View(made.buffer, tuple(like.shape), _without(made, over, like), 0)


def _without(made: View, over: Sequence[int], like: Tensor) -> tuple[int, ...]:
    if len(made.sizes) == len(like.shape):
        return made.strides
    return tuple(stride for dim, stride in enumerate(made.strides) if dim not in over)


def _sum(build: Builder, view: View, over: Sequence[int], like: Tensor) -> View:
    return build.reduce("sum", view, over, like.dtype)


def _mean(build: Builder, view: View, over: Sequence[int], like: Tensor) -> View:
    return mean(build, view, over, like.dtype)


def mean(build: Builder, view: View, over: Sequence[int], of: Any) -> View:
    """The mean over some dimensions, which stay with size 1. It is rounded once."""
    count = prod(view.sizes[dim] for dim in over)
    return build.expression("a / p", build.reduce("sum", view, over, of, wide=True), count, of=of)


def _with(how: str) -> Callable[..., View]:
    def reduced(build: Builder, view: View, over: Sequence[int], like: Tensor) -> View:
        return build.reduce(how, view, over, like.dtype)

    return reduced


def _truth(how: str) -> Callable[..., View]:
    def reduced(build: Builder, view: View, over: Sequence[int], like: Tensor) -> View:
        if like.dtype is not bool_:
            raise UnfusableError("a truth value that is no bool")
        truth = build.expression("a != 0", view, of=bool_) if view.dtype is not bool_ else view
        return build.reduce(how, truth, over, bool_)

    return reduced


def _extremum_place(how: str) -> Callable[..., View]:
    def found(build: Builder, view: View, over: Sequence[int], like: Tensor) -> View:
        return place_of(build, view, build.reduce(how, view, over, view.dtype), over)

    return found


def place_of(build: Builder, view: View, extremum: View, over: Sequence[int]) -> View:
    """Where the extremum over some dimensions stands first, counted over them in row-major order; NaN is one."""

    def body(steps: Steps, given: list[Argument]) -> Operand:
        one, most, place = (argument.slot for argument in given)
        same = steps.step("eq", one, most, gives=bool_)
        if steps.dtypes[one].is_floating_point:
            same = steps.step("bitwise_or", same, steps.step("ne", one, one, gives=bool_))
        return steps.step("where", same, place, constant(FAR, int64), gives=int64)

    places = build.pointwise([view, extremum, build.positions(view.sizes, over)], body, view.sizes, int64)
    return build.reduce("amin", places, over, int64)


FAR: Final = (1 << 63) - 1


def extremum_with_place(how: str) -> Callable[..., tuple[View, View]]:
    """The lowering of `max` and `min` along a dimension."""

    def lowered(build: Builder, like: Any, view: View, dim: int, keepdim: bool) -> tuple[View, View]:
        over = places(dim, len(view.sizes))
        if not prod(view.sizes):
            raise UnfusableError("a reduction of no elements")
        most = build.reduce(how, view, over, view.dtype)
        found = (most, place_of(build, view, most, over))
        values, indices = (
            View(one.buffer, tuple(of.shape), _without(one, over, of), 0) for one, of in zip(found, like, strict=True)
        )
        return values, indices

    return lowered


# overload -> how it gathers, and whether its second argument names dimensions
WAYS: Final[dict[str, tuple[Callable[..., View], bool]]] = {
    "sum": (_sum, False),
    "sum.dim_IntList": (_sum, True),
    "mean": (_mean, False),
    "mean.dim": (_mean, True),
    "prod": (_with("prod"), False),
    "prod.dim_int": (_with("prod"), True),
    "amax": (_with("amax"), True),
    "amin": (_with("amin"), True),
    "argmax": (_extremum_place("amax"), True),
    "argmin": (_extremum_place("amin"), True),
    "max": (_with("amax"), False),
    "min": (_with("amin"), False),
    "any": (_truth("amax"), False),
    "any.dim": (_truth("amax"), True),
    "any.dims": (_truth("amax"), True),
    "all": (_truth("amin"), False),
    "all.dim": (_truth("amin"), True),
    "all.dims": (_truth("amin"), True),
}
