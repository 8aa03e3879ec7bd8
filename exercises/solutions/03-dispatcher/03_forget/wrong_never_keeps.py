"""Works the entry out again for each call.

Refused by: check
"""

from glasstorch.dispatch.operator import Boxed, DispatchTable, registry
from glasstorch.dispatch.resolve import resolve


def missing(table: DispatchTable, keys: int) -> Boxed:
    """The entry for a key set that a table does not hold."""
    resolution = resolve(table.operator, keys)
    return resolution.entry if registry.wrap is None else registry.wrap(table.operator, resolution)
