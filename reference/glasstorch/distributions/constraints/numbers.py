"""Which constraints are there of single numbers, and of counts?

Mirrors: torch/distributions/constraints.py
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.distributions.constraints.constraint import Constraint

# Discrete values ------------------------------------------------------------------------------------------------------


class _Discrete(Constraint):
    is_discrete = True


class _Boolean(_Discrete):
    """0 or 1."""

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(_Discrete):
    """Vectors with a single 1 among zeros."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _IntegerInterval(_Discrete):
    """Integers between two bounds, both included."""

    _shown = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)  # type: ignore[no-any-return]


class _IntegerLessThan(_Discrete):
    """Integers up to a bound."""

    _shown = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value <= self.upper_bound)  # type: ignore[no-any-return]


class _IntegerGreaterThan(_Discrete):
    """Integers from a bound on."""

    _shown = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)  # type: ignore[no-any-return]


class _Multinomial(_Discrete):
    """Vectors of counts that sum to at most a bound."""

    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(dim=-1) & (value.sum(dim=-1) <= self.upper_bound)  # type: ignore[no-any-return]


# Real numbers ---------------------------------------------------------------------------------------------------------


class _Real(Constraint):
    """Any number but nan."""

    def check(self, value: Tensor) -> Tensor:
        return value == value


class _Above(Constraint):
    _shown = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound
        super().__init__()


class _GreaterThan(_Above):
    """Numbers above a bound."""

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound < value  # type: ignore[no-any-return]


class _GreaterThanEq(_Above):
    """Numbers from a bound on."""

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound <= value  # type: ignore[no-any-return]


class _LessThan(Constraint):
    """Numbers below a bound."""

    _shown = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound  # type: ignore[no-any-return]


class _Between(Constraint):
    _shown = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        super().__init__()


class _Interval(_Between):
    """Numbers between two bounds, both included."""

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)  # type: ignore[no-any-return]


class _HalfOpenInterval(_Between):
    """Numbers between two bounds, the upper one excluded."""

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)  # type: ignore[no-any-return]
