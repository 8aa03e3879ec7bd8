"""Which operators give, for each element, what is gathered of those up to it?

Mirrors: torch/_inductor/lowering.py (cumsum, cumprod, logcumsumexp, cummax, cummin)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.compiler.loops.build import Builder, computed_in
from glasstorch.compiler.loops.ir import View
from glasstorch.compiler.loops.reductions import places
from glasstorch.core.dtype import bool_, dtype, float32, float64, int64
from glasstorch.jit.codegen.program import Argument, Operand, Steps, UnfusableError, constant

Lowering = Callable[..., Any]


def _wide(of: dtype) -> dtype:
    """In which dtype numbers are added up that are many: rounded once, as the library's own kernels do."""
    return float64 if of is float32 else computed_in(of)


def _sums(how: str) -> Lowering:
    def lowered(build: Builder, like: Tensor, view: View, dim: int, dtype: Any = None) -> View:
        return _scanned(build, how, view, dim, like.dtype, _wide(like.dtype))

    return lowered


def _scanned(build: Builder, how: str, view: View, dim: int, of: dtype, gathered: dtype) -> View:
    if not view.sizes:
        raise UnfusableError("a scan of one number")
    return build.scan(how, view, places(dim, len(view.sizes))[0], of, gathered)


def _log_sum(build: Builder, like: Tensor, view: View, dim: int) -> View:
    if not like.dtype.is_floating_point:
        raise UnfusableError("exponentials of no floating point")
    return _scanned(build, "logaddexp", view, dim, like.dtype, float64)


def _extremum(how: str) -> Lowering:
    """The extremum up to each element, and the place of the last element that was one when its turn came."""

    def lowered(build: Builder, like: Any, view: View, dim: int) -> tuple[View, View]:
        most = _scanned(build, how, view, dim, view.dtype, computed_in(view.dtype))

        def body(steps: Steps, given: list[Argument]) -> Operand:
            one, record, place = (argument.slot for argument in given)
            same = steps.step("eq", one, record, gives=bool_)
            if steps.dtypes[one].is_floating_point:
                same = steps.step("bitwise_or", same, steps.step("ne", one, one, gives=bool_))
            return steps.step("where", same, place, constant(0, int64), gives=int64)

        positions = build.positions(view.sizes, places(dim, len(view.sizes)))
        records = build.pointwise([view, most, positions], body, view.sizes, int64)
        return most, _scanned(build, "amax", records, dim, int64, int64)

    return lowered


def flip(build: Builder, like: Tensor, view: View, dims: Sequence[int]) -> View:
    """A copy that runs backwards along some dimensions, as the gradients of scans need."""
    turned = places(list(dims), len(view.sizes)) if dims else []
    strides = tuple(-stride if dim in turned else stride for dim, stride in enumerate(view.strides))
    start = view.offset + sum((view.sizes[dim] - 1) * view.strides[dim] for dim in turned)
    source = View(view.buffer, view.sizes, strides, start)

    def copy(steps: Steps, given: list[Argument]) -> Operand:
        return steps.cast(given[0].slot, computed_in(like.dtype))

    return build.pointwise([source], copy, view.sizes, like.dtype, like.stride())


# overload -> the function that makes its loops
SCANS: Final[dict[str, Lowering]] = {
    "cumsum": _sums("sum"),
    "cumprod": _sums("prod"),
    "cummax": _extremum("amax"),
    "cummin": _extremum("amin"),
    "logcumsumexp": _log_sum,
    "flip": flip,
}
