"""Which transform leads from unconstrained numbers to values that satisfy a constraint?

Mirrors: torch/distributions/constraint_registry.py

`biject_to(constraint)` is a bijection whose Jacobian is known, as Hamiltonian Monte Carlo asks for; `transform_to` may
be a simpler function that is none, as an optimizer asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch.distributions import constraints, transforms
from glasstorch.distributions.constraints import Constraint
from glasstorch.distributions.transforms.transform import Transform
from glasstorch.distributions.utils import is_number

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """A factory of transforms for each class of constraints."""

    def __init__(self) -> None:
        self._registry: dict[type[Constraint], Factory] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Use a factory for the constraint's class; without `factory`, a decorator of one."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Transform:
        """The transform to values that satisfy the constraint."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _from_bound(bound: Any, direction: int) -> Transform:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(bound, direction)])


def _between(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if is_number(low) and low == 0 and is_number(high) and high == 1:
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


FOR_BOTH: dict[Any, Factory] = {
    constraints.real: lambda constraint: transforms.identity_transform,
    constraints.positive: lambda constraint: transforms.ExpTransform(),
    constraints.nonnegative: lambda constraint: transforms.ExpTransform(),
    constraints.greater_than: lambda constraint: _from_bound(constraint.lower_bound, 1),
    constraints.greater_than_eq: lambda constraint: _from_bound(constraint.lower_bound, 1),
    constraints.less_than: lambda constraint: _from_bound(constraint.upper_bound, -1),
    constraints.interval: _between,
    constraints.half_open_interval: _between,
    constraints.corr_cholesky: lambda constraint: transforms.CorrCholeskyTransform(),
}
FOR_ONE: tuple[tuple[ConstraintRegistry, Any, Factory], ...] = (
    (biject_to, constraints.simplex, lambda constraint: transforms.StickBreakingTransform()),
    (transform_to, constraints.simplex, lambda constraint: transforms.SoftmaxTransform()),
    (transform_to, constraints.lower_cholesky, lambda constraint: transforms.LowerCholeskyTransform()),
    (transform_to, constraints.positive_definite, lambda constraint: transforms.PositiveDefiniteTransform()),
    (transform_to, constraints.positive_semidefinite, lambda constraint: transforms.PositiveDefiniteTransform()),
)


def nested(registry: ConstraintRegistry) -> dict[Any, Factory]:
    """What is made of other constraints is reached by their transforms, from the same registry."""
    return {
        constraints.independent: lambda constraint: transforms.IndependentTransform(
            registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims
        ),
        constraints.cat: lambda constraint: transforms.CatTransform(
            list(map(registry, constraint.cseq)), constraint.dim, constraint.lengths
        ),
        constraints.stack: lambda constraint: transforms.StackTransform(
            list(map(registry, constraint.cseq)), constraint.dim
        ),
    }


for _registry in (biject_to, transform_to):
    # `positive` and `greater_than` have one class: the row that comes later serves both, as in PyTorch.
    for _constraint, _factory in (FOR_BOTH | nested(_registry)).items():
        _registry.register(_constraint, _factory)
for _registry, _constraint, _factory in FOR_ONE:
    _registry.register(_constraint, _factory)
