"""Keeps the kernel's function, which may not want the keys, in place of the entry."""

from glasstorch.dispatch.operator import Boxed, DispatchTable, registry
from glasstorch.dispatch.resolve import resolve

REFUSED_BY = "check"


def missing(table: DispatchTable, keys: int) -> Boxed:
    generation = registry.generation
    resolution = resolve(table.operator, keys)
    entry = resolution.choice.kernel.function if registry.wrap is None else registry.wrap(table.operator, resolution)
    with registry.lock:
        if registry.generation == generation:
            table[keys] = entry
    return entry
