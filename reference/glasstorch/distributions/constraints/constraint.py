"""What is a constraint, one that depends on other parameters, and one made of another?

Mirrors: torch/distributions/constraints.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from glasstorch._tensor import Tensor


class Constraint:
    """A region of values, discrete or not."""

    # Properties in subclasses whose answers depend on their parts.
    is_discrete: Any = False
    event_dim: Any = 0
    _shown: ClassVar[tuple[str, ...]] = ()  # attributes that are printed

    def check(self, value: Tensor) -> Tensor:
        """Whether each event of the value lies in the region: bool, without the last `event_dim` dimensions."""
        raise NotImplementedError

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self._shown)
        return f"{self.__class__.__name__.removeprefix('_')}({shown})"


# What depends on other values -----------------------------------------------------------------------------------------


class _Dependent(Constraint):
    """Known only once other parameters are; some of its facts may be known before."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        """Whether the values are discrete, if that is known of the class."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete  # type: ignore[no-any-return]

    @property
    def event_dim(self) -> int:
        """The number of dimensions of an event, if it is known of the class."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim  # type: ignore[no-any-return]

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: object) -> bool:
    """Whether a constraint is known only once other parameters are."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A decorator: a property of the instance that is a dependent constraint of the class.

    `@dependent_property(is_discrete=False, event_dim=0)` declares what is known of the class.
    """

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


# Made of another constraint -------------------------------------------------------------------------------------------


def _require_constraints(**given: Any) -> None:
    for name, value in given.items():
        if not isinstance(value, Constraint):
            raise AssertionError(f"{name} must be a Constraint, got {type(value).__name__}")


class _Derived(Constraint):
    """What takes its facts from a base constraint."""

    base_constraint: Constraint

    @property
    def is_discrete(self) -> Any:
        """As the base."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        """As the base."""
        return self.base_constraint.event_dim


class _IndependentConstraint(_Derived):
    """The base constraint, with its last batch dimensions taken into the event: all of it must satisfy the base."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        _require_constraints(base_constraint=base_constraint)
        if reinterpreted_batch_ndims < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be an int >= 0, got {reinterpreted_batch_ndims!r}")
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__()

    @property
    def event_dim(self) -> int:
        """Those of the base and the dimensions taken into the event."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims  # type: ignore[no-any-return]

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value)
        kept = result.dim() - self.reinterpreted_batch_ndims
        if kept < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape((*result.shape[:kept], -1)).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(_Derived):
    """What all components of a mixture ask of a value: the base constraint has one more batch dimension."""

    def __init__(self, base_constraint: Constraint) -> None:
        _require_constraints(base_constraint=base_constraint)
        self.base_constraint = base_constraint
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return result.reshape((*result.shape[: value.dim() - self.event_dim], -1)).all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"
