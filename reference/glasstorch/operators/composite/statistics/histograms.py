"""How is a multi-dimensional histogram combined with its bin edges?

Mirrors: aten/src/ATen/native/Histogram.cpp (histogramdd)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core.return_types import named_result
from glasstorch.operators.direct import on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

bin_edges = on_tensors("_histogramdd_bin_edges")
from_counts = on_tensors("_histogramdd_from_bin_cts")
from_edges = on_tensors("_histogramdd_from_bin_tensors")


def histogramdd(
    self: Tensor, bins: Sequence[int], range: Sequence[float] | None, weight: Tensor | None, density: bool
) -> Any:
    """A given number of bins for each dimension of the points."""
    edges = bin_edges(self, bins, range, weight, density)
    return named_result("histogramdd", (from_counts(self, bins, range, weight, density), tuple(edges)))


def histogramdd_int_bins(
    self: Tensor, bins: int, range: Sequence[float] | None, weight: Tensor | None, density: bool
) -> Any:
    """The same number of bins for every dimension of the points."""
    return histogramdd(self, [bins] * (self._shape[-1] if self._shape else 1), range, weight, density)


def histogramdd_tensor_bins(
    self: Tensor, bins: Sequence[Tensor], range: Sequence[float] | None, weight: Tensor | None, density: bool
) -> Any:
    """Given edges, which are returned as they are."""
    return named_result("histogramdd", (from_edges(self, bins, weight, density), tuple(bins)))
