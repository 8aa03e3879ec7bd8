"""What do the different elements of a tensor without data say?

Mirrors: torch/_meta_registrations.py (they are left out there)
Differs: the refusal says which operator it is.
"""

from __future__ import annotations

from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.meta.refusals import refusal

META = KernelTable("Meta")


for name in ("_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive"):
    META.add(name, refusal(name))
