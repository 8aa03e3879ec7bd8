"""Gives the recording entry to the first caller of a trace, and keeps the plain one for the others."""

from glasstorch.dispatch.operator import Boxed, DispatchTable, registry
from glasstorch.dispatch.resolve import resolve

REFUSED_BY = "graft"


def missing(table: DispatchTable, keys: int) -> Boxed:
    generation = registry.generation
    resolution = resolve(table.operator, keys)
    entry = resolution.entry if registry.wrap is None else registry.wrap(table.operator, resolution)
    with registry.lock:
        if registry.generation == generation:
            table[keys] = resolution.entry
    return entry
