"""How do different transforms act on the pieces or the slices of a tensor?

Mirrors: torch/distributions/transforms.py (CatTransform, StackTransform)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.transforms.transform import Transform
from glasstorch.distributions.utils import lazy_property, sum_rightmost
from glasstorch.operators.generated import functions as f


class Several(Transform):
    """Transforms for parts of a tensor along a dimension."""

    transforms: list[Transform]

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        if not all(isinstance(transform, Transform) for transform in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [transform.with_cache(cache_size) for transform in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> bool:
        """Whether all are."""
        return all(transform.bijective for transform in self.transforms)

    def _check(self, value: Tensor, size: int) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for tensor with {value.dim()} dimensions")
        if value.size(self.dim) != size:
            raise AssertionError(f"size({self.dim}) = {value.size(self.dim)} must equal {size}")


class CatTransform(Several):
    """Transforms of consecutive pieces, of these lengths, along a dimension; each has length 1 if none are given."""

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    @lazy_property
    def event_dim(self) -> Any:
        """That of the one with most."""
        return max(transform.event_dim for transform in self.transforms)

    @lazy_property
    def length(self) -> int:
        """The size of the whole along the dimension."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _pieces(self, value: Tensor) -> tuple[Tensor, ...]:
        self._check(value, self.length)
        return f.split(value, self.lengths, self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return f.cat([t(piece) for t, piece in zip(self.transforms, self._pieces(x), strict=True)], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return f.cat([t.inv(piece) for t, piece in zip(self.transforms, self._pieces(y), strict=True)], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        terms = [
            sum_rightmost(transform.log_abs_det_jacobian(before, after), self.event_dim - transform.event_dim)
            for transform, before, after in zip(self.transforms, self._pieces(x), self._pieces(y), strict=True)
        ]
        dim = (self.dim if self.dim < 0 else self.dim - x.dim()) + self.event_dim
        return f.cat(terms, dim) if dim < 0 else sum(terms)  # the pieces lie side by side, or in one event

    @constraints.dependent_property
    def domain(self) -> Any:
        """The domains, side by side."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The codomains, side by side."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(Several):
    """Transforms of the slices along a dimension."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _slices(self, value: Tensor) -> tuple[Tensor, ...]:
        self._check(value, len(self.transforms))
        return value.unbind(self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return f.stack([t(slice_) for t, slice_ in zip(self.transforms, self._slices(x), strict=True)], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return f.stack([t.inv(slice_) for t, slice_ in zip(self.transforms, self._slices(y), strict=True)], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        triples = zip(self.transforms, self._slices(x), self._slices(y), strict=True)
        return f.stack([t.log_abs_det_jacobian(before, after) for t, before, after in triples], self.dim)

    @constraints.dependent_property
    def domain(self) -> Any:
        """The domains of the slices."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The codomains of the slices."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
