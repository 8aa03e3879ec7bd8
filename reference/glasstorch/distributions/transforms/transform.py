"""What is a transform, what is its inverse, and what does its cache keep?

Mirrors: torch/distributions/transforms.py (Transform, _InverseTransform)
Differs: `with_cache` copies a transform, so that a subclass with its own `__init__` need not define it.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import Size
from glasstorch.distributions import constraints

TOO_FEW = "Too few dimensions on input"


class Transform:
    """A differentiable function whose log absolute Jacobian determinant is known.

    A subclass defines `_call`, and `_inverse` and `log_abs_det_jacobian` where they exist. With `cache_size=1` the last
    pair of input and output is kept: the inverse of the very tensor that came out is then the one that went in, exactly
    and without computing it.
    """

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        self._start_cache(cache_size)
        super().__init__()

    def _start_cache(self, cache_size: int) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"cache_size must be 0 or 1, got {cache_size}")
        self._cache_size = cache_size
        self._inv: Any = None
        self._cached_x_y: tuple[Any, Any] = (None, None)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> Any:
        """The number of dimensions of an event, where input and output have as many."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse, whose own inverse is this transform."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv  # type: ignore[no-any-return]

    @property
    def sign(self) -> Any:
        """1 where the function increases, -1 where it decreases; for functions of one number."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Transform:
        """This transform, or a copy of it, with a cache of this size."""
        if self._cache_size == cache_size:
            return self
        twin = copy(self)
        twin._start_cache(cache_size)
        return twin

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._call(x)
        known, result = self._cached_x_y
        if x is not known:
            result = self._call(x)
            self._cached_x_y = x, result
        return result  # type: ignore[no-any-return]

    def _inv_call(self, y: Tensor) -> Tensor:
        """The inverse, of which `y` is the input."""
        if self._cache_size == 0:
            return self._inverse(y)
        result, known = self._cached_x_y
        if y is not known:
            result = self._inverse(y)
            self._cached_x_y = result, y
        return result  # type: ignore[no-any-return]

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy / dx| for an input and its output, one number for each event."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}()"

    def forward_shape(self, shape: Size) -> Size:
        """The shape of the output for an input of this shape."""
        return shape

    def inverse_shape(self, shape: Size) -> Size:
        """The shape of the input for an output of this shape."""
        return shape


class _InverseTransform(Transform):
    """The inverse of a transform. It is made by `inv` and shares the transform's cache."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """What comes out of the transform."""
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """What goes into the transform."""
        return self._inv.domain

    @property
    def bijective(self) -> Any:
        """As the transform."""
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        """As the transform."""
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        """The transform."""
        return self._inv  # type: ignore[no-any-return]

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and bool(self._inv == other._inv)

    __hash__ = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self._inv!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)  # type: ignore[no-any-return]

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)  # type: ignore[no-any-return]

    def forward_shape(self, shape: Size) -> Size:
        return self._inv.inverse_shape(shape)  # type: ignore[no-any-return]

    def inverse_shape(self, shape: Size) -> Size:
        return self._inv.forward_shape(shape)  # type: ignore[no-any-return]


class WithoutParameters(Transform):
    """A transform that equals every other one of its class."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = None
