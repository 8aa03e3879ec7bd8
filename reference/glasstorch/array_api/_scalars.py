"""What do Python numbers, and tensors of two dtypes, promote to?

Mirrors: nothing in torch; the standard's section on type promotion
Differs: kinds that the standard leaves open (an integer with a floating point array) promote as in torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number, dtype, promote_types
from glasstorch.operators.generated import functions
from glasstorch.operators.shapes.promotion import result_type

Array = Tensor
Axis = int | tuple[int, ...] | None


def pair(x1: Array | Number, x2: Array | Number) -> tuple[Array, Array]:
    """Two operands as tensors of one dtype.

    A Python number takes the dtype of the other tensor, unless the number is of a higher kind. A 0-dim tensor promotes
    like any other, unlike in torch.
    """
    if isinstance(x1, Tensor) and isinstance(x2, Tensor):
        if x1.dtype is x2.dtype:
            return x1, x2
        common = promote_types(x1.dtype, x2.dtype)
        return x1.to(common), x2.to(common)
    if isinstance(x1, Tensor):
        return pair(x1, number_like(x2, x1))
    if isinstance(x2, Tensor):
        return pair(number_like(x1, x2), x2)
    raise TypeError(f"at least one operand must be an array, got {x1!r} and {x2!r}")


def number_like(value: Any, like: Array) -> Array:
    """A number as a 0-dim tensor on the device of `like`: in its dtype, or in the number's if of a higher kind."""
    if not isinstance(value, Number):
        raise TypeError(f"expected an array or a Python number beside an array of {like.dtype}, got {value!r}")
    return functions.full([], value, dtype=result_type(like, value), device=like.device)


def joint(arrays: Iterable[Array]) -> list[Array]:
    """Tensors in their common dtype."""
    given = list(arrays)
    common: dtype | None = None
    for array in given:
        common = array.dtype if common is None else promote_types(common, array.dtype)
    return [array if array.dtype is common else array.to(common) for array in given]


def unary(name: str, function: Callable[[Array], Array], does: str) -> Any:
    """A function of the standard that takes one array."""

    def wrapped(x: Array, /) -> Array:
        return function(x)

    return _named(wrapped, name, does)


def binary(name: str, function: Callable[[Array, Array], Array], does: str) -> Any:
    """A function of the standard that takes two arrays, or an array and a number."""

    def wrapped(x1: Array | Number, x2: Array | Number, /) -> Array:
        return function(*pair(x1, x2))

    return _named(wrapped, name, does)


def _named(function: Callable[..., Any], name: str, does: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = does
    return function


def axes(axis: Axis, ndim: int) -> list[int]:
    """The dimensions that an `axis` argument names; None names all."""
    if axis is None:
        return list(range(ndim))
    return [axis] if isinstance(axis, int) else list(axis)
