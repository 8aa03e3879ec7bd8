"""What does a product of matrices give, and which operands does it refuse?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (TORCH_META_FUNC of mm, addmm, bmm), Blas.cpp (dot_check, addmv)
Differs: matrices of bool and the like are refused here, where PyTorch's kernels refuse them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import BAREBONES_UNSIGNED, FLOAT8, Number, bool_, dtype
from glasstorch.core.errors import DtypeError, DtypeNotImplementedError, ShapeError
from glasstorch.core.geometry import Shape, expand_strides
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
    """As mm; `self` is broadcast to the result's sizes."""
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if len(matrix._shape) != 2:
            raise ShapeError(f"{name} must be a matrix, got {len(matrix._shape)}-D tensor")
    _check_inner(mat1._shape, mat2._shape)
    if mat1.dtype is not mat2.dtype or self.dtype is not mat2.dtype:
        other = mat1 if mat1.dtype is not mat2.dtype else self
        raise DtypeError(
            f"{'mat1' if other is mat1 else 'self'} and mat2 must have the same dtype, but got "
            f"{other.dtype.scalar_name} and {mat2.dtype.scalar_name}"
        )
    shape = (mat1._shape[0], mat2._shape[1])
    if len(self._shape) > 2:
        raise ShapeError(
            f"expand(torch.{self.dtype.scalar_name}Tensor{{{list(self._shape)}}}, size={list(shape)}): the number of "
            f"sizes provided (2) must be greater or equal to the number of dimensions in the tensor "
            f"({len(self._shape)})"
        )
    expand_strides(self._shape, self.strides(), shape)
    _check_implemented("addmm_impl_cpu_", mat1.dtype, (*mat1._shape, *mat2._shape))
    return Result(shape, mat1.dtype, None, same_dtype)


def bmm(self: Tensor, mat2: Tensor) -> Result:
    """(b, n, k) with (b, k, m) gives (b, n, m)."""
    for name, batch in (("batch1", self), ("batch2", mat2)):
        if len(batch._shape) != 3:
            raise ShapeError(f"{name} must be a 3D tensor, got sizes {list(batch._shape)}")
    expected = [self._shape[0], self._shape[2]]
    if list(mat2._shape[:2]) != expected:
        raise ShapeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {expected} but got: "
            f"{list(mat2._shape[:2])}."
        )
    if self.dtype is not mat2.dtype:
        raise DtypeError(f"expected scalar type {self.dtype.scalar_name} but found {mat2.dtype.scalar_name}")
    _check_implemented("bmm", self.dtype, (*self._shape, *mat2._shape))
    return Result((*self._shape[:2], mat2._shape[2]), self.dtype, None, same_dtype)


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


def dot(self: Tensor, tensor: Tensor) -> Result:
    """Two vectors of one size give a single element."""
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


def _check_inner(left: Shape, right: Shape) -> None:
    """Refuse matrices whose inner sizes differ."""
    if left[1] != right[0]:
        raise ShapeError(f"mat1 and mat2 shapes cannot be multiplied ({left[0]}x{left[1]} and {right[0]}x{right[1]})")


def _check_implemented(kernel: str, dtype: dtype, sizes: Shape) -> None:
    """Refuse dtypes for which there is no product; the 8-bit floats have that of two matrices alone.

    Where a size is 0, nothing is multiplied and, as in PyTorch, nothing refused.
    """
    if 0 in sizes:
        return
    if dtype in WITHOUT_PRODUCT or (dtype in FLOAT8 and kernel != "addmm_impl_cpu_"):
        raise DtypeNotImplementedError(f"\"{kernel}\" not implemented for '{dtype.scalar_name}'")
