"""What can every distribution do, and what does it check?

Mirrors: torch/distributions/distribution.py
Differs: `expand` is written here once, for all distributions that say which of their attributes have the batch shape.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.core.geometry import Size
from glasstorch.distributions import constraints
from glasstorch.distributions.utils import Sizes, lazy_property

__all__ = ["Distribution"]

NO_SHAPE = Size()


class Distribution:
    """A distribution of tensors of `event_shape`, with `batch_shape` independent choices of its parameters.

    A sample has the shape `sample_shape + batch_shape + event_shape`, `log_prob` of it `sample_shape + batch_shape`.
    """

    has_rsample: Any = False  # whether samples are differentiable functions of the parameters
    has_enumerate_support: Any = False
    _validate_args: bool = __debug__

    # Of a class with an `__init__` of its own: the attributes that `expand` expands, tensors and distributions whose
    # first dimensions are the batch shape, and those that it hands on. An attribute that is not there yet is left out.
    _batched: ClassVar[tuple[str, ...]]
    _shared: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions made from now on check parameters and values. They do, except under `python -O`."""
        if value not in (True, False):
            raise ValueError(f"expected True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Sizes = NO_SHAPE, event_shape: Sizes = NO_SHAPE, validate_args: bool | None = None
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
        for name, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue  # what it is depends on other parameters
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # computed from a parameter that is checked
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) "
                    f"of distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n"
                    f"{value}"
                )

    # Copies with another batch shape -------------------------------------------------------------------------------

    def expand(self, batch_shape: Sizes, _instance: Any = None) -> Any:
        """A distribution of the same kind whose parameters are expanded, as views, to another batch shape.

        A subclass passes the new instance as `_instance`.
        """
        batch_shape = Size(batch_shape)
        new = self._new_expanded(batch_shape, _instance)
        return self._expanded(new, batch_shape)

    def _new_expanded(self, batch_shape: Size, _instance: Any) -> Any:
        """The new instance, with the attributes that its class names; not yet initialised as a distribution."""
        owner = next((cls for cls in type(self).__mro__ if "_batched" in vars(cls)), None)
        if owner is None:
            raise NotImplementedError(f"{type(self).__name__} does not implement expand")
        new = self._get_checked_instance(owner, _instance)
        rank = len(self._batch_shape)
        for name in self._batched:
            if (value := self.__dict__.get(name)) is not None:
                inner = value.batch_shape if isinstance(value, Distribution) else value.shape
                setattr(new, name, value.expand(Size((*batch_shape, *inner[rank:]))))
        for name in self._shared:
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name])
        return new

    def _expanded(self, new: Any, batch_shape: Size) -> Any:
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ != cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    # Facts ---------------------------------------------------------------------------------------------------------

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters' choices."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw."""
        return self._event_shape

    @property
    def arg_constraints(self) -> Mapping[str, constraints.Constraint]:
        """What each parameter must satisfy."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint that all draws satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """Where the density is largest."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    # Draws and densities -------------------------------------------------------------------------------------------

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        """Draws, without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        """Draws that are differentiable functions of the parameters, where `has_rsample`."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """The old form of `sample((n,))`."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", category=FutureWarning, stacklevel=2
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, of values."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a draw up to the value."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The value up to which a draw has this probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a new first dimension; without `expand`, the batch dimensions have size 1."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy in nats, of the batch shape."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """The exponential of the entropy."""
        return self.entropy().exp()

    # Help for subclasses -------------------------------------------------------------------------------------------

    def _extended_shape(self, sample_shape: Sizes = NO_SHAPE) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _check_value(self, value: Any) -> None:
        """Check a value whose density is asked for, unless checks are switched off."""
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value: Any) -> None:
        """Refuse a value of another shape than draws have, or outside the support."""
        if not isinstance(value, Tensor):
            raise ValueError(f"The value argument to log_prob must be a Tensor, got {type(value).__name__}")
        start = len(value.shape) - len(self._event_shape)
        if value.shape[start:] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}."
            )
        expected = Size((*self._batch_shape, *self._event_shape))
        for given, wanted in zip(reversed(value.shape), reversed(expected), strict=False):
            if given != 1 and wanted != 1 and given != wanted:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.size()} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. "
                "Please initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        assert support is not None
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        parameters = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        shown = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in parameters.items()]
        return f"{self.__class__.__name__}({', '.join(shown)})"
