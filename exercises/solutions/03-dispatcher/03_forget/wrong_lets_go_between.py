"""Looks with the lock held, and keeps with the lock held, and lets go of it in between."""

from glasstorch.dispatch.operator import Boxed, DispatchTable, registry
from glasstorch.dispatch.resolve import resolve

REFUSED_BY = "check"


def missing(table: DispatchTable, keys: int) -> Boxed:
    generation = registry.generation
    resolution = resolve(table.operator, keys)
    entry = resolution.entry if registry.wrap is None else registry.wrap(table.operator, resolution)
    with registry.lock:
        unchanged = registry.generation == generation
    if unchanged:
        with registry.lock:
            table[keys] = entry
    return entry
