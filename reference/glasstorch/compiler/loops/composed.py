"""Which operators are several loops, and which ones?

Mirrors: torch/_decomp/decompositions.py and torch/_refs, as far as torch/_inductor/decomposition.py takes them
Differs: what is written here are loops. An operator that was decomposed when the graph was recorded does not get here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

from glasstorch.compiler.loops.build import Builder, computed_in
from glasstorch.compiler.loops.ir import View
from glasstorch.compiler.loops.reductions import extremum_with_place, mean, places
from glasstorch.compiler.loops.scans import SCANS


def softmax(build: Builder, like: Any, x: View, dim: int, half_to_float: bool) -> View:
    """Numbers that are positive and add up to 1; the largest is subtracted first, so that nothing overflows."""
    over = places(dim, len(x.sizes))
    wide = computed_in(x.dtype)
    largest = build.reduce("amax", x, over, wide)
    powers = build.expression("exp(a - b)", x, largest, of=wide)
    return build.expression("a / b", powers, build.reduce("sum", powers, over, wide), of=like.dtype)


def log_softmax(build: Builder, like: Any, x: View, dim: int, half_to_float: bool) -> View:
    over = places(dim, len(x.sizes))
    wide = computed_in(x.dtype)
    shifted = build.expression("a - b", x, build.reduce("amax", x, over, wide), of=wide)
    total = build.reduce("sum", build.expression("exp(a)", shifted), over, wide)
    return build.expression("a - log(b)", shifted, total, of=like.dtype)


def softmax_backward(build: Builder, like: Any, grad: View, output: View, dim: int, input_dtype: Any) -> View:
    over = places(dim, len(output.sizes))
    product = build.expression("a * b", grad, output, of=computed_in(output.dtype))
    total = build.reduce("sum", product, over, product.dtype)
    return build.expression("a - b * c", product, output, total, of=like.dtype)


def log_softmax_backward(build: Builder, like: Any, grad: View, output: View, dim: int, input_dtype: Any) -> View:
    over = places(dim, len(output.sizes))
    total = build.reduce("sum", grad, over, computed_in(grad.dtype))
    return build.expression("a - exp(b) * c", grad, output, total, of=like.dtype)


def _centred(build: Builder, x: View, over: Sequence[int]) -> tuple[View, View, View]:
    """The mean, what is left without it, and the sum of that, squared. Two passes: nothing cancels."""
    wide = computed_in(x.dtype)
    middle = mean(build, x, over, wide)
    rest = build.expression("a - b", x, middle, of=wide)
    return middle, rest, build.reduce("sum", build.expression("a * a", rest), over, wide)


def layer_norm(build: Builder, like: Any, x: View, shape: Any, weight: Any, bias: Any, eps: float) -> tuple[View, ...]:
    over = list(range(len(x.sizes) - len(shape), len(x.sizes)))
    middle, rest, squares = _centred(build, x, over)
    scale = build.expression("1 / sqrt(a / p + q)", squares, prod(shape), eps)
    out = _scaled(build, rest, scale, weight, bias, like[0].dtype)
    return out, _as(build, middle, like[1]), _as(build, scale, like[2])


def _scaled(build: Builder, rest: View, scale: View, weight: Any, bias: Any, of: Any) -> View:
    last = weight is None and bias is None
    out = build.expression("a * b", rest, scale, of=of if last else None)
    if weight is not None:
        out = build.expression("a * b", out, weight, of=of if bias is None else None)
    if bias is not None:
        out = build.expression("a + b", out, bias, of=of)
    return out


def _as(build: Builder, view: View, like: Any) -> View:
    if view.dtype is like.dtype:
        return view
    return build.expression("a + 0", view, of=like.dtype)


def layer_norm_backward(
    build: Builder, like: Any, grad: View, x: View, shape: Any, middle: View, scale: View, weight: Any, bias: Any,
    wanted: Sequence[bool],
) -> tuple[View | None, ...]:  # fmt: skip
    """The gradients of the input, the weight and the bias, of which `wanted` says which to compute."""
    rank, count = len(x.sizes), prod(shape)
    inner, outer = list(range(rank - len(shape), rank)), list(range(rank - len(shape)))
    wide = computed_in(x.dtype)
    normal = build.expression("(a - b) * c", x, middle, scale, of=wide)
    of_input = of_weight = of_bias = None
    if wanted[0]:
        scaled = build.expression("a * b", grad, weight, of=wide) if weight is not None else grad
        total = build.reduce("sum", scaled, inner, wide)
        along = build.reduce("sum", build.expression("a * b", scaled, normal, of=wide), inner, wide)
        rest = build.expression("a - (b + c) / p", scaled, total, build.expression("a * b", normal, along), count)
        of_input = build.expression("a * b", rest, scale, of=like[0].dtype)
    if wanted[1] and weight is not None:
        of_weight = _over(build, build.expression("a * b", grad, normal, of=wide), outer, like[1])
    if wanted[2] and bias is not None:
        of_bias = _over(build, grad, outer, like[2])
    return of_input, of_weight, of_bias


def _over(build: Builder, view: View, over: Sequence[int], like: Any) -> View:
    made = build.reduce("sum", view, over, like.dtype) if over else _as(build, view, like)
    return View(made.buffer, tuple(like.shape), made.strides[len(over) :], 0)


def var_mean(build: Builder, like: Any, x: View, dim: Any, correction: Any, keepdim: bool) -> tuple[View, View]:
    over = places(dim, len(x.sizes))
    middle, _, squares = _centred(build, x, over)
    left = max(prod(x.sizes[dim] for dim in over) - (1 if correction is None else correction), 0)
    spread = build.expression("a / p", squares, left, of=like[0].dtype)
    return _kept(spread, over, like[0]), _kept(_as(build, middle, like[1]), over, like[1])


def var(build: Builder, like: Any, x: View, dim: Any, correction: Any, keepdim: bool) -> View:
    over = places(dim, len(x.sizes))
    _, _, squares = _centred(build, x, over)
    left = max(prod(x.sizes[dim] for dim in over) - (1 if correction is None else correction), 0)
    return _kept(build.expression("a / p", squares, left, of=like.dtype), over, like)


def _kept(view: View, over: Sequence[int], like: Any) -> View:
    """A view whose reduced dimensions are left out where the result has none of them."""
    if len(like.shape) == len(view.sizes):
        return view
    return View(view.buffer, tuple(like.shape), tuple(s for dim, s in enumerate(view.strides) if dim not in over), 0)


# overload -> the function that makes its loops: of the builder, fake tensors like its results, and its arguments
COMPOSED: Final[dict[str, Callable[..., Any]]] = {
    **SCANS,
    "max.dim": extremum_with_place("amax"),
    "min.dim": extremum_with_place("amin"),
    "_softmax": softmax,
    "_log_softmax": log_softmax,
    "_softmax_backward_data": softmax_backward,
    "_log_softmax_backward_data": log_softmax_backward,
    "native_layer_norm": layer_norm,
    "native_layer_norm_backward": layer_norm_backward,
    "var_mean.correction": var_mean,
    "var.correction": var,
}
