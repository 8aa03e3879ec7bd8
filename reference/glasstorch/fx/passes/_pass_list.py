"""What do both managers of passes keep: the passes, and which may run before which?

Mirrors: torch/fx/passes/pass_manager.py and torch/fx/passes/infra/pass_manager.py (what they have in common)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Pass = Callable[..., Any]
Constraint = Callable[[Pass, Pass], bool]  # whether the first pass may run before the second


class PassList:
    """Passes with constraints on their order; `_validated` once that order was checked."""

    passes: list[Pass]
    constraints: list[Constraint]
    _validated: bool = False

    def __init__(self, passes: list[Pass] | None = None, constraints: list[Constraint] | None = None) -> None:
        self.passes = passes or []
        self.constraints = constraints or []

    def add_pass(self, _pass: Pass) -> None:
        """Append a pass."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """Append a constraint."""
        self.constraints.append(constraint)
        self._validated = False


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """The constraint that `this` runs before `that`.

    >>> first, second = len, sum
    >>> may_precede = this_before_that_pass_constraint(first, second)
    >>> may_precede(first, second), may_precede(second, first)
    (True, False)
    """
    return lambda a, b: a != that or b != this
