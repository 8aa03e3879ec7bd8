"""How is a tensor padded or cropped at its borders?

Mirrors: aten/src/ATen/native/PadNd.cpp (constant_pad_nd, pad, _pad_enum, _pad_circular)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import Number
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.operators.composite.copies.conversions import clone, suggested_memory_format
from glasstorch.operators.composite.creation import empty
from glasstorch.operators.direct import on_tensor
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

narrow = on_tensor("narrow")


def constant_pad_nd(self: Tensor, pad: Sequence[int], value: Number) -> Tensor:
    """Each dimension padded in front and behind with one value, the last dimension first; negative numbers crop."""
    shape = self._shape
    if len(pad) % 2:
        raise ShapeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * len(shape):
        raise ShapeError(
            f"Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)} while the input has {len(shape)} dimensions."
        )
    borders = [(len(shape) - 1 - i, pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]  # (dim, before, after)
    inner = self
    for dim, before, after in borders:
        if before < 0:
            inner = narrow(inner, dim, -before, inner._shape[dim] + before)
        if after < 0:
            inner = narrow(inner, dim, 0, inner._shape[dim] + after)
    if all(number <= 0 for number in pad):
        return clone(inner, None)
    sizes = list(shape)
    for dim, before, after in borders:
        sizes[dim] += before + after
        if sizes[dim] < 0:
            raise ShapeError(
                f"The input size {shape[dim]}, plus negative padding {before} and {after} resulted in a negative "
                f"output size, which is invalid. Check dimension {dim} of your input."
            )
    result: Tensor = empty(sizes, self.dtype, None, self.device, None, suggested_memory_format(self)).fill_(value)
    middle = result
    for dim, before, after in borders:
        if before > 0:
            middle = narrow(middle, dim, before, middle._shape[dim] - before)
        if after > 0:
            middle = narrow(middle, dim, 0, middle._shape[dim] - after)
    middle.copy_(inner)
    return result


# Padding by a tensor's own elements -----------------------------------------------------------------------------

MODES = {"reflect": 0, "replicate": 1, "circular": 2, "constant": 3}
NAMED = {number: mode for mode, number in MODES.items()}


def pad(self: Tensor, pad: Sequence[int], mode: str, value: float | None) -> Tensor:
    """_pad_enum by the name of a mode."""
    if mode not in MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return f._pad_enum(self, pad, MODES[mode], value)


def _pad_enum(self: Tensor, pad: Sequence[int], mode: int, value: float | None) -> Tensor:
    """The operator of a mode and of as many dimensions as the padding has numbers for."""
    dims = self.dim()
    if len(pad) % 2:
        raise ArgumentError("Padding length must be divisible by 2")
    if len(pad) > 2 * dims:
        raise ArgumentError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {dims}"
        )
    name = NAMED[mode]
    if name == "constant":
        return f.constant_pad_nd(self, pad, 0.0 if value is None else value)
    if value:
        raise ArgumentError(f'Padding mode "{name}" doesn\'t take in value argument')
    padded = len(pad) // 2
    if padded not in (1, 2, 3) or dims not in (padded + 1, padded + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {dims}D input tensor.\nSupported combinations for "
            "non-constant padding:\n  - 2D or 3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D input: "
            "padding size = 4 (pads last 2 dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if name == "circular":
        return f._pad_circular(self, pad)
    kind = "reflection" if name == "reflect" else "replication"
    return getattr(f, f"{kind}_pad{padded}d")(self, pad)  # type: ignore[no-any-return]


def _pad_circular(self: Tensor, pad: Sequence[int]) -> Tensor:
    """Each border continues with the elements at the other end."""
    dims, padded = self.dim(), len(pad) // 2
    if padded not in (dims - 2, dims - 1):
        raise ArgumentError(
            f"Invalid padding size, expected between {2 * (dims - 2)} and {2 * (dims - 1)} elements in padding but got "
            f"{len(pad)}"
        )
    shape = list(self._shape)
    borders = {dims - 1 - i: (pad[2 * i], pad[2 * i + 1]) for i in range(padded)}
    for dim, (before, after) in borders.items():
        if max(before, after) > shape[dim]:
            raise ShapeError("Padding value causes wrapping around more than once.")
        shape[dim] += before + after
        if shape[dim] < 0:
            raise ShapeError("Negative padding value is resulting in an empty dimension")
    out = self.new_empty(shape)
    inside, given = out, self
    for dim, (before, after) in sorted(borders.items()):
        inside = part(inside, dim, max(before, 0), shape[dim] - max(after, 0))
        given = part(given, dim, max(-before, 0), self._shape[dim] - max(-after, 0))
    inside.copy_(given)
    # Later dimensions last: the corners are copied with them.
    for dim, (before, after) in sorted(borders.items()):
        size, behind = shape[dim], max(after, 0)
        if before > 0:
            part(out, dim, 0, before).copy_(part(out, dim, size - before - behind, size - behind))
        if after > 0:
            begin = max(before, 0)
            part(out, dim, size - after, size).copy_(part(out, dim, begin, begin + after))
    return out


def part(tensor: Tensor, dim: int, begin: int, end: int) -> Tensor:
    """A view of some elements along one dimension."""
    return f.slice(tensor, dim, begin, end)
