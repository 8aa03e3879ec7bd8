"""What do distributions that are given by a location and a scale share?

Mirrors: nothing by itself; what normal.py, laplace.py and cauchy.py of torch/distributions repeat
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import Distribution
from glasstorch.distributions.utils import Parameter, broadcast_all


class LocationScale(Distribution):
    """One distribution of real numbers, highest at 0, that is stretched by `scale` and then moved to `loc`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mode(self) -> Tensor:
        return self.loc
