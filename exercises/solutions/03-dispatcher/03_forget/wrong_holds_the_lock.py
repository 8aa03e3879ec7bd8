"""Holds the lock while it works, so that every registration waits for it."""

from glasstorch.dispatch.operator import Boxed, DispatchTable, registry
from glasstorch.dispatch.resolve import resolve

REFUSED_BY = "check"


def missing(table: DispatchTable, keys: int) -> Boxed:
    with registry.lock:
        generation = registry.generation
        resolution = resolve(table.operator, keys)
        entry = resolution.entry if registry.wrap is None else registry.wrap(table.operator, resolution)
        if registry.generation == generation:
            table[keys] = entry
    return entry
