"""How are elements counted by value or by bin on the CPU?

Mirrors: aten/src/ATen/native/cpu/HistogramKernel.cpp (histogramdd_cpu_contiguous), aten/src/ATen/native/Histogram.cpp,
    aten/src/ATen/native/SummaryOps.cpp (_bincount_cpu)
Differs: NumPy's bincount accumulates in float64 and rounds once; PyTorch accumulates in the dtype itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, from_array
from glasstorch.core.dtype import COMPLEX_DTYPES, FLOATS, STORED_ONLY, bool_, check_implemented, float32, float64, int64
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.creation.ranges import linspace_numbers
from glasstorch.kernels.halves import widened
from glasstorch.kernels.pointwise.dtypes import DIRECT_FLOATS, EVERY
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, Outs, finish, finish_pair, structured
from glasstorch.operators.shapes.statistics import histograms as shapes

CPU = KernelTable("CPU")

NOT_COUNTED = FLOATS | COMPLEX_DTYPES | STORED_ONLY | {bool_}
NOT_BINNED = EVERY - FLOATS
RANGE_NOT_FOUND = EVERY - DIRECT_FLOATS

Edges = Sequence[Array]  # of the bins in each dimension
BinOf = Callable[[Array, Array], Array]  # (numbers, edges) -> the bins that they fall into
Range = Sequence[float] | None  # the lowest and the highest edge in each dimension


@CPU.impl("bincount")
def bincount(keys: int, self: Tensor, weights: Tensor | None, minlength: int) -> Tensor:
    """How often 0, 1, 2 ... occur, or the sums of their weights."""
    check_implemented("bincount_cpu", self.dtype, NOT_COUNTED)
    if minlength < 0:
        raise ArgumentError(f"minlength should be >= 0, got {minlength}")
    array = self.array()
    if array.ndim != 1 or array.min(initial=0) < 0:
        raise ArgumentError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None or not array.size:
        return finish(np.bincount(array, minlength=minlength), int64, None)
    if weights._shape != self._shape:
        raise ShapeError(
            f"weights should be 1-d and have the same length as input, got {list(weights._shape)} for "
            f"{list(self._shape)}"
        )
    summed = float32 if weights.dtype is float32 else float64
    return finish(np.bincount(array, weights.array().real.astype(np.float64), minlength), summed, None)


# Edges of bins --------------------------------------------------------------------------------------------------

REFUSALS = (
    "torch.histogramdd: dimension {d}'s range [{low:g}, {high:g}] is not finite",
    "torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {d}",
)
HISTC_REFUSALS = (
    "torch.histc: range of [{low:g}, {high:g}] is not finite",
    "torch.histc: max must be larger than min, got min {low:g} and max {high:g}",
)


def even_edges(
    self: Tensor, bins: Sequence[int], range: Range, margin: float = 0.5, refusals: Sequence[str] = REFUSALS
) -> list[Array]:
    """Evenly spaced edges in each dimension, in the given range or that of the points; equal ends move apart."""
    lows: Sequence[float] = [0.0] * len(bins)
    highs: Sequence[float] = [1.0] * len(bins)
    if range is not None:
        lows, highs = range[::2], range[1::2]
    elif self.numel():
        numbers = widened(self.array().reshape(-1, len(bins)).T)
        lows, highs = numbers.min(1).tolist(), numbers.max(1).tolist()
    edges = []
    for d, (low, high, count) in enumerate(zip(lows, highs, bins, strict=True)):
        if low == high:
            low, high = low - margin, high + margin
        if not (math.isfinite(low) and math.isfinite(high)):
            raise ArgumentError(refusals[0].format(d=d, low=float(low), high=float(high)))
        if low > high:
            raise ArgumentError(refusals[1].format(d=d, low=low, high=high))
        edges.append(linspace_numbers(low, high, count + 1, self.dtype))
    return edges


# Sums by bin ----------------------------------------------------------------------------------------------------


@slot
def in_bins(points: Array, edges: Edges, weights: Array | None, bin_of: BinOf) -> Array:
    """How many of the points (n, d) are in each bin, or the sums of their weights, accumulated in float64.

    A bin includes its lower edge, and the last one both edges; numbers outside and NaN count nowhere.
    """
    counts = [len(one) - 1 for one in edges]
    numbers = list(zip(points.T, edges, strict=True))
    bins = np.ravel_multi_index([bin_of(values, one) for values, one in numbers], counts, "clip")
    inside = np.all([(values >= one[0]) & (values <= one[-1]) for values, one in numbers], 0)
    return np.bincount(bins[inside], None if weights is None else weights[inside], math.prod(counts)).reshape(counts)


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


def counted_edges(self: Tensor, bins: Sequence[int], range: Range) -> Edges:
    """The edges of equal bins of a histogram."""
    shapes.check_range(range, len(bins))
    if range is None and self.numel():
        check_implemented("histogramdd", self.dtype, RANGE_NOT_FOUND)
    return even_edges(self, bins, range)


def weighed(self: Tensor, edges: Edges, weight: Tensor | None, density: bool, bin_of: BinOf) -> Array:
    """The sums by bin, or the density."""
    check_implemented("histogram_cpu", self.dtype, NOT_BINNED)
    weights = None if weight is None else weight.array().reshape(-1)
    hist: Array = quietly(in_bins.run, self.array().reshape(-1, len(edges)), edges, weights, bin_of)
    if density:  # divided by the total and by the sizes of the bins
        hist = quietly(reduce, np.divide, [hist.sum(), *np.ix_(*map(np.diff, edges))], hist)
    return hist


@structured(CPU, "histc")
def histc(keys: int, self: Tensor, bins: int, min: float, max: float, out: Out = None) -> Tensor:
    """The kernel of `histc`; equal ends stand for the range of the elements."""
    shapes.histc(self, bins, min, max)
    check_implemented("aminmax_cpu", self.dtype, COMPLEX_DTYPES)
    check_implemented("histogram_cpu", self.dtype, NOT_BINNED)
    range = None if min == max and self.numel() else (min, max)
    edges = even_edges(self, [bins], range, 1, HISTC_REFUSALS)
    return finish(quietly(in_bins.run, self.array().reshape(-1, 1), edges, None, interpolated), self.dtype, out)


@structured(CPU, "histogram.bin_ct")
def histogram(
    keys: int, self: Tensor, bins: int, range: Range, weight: Tensor | None, density: bool, out: Outs = None
) -> tuple[Any, ...]:
    """The kernel of `histogram.bin_ct`."""
    shapes.histogram(self, bins, range, weight, density)
    edges = counted_edges(self, [bins], range)
    hist = weighed(self, edges, weight, density, corrected)
    return finish_pair("histogram.bin_ct", hist, edges[0], self.dtype, out, self.dtype)


@structured(CPU, "histogram.bins_tensor")
def histogram_tensor(
    keys: int, self: Tensor, bins: Tensor, weight: Tensor | None, density: bool, out: Outs = None
) -> tuple[Any, ...]:
    """The kernel of `histogram.bins_tensor`, which returns a copy of the edges."""
    shapes.histogram_tensor(self, bins, weight, density)
    edges = bins.array().copy()
    hist = weighed(self, [edges], weight, density, searched)
    return finish_pair("histogram.bins_tensor", hist, edges, self.dtype, out, self.dtype)


@CPU.impl("_histogramdd_bin_edges")
def bin_edges(keys: int, self: Tensor, bins: Sequence[int], range: Range, *_: Any) -> tuple[Tensor, ...]:
    """Evenly spaced edges for each dimension of the points."""
    shapes.check_points_and_counts(self, bins, None)
    return tuple(from_array(edges, self.dtype) for edges in counted_edges(self, bins, range))


@CPU.impl("_histogramdd_from_bin_cts")
def from_counts(
    keys: int, self: Tensor, bins: Sequence[int], range: Range, weight: Tensor | None, density: bool
) -> Tensor:
    """The histogram over bins of equal size; the last dimension holds the coordinates of a point."""
    shapes.check_points_and_counts(self, bins, weight)
    edges = counted_edges(self, bins, range)
    return finish(weighed(self, edges, weight, density, corrected), self.dtype, None)


@CPU.impl("_histogramdd_from_bin_tensors")
def from_edges(keys: int, self: Tensor, bins: Sequence[Tensor], weight: Tensor | None, density: bool) -> Tensor:
    """The histogram over bins with the given edges."""
    shapes.check_points_and_edges(self, bins, weight)
    return finish(weighed(self, [edges.array() for edges in bins], weight, density, searched), self.dtype, None)
