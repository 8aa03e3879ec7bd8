"""How are arrays joined, reordered and reshaped?

Mirrors: nothing in torch; the standard's manipulation functions
Differs: a result is a view wherever torch makes one.
"""

from __future__ import annotations

from glasstorch import functional
from glasstorch.array_api._scalars import Array, Axis, axes, joint
from glasstorch.core.geometry import wrap_dim
from glasstorch.operators.generated import functions as f

Arrays = tuple[Array, ...] | list[Array]


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Views of all arrays, expanded to the shape that they broadcast to."""
    return tuple(f.broadcast_tensors(list(arrays)))


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that all shapes broadcast to."""
    return tuple(functional.broadcast_shapes(*shapes))


def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    """A view of the array, expanded to a shape that it broadcasts to."""
    return f.broadcast_to(x, list(shape))


def concat(arrays: Arrays, /, *, axis: int | None = 0) -> Array:
    """Arrays concatenated along a dimension; flattened first if `axis` is None."""
    given = joint(arrays)
    if axis is None:
        return f.cat([array.reshape(-1) for array in given], 0)
    return f.cat(given, axis)


def stack(arrays: Arrays, /, *, axis: int = 0) -> Array:
    """Arrays joined along a new dimension."""
    return f.stack(joint(arrays), axis)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices of an array along a dimension, as views."""
    if not x.ndim:
        raise ValueError("unstack: an array of 0 dimensions has no parts; expected one of at least 1")
    return tuple(f.unbind(x, axis))


def expand_dims(x: Array, /, axis: int) -> Array:
    """A view with a new dimension of size 1."""
    return f.unsqueeze(x, axis)


def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """A view without these dimensions of size 1; others are refused."""
    dims = axes(axis, x.ndim)
    for d in dims:
        if x.shape[wrap_dim(d, x.ndim)] != 1:
            raise ValueError(f"squeeze: axis {d} has size {x.shape[d]}; only one of size 1 can be taken away")
    return f.squeeze(x, dims)


def flip(x: Array, /, *, axis: Axis = None) -> Array:
    """A copy with the elements in reverse order along dimensions."""
    return f.flip(x, axes(axis, x.ndim))


def roll(x: Array, /, shift: int | tuple[int, ...], *, axis: Axis = None) -> Array:
    """A copy with the elements shifted cyclically along dimensions."""
    shifts = [shift] if isinstance(shift, int) else list(shift)
    if axis is None:
        return f.roll(x, shifts)
    dims = axes(axis, x.ndim)
    return f.roll(x, shifts * len(dims) if len(shifts) == 1 else shifts, dims)


def moveaxis(x: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Array:
    """A view with dimensions moved to other positions."""
    return f.movedim(x, axes(source, x.ndim), axes(destination, x.ndim))


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """A view with the dimensions permuted."""
    return f.permute(x, list(axes))


def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """The same elements in another shape; the result must (True), may (None) or must not (False) be a copy."""
    if copy is False:
        try:
            return x.view(list(shape))
        except RuntimeError as error:
            raise ValueError(f"reshape: {list(x.shape)} cannot be seen as {list(shape)} without a copy") from error
    return f.reshape(x.clone() if copy else x, list(shape))


def repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None) -> Array:
    """Each slice along a dimension repeated `repeats` times; each element of the flattened array if `axis` is None."""
    return f.repeat_interleave(x, repeats, axis)


def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """The whole array repeated, `repetitions` times along each dimension."""
    return f.tile(x, list(repetitions))
