"""Which values may a parameter or a draw have?

A constraint checks values and gives one answer for each event: the last `event_dim` dimensions belong to one event. The
lower-case names at the end are what users write: `constraints.positive`, `constraints.interval(0, 1)`.

Reading order: `constraint` (what one is), `numbers`, `arrays`, `pieces`.

Mirrors: torch/distributions/constraints.py
"""

from glasstorch.distributions.constraints.arrays import _CorrCholesky as _CorrCholesky
from glasstorch.distributions.constraints.arrays import _LowerCholesky as _LowerCholesky
from glasstorch.distributions.constraints.arrays import _LowerTriangular as _LowerTriangular
from glasstorch.distributions.constraints.arrays import _PositiveDefinite as _PositiveDefinite
from glasstorch.distributions.constraints.arrays import _PositiveSemidefinite as _PositiveSemidefinite
from glasstorch.distributions.constraints.arrays import _Simplex as _Simplex
from glasstorch.distributions.constraints.arrays import _Square as _Square
from glasstorch.distributions.constraints.arrays import _Symmetric as _Symmetric
from glasstorch.distributions.constraints.constraint import Constraint as Constraint
from glasstorch.distributions.constraints.constraint import MixtureSameFamilyConstraint as MixtureSameFamilyConstraint
from glasstorch.distributions.constraints.constraint import _Dependent as _Dependent
from glasstorch.distributions.constraints.constraint import _DependentProperty as _DependentProperty
from glasstorch.distributions.constraints.constraint import _IndependentConstraint as _IndependentConstraint
from glasstorch.distributions.constraints.constraint import is_dependent as is_dependent
from glasstorch.distributions.constraints.numbers import _Boolean as _Boolean
from glasstorch.distributions.constraints.numbers import _GreaterThan as _GreaterThan
from glasstorch.distributions.constraints.numbers import _GreaterThanEq as _GreaterThanEq
from glasstorch.distributions.constraints.numbers import _HalfOpenInterval as _HalfOpenInterval
from glasstorch.distributions.constraints.numbers import _IntegerGreaterThan as _IntegerGreaterThan
from glasstorch.distributions.constraints.numbers import _IntegerInterval as _IntegerInterval
from glasstorch.distributions.constraints.numbers import _IntegerLessThan as _IntegerLessThan
from glasstorch.distributions.constraints.numbers import _Interval as _Interval
from glasstorch.distributions.constraints.numbers import _LessThan as _LessThan
from glasstorch.distributions.constraints.numbers import _Multinomial as _Multinomial
from glasstorch.distributions.constraints.numbers import _OneHot as _OneHot
from glasstorch.distributions.constraints.numbers import _Real as _Real
from glasstorch.distributions.constraints.pieces import _Cat as _Cat
from glasstorch.distributions.constraints.pieces import _Stack as _Stack

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
