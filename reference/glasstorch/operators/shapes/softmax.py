"""What shape and dtype do softmax and log_softmax have, and which inputs are refused?

Mirrors: aten/src/ATen/native/SoftMax.cpp (TORCH_META_FUNC)
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS, dtype, float16, float32
from glasstorch.core.errors import DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import wrap_dim
from glasstorch.operators.shapes.loss.shared import check_same
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def _softmax(name: str, self: Tensor, dim: int, half_to_float: bool) -> Result:
    """The input's shape, of any dtype if it is empty; with `half_to_float`, float16 becomes float32."""
    dim = wrap_dim(dim, len(self._shape))
    if half_to_float and self.dtype is not float16:
        raise DtypeError(f"{name}: conversion is supported for Half type only, got {self.dtype.scalar_name}")
    if self.dtype not in FLOATS and 0 not in self._shape:
        last = "_lastdim" if dim == max(len(self._shape) - 1, 0) else ""
        raise not_implemented_for(f"{name}{last}_kernel_impl", self.dtype)
    return Result(self._shape, float32 if half_to_float else self.dtype, None, same_dtype)


def _softmax_backward(name: str, grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype) -> Result:
    """The gradient's shape and dtype; float16 where softmax converted float16 to float32."""
    if grad_output._shape != output._shape:
        raise ShapeError(
            f"Expected tensor for argument #1 'grad' to have same size as tensor for argument #2 'output'; but "
            f"{list(grad_output._shape)} does not equal {list(output._shape)} (while checking arguments for "
            f"{name}_backward)"
        )
    wrap_dim(dim, len(output._shape))
    check_same(grad_output.dtype, output.dtype)
    if grad_output.dtype not in FLOATS:
        raise not_implemented_for(f"{name}_backward_kernel_impl", grad_output.dtype)
    narrowed = grad_output.dtype is float32 and input_dtype is float16
    return Result(grad_output._shape, float16 if narrowed else grad_output.dtype, None, same_dtype)


softmax = partial(_softmax, "softmax")


log_softmax = partial(_softmax, "log_softmax")


softmax_backward = partial(_softmax_backward, "softmax")


log_softmax_backward = partial(_softmax_backward, "log_softmax")
