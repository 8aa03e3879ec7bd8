"""Which values may a parameter or a draw have?

Mirrors: torch/distributions/constraints.py

A constraint checks values, one answer for each event: the last `event_dim` dimensions belong to one event. The
lower-case names below the classes are what users write, `constraints.positive` or `constraints.interval(0, 1)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import bool_
from glasstorch.core.type_info import finfo
from glasstorch.operators.generated import functions as f

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


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


class _DependentProperty(property, _Dependent):  # type: ignore[misc]
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
        if not isinstance(reinterpreted_batch_ndims, int) or reinterpreted_batch_ndims < 0:
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
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_Discrete):
    """Integers up to a bound."""

    _shown = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Discrete):
    """Integers from a bound on."""

    _shown = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Multinomial(_Discrete):
    """Vectors of counts that sum to at most a bound."""

    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(dim=-1) & (value.sum(dim=-1) <= self.upper_bound)


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
        return value < self.upper_bound


class _Between(Constraint):
    _shown = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        super().__init__()


class _Interval(_Between):
    """Numbers between two bounds, both included."""

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Numbers between two bounds, the upper one excluded."""

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


# Vectors and matrices -------------------------------------------------------------------------------------------------


class _Simplex(Constraint):
    """Vectors of non-negative numbers that sum to 1, within 1e-6."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Matrix(Constraint):
    event_dim = 2


class _LowerTriangular(_Matrix):
    """Matrices with zeros above the diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Cholesky factors of correlation matrices: their rows have length 1, within ten rounding errors for each column."""

    def check(self, value: Tensor) -> Tensor:
        tolerance = finfo(value.dtype).eps * value.size(-1) * 10
        lengths = f.linalg_vector_norm(value.detach(), dim=-1)
        return super().check(value) & (lengths - 1.0).abs().le(tolerance).all(dim=-1)


class _Square(_Matrix):
    """Matrices with as many rows as columns."""

    def check(self, value: Tensor) -> Tensor:
        square = value.shape[-2] == value.shape[-1]
        return f.full(value.shape[:-2], square, dtype=bool_, device=value.device)


class _Symmetric(_Square):
    """Matrices that equal their transpose, within 1e-6."""

    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        return f.isclose(value, value.mT, atol=1e-6).all(-2).all(-1) if square.all() else square


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without a negative eigenvalue."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return f.linalg_eigvalsh(value).ge(0).all(-1) if symmetric.all() else symmetric


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices that have a Cholesky factor."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return f.linalg_cholesky_ex(value).info.eq(0) if symmetric.all() else symmetric  # type: ignore[no-any-return]


# Several constraints side by side -------------------------------------------------------------------------------------


class _Several(Constraint):
    def __init__(self, cseq: Sequence[Constraint], dim: int) -> None:
        if not all(isinstance(constraint, Constraint) for constraint in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq = list(cseq)
        self.dim = dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        """Whether one of them is."""
        return any(constraint.is_discrete for constraint in self.cseq)

    @property
    def event_dim(self) -> int:
        """That of the one with most."""
        return max(constraint.event_dim for constraint in self.cseq)

    def _check_dim(self, value: Tensor) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")


class _Cat(_Several):
    """Constraints for consecutive pieces, of these lengths, along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        pieces = f.split(value.narrow(self.dim, 0, sum(self.lengths)), self.lengths, self.dim)
        return f.cat([c.check(piece) for c, piece in zip(self.cseq, pieces, strict=True)], self.dim)


class _Stack(_Several):
    """Constraints for the slices along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        super().__init__(cseq, dim)

    @property
    def event_dim(self) -> int:
        """That of the one with most, and one more if the slices lie inside the event."""
        dim = super().event_dim
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        slices = value.unbind(self.dim)
        return f.stack([c.check(piece) for piece, c in zip(slices, self.cseq, strict=False)], self.dim)


# What users write -----------------------------------------------------------------------------------------------------

dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
