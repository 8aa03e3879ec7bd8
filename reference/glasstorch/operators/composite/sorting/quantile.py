"""How are quantiles computed from sorted elements?

Mirrors: aten/src/ATen/native/Sorting.cpp (quantile_checks, quantile_output_shape, quantile_compute)
Differs: any number of elements is accepted; PyTorch refuses more than 2 ** 24.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from glasstorch.core.dtype import float32, float64, int64
from glasstorch.core.errors import ArgumentError, DeviceError, DtypeError, ShapeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.hooks import decides
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(
    name: str, ignore_nan: bool, self: Tensor, q: Tensor, dim: int | None, keepdim: bool, interpolation: str
) -> Tensor:
    """The elements at the fractions `q` of each sorted row; a vector `q` adds a leading dimension."""
    if interpolation not in INTERPOLATIONS:
        raise ArgumentError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    check(name, self, q)
    rows, kept = rows_of(self, dim)
    in_order = rows.sort(-1)[0]
    ranks = ranks_of(in_order, q.reshape([-1]), ignore_nan)
    values = between(in_order, ranks, interpolation)  # (..., len(q))
    if keepdim:
        shape = [1] * self.dim() if dim is None else [1 if d == kept else n for d, n in enumerate(self._shape)]
    else:
        shape = [] if dim is None else [n for d, n in enumerate(self._shape) if d != kept]
    if not q.dim():
        return values.squeeze(-1).reshape(shape)
    return values.movedim(-1, 0).reshape([q.numel(), *shape])


def check(name: str, self: Tensor, q: Tensor) -> None:
    """Refuse empty input, other dtypes, and `q` outside [0, 1]."""
    if 0 in self._shape:
        raise ShapeError(f"{name}() input tensor must be non-empty")
    if q.dim() > 1:
        raise ShapeError(f"{name}() q must be a scalar or 1D tensor")
    if self.dtype not in (float32, float64):
        raise DtypeError(f"{name}() input tensor must be either float or double dtype")
    if q.dtype is not self.dtype:
        raise DtypeError(f"{name}() q tensor must be same dtype as the input tensor")
    if q.device is not self.device:
        raise DeviceError(f"{name}() q tensor must be on the same device as the input tensor")
    if self.device.type == "cpu" and decides(q) and not bool(functions.logical_and(q >= 0, q <= 1).all()):
        raise ArgumentError(f"{name}() q values must be in the range [0, 1]")


def rows_of(self: Tensor, dim: int | None) -> tuple[Tensor, int]:
    """The tensor with the dimension moved to the end, or flattened if none is given; and that dimension."""
    if dim is None:
        return self.reshape([prod(self._shape)]), 0
    d = wrap_dim(dim, self.dim())
    return (self.movedim(d, -1) if self.dim() else self.reshape([1])), d


def ranks_of(in_order: Tensor, q: Tensor, ignore_nan: bool) -> Tensor:
    """The fractional rank of each `q` in its row; in a row with NaN it is the last, unless NaN is ignored."""
    last = in_order._shape[-1] - 1
    missing = in_order.isnan()
    if ignore_nan:
        ranks = q * (missing.logical_not().sum([-1], True) - 1)
        return ranks.masked_fill(ranks < 0, 0)
    expanded = (q * last).expand([*in_order._shape[:-1], q.numel()])
    return expanded.masked_fill(missing.any(-1, True), last)


def between(in_order: Tensor, ranks: Tensor, interpolation: str) -> Tensor:
    """The elements at fractional ranks, interpolated."""
    if interpolation == "lower":
        ranks = ranks.floor()
    elif interpolation == "higher":
        ranks = ranks.ceil()
    elif interpolation == "nearest":
        ranks = ranks.round()
    below = ranks.to(int64)
    values = in_order.gather(-1, below)
    if interpolation in ("linear", "midpoint"):
        weights = functions.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - below
        values = values.lerp(in_order.gather(-1, ranks.ceil().to(int64)), weights)
    return values


def _with_number(
    name: str, ignore_nan: bool, self: Tensor, q: float, dim: int | None, keepdim: bool, interpolation: str
) -> Tensor:
    """As with a tensor of one `q`."""
    if not 0 <= q <= 1:
        raise ArgumentError(f"quantile() q must be in the range [0, 1] but got {q:g}")
    share = functions.scalar_tensor(q, dtype=self.dtype, device=self.device)
    return _quantile(name, ignore_nan, self, share, dim, keepdim, interpolation)


def quantile(self: Tensor, q: Tensor, dim: int | None, keepdim: bool, interpolation: str) -> Tensor:
    """The quantile of each row; NaN if the row has one."""
    return _quantile("quantile", False, self, q, dim, keepdim, interpolation)


def quantile_scalar(self: Tensor, q: float, dim: int | None, keepdim: bool, interpolation: str) -> Tensor:
    """The quantile of each row; NaN if the row has one."""
    return _with_number("quantile", False, self, q, dim, keepdim, interpolation)


def nanquantile(self: Tensor, q: Tensor, dim: int | None, keepdim: bool, interpolation: str) -> Tensor:
    """The quantile of each row, ignoring NaN."""
    return _quantile("nanquantile", True, self, q, dim, keepdim, interpolation)


def nanquantile_scalar(self: Tensor, q: float, dim: int | None, keepdim: bool, interpolation: str) -> Tensor:
    """The quantile of each row, ignoring NaN."""
    return _with_number("nanquantile", True, self, q, dim, keepdim, interpolation)
