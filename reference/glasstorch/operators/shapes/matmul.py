"""What shape and dtype does a matrix product have, and which operands are refused?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (TORCH_META_FUNC of mm, addmm, bmm, baddbmm; addbmm_impl_,
    build_addr_iter), Blas.cpp (dot_check, addmv), Linear.cpp (_trilinear)
Differs: dtypes without a product, such as bool, are refused here; in PyTorch the kernels refuse them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import BAREBONES_UNSIGNED, FLOAT8, FLOATING, Number, bool_, check_implemented, dtype
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import Shape, broadcast_shapes, expand_strides
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.result import C_NAMES, Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

WITHOUT_PRODUCT = BAREBONES_UNSIGNED | {bool_}


def mm(self: Tensor, mat2: Tensor) -> Result:
    """(n, k) with (k, m) gives (n, m)."""
    if len(self._shape) != 2:
        raise ShapeError(f"self must be a matrix, got sizes {list(self._shape)}")
    if len(mat2._shape) != 2:
        raise ShapeError(f"mat2 must be a matrix, got sizes {list(mat2._shape)}")
    _check_inner(self._shape, mat2._shape)
    if self.dtype is not mat2.dtype:
        raise DtypeError(
            f"expected m1 and m2 to have the same dtype, but got: {C_NAMES[self.dtype.name]} != "
            f"{C_NAMES[mat2.dtype.name]}"
        )
    _check_implemented("addmm_impl_cpu_", self.dtype, (*self._shape, *mat2._shape))
    return Result((self._shape[0], mat2._shape[1]), self.dtype, None, same_dtype)


def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number) -> Result:
    """As mm; `self` is broadcast to the result's shape."""
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if len(matrix._shape) != 2:
            raise ShapeError(f"{name} must be a matrix, got {len(matrix._shape)}-D tensor")
    _check_inner(mat1._shape, mat2._shape)
    _check_same_dtype(self, mat1, mat2)
    shape = (mat1._shape[0], mat2._shape[1])
    _check_expands(self, shape)
    _check_implemented("addmm_impl_cpu_", mat1.dtype, (*mat1._shape, *mat2._shape))
    return Result(shape, mat1.dtype, None, same_dtype)


def bmm(self: Tensor, mat2: Tensor) -> Result:
    """(b, n, k) with (b, k, m) gives (b, n, m)."""
    shape = _batched(self, mat2)
    if self.dtype is not mat2.dtype:
        raise DtypeError(f"expected scalar type {self.dtype.scalar_name} but found {mat2.dtype.scalar_name}")
    _check_implemented("bmm", self.dtype, (*self._shape, *mat2._shape))
    return Result(shape, self.dtype, None, same_dtype)


def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: Number, alpha: Number) -> Result:
    """As bmm; `self` is broadcast to the result's shape."""
    shape = _batched(batch1, batch2)
    _check_expands(self, shape)
    if self.dtype is not batch1.dtype:
        raise DtypeError(
            f"Input dtypes must be the same, got: input {C_NAMES[self.dtype.name]}, batch1: "
            f"{C_NAMES[batch1.dtype.name]}, batch2: {C_NAMES[batch2.dtype.name]}"
        )
    if batch1.dtype is not batch2.dtype:
        raise DtypeError(f"expected scalar type {batch1.dtype.scalar_name} but found {batch2.dtype.scalar_name}")
    _check_implemented("baddbmm", self.dtype, (*batch1._shape, *batch2._shape))
    return Result(shape, self.dtype, None, same_dtype)


def addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: Number, alpha: Number) -> Result:
    """(b, n, k) with (b, k, m) gives (n, m), the sum of the products; `self` is broadcast to it."""
    for name, batch in (("batch1", batch1), ("batch2", batch2)):
        if len(batch._shape) != 3:
            raise ShapeError(f"{name} must be a 3D tensor, got sizes {list(batch._shape)}")
    (count, rows, inner), (other_count, other_inner, columns) = batch1._shape, batch2._shape
    if count != other_count:
        raise ShapeError(f"batch1 and batch2 must have same number of batches, got {count} and {other_count}")
    if inner != other_inner:
        raise ShapeError(f"Incompatible matrix sizes for bmm ({rows}x{inner} and {other_inner}x{columns})")
    _check_expands(self, (rows, columns))
    _check_same_dtype(self, batch1, batch2)
    _check_implemented("addmm_impl_cpu_", self.dtype, (*batch1._shape, *batch2._shape))
    return Result((rows, columns), self.dtype, None, same_dtype)


def mv(self: Tensor, vec: Tensor) -> Result:
    """(n, k) with (k,) gives (n,)."""
    if len(self._shape) != 2 or len(vec._shape) != 1:
        raise ShapeError(f"vector + matrix @ vector expected, got 1, {len(self._shape)}, {len(vec._shape)} dimensions")
    n, k = self._shape
    if vec._shape[0] != k:
        raise ShapeError(f"size mismatch, got input ({n}), mat ({n}x{k}), vec ({vec._shape[0]})")
    if self.dtype is not vec.dtype:
        raise DtypeError(
            f"addmv input tensors must have the same dtype, but got {vec.dtype.scalar_name}, "
            f"{self.dtype.scalar_name}, and {vec.dtype.scalar_name}"
        )
    _check_implemented("addmv_impl_cpu", self.dtype, self._shape)
    return Result((n,), self.dtype, None, same_dtype)


def addmv(self: Tensor, mat: Tensor, vec: Tensor, beta: Number, alpha: Number) -> Result:
    """As mv; `self` has the result's size or one element."""
    shapes = (self._shape, mat._shape, vec._shape)
    if len(shapes[0]) > 1 or len(shapes[1]) != 2 or len(shapes[2]) != 1:
        raise ShapeError(f"vector + matrix @ vector expected, got {', '.join(str(len(shape)) for shape in shapes)}")
    n, k = mat._shape
    if vec._shape[0] != k or self.numel() not in (n, 1):
        raise ShapeError(
            f"size mismatch, got input ({', '.join(map(str, self._shape))}), mat ({n}x{k}), vec ({vec._shape[0]})"
        )
    if not self.dtype is mat.dtype is vec.dtype:
        raise DtypeError(
            f"addmv input tensors must have the same dtype, but got {self.dtype.scalar_name}, "
            f"{mat.dtype.scalar_name}, and {vec.dtype.scalar_name}"
        )
    _check_implemented("addmv_impl_cpu", mat.dtype, mat._shape)
    return Result((n,), mat.dtype, None, same_dtype)


def addr(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number) -> Result:
    """(n,) with (m,) gives (n, m) in the common dtype of all three; `self` is broadcast to it."""
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        if len(vector._shape) != 1:
            raise ShapeError(f"addr: Expected 1-D argument {name}, but got {len(vector._shape)}-D")
    shape = (vec1._shape[0], vec2._shape[0])
    _check_expands(self, shape)
    common = result_type(self, vec1, vec2)
    for name, number in (("beta", beta), ("alpha", alpha)):
        if isinstance(number, bool) and common is not bool_:
            raise DtypeError(f"Boolean {name} only supported for Boolean results.")
        if common.category < FLOATING and not isinstance(number, int):
            raise DtypeError(f"For integral input tensors, argument {name} must not be a floating point number.")
    check_implemented("addr_cpu", common, BAREBONES_UNSIGNED | FLOAT8)
    return Result(shape, common)


def dot(self: Tensor, tensor: Tensor) -> Result:
    """Two vectors of equal length give a single element."""
    if len(self._shape) != 1 or len(tensor._shape) != 1:
        raise ShapeError(f"1D tensors expected, but got {len(self._shape)}D and {len(tensor._shape)}D tensors")
    if self.dtype is not tensor.dtype:
        raise DtypeError(
            f"dot : expected both vectors to have same dtype, but found {self.dtype.scalar_name} and "
            f"{tensor.dtype.scalar_name}"
        )
    n, m = self._shape[0], tensor._shape[0]
    if n != m:
        raise ShapeError(
            f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same number of elements, but "
            f"got {n} and {m} elements respectively"
        )
    _check_implemented("dot", self.dtype, ())
    return Result((), self.dtype, None, _input_dtype)


def _input_dtype(result: dtype, out: dtype) -> None:
    """The out= rule of dot: never cast."""
    if result is not out:
        raise DtypeError(f"result dtype {out.scalar_name} does not match input dtype {result.scalar_name}")


def trilinear(
    i1: Tensor,
    i2: Tensor,
    i3: Tensor,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int,
) -> Result:
    """The common shape of all three, without the dimensions that are summed over."""
    dims = len(i1._shape) + len(expand1)
    if not 0 <= unroll_dim < dims:
        raise ArgumentError(f"unroll_dim must be in [0,{dims - 1}]")
    _check_implemented("bmm", i1.dtype, (*i1._shape, *i2._shape, *i3._shape))
    shapes = [expanded_shape(i._shape, new) for i, new in ((i1, expand1), (i2, expand2), (i3, expand3))]
    common = broadcast_shapes(broadcast_shapes(shapes[0], shapes[1]), shapes[2])
    return Result(tuple(size for dim, size in enumerate(common) if dim not in sumdim), i1.dtype)


def expanded_shape(shape: Shape, new: Sequence[int]) -> Shape:
    """A shape with dimensions of size 1 at some places of the result."""
    sizes = iter(shape)
    return tuple(1 if dim in new else next(sizes) for dim in range(len(shape) + len(new)))


def _batched(batch1: Tensor, batch2: Tensor) -> Shape:
    """The shape of the products of two batches of matrices; refuses shapes that do not match."""
    for name, batch in (("batch1", batch1), ("batch2", batch2)):
        if len(batch._shape) != 3:
            raise ShapeError(f"{name} must be a 3D tensor, got sizes {list(batch._shape)}")
    expected = [batch1._shape[0], batch1._shape[2]]
    if list(batch2._shape[:2]) != expected:
        raise ShapeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {expected} but got: "
            f"{list(batch2._shape[:2])}."
        )
    return (*batch1._shape[:2], batch2._shape[2])


def _check_expands(self: Tensor, shape: Shape) -> None:
    """Refuse an addend that cannot be broadcast to the product's shape."""
    if len(self._shape) > len(shape):
        raise ShapeError(
            f"expand(torch.{self.dtype.scalar_name}Tensor{{{list(self._shape)}}}, size={list(shape)}): the number of "
            f"sizes provided ({len(shape)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(self._shape)})"
        )
    expand_strides(self._shape, self.strides(), shape)


def _check_same_dtype(self: Tensor, mat1: Tensor, mat2: Tensor) -> None:
    """Refuse a first factor, or an addend, whose dtype differs from the second factor's."""
    for name, tensor in (("mat1", mat1), ("self", self)):
        if tensor.dtype is not mat2.dtype:
            raise DtypeError(
                f"{name} and mat2 must have the same dtype, but got {tensor.dtype.scalar_name} and "
                f"{mat2.dtype.scalar_name}"
            )


def _check_inner(left: Shape, right: Shape) -> None:
    """Refuse matrices whose inner sizes differ."""
    if left[1] != right[0]:
        raise ShapeError(f"mat1 and mat2 shapes cannot be multiplied ({left[0]}x{left[1]} and {right[0]}x{right[1]})")


def _check_implemented(kernel: str, dtype: dtype, sizes: Shape) -> None:
    """Refuse dtypes without a product; the 8-bit floats only have that of two matrices.

    If a size is 0, nothing is multiplied and, as in PyTorch, nothing is refused.
    """
    if 0 in sizes:
        return
    if dtype in WITHOUT_PRODUCT or (dtype in FLOAT8 and kernel != "addmm_impl_cpu_"):
        raise not_implemented_for(kernel, dtype)
