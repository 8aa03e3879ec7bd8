"""Which operators run on meta by the kernel that serves all backends, registered there by itself?

Mirrors: activate_meta in torch/_meta_registrations.py, which registers the decompositions of torch/_refs and
    torch/_decomp for meta
Differs: PyTorch's decompositions are written a second time, in Python; here the kernel for all backends is one.
"""

from __future__ import annotations

from dataclasses import replace

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.tags import Tag
from glasstorch.operators.generated.registry import OPERATORS

FOR_ALL = (DispatchKey.CompositeExplicitAutogradNonFunctional, DispatchKey.CompositeExplicitAutograd)  # the first wins


def register_decomposed() -> None:
    """Register them. All other kernels must be registered before."""
    tag = Tag.decomposed_on_meta.name
    for row in OPERATORS:
        if tag in row.tags:
            kernels = registry.operators[f"aten::{row.name}"].kernels
            found = next((kernels[key][-1] for key in FOR_ALL if kernels.get(key)), None)
            if found is not None and DispatchKey.Meta not in kernels:
                kernels[DispatchKey.Meta] = [replace(found, key=DispatchKey.Meta)]
    registry.changed()
