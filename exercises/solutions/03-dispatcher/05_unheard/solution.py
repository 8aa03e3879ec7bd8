"""Also empties the tables of the operators whose shortcuts skip the changed one."""

from __future__ import annotations

from glasstorch.dispatch.operator import Operator, Registry

FILE = "dispatch/operator.py"
LINE = 99


def mended(self: Registry, operator: Operator | None = None) -> None:
    """Make every table (or one operator's) forget what it resolved."""
    with self.lock:
        self.generation += 1
        for changed in (operator, *operator.relied_on_by) if operator is not None else [*self.operators.values()]:
            changed.table.clear()
