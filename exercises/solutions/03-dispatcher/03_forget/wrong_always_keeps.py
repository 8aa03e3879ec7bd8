"""Keeps the entry whatever happened meanwhile."""

from glasstorch.dispatch.operator import Boxed, DispatchTable, registry
from glasstorch.dispatch.resolve import resolve

REFUSED_BY = "check"


def missing(table: DispatchTable, keys: int) -> Boxed:
    resolution = resolve(table.operator, keys)
    entry = resolution.entry if registry.wrap is None else registry.wrap(table.operator, resolution)
    with registry.lock:
        table[keys] = entry
    return entry
