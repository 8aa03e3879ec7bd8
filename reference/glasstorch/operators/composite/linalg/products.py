"""Which operators are chains of matrix products, or treat tensors as matrices?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (multi_dot_impl, matrix_chain_order, chain_matmul, KronImpl,
    linalg_tensorinv, linalg_tensorsolve), aten/src/ATen/native/BatchLinearAlgebra.cpp (linalg_vander),
    aten/src/ATen/native/TensorFactories.cpp (vander)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import NARROW_FLOATS, bool_, int64, promote_types
from glasstorch.core.errors import ArgumentError, DtypeError, LinAlgError, ShapeError
from glasstorch.core.hooks import decides
from glasstorch.operators.generated import functions
from glasstorch.operators.shapes.result import C_NAMES

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# Chains ---------------------------------------------------------------------------------------------------------


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of two or more matrices in the cheapest order; the outer two may be vectors."""
    matrices, shape = checked_chain(tensors)
    return ordered_product(matrices).view(shape)


def checked_chain(tensors: Sequence[Tensor]) -> tuple[list[Tensor], tuple[int, ...]]:
    """The factors as matrices, and the shape of their product; refused if neighbouring shapes do not match."""
    if len(tensors) < 2:
        raise ArgumentError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, last = tensors[0], tensors[-1]
    for tensor, where in ((first, "first"), (last, "last")):
        if tensor.dim() not in (1, 2):
            raise ShapeError(f"multi_dot(): the {where} tensor must be 1D or 2D but got {tensor.dim()}D")
    matrices = [
        first.unsqueeze(0) if first.dim() == 1 else first,
        *tensors[1:-1],
        last.unsqueeze(-1) if last.dim() == 1 else last,
    ]
    for number, matrix in enumerate(matrices[1:-1], 1):
        if matrix.dim() != 2:
            raise ShapeError(f"multi_dot(): tensor {number} must be 2D but got {matrix.dim()}D")
    for number, matrix in enumerate(matrices[1:], 1):
        if matrix.dtype is not first.dtype:
            raise DtypeError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {C_NAMES[first.dtype.name]} and "
                f"tensor {number} {C_NAMES[matrix.dtype.name]}"
            )
        if matrices[number - 1]._shape[1] != matrix._shape[0]:
            raise ShapeError(
                f"multi_dot(): tensors {number - 1} and {number} with shapes {list(matrices[number - 1]._shape)} and "
                f"{list(matrix._shape)} cannot be multiplied"
            )
    rows = () if first.dim() == 1 else (first._shape[0],)
    columns = () if last.dim() == 1 else (last._shape[1],)
    return matrices, (*rows, *columns)


def ordered_product(matrices: Sequence[Tensor], **last: Any) -> Tensor:
    """The product in the cheapest order; the last multiplication is called with the keyword arguments."""
    if len(matrices) == 1:
        return matrices[0]
    split = cheapest_split([matrices[0]._shape[0], *(matrix._shape[1] for matrix in matrices)])

    def between(i: int, j: int, **last: Any) -> Tensor:
        if i == j:
            return matrices[i]
        k = split[i, j]
        return functions.mm(between(i, k), between(k + 1, j), **last)

    return between(0, len(matrices) - 1, **last)


def cheapest_split(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """For matrices i to j, the one after which to split; matrix i has `sizes[i]` rows and `sizes[i + 1]` columns.

    Ties go to the first split, but for three matrices to the last, as in PyTorch.

    >>> cheapest_split([10, 100, 5, 50])  # (A B) C takes 7500 multiplications, A (B C) takes 75000
    {(0, 1): 0, (1, 2): 1, (0, 2): 1}
    """
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            costs = {k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)}
            split[i, j] = min(reversed(costs) if count == 3 else costs, key=costs.__getitem__)
            cost[i, j] = costs[split[i, j]]
    return split


def chain_matmul(matrices: Sequence[Tensor]) -> Tensor:
    """As `multi_dot`, for matrices only; a single one is copied."""
    check_chain(matrices)
    return matrices[0].clone() if len(matrices) == 1 else multi_dot(matrices)


def check_chain(matrices: Sequence[Tensor]) -> None:
    """Refuse an empty list, and tensors that are not matrices."""
    for matrix in matrices:
        if matrix.dim() != 2:
            raise ShapeError(f"Tensor dimension is {matrix.dim()}, expected 2 instead.")
    if not matrices:
        raise ArgumentError("chain_matmul(): Expected one or more matrices")


# Tensors treated as matrices ------------------------------------------------------------------------------------


def kron(self: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: each element of the first, replaced by its product with the whole second."""
    ours, theirs = interleaved(self, other)
    result = ours * theirs
    shape = [a * b for a, b in zip(ours._shape[::2], theirs._shape[1::2], strict=True)]
    return functions._unsafe_view(result, shape) if result.is_contiguous() else result.reshape(shape)


def interleaved(self: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """Views of shapes (a0, 1, a1, 1, ...) and (1, b0, 1, b1, ...); the shorter shape is padded with ones in front."""
    dims = max(self.dim(), other.dim())
    sizes = [[1] * (dims - tensor.dim()) + list(tensor._shape) for tensor in (self, other)]
    ours = self.reshape([size for a in sizes[0] for size in (a, 1)])
    theirs = other.reshape([size for b in sizes[1] for size in (1, b)])
    return ours, theirs


def tensorinv(self: Tensor, ind: int) -> Tensor:
    """The inverse of the matrix whose rows are the first `ind` dimensions, and whose columns are the others."""
    if ind <= 0:
        raise ArgumentError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    if ind > self.dim():
        raise ArgumentError(f"linalg.tensorinv: expected 'ind' from 1 to {self.dim()}, the dimensions, but got {ind}")
    rows, columns = self._shape[:ind], self._shape[ind:]
    if prod(rows) != prod(columns):
        raise ShapeError(
            f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{prod(columns)} != {prod(rows)}"
        )
    inverse, info = functions.linalg_inv_ex(self.reshape([prod(columns)] * 2))
    if decides(info) and bool(info):
        raise LinAlgError(
            f"inv: The diagonal element {int(info)} is zero, the inversion could not be completed because the input "
            f"matrix is singular."
        )
    return inverse.reshape([*columns, *rows])  # type: ignore[no-any-return]


def tensorsolve(self: Tensor, other: Tensor, dims: Sequence[int] | None) -> Tensor:
    """X of `tensordot(self, X, X.ndim) == other`; the dimensions in `dims` are first moved to the end."""
    if dims is not None:
        self = self.movedim(list(dims), list(range(self.dim() - len(dims), self.dim())))
    shape = list(self._shape[other.dim() :])
    if prod(shape) != other.numel():
        raise ShapeError(
            f"Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {prod(shape)} != {other.numel()}"
        )
    matrix = self.reshape([prod(shape)] * 2)
    return functions.linalg_solve(matrix, other.reshape([-1])).reshape(shape)


def linalg_vander(x: Tensor, N: int | None) -> Tensor:
    """The powers 0 to N - 1 of each element, along a new last dimension."""
    if x.dtype is bool_ or x.dtype in NARROW_FLOATS:
        raise DtypeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {x.dtype.scalar_name}"
        )
    x = x if x.dim() else x.unsqueeze(-1)
    powers = x._shape[-1] if N is None else N
    if powers <= 1:
        raise ArgumentError("N must be greater than 1.")
    rest = x.unsqueeze(-1).expand([*x._shape, powers - 1]).cumprod(-1)
    return functions.cat([rest.new_ones([*x._shape, 1]), rest], -1)


def vander(x: Tensor, N: int | None, increasing: bool) -> Tensor:
    """A row of powers for each element of a vector, in descending order unless `increasing`."""
    if x.dim() != 1:
        raise ShapeError("x must be a one-dimensional tensor.")
    count = x._shape[0] if N is None else N
    if count < 0:
        raise ArgumentError("N must be non-negative.")
    result = x.new_ones([x._shape[0], count], dtype=promote_types(x.dtype, int64))
    if count > 1:
        equal = x.to(result.dtype).unsqueeze(1).expand([x._shape[0], count - 1])
        result.narrow(1, 1, count - 1).copy_(equal.cumprod(1))
    return result if increasing else result.flip([1])
