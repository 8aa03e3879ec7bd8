"""Of what are tensors with known contents made?

Mirrors: torch/_refs/__init__.py (zeros, ones, new_full, arange, eye, linspace)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.decompositions.table import decomposes
from glasstorch.core.dtype import bool_, dtype, float32, float64, get_default_dtype
from glasstorch.operators.generated import functions as f

Sizes = Sequence[int]

# `options` are dtype, layout, device and pin_memory.


def _options(options: dict[str, Any], like: Tensor | None = None) -> dict[str, Any]:
    """Those that say something, those of a tensor where they say nothing."""
    options.pop("memory_format", None)
    chosen = {name: value for name, value in options.items() if value is not None}
    return chosen if like is None else {"dtype": like.dtype, "device": like.device, **chosen}


@decomposes("zeros")
def zeros(size: Sizes, **options: Any) -> Tensor:
    """Full of 0."""
    return f.full(size, 0, **_with_dtype(options))


@decomposes("ones")
def ones(size: Sizes, **options: Any) -> Tensor:
    """Full of 1."""
    return f.full(size, 1, **_with_dtype(options))


def _with_dtype(options: dict[str, Any]) -> dict[str, Any]:
    found = _options(options)
    return {"dtype": get_default_dtype(), **found}


@decomposes("zeros_like")
def zeros_like(self: Tensor, **options: Any) -> Tensor:
    """Full of 0."""
    return f.full_like(self, 0, **{name: value for name, value in options.items() if value is not None})


@decomposes("ones_like")
def ones_like(self: Tensor, **options: Any) -> Tensor:
    """Full of 1."""
    return f.full_like(self, 1, **{name: value for name, value in options.items() if value is not None})


@decomposes("new_zeros")
def new_zeros(self: Tensor, size: Sizes, **options: Any) -> Tensor:
    """Full of 0, like a tensor."""
    return f.full(size, 0, **_options(options, self))


@decomposes("new_ones")
def new_ones(self: Tensor, size: Sizes, **options: Any) -> Tensor:
    """Full of 1, like a tensor."""
    return f.full(size, 1, **_options(options, self))


@decomposes("new_full")
def new_full(self: Tensor, size: Sizes, fill_value: Any, **options: Any) -> Tensor:
    """Full of a number, like a tensor."""
    return f.full(size, fill_value, **_options(options, self))


@decomposes("new_empty")
def new_empty(self: Tensor, size: Sizes, **options: Any) -> Tensor:
    """Not initialised, like a tensor."""
    return f.empty(size, **_options(options, self))


@decomposes("zero")
def zero(self: Tensor) -> Tensor:
    """Full of 0."""
    return f.full_like(self, 0)


@decomposes("fill.Scalar")
def fill(self: Tensor, value: Any) -> Tensor:
    """Full of a number."""
    return f.full_like(self, value)


@decomposes("fill.Tensor")
def fill_tensor(self: Tensor, value: Tensor) -> Tensor:
    """Full of the element of a tensor."""
    return f.copy(self, value)


@decomposes("arange")
def arange(end: Any, **options: Any) -> Tensor:
    """From 0."""
    return f.arange(0, end, 1, **_options(options))


@decomposes("arange.start")
def arange_start(start: Any, end: Any, **options: Any) -> Tensor:
    """In steps of 1."""
    return f.arange(start, end, 1, **_options(options))


@decomposes("eye")
def eye(n: int, **options: Any) -> Tensor:
    """Ones on the diagonal of a square."""
    return eye_m(n, n, **options)


@decomposes("eye.m")
def eye_m(n: int, m: int, **options: Any) -> Tensor:
    """Ones on the diagonal."""
    found = _with_dtype(options)
    gives: dtype = found.pop("dtype")
    is_on = f.arange(n, **found).unsqueeze(-1) == f.arange(m, **found)
    if gives is bool_:
        return is_on
    return f.where(is_on, f.full((1,), 1, dtype=gives, **found), f.full((1,), 0, dtype=gives, **found))


@decomposes("linspace")
def linspace(start: Any, end: Any, steps: int, **options: Any) -> Tensor:
    """Numbers from start to end in equal steps, each computed from the nearer end."""
    found = _with_dtype(options)
    gives: dtype = found.pop("dtype")
    if steps == 0:
        return f.full((0,), 0, dtype=gives, **found)
    if steps == 1:
        return f.full((1,), start, dtype=gives, **found)
    computed = float64 if not gives.is_floating_point or gives is float64 else float32
    if gives.is_complex:
        computed = gives
    places = f.arange(0, steps, 1, dtype=float64 if computed is float64 else float32, **found)
    step = (end - start) / (steps - 1)
    values = f.where(places < steps / 2, start + step * places, end - step * ((steps - 1) - places))
    return values.to(gives)
