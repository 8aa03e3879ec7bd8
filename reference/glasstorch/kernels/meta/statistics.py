"""What do histograms without data say?

Mirrors: torch/_meta_registrations.py (they are left out there)
Differs: the refusal says which operator it is.
"""

from __future__ import annotations

from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.meta.refusals import refusal

META = KernelTable("Meta")

for name in ("bincount", "_histogramdd_bin_edges", "_histogramdd_from_bin_cts", "_histogramdd_from_bin_tensors"):
    META.add(name, refusal(name))
