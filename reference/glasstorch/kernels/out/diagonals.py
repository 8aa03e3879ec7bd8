"""How is a diagonal written to the tensor given as out=?

Mirrors: aten/src/ATen/native/TensorShape.cpp (diag_out)
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import can_cast
from glasstorch.core.errors import DtypeError
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.structured import resize_output
from glasstorch.operators.generated.functions import diag
from glasstorch.operators.shapes.result import same_dtype

IMPLICIT = KernelTable("CompositeImplicitAutograd", calls_operators=True, takes_keys=False)


@IMPLICIT.impl("diag.out")
def diag_out(self: Tensor, diagonal: int, out: Tensor) -> Tensor:
    """A matrix with the given vector on a diagonal, or a diagonal of the given matrix."""
    if len(self._shape) == 1 and not can_cast(self.dtype, out.dtype):
        raise DtypeError(
            f"diag: result type {self.dtype.scalar_name} can't be cast to the desired out= type {out.dtype.scalar_name}"
        )
    result = diag(self, diagonal)
    same_dtype(result.dtype, out.dtype)
    resize_output(out, result._shape)
    return out.copy_(result)
