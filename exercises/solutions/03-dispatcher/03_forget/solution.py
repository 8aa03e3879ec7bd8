"""Reads the generation before it begins, and keeps the entry only if no kernel was registered since."""

from glasstorch.dispatch.operator import Boxed, DispatchTable, registry
from glasstorch.dispatch.resolve import resolve


def missing(table: DispatchTable, keys: int) -> Boxed:
    """The entry for a key set that a table does not hold."""
    generation = registry.generation
    resolution = resolve(table.operator, keys)
    entry = resolution.entry if registry.wrap is None else registry.wrap(table.operator, resolution)
    with registry.lock:
        if registry.generation == generation:
            table[keys] = entry
    return entry
