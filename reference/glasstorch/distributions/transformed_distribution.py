"""How do transforms make one distribution of another?

Mirrors: torch/distributions/transformed_distribution.py
"""

from __future__ import annotations

from typing import Any, ClassVar

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.core.geometry import Size
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE, Distribution
from glasstorch.distributions.independent import Independent
from glasstorch.distributions.transforms.composition import ComposeTransform
from glasstorch.distributions.transforms.transform import Transform
from glasstorch.distributions.utils import Sizes, sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of `transforms` applied, in turn, to draws of a base distribution.

    Its density is that of the base at the value transformed back, divided by how much the transforms stretch there.
    """

    arg_constraints: Any = {}
    _batched: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | list[Transform],
        validate_args: bool | None = None,
    ) -> None:
        self.transforms = as_list(transforms)
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_event_dim = len(base_distribution.event_shape)
        whole = ComposeTransform(self.transforms)
        taken, given = whole.domain.event_dim, whole.codomain.event_dim
        if len(base_shape) < taken:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {taken}, but got {tuple(base_shape)}."
            )
        # Parameters of the transforms may have more batch dimensions than the base.
        shape = whole.forward_shape(base_shape)
        needed = whole.inverse_shape(shape)
        if base_shape != needed:
            base_distribution = base_distribution.expand(needed[: len(needed) - base_event_dim])
        if taken > base_event_dim:
            base_distribution = Independent(base_distribution, taken - base_event_dim)
        self.base_dist: Any = base_distribution
        cut = len(shape) - max(given, base_event_dim + given - taken)
        assert cut >= 0
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Sizes, _instance: Any = None) -> Any:
        batch_shape = Size(batch_shape)
        new = self._new_expanded(batch_shape, _instance)
        shape = batch_shape + self.event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        return self._expanded(new, batch_shape)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    @property
    def has_rsample(self) -> Any:
        """As the base."""
        return self.base_dist.has_rsample

    def _transformed(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        event_dim = len(self.event_shape)
        stretched: Any = 0.0
        for transform in reversed(self.transforms):
            before = transform.inv(value)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            jacobian = transform.log_abs_det_jacobian(before, value)
            stretched = stretched - sum_rightmost(jacobian, event_dim - transform.domain.event_dim)
            value = before
        base = self.base_dist.log_prob(value)
        return stretched + sum_rightmost(base, event_dim - len(self.base_dist.event_shape))  # type: ignore[no-any-return]

    def _monotonized(self, share: Tensor) -> Tensor:
        """The share itself where the transforms increase, 1 minus the share where they decrease."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return share if isinstance(sign, int) and sign == 1 else sign * (share - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonized(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._monotonized(value)))


def of_base(name: str, meaning: str) -> Any:
    """A read-only attribute of a transformed distribution: the one with this name of its base distribution."""
    return property(lambda self: getattr(self.base_dist, name), doc=meaning)


def as_list(transforms: Any) -> list[Transform]:
    """One transform or a list of them, as a list."""
    listed = [transforms] if isinstance(transforms, Transform) else transforms
    if not isinstance(listed, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(transform, Transform) for transform in listed):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return listed
