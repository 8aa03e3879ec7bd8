"""Looks at the generation first, and takes the lock only to keep."""

from glasstorch.dispatch.operator import Boxed, DispatchTable, registry
from glasstorch.dispatch.resolve import resolve

REFUSED_BY = "check"


def missing(table: DispatchTable, keys: int) -> Boxed:
    generation = registry.generation
    resolution = resolve(table.operator, keys)
    entry = resolution.entry if registry.wrap is None else registry.wrap(table.operator, resolution)
    if registry.generation == generation:
        with registry.lock:
            table[keys] = entry
    return entry
