"""Reads the generation when the work is done, and so compares it with itself."""

from glasstorch.dispatch.operator import Boxed, DispatchTable, registry
from glasstorch.dispatch.resolve import resolve

REFUSED_BY = "check"


def missing(table: DispatchTable, keys: int) -> Boxed:
    resolution = resolve(table.operator, keys)
    generation = registry.generation
    entry = resolution.entry if registry.wrap is None else registry.wrap(table.operator, resolution)
    with registry.lock:
        if registry.generation == generation:
            table[keys] = entry
    return entry
