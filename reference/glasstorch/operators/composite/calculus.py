"""How are integrals and derivatives of sampled functions computed from sums and differences?

Mirrors: aten/src/ATen/native/Integration.cpp, aten/src/ATen/native/ReduceOps.cpp (diff, gradient)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import Number, bool_, uint8
from glasstorch.core.errors import ArgumentError, DeviceError, DtypeError, ShapeError
from glasstorch.core.geometry import wrap_dim, wrap_dims
from glasstorch.operators.direct import on_tensor, on_tensors
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

slice_of = on_tensor("slice.Tensor")
cat = on_tensors("cat")
logical_xor = on_tensors("logical_xor")
subtract = on_tensors("sub.Tensor")

# Integrals ------------------------------------------------------------------------------------------------------


def trapezoid_x(y: Tensor, x: Tensor, dim: int) -> Tensor:
    """The area under straight lines between samples at the points `x`."""
    d = wrap_dim(dim, y.dim())
    if not y.size(d):
        return _without(y, d)
    step = _steps(y, x, d, "trapezoid")
    return ((_cut(y, d, 0, -1) + _cut(y, d, 1, None)) * step).sum(d) / 2.0


def trapezoid_dx(y: Tensor, dx: Number, dim: int) -> Tensor:
    """The area under straight lines between evenly spaced samples."""
    if not y.size(dim):
        return _without(y, wrap_dim(dim, y.dim()))
    step = _step(y, dx, "trapezoid")
    return (y.sum(dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5) * step


def trapz_dx(y: Tensor, dx: float, dim: int) -> Tensor:
    """`trapezoid` under its older name."""
    return trapezoid_dx(y, dx, dim)


def cumulative_trapezoid_x(y: Tensor, x: Tensor, dim: int) -> Tensor:
    """The areas up to each sample but the first."""
    d = wrap_dim(dim, y.dim())
    step = _steps(y, x, d, "cumulative_trapezoid")
    return ((_cut(y, d, 0, -1) + _cut(y, d, 1, None)) * step).cumsum(d) / 2.0


def cumulative_trapezoid_dx(y: Tensor, dx: Number, dim: int) -> Tensor:
    """The areas up to each sample but the first, for evenly spaced samples."""
    step = _step(y, dx, "cumulative_trapezoid")
    return (step / 2.0 * (_cut(y, dim, 0, -1) + _cut(y, dim, 1, None))).cumsum(dim)


def _cut(tensor: Tensor, dim: int, start: int, end: int | None) -> Tensor:
    """`tensor[start:end]` along a dimension."""
    return slice_of(tensor, dim, start, end, 1)


def _without(y: Tensor, dim: int) -> Tensor:
    """The integral over no samples: 0."""
    return y.new_zeros((*y._shape[:dim], *y._shape[dim + 1 :]))


def _step(y: Tensor, dx: Number, name: str) -> float:
    if y.dtype is bool_:
        raise DtypeError(f"{name}: received a bool input for `y`, but bool is not supported")
    if isinstance(dx, complex | bool):
        raise ArgumentError(f"{name}: Currently, we only support dx as a real number.")
    return float(dx)


def _steps(y: Tensor, x: Tensor, dim: int, name: str) -> Tensor:
    """The spacing between the points, in a shape that broadcasts with the samples."""
    if y.dtype is bool_ or x.dtype is bool_:
        raise DtypeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    if x.dim() == 1:
        if x.shape[0] != y.size(dim):
            raise ShapeError(f"{name}: There must be one `x` value for each sample point")
        x = x.view([x.shape[0] if d == dim else 1 for d in range(y.dim())])
    elif x.dim() < y.dim():
        x = x.view([*(1,) * (y.dim() - x.dim()), *x._shape])
    return _cut(x, dim, 1, None) - _cut(x, dim, 0, -1)


# Derivatives: one tensor for each dimension ---------------------------------------------------------------------


def gradient_scalarint(self: Tensor, spacing: Number | None, dim: int | None, edge_order: int) -> tuple[Tensor, ...]:
    """Along one dimension or all, with one spacing for all."""
    _check_gradient(self, None, None if dim is None else [dim], edge_order)
    dims = range(self.dim()) if dim is None else [dim]
    return _at_distances(self, [1 if spacing is None else spacing] * len(dims), dims, edge_order)


def gradient_scalararray(self: Tensor, spacing: Number, dim: Sequence[int], edge_order: int) -> tuple[Tensor, ...]:
    """Along the given dimensions, with one spacing for all."""
    _check_gradient(self, None, dim, edge_order)
    return _at_distances(self, [spacing] * len(dim), dim, edge_order)


def gradient_array(self: Tensor, dim: Sequence[int], edge_order: int) -> tuple[Tensor, ...]:
    """Along the given dimensions, with a spacing of 1."""
    return gradient_scalararray(self, 1, dim, edge_order)


def gradient_scalarrayint(
    self: Tensor, spacing: Sequence[Number], dim: int | None, edge_order: int
) -> tuple[Tensor, ...]:
    """Along one dimension or all, each with its own spacing."""
    return gradient_scalarrayarray(self, spacing, None if dim is None else [dim], edge_order)


def gradient_scalarrayarray(
    self: Tensor, spacing: Sequence[Number], dim: Sequence[int] | None, edge_order: int
) -> tuple[Tensor, ...]:
    """Along the given dimensions or all, each with its own spacing."""
    _check_gradient(self, len(spacing), dim, edge_order)
    return _at_distances(self, spacing, range(self.dim()) if dim is None else dim, edge_order)


def gradient_tensorarrayint(
    self: Tensor, spacing: Sequence[Tensor], dim: int | None, edge_order: int
) -> tuple[Tensor, ...]:
    """Along one dimension or all, with the sample coordinates of each."""
    return gradient_tensorarray(self, spacing, None if dim is None else [dim], edge_order)


def gradient_tensorarray(
    self: Tensor, spacing: Sequence[Tensor], dim: Sequence[int] | None, edge_order: int
) -> tuple[Tensor, ...]:
    """Along the given dimensions or all, with the sample coordinates of each."""
    _check_gradient(self, len(spacing), dim, edge_order)
    return _at_coordinates(self, spacing, range(self.dim()) if dim is None else dim, edge_order)


def _check_gradient(self: Tensor, spacings: int | None, dims: Sequence[int] | None, edge_order: int) -> None:
    """Refuse, in PyTorch's order: the dtype, argument counts that do not match, the edge order, too few samples."""
    if self.dtype is uint8:
        raise DtypeError("torch.gradient does not support uint8 input.")
    if spacings is not None and dims is None and spacings != self.dim():
        raise ArgumentError(
            f"torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = "
            f"{self.dim()}', since dim argument was not given, but got a list of length {spacings}"
        )
    if spacings is not None and dims is not None and spacings != len(dims):
        raise ArgumentError(
            f"torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have "
            f"the same length, but got a spacing argument of length {spacings} and a dim argument of length "
            f"{len(dims)}."
        )
    if edge_order not in (1, 2):
        raise ArgumentError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for d in range(self.dim()) if dims is None else wrap_dims(dims, self.dim()):
        if self.size(d) < edge_order + 1:
            raise ShapeError("torch.gradient expected each dimension size to be at least edge_order+1")


Cut = Callable[..., "Tensor"]


def _at_distances(self: Tensor, spacing: Sequence[Number], dims: Sequence[int], edge_order: int) -> tuple[Tensor, ...]:
    results: list[Tensor] = []
    for step, dim in zip(spacing, dims, strict=True):
        first, center, last = _pieces(self, dim)
        if edge_order == 1:
            before, behind = (first(1) - first(0)) / step, (last(0) - last(1)) / step
        else:
            before = (-1.5 * first(0) + 2 * first(1) - 0.5 * first(2)) / step
            behind = (0.5 * last(2) - 2 * last(1) + 1.5 * last(0)) / step
        middle = (center(2, None) - center(0, -2)) / step / 2
        results.append(functions.cat([before, middle, behind], dim))
    return tuple(results)


def _at_coordinates(
    self: Tensor, spacing: Sequence[Tensor], dims: Sequence[int], edge_order: int
) -> tuple[Tensor, ...]:
    for coordinates in spacing:
        if coordinates.device != self.device:
            raise DeviceError(
                f"torch.gradient expected each tensor to be on the same device, but got devices {self.device} and "
                f"{coordinates.device}!"
            )
    results: list[Tensor] = []
    for coordinates, dim in zip(spacing, dims, strict=True):
        if coordinates.dim() != 1:
            raise ShapeError(
                f"torch.gradient expected each element of spacing to have one dimension, but got an element with "
                f"{coordinates.dim()} dimensions!"
            )
        first, center, last = _pieces(self, dim)
        steps = coordinates.diff()
        shape = [-1 if d == wrap_dim(dim, self.dim()) else 1 for d in range(self.dim())]
        left, right = steps[:-1], steps[1:]
        a = (-right / (left * (left + right))).reshape(shape)
        b = ((right - left) / (left * right)).reshape(shape)
        c = (left / (right * (left + right))).reshape(shape)
        middle = a * center(0, -2) + b * center(1, -1) + c * center(2, None)
        if edge_order == 1:
            before, behind = (first(1) - first(0)) / steps[0], (last(0) - last(1)) / steps[-1]
        else:
            before = _edge(first, left[0], right[0])
            behind = -_edge(last, right[-1], left[-1])
        results.append(functions.cat([before, middle, behind], dim))
    return tuple(results)


def _edge(sample: Cut, near: Tensor, far: Tensor) -> Tensor:
    """The derivative at the first sample, from three samples and their spacings."""
    a = -(2.0 * near + far) / (near * (near + far))
    b = (near + far) / (near * far)
    c = -near / (far * (near + far))
    return a * sample(0) + b * sample(1) + c * sample(2)


def _pieces(self: Tensor, dim: int) -> tuple[Cut, Cut, Cut]:
    """The i-th sample from the front, the samples in between, and the i-th from the back."""
    size = self.size(dim)

    def center(start: int, end: int | None) -> Tensor:
        return _cut(self, dim, start, end)

    def first(i: int) -> Tensor:
        return _cut(self, dim, i, i + 1)

    def last(i: int) -> Tensor:
        return _cut(self, dim, size - 1 - i, size - i)

    return first, center, last


def diff(self: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> Tensor:
    """The n-th differences between neighbouring elements; for bool, whether the two differ."""
    if not self.dim():
        raise ShapeError("diff expects input to be at least one-dimensional")
    d = wrap_dim(dim, self.dim())
    for other in (prepend, append):
        if other is not None and other.dim() != self.dim():
            raise ShapeError("diff expects prepend or append to be the same dimension as input")
    if n < 0:
        raise ArgumentError(f"order must be non-negative but got {n}")
    if n == 0:
        return self.clone()
    parts = [part for part in (prepend, self, append) if part is not None]
    result: Tensor = cat(parts, d) if len(parts) > 1 else self
    for _ in range(min(n, result._shape[d])):
        size = result._shape[d]
        later, earlier = result.narrow(d, 1, size - 1), result.narrow(d, 0, size - 1)
        result = logical_xor(later, earlier) if result.dtype is bool_ else subtract(later, earlier, 1)
    return result
