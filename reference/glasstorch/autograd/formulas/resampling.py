"""Which helpers do the formulas of resampling call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (grid_sampler_2d_double_backward, grid_sampler_3d_double_backward)
Differs: made of operators that are differentiable themselves, for any number of dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)


class Taps(NamedTuple):
    """Along one dimension, the taps of each place of a grid: lists with a tensor (batch, places) for each tap."""

    places: list[Tensor]
    inside: list[Tensor]
    weights: tuple[list[Tensor], ...]  # the weights, their first and their second derivatives by the grid's number


class Sampler:
    """What reads an input at a grid's places, and writes to it, with weights that may be differentiated."""

    def __init__(self, input: Tensor, grid: Tensor, mode: int, padding: int, align_corners: bool) -> None:
        self.sizes = input.shape[2:]
        numbers = grid.flatten(1, -2)
        self.axes = [
            _taps(numbers[..., -1 - dim], size, mode, padding, align_corners) for dim, size in enumerate(self.sizes)
        ]

    def taps(self, orders: Sequence[int]) -> Iterator[tuple[Tensor, Tensor]]:
        """Each combination of taps: its places in the flattened input, and its weights, 0 outside; see `orders`."""
        for chosen in product(*(range(len(axis.places)) for axis in self.axes)):
            places: Tensor | int = 0
            for axis, tap, size in zip(self.axes, chosen, self.sizes, strict=True):
                places = places * size + axis.places[tap]
            assert not isinstance(places, int)
            picked = list(zip(self.axes, chosen, orders, strict=True))
            yield places, prod(axis.weights[order][tap] * axis.inside[tap] for axis, tap, order in picked)  # type: ignore[misc]

    def read(self, input: Tensor, orders: Sequence[int]) -> Tensor:
        """The input at the grid's places, differentiated as often by each number as `orders` says."""
        flat = input.flatten(2)
        return sum(  # type: ignore[return-value]
            flat.gather(2, places.unsqueeze(1).expand(-1, flat.shape[1], -1)) * weights.unsqueeze(1)
            for places, weights in self.taps(orders)
        )

    def write(self, grad: Tensor, shape: Sequence[int], orders: Sequence[int]) -> Tensor:
        """The transpose of `read`."""
        sums = grad.new_zeros((*grad.shape[:2], prod(self.sizes)))
        for places, weights in self.taps(orders):
            index = places.unsqueeze(1).expand(-1, grad.shape[1], -1)
            sums = sums.scatter_add(2, index, grad * weights.unsqueeze(1))
        return sums.view(shape)


def grid_sampler_double_backward(
    grad_input: Tensor | None,
    grad_grid: Tensor | None,
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    mode: int,
    padding: int,
    align_corners: bool,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of both gradients, by the result's gradient, the input and the grid."""
    if grad_input is None and grad_grid is None:
        return None, None, None
    sampler = Sampler(input, grid, mode, padding, align_corners)
    flat = grad_output.flatten(2)
    dims = range(len(sampler.sizes))
    once = [[int(i == dim) for i in dims] for dim in dims]  # one derivative along one dimension
    to_output, to_input = flat * 0, input * 0
    to_grid = [flat[:, 0] * 0 if flat.shape[1] else grid.flatten(1, -2)[..., 0] * 0 for _ in dims]
    if grad_input is not None:
        to_output = to_output + sampler.read(grad_input, [0 for _ in dims])
        for a in dims:
            to_grid[a] = to_grid[a] + (sampler.read(grad_input, once[a]) * flat).sum(1)
    if grad_grid is not None:
        felt = [grad_grid.flatten(1, -2)[..., -1 - a] for a in dims]
        for a in dims:
            scaled = flat * felt[a].unsqueeze(1)
            to_output = to_output + sampler.read(input, once[a]) * felt[a].unsqueeze(1)
            to_input = to_input + sampler.write(scaled, input.shape, once[a])
            for b in dims:
                twice = [i + j for i, j in zip(once[a], once[b], strict=True)]
                to_grid[b] = to_grid[b] + (sampler.read(input, twice) * scaled).sum(1)
    return to_output.view(grad_output.shape), to_input, f.stack(to_grid[::-1], -1).view(grid.shape)


def _taps(numbers: Tensor, size: int, mode: int, padding: int, align_corners: bool) -> Taps:
    """The taps along one dimension; the plain kernel of the samplers has the same ones."""
    width = size - 1 if align_corners else size
    coordinate = (numbers + 1) * (width / 2) - (0 if align_corners else 0.5)
    slope = numbers * 0 + width / 2
    if mode != BICUBIC:
        coordinate, sign = _padded(coordinate, size, padding, align_corners)
        slope = slope * sign
    first = (coordinate.round() if mode == NEAREST else coordinate.floor()).detach()
    if mode == NEAREST:
        places, weights = [first], ([slope * 0 + 1], [slope * 0], [slope * 0])
    elif mode == BILINEAR:
        behind = coordinate - first
        places, weights = [first, first + 1], ([1 - behind, behind], [-slope, slope], [slope * 0] * 2)
    else:
        behind = coordinate - first
        places = [_padded(first + i, size, padding, align_corners)[0] for i in range(-1, 3)]
        weights = tuple(
            [_cubic(behind - i, order) * slope**order for i in range(-1, 3)]
            for order in range(3)  # type: ignore[assignment]
        )
    inside = [(place > -1) & (place < size) for place in places]
    kept = [f.where(there, place, 0).long() for place, there in zip(places, inside, strict=True)]
    return Taps(kept, inside, weights)


def _padded(coordinate: Tensor, size: int, padding: int, align_corners: bool) -> tuple[Tensor, Tensor]:
    """A coordinate brought into the input, and how it moves there: 1, -1 where it is reflected, or 0 at the border."""
    sign = f.ones_like(coordinate)
    if padding == ZEROS:
        return coordinate, sign
    fixed = coordinate.detach()
    inner = fixed
    if padding == REFLECTION:
        low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
        if not span:
            return fixed * 0, sign * 0
        away = fixed - low
        odd = (away.abs() / span).floor() % 2 == 1
        rest = away.abs().fmod(span)
        sign = f.where((away < 0) != odd, -sign, sign)
        inner = f.where(odd, span - rest, rest) + low
    sign = f.where((inner <= 0) | (inner >= size - 1), 0, sign)
    return inner.clamp(0, size - 1) + (coordinate - fixed) * sign, sign


def _cubic(x: Tensor, order: int, a: float = -0.75) -> Tensor:
    """Keys' piecewise cubic at a signed distance, or its first or second derivative."""
    far_from, sign = x.abs(), x.sign()
    near, far = (
        (((a + 2) * far_from - (a + 3)) * far_from**2 + 1, ((far_from - 5) * far_from + 8) * far_from * a - 4 * a),
        (sign * (3 * (a + 2) * far_from - 2 * (a + 3)) * far_from, sign * a * ((3 * far_from - 10) * far_from + 8)),
        (6 * (a + 2) * far_from - 2 * (a + 3), a * (6 * far_from - 10)),
    )[order]
    return f.where(far_from <= 1, near, far)
