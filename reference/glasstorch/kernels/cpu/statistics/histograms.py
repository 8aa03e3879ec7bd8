"""How are elements counted by value or by bin on the CPU?

Mirrors: aten/src/ATen/native/cpu/HistogramKernel.cpp (histogramdd_cpu_contiguous), aten/src/ATen/native/Histogram.cpp,
    aten/src/ATen/native/SummaryOps.cpp (_bincount_cpu)
Differs: NumPy's bincount accumulates in float64 and rounds once; PyTorch accumulates in the dtype itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, from_array
from glasstorch.core.dtype import (
    COMPLEX_DTYPES,
    FLOATING,
    STORED_ONLY,
    Number,
    bool_,
    check_implemented,
    dtype,
    float32,
    float64,
    int64,
)
from glasstorch.core.errors import ArgumentError, ShapeError, not_implemented_for
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions.sums import finish, widened
from glasstorch.kernels.creation.ranges import linspace_numbers
from glasstorch.kernels.iterator import BLOCK
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.statistics import histograms as shapes

CPU = KernelTable("CPU")

BinOf = Callable[[Array, Array], Array]


# Counts of numbers ----------------------------------------------------------------------------------------------


@CPU.impl("bincount")
def bincount(keys: int, self: Tensor, weights: Tensor | None, minlength: int) -> Tensor:
    """How often 0, 1, 2 ... occur, or the sums of their weights."""
    if self.dtype.category >= FLOATING or self.dtype is bool_ or self.dtype in STORED_ONLY:
        raise not_implemented_for("bincount_cpu", self.dtype)
    if minlength < 0:
        raise ArgumentError(f"minlength should be >= 0, got {minlength}")
    array = self.array()
    if array.ndim == 1 and not array.size:
        return from_array(np.zeros(minlength, np.int64), int64)
    if array.ndim != 1 or array.min() < 0:
        raise ArgumentError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return finish(np.bincount(array, minlength=minlength), int64, None)
    if weights._shape != self._shape:
        raise ShapeError(
            f"weights should be 1-d and have the same length as input, got {list(weights._shape)} for "
            f"{list(self._shape)}"
        )
    summed = float32 if weights.dtype is float32 else float64
    by_value = weights.array().real if weights.dtype.is_complex else weights.array()
    return finish(np.bincount(array, by_value.astype(np.float64), minlength), summed, None)


# Edges of bins --------------------------------------------------------------------------------------------------


def check_finite(what: str, low: Any, high: Any) -> None:
    """Refuse a range with an end that is NaN or infinite."""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ArgumentError(f"{what} [{float(low):g}, {float(high):g}] is not finite")


def histc_edges(self: Tensor, bins: int, min: Number, max: Number) -> Array:
    """Evenly spaced edges; equal ends stand for the range of the elements."""
    low: Any = min
    high: Any = max
    array = self.array()
    if low == high and array.size:
        wide = widened(array)
        low, high = wide.min().item(), wide.max().item()
    if low == high:
        low, high = low - 1, high + 1
    check_finite("torch.histc: range of", low, high)
    if low > high:
        raise ArgumentError(f"torch.histc: max must be larger than min, got min {low:g} and max {high:g}")
    return linspace_numbers(low, high, bins + 1, self.dtype).astype(self.dtype.numpy)


def outer_edges(points: Array, range: Sequence[float] | None) -> list[tuple[float, float]]:
    """The lowest and the highest edge for each dimension of points: the given range, or that of the points."""
    dimensions = points.shape[1]
    shapes.check_range(range, dimensions)
    if range is not None:
        ends = list(zip(range[::2], range[1::2], strict=True))
    elif points.size:
        ends = list(zip(points.min(0).tolist(), points.max(0).tolist(), strict=True))
    else:
        ends = [(0.0, 1.0)] * dimensions
    for d, (low, high) in enumerate(ends):
        check_finite(f"torch.histogramdd: dimension {d}'s range", low, high)
        if low > high:
            raise ArgumentError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {d}"
            )
        if low == high:
            ends[d] = low - 0.5, high + 0.5
    return ends


def even_edges(points: Array, bins: Sequence[int], range: Sequence[float] | None, dtype: dtype) -> list[Array]:
    """Evenly spaced edges for each dimension of points."""
    ends = outer_edges(points, range)
    return [
        linspace_numbers(low, high, count + 1, dtype).astype(dtype.numpy)
        for (low, high), count in zip(ends, bins, strict=True)
    ]


# Sums by bin ----------------------------------------------------------------------------------------------------


def blocks(size: int) -> Iterator[slice]:
    """Consecutive slices of at most a block."""
    return (slice(at, at + BLOCK) for at in range(0, size, BLOCK))


def in_bins(points: Array, edges: Sequence[Array], weights: Array | None, bin_of: BinOf) -> Array:
    """The sums of the weights of the points (n, d) in each bin, as float64.

    `bin_of(values, edges)` gives the bins of numbers. A bin includes its lower edge, and the last one both edges;
    numbers outside and NaN count nowhere.
    """
    counts = [len(one) - 1 for one in edges]
    outside = math.prod(counts)
    total = np.zeros(outside)
    for block in blocks(len(points)):
        bins: Any = 0
        inside: Any = True
        for d, (one, count) in enumerate(zip(edges, counts, strict=True)):
            values = points[block, d]
            at = bin_of(values, one)
            np.minimum(at, count - 1, out=at)
            bins = at if d == 0 else bins * count + at
            inside &= (values >= one[0]) & (values <= one[-1])
        bins[~inside] = outside
        total += np.bincount(bins, None if weights is None else weights[block], outside + 1)[:outside]
    return total.reshape(counts)


def interpolated(values: Array, edges: Array) -> Array:
    """The bin between evenly spaced edges, interpolated. (PyTorch: LINEAR_INTERPOLATION, which histc uses)"""
    count = edges.dtype.type(len(edges) - 1)
    at: Array = ((values - edges[0]) * count / (edges[-1] - edges[0])).astype(np.int64)
    return at


def corrected(values: Array, edges: Array) -> Array:
    """As `interpolated`, corrected by comparison with the edges. (PyTorch: LINEAR_INTERPOLATION_WITH_LOCAL_SEARCH)"""
    at = np.clip(interpolated(values, edges), 0, len(edges) - 2)
    at -= values < edges.take(at)
    at += values >= edges.take(at + 1)
    return at


def searched(values: Array, edges: Array) -> Array:
    """The bin between arbitrary edges. (PyTorch: BINARY_SEARCH)"""
    return edges.searchsorted(values, "right") - 1


def histc(keys: int, self: Tensor, bins: int, min: Number, max: Number, out: Tensor | None = None) -> Tensor:
    """The kernel of `histc`."""
    shapes.histc(self, bins, min, max)
    check_implemented("aminmax_cpu", self.dtype, COMPLEX_DTYPES)
    if self.dtype.category < FLOATING or self.dtype in STORED_ONLY:
        raise not_implemented_for("histogram_cpu", self.dtype)
    edges = histc_edges(self, bins, min, max)
    points = self.array().reshape(-1, 1)
    return finish(quietly(in_bins, points, [edges], None, interpolated), self.dtype, out)


def histogram(
    keys: int,
    self: Tensor,
    bins: int,
    range: Sequence[float] | None,
    weight: Tensor | None,
    density: bool,
    out: tuple[Tensor, Tensor] | None = None,
) -> tuple[Any, ...]:
    """The kernel of `histogram.bin_ct`."""
    shapes.histogram(self, bins, range, weight, density)
    check_computable(self, range is not None)
    points = self.array().reshape(-1, 1)
    edges = even_edges(points, [bins], range, self.dtype)[0]
    return _histogram("histogram.bin_ct", self, edges, weight, density, out, corrected)


def histogram_tensor(
    keys: int,
    self: Tensor,
    bins: Tensor,
    weight: Tensor | None,
    density: bool,
    out: tuple[Tensor, Tensor] | None = None,
) -> tuple[Any, ...]:
    """The kernel of `histogram.bins_tensor`."""
    shapes.histogram_tensor(self, bins, weight, density)
    check_computable(self)
    return _histogram("histogram.bins_tensor", self, bins.array().copy(), weight, density, out, searched)


def _histogram(
    name: str,
    self: Tensor,
    edges: Array,
    weight: Tensor | None,
    density: bool,
    out: tuple[Tensor, Tensor] | None,
    bin_of: BinOf,
) -> tuple[Any, ...]:
    hist = weighed(self.array().reshape(-1, 1), [edges], weight, density, bin_of)
    to_hist, to_edges = out if out is not None else (None, None)
    return named_result(name, (finish(hist, self.dtype, to_hist), finish(edges, self.dtype, to_edges)))


def check_computable(self: Tensor, range_given: bool = True) -> None:
    """Refuse dtypes other than floating point; a range is computed in single and double precision only."""
    label = None
    if not range_given and self.numel() and self.dtype not in (float32, float64):
        label = "histogramdd"
    elif self.dtype.category != FLOATING or self.dtype in STORED_ONLY:
        label = "histogram_cpu"
    if label is not None:
        raise not_implemented_for(label, self.dtype)


def weighed(points: Array, edges: Sequence[Array], weight: Tensor | None, density: bool, bin_of: BinOf) -> Array:
    """The sums by bin; for a density, divided by their total and by the bin sizes."""
    weights = None if weight is None else weight.array().reshape(-1)
    hist: Array = quietly(in_bins, points, edges, weights, bin_of)
    if density:
        hist = quietly(np.divide, hist, hist.sum())
        for d, one in enumerate(edges):
            hist = quietly(np.divide, hist, np.diff(one).reshape(-1, *[1] * (len(edges) - 1 - d)))
    return hist


# Points of several dimensions -----------------------------------------------------------------------------------


def points_of(self: Tensor) -> Array:
    """One point per row: the last dimension holds the coordinates."""
    return self.array().reshape(-1, self._shape[-1])


@CPU.impl("_histogramdd_bin_edges")
def histogramdd_bin_edges(
    keys: int, self: Tensor, bins: Sequence[int], range: Sequence[float] | None, weight: Tensor | None, density: bool
) -> tuple[Tensor, ...]:
    """Evenly spaced edges for each dimension of the points."""
    counts = shapes.bins_of(self, bins)
    check_computable(self, range is not None)
    return tuple(from_array(edges, self.dtype) for edges in even_edges(points_of(self), counts, range, self.dtype))


@CPU.impl("_histogramdd_from_bin_cts")
def histogramdd_from_bin_cts(
    keys: int, self: Tensor, bins: Sequence[int], range: Sequence[float] | None, weight: Tensor | None, density: bool
) -> Tensor:
    """The histogram over bins of equal size."""
    counts = shapes.bins_of(self, bins)
    shapes.check_weight(self._shape, self, weight)
    check_computable(self, range is not None)
    points = points_of(self)
    edges = even_edges(points, counts, range, self.dtype)
    return finish(weighed(points, edges, weight, density, corrected), self.dtype, None)


@CPU.impl("_histogramdd_from_bin_tensors")
def histogramdd_from_bin_tensors(
    keys: int, self: Tensor, bins: Sequence[Tensor], weight: Tensor | None, density: bool
) -> Tensor:
    """The histogram over bins with the given edges."""
    shapes.edges_of(self, bins)
    shapes.check_weight(self._shape, self, weight)
    check_computable(self)
    edges = [np.ascontiguousarray(one.array()) for one in bins]
    return finish(weighed(points_of(self), edges, weight, density, searched), self.dtype, None)


structured(CPU, "histc", histc)
structured(CPU, "histogram.bin_ct", histogram)
structured(CPU, "histogram.bins_tensor", histogram_tensor)
