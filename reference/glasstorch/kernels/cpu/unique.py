"""How are the different elements of a tensor found, and indices repeated, on the CPU?

Mirrors: aten/src/ATen/native/Unique.cpp (_unique2_cpu, unique_dim_cpu), aten/src/ATen/native/Repeat.cpp
Differs: NumPy sorts; PyTorch hashes where no order is asked for, and answers in order all the same on the CPU.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor, from_array
from glasstorch.core.dtype import COMPLEX_DTYPES, FLOAT8, HALF_PRECISION, int32, int64
from glasstorch.core.errors import ArgumentError, DtypeNotImplementedError, ShapeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions import check_implemented, finish

CPU = KernelTable("CPU")

# unique ---------------------------------------------------------------------------------------------------------

NOTHING = np.empty(0, np.int64)


def distinct(name: str, self: Tensor, axis: int | None, return_inverse: bool, return_counts: bool) -> tuple[Array, ...]:
    """The values that occur, where each element's is among them, and how often each occurs."""
    check_implemented(name, self.dtype, COMPLEX_DTYPES | FLOAT8)
    array = self.array()
    wide = array.astype(np.float32) if self.dtype in HALF_PRECISION else array
    values, inverse, counts = np.unique(wide, False, True, True, axis, equal_nan=False)
    return values.astype(array.dtype), inverse if return_inverse else NOTHING, counts if return_counts else NOTHING


@CPU.impl("_unique2")
def unique(
    keys: int, self: Tensor, sorted: bool, return_inverse: bool, return_counts: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Always sorted; what was not asked for is an empty tensor."""
    values, inverse, counts = distinct("unique", self, None, return_inverse, return_counts)
    if return_inverse:
        inverse = inverse.reshape(self._shape)
    return finish(values, self.dtype, None), finish(inverse, int64, None), finish(counts, int64, None)


@CPU.impl("unique_dim")
def unique_dim(
    keys: int, self: Tensor, dim: int, sorted: bool, return_inverse: bool, return_counts: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """As `unique`, of the parts of a tensor along a dimension; both are always counted."""
    axis = wrap_dim(dim, self.dim())
    values, inverse, counts = distinct("unique_dim", self, axis, True, True)
    parts = np.ascontiguousarray(np.moveaxis(values, axis, 0))  # one part after another in memory, as in PyTorch
    return (
        from_array(np.moveaxis(parts, 0, axis), self.dtype),
        finish(inverse.reshape(-1), int64, None),
        finish(counts, int64, None),
    )


# repeat_interleave ----------------------------------------------------------------------------------------------


@CPU.impl("repeat_interleave.Tensor")
def repeat_interleave(keys: int, repeats: Tensor, output_size: int | None) -> Tensor:
    """Each index as often as its element says."""
    if repeats.dtype not in (int32, int64):
        raise DtypeNotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{repeats.dtype.scalar_name}'")
    array = repeats.array()
    if array.ndim != 1:
        raise ShapeError("repeat_interleave only accept 1D vector as repeat")
    if (array < 0).any():
        raise ArgumentError("repeats can not be negative")
    if output_size is not None and output_size != array.sum():
        raise ArgumentError("allocated size does not match required size")
    return finish(np.repeat(np.arange(array.size), array), repeats.dtype, None)
