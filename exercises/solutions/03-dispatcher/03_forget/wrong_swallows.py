"""Turns a missing kernel into None."""

from glasstorch.dispatch.operator import Boxed, DispatchTable, registry
from glasstorch.dispatch.resolve import resolve

REFUSED_BY = "check"


def missing(table: DispatchTable, keys: int) -> Boxed:
    generation = registry.generation
    try:
        resolution = resolve(table.operator, keys)
    except NotImplementedError:
        return None
    entry = resolution.entry if registry.wrap is None else registry.wrap(table.operator, resolution)
    with registry.lock:
        if registry.generation == generation:
            table[keys] = entry
    return entry
