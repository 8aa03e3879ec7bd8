"""What shapes and dtypes do histograms have, and which bins do they accept?

Mirrors: aten/src/ATen/native/Histogram.cpp (histogramdd_check_inputs, histogramdd_prepare_out,
    histc_select_outer_bin_edges), aten/src/ATen/native/SummaryOps.cpp (_bincount_cpu_template)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from glasstorch.core.dtype import Number, dtype
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.operators.shapes.result import C_NAMES, Result

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def histc(self: Tensor, bins: int, min: Number, max: Number) -> Result:
    """One count per bin, in the dtype of the input."""
    check_bins([bins])
    return Result((bins,), self.dtype, None, _check_hist)


def histogram(
    self: Tensor, bins: int, range: Sequence[float] | None, weight: Tensor | None, density: bool
) -> tuple[Result, Result]:
    """The sum of weights in each bin, and the bin edges, of which there is one more."""
    check_bins([bins])
    check_weight((self.numel(), 1), self, weight, flat=True)
    return Result((bins,), self.dtype, None, _check_hist), Result((bins + 1,), self.dtype, None, _check_edges)


def histogram_tensor(self: Tensor, bins: Tensor, weight: Tensor | None, density: bool) -> tuple[Result, Result]:
    """As `histogram`, with given edges."""
    check_edges(self, [bins])
    check_weight((self.numel(), 1), self, weight, flat=True)
    size = bins.numel()
    return Result((size - 1,), self.dtype, None, _check_hist), Result((size,), self.dtype, None, _check_edges)


def check_points_and_counts(self: Tensor, bins: Sequence[int], weight: Tensor | None) -> None:
    """Refuse points, numbers of bins for each of their coordinates, or weights that do not fit together.

    The input's last dimension holds the coordinates of a point.
    """
    _check_points(self)
    if len(bins) != self._shape[-1]:
        raise ArgumentError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    check_bins(bins)
    check_weight(self._shape, self, weight)


def check_points_and_edges(self: Tensor, bins: Sequence[Tensor], weight: Tensor | None) -> None:
    """As `check_points_and_counts`, with the edges of the bins."""
    _check_points(self)
    if len(bins) != self._shape[-1]:
        raise ArgumentError(
            f"torch.histogramdd: expected {self._shape[-1]} sequences of bin edges for a {self._shape[-1]}-dimensional "
            f"histogram but got {len(bins)}"
        )
    check_edges(self, bins)
    check_weight(self._shape, self, weight)


def _check_points(self: Tensor) -> None:
    if len(self._shape) < 2:
        raise ShapeError(
            f"torch.histogramdd: input tensor should have at least 2 dimensions, but got {len(self._shape)}"
        )


def check_bins(bins: Sequence[int]) -> None:
    """Refuse dimensions without bins."""
    for d, count in enumerate(bins):
        if count <= 0:
            raise ArgumentError(f"torch.histogram(): bins must be > 0, but got {count} for dimension {d}")


def check_edges(self: Tensor, bins: Sequence[Tensor]) -> None:
    """Refuse edges that are not a vector, are too few or have another dtype."""
    for d, edges in enumerate(bins):
        if edges.dtype is not self.dtype:
            raise DtypeError(
                f"torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with "
                f"dtype {C_NAMES[self.dtype.name]} and bins for dimension {d} with dtype {C_NAMES[edges.dtype.name]}"
            )
        if len(edges._shape) != 1:
            raise ShapeError(
                f"torch.histogramdd: bins tensor should have one dimension, but got {len(edges._shape)} dimensions in "
                f"the bins tensor for dimension {d}"
            )
        if not edges.numel():
            raise ShapeError(
                f"torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins tensor "
                f"for dimension {d}"
            )
        check_bins([edges.numel() - 1])


def check_weight(shape: Sequence[int], self: Tensor, weight: Tensor | None, flat: bool = False) -> None:
    """Refuse weights of another dtype or shape than the points; of `flat` ones only the number must match."""
    if weight is None:
        return
    if weight.dtype is not self.dtype:
        raise DtypeError(
            f"torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
            f"dtype, but got input({C_NAMES[self.dtype.name]}), and weight({C_NAMES[weight.dtype.name]})"
        )
    given = [weight.numel()] if flat else list(weight._shape)
    if given != list(shape[:-1]):
        raise ShapeError(
            f"torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape {list(shape)} and weight with shape {given}"
        )


def check_range(range: Sequence[float] | None, dimensions: int) -> None:
    """Refuse a range without a lower and an upper end for each dimension."""
    if range is not None and len(range) != 2 * dimensions:
        raise ArgumentError(
            f"torch.histogramdd: for a {dimensions}-dimensional histogram range should have {2 * dimensions} elements, "
            f"but got {len(range)}"
        )


def _check_out(what: str, where: str, result: dtype, out: dtype) -> None:
    if result is not out:
        raise DtypeError(
            f"torch.histogram: input tensor and {what} tensor should have the same dtype, but got input "
            f"{C_NAMES[result.name]} and {what} {C_NAMES[out.name]}{where}"
        )


_check_hist = partial(_check_out, "hist", "")
_check_edges = partial(_check_out, "bin_edges", " for dimension 0")
