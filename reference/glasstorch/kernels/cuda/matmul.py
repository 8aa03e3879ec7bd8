"""How are matrices multiplied on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/Blas.cpp (addmm_out_cuda_impl, bmm_out_cuda_impl, addmv_out_cuda_impl, dot_cuda)
Differs: our own kernels (matmul.cu) where cuBLAS is not preferred or not available (blas.py), and always for dot. As on
    the CPU, integers are multiplied too, and an out= tensor may be one of the matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor, empty, make_view
from glasstorch.core.dtype import Number, RealNumber, bfloat16, dtype, float16, float32, float64, int32, int64, uint8
from glasstorch.core.geometry import Shape
from glasstorch.devices import blas, runtime
from glasstorch.devices.blas import Matrices
from glasstorch.devices.launch import launch
from glasstorch.devices.modules import kernel
from glasstorch.devices.stream import device as on_device
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cuda.copies import contiguous, copy_elements
from glasstorch.kernels.cuda.tensors import CUDA_TYPE, ByDtype, broadcast_strides, common_device, output
from glasstorch.kernels.iterator import op_math
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import matmul as shapes
from glasstorch.operators.shapes.result import Result
from glasstorch.operators.shapes.scalars import number_as

CUDA = KernelTable("CUDA")

# dtype -> its accumulation type: the name in matmul.cu, the NumPy type, and a dtype of the same size.
_FLOAT = ("float", np.float32, float32)
_UNSIGNED = ("unsigned int", np.uint32, int32)
SUM: Final[ByDtype[tuple[str, Any, dtype]]] = ByDtype(
    {
        float16: _FLOAT,
        bfloat16: _FLOAT,
        float32: _FLOAT,
        float64: ("double", np.float64, float64),
        uint8: _UNSIGNED,
        int32: _UNSIGNED,
        int64: ("unsigned long long", np.uint64, int64),
    }
)

SIDE = 16  # threads along each side of a block that computes a tile, as in matmul.cu
SMALL_TILE, LARGE_TILE = 1, 4  # elements of a tile that a thread computes, along each side
WARPS = 8  # of a block that multiplies a matrix and a vector
DOT_BLOCKS = 256  # of the first pass of dot, at most
MOST_BATCHES = 65535  # blocks along z

STRIDES = np.dtype([("batch", np.int64), ("row", np.int64), ("column", np.int64)])
PRODUCT = np.dtype(  # struct Product of matmul.cu
    [(name, np.int64) for name in ("rows", "inner", "columns")]
    + [(name, STRIDES) for name in ("left", "right", "bias", "out")]
)


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines; NVRTC compiles
    them all in the tests."""
    for found in SUM:
        for tile in (SMALL_TILE, LARGE_TILE):
            yield "matmul.cu", expression("matmul", found, tile), ()
        for name in ("mv", "dot", "dot_total"):
            yield "matmul.cu", expression(name, found), ()


def expression(name: str, dtype: dtype, *more: object) -> str:
    """A kernel of matmul.cu for a dtype: `matmul<float, float, 4>`."""
    return f"{name}<{', '.join(map(str, (CUDA_TYPE[dtype], SUM[dtype][0], *more)))}>"


# Products of matrices -------------------------------------------------------------------------------------------


@structured(CUDA, "mm")
def mm(keys: int, self: Tensor, mat2: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of two matrices."""
    result = shapes.mm(self, mat2)
    common_device(self, mat2, out, numbers=False)
    return multiplied(batch(self), batch(mat2), result, out)


@structured(CUDA, "bmm")
def bmm(keys: int, self: Tensor, mat2: Tensor, out: Tensor | None = None) -> Tensor:
    """The products of two batches of matrices."""
    result = shapes.bmm(self, mat2)
    common_device(self, mat2, out, numbers=False)
    return multiplied(self, mat2, result, out)


@structured(CUDA, "addmm")
def addmm(
    keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number, out: Tensor | None = None
) -> Tensor:
    """`beta * self + alpha * (mat1 @ mat2)`.

    Where beta is 0, `self` is not read, and where alpha is 0 the matrices are not: NaN in them is ignored.
    """
    result = shapes.addmm(self, mat1, mat2, beta, alpha)
    common_device(self, mat1, mat2, out, numbers=False)
    return multiplied(batch(mat1), batch(mat2), result, out, self, held(beta, self.dtype), held(alpha, self.dtype))


def batch(matrix: Tensor) -> Tensor:
    """A matrix as the only one of a batch."""
    rows, columns = matrix._shape
    return make_view(matrix, (1, rows, columns), (0, *matrix.strides()), matrix._offset)


def multiplied(
    left: Tensor,
    right: Tensor,
    result: Result,
    out: Tensor | None,
    bias: Tensor | None = None,
    beta: RealNumber = 0,
    alpha: RealNumber = 1,
) -> Tensor:
    """`beta * bias + alpha * (left @ right)` of two batches, written to `out` or to a fresh tensor."""
    target = output(result, left.device) if out is None else out
    if target.untyped_storage() in (left.untyped_storage(), right.untyped_storage()):
        # One block may still read `out` after another has written to it.
        return copy_elements(target, multiplied(left, right, result, None, bias, beta, alpha))
    if 0 in result.shape:
        return target
    bias = None if factor(beta, result.dtype) == 0 else bias
    if blas.uses_cublas(runtime.driver(), result.dtype, (*left._shape, *right._shape)):
        return by_cublas(left, right, target, bias, beta, alpha)
    return by_tiles(left, right, target, bias, beta, alpha)


def held(number: Number, dtype: dtype) -> RealNumber:
    """`beta` or `alpha` as a number that the compute dtype holds."""
    value = number_as(number, op_math(SUM.refusing_others(dtype)))
    assert not isinstance(value, complex), f"{dtype} is none of {list(SUM)}"
    return value


def factor(number: RealNumber, dtype: dtype) -> Any:
    """`beta` or `alpha` as a factor: truncated and wrapped around for integers."""
    _, number_type, _ = SUM[dtype]
    if dtype.is_floating_point:
        return number_type(number)
    return number_type(int(number) % (1 << 8 * number_type().itemsize))


def by_tiles(
    left: Tensor, right: Tensor, out: Tensor, bias: Tensor | None, beta: RealNumber, alpha: RealNumber
) -> Tensor:
    """Our own kernel; `bias` is None where it is not to be read."""
    (batches, rows, inner), columns, dtype = left._shape, right._shape[2], left.dtype
    product: Any = np.zeros((), PRODUCT)
    product["rows"], product["columns"] = rows, columns
    product["inner"] = 0 if factor(alpha, dtype) == 0 else inner
    for name, tensor in (("left", left), ("right", right), ("bias", bias), ("out", out)):
        if tensor is not None:
            product[name] = strides_in_batch(tensor, (rows, columns))
    per_thread = LARGE_TILE if min(rows, columns) > SIDE * LARGE_TILE // 2 else SMALL_TILE
    tile = SIDE * per_thread
    made = kernel("matmul.cu", expression("matmul", dtype, per_thread))
    for first in range(0, batches, MOST_BATCHES):
        added = 0 if bias is None else from_batch(bias, first)
        launch(
            made,
            (-(-rows // tile) * -(-columns // tile), 1, min(batches - first, MOST_BATCHES)),
            (SIDE, SIDE),
            (
                *(from_batch(left, first), from_batch(right, first), added, from_batch(out, first)),
                *(product[()], factor(alpha, dtype), factor(beta, dtype)),
            ),
        )
    return out


def from_batch(tensor: Tensor, first: int) -> Tensor:
    """A batch from one of its matrices on; a single matrix is broadcast."""
    if not first or len(tensor._shape) != 3:
        return tensor
    batches, *sizes = tensor._shape
    strides = tensor.strides()
    return make_view(tensor, (batches - first, *sizes), strides, tensor._offset + first * strides[0])


def strides_in_batch(tensor: Tensor, shape: Shape) -> Shape:
    """The strides of batch, row and column; a single matrix, such as a bias, is broadcast to `shape`."""
    if len(tensor._shape) == 3:
        return tensor.strides()
    return (0, *broadcast_strides(tensor, shape))


# By cuBLAS ------------------------------------------------------------------------------------------------------


def by_cublas(
    left: Tensor, right: Tensor, out: Tensor, bias: Tensor | None, beta: RealNumber, alpha: RealNumber
) -> Tensor:
    """A product by cuBLAS, which reads the bias from its output. See Note [Column-major matrices]."""
    written = blas.layout(matrices(out))
    if written is None or written.operation != blas.KEEP:
        fresh = empty(out._shape, out.dtype, out.device)
        return copy_elements(out, by_cublas(left, right, fresh, bias, beta, alpha))
    if bias is not None and bias is not out:
        copy_elements(out, bias)
    left, right = (tensor if blas.layout(matrices(tensor)) else contiguous(tensor) for tensor in (left, right))
    with on_device(out.device):
        blas.gemm(
            runtime.driver(),
            runtime.current_stream(),
            out.dtype,
            float(alpha),
            matrices(left),
            matrices(right),
            0.0 if bias is None else float(beta),
            matrices(out),
        )
    return out


def matrices(tensor: Tensor) -> Matrices:
    """A batch of matrices, or a single one, as blas.py describes it."""
    shape, strides = tensor._shape, tensor.strides()
    if len(shape) == 2:
        shape, strides = (1, *shape), (0, *strides)
    return Matrices(tensor.data_ptr(), shape, strides)


# Products with a vector -----------------------------------------------------------------------------------------


@structured(CUDA, "mv")
def mv(keys: int, self: Tensor, vec: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of a matrix and a vector; for cuBLAS the vector is a matrix of one column."""
    result = shapes.mv(self, vec)
    device = common_device(self, vec, out, numbers=False)
    target = output(result, device) if out is None else out
    if target.untyped_storage() in (self.untyped_storage(), vec.untyped_storage()):
        return copy_elements(target, mv(keys, self, vec))
    rows, columns = self._shape
    if not rows:
        return target
    if blas.uses_cublas(runtime.driver(), self.dtype, (rows, columns)):
        column = make_view(vec, (1, columns, 1), (0, *vec.strides(), 1), vec._offset)
        written = make_view(target, (1, rows, 1), (0, *target.strides(), 1), target._offset)
        by_cublas(batch(self), column, written, None, 0, 1)
        return target
    launch(
        kernel("matmul.cu", expression("mv", self.dtype)),
        -(-rows // WARPS),
        32 * WARPS,
        (self, vec, target, *map(np.int64, (rows, columns, *self.strides(), *vec.strides(), *target.strides()))),
    )
    return target


@structured(CUDA, "dot")
def dot(keys: int, self: Tensor, tensor: Tensor, out: Tensor | None = None) -> Tensor:
    """The dot product of two vectors, in two passes."""
    result = shapes.dot(self, tensor)
    device = common_device(self, tensor, out, numbers=False)
    target = output(result, device) if out is None else out
    size = self.numel()
    blocks = max(1, min(DOT_BLOCKS, -(-size // (32 * WARPS))))
    partial = empty((blocks,), SUM[self.dtype][2], device)
    launch(
        kernel("matmul.cu", expression("dot", self.dtype)),
        blocks,
        32 * WARPS,
        (self, tensor, partial.data_ptr(), *map(np.int64, (size, *self.strides(), *tensor.strides()))),
    )
    launch(
        kernel("matmul.cu", expression("dot_total", self.dtype)),
        1,
        32,
        (partial.data_ptr(), target, np.int32(blocks)),
    )
    return target
