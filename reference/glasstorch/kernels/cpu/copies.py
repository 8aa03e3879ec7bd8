"""How are elements copied and cast on the CPU?

Mirrors: aten/src/ATen/native/cpu/CopyKernel.cpp, FillKernel.cpp, aten/src/ATen/native/Scalar.cpp, c10/util/TypeCast.h
Differs: NumPy's assignment casts; where its rules differ from a C cast, an intermediate step is added.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor, empty, empty_strided
from glasstorch.core.dtype import (
    FLOAT8,
    FLOATING,
    HALF_PRECISION,
    INTEGRAL,
    NARROW_FLOATS,
    Number,
    bool_,
    dtype,
    float8_e4m3fn,
    uint8,
)
from glasstorch.core.layout import memory_format
from glasstorch.core.tensor_impl import Array
from glasstorch.core.warn_once import warn_once
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.copies import check_copy, same_elements, strides_of_copy
from glasstorch.kernels.halves import as_single, cast
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes.scalars import number_as

CPU = KernelTable("CPU")

NATIVE = frozenset((bool, int, float, complex))


def assign(target: Array, source: Array, to: dtype, of: dtype) -> None:
    """Write an array of dtype `of` into one of dtype `to`, broadcast and cast as C++ casts."""
    if to is of:
        target[...] = source
    else:
        quietly(_cast, target, source, to, of)


def _cast(target: Array, source: Array, to: dtype, of: dtype) -> None:
    """As `assign`. NaN and values too large for an integer give whatever the processor's conversion gives."""
    if of.is_complex and not to.is_complex and to is not bool_:
        source, of = source.real, of.to_real()
    if to in NARROW_FLOATS or of in FLOAT8 or (of in HALF_PRECISION and to.category == INTEGRAL):
        source = as_single.run(source)  # the narrow floats only convert to and from float32
    if to is float8_e4m3fn:
        source = np.clip(source, -448, 448)  # it has no infinity
    elif to.category == INTEGRAL and to.itemsize < 4 and of.category == FLOATING:
        source = source.astype(np.int64 if to is uint8 else np.int32)  # then the low bytes, so that -1.0 becomes 255
    cast.run(target, source)


@CPU.impl("copy_")
def copy_(keys: int, self: Tensor, src: Tensor, non_blocking: bool) -> Tensor:
    """Overwrite with another tensor's elements."""
    if not same_elements(self, src):
        check_copy(self, src)
        if src.dtype.is_complex and not self.dtype.is_complex and self.dtype is not bool_:
            warn_once("Casting complex values to real discards the imaginary part")
        assign(self.array(), src.array(), self.dtype, src.dtype)
    return self


@slot
def clone(keys: int, self: Tensor, memory_format: memory_format | None) -> Tensor:
    """A copy of the elements in fresh memory."""
    strides = strides_of_copy(self, memory_format)
    result = empty(self._shape, self.dtype) if strides is None else empty_strided(self._shape, strides, self.dtype)
    result.array()[...] = self.array()
    return result


CPU.add("clone", clone.plain)


@CPU.impl("fill_.Scalar")
def fill_(keys: int, self: Tensor, value: Number) -> Tensor:
    """Every element set to a number."""
    self.array().fill(number_as(value, self.dtype))
    return self


@CPU.impl("zero_")
def zero_(keys: int, self: Tensor) -> Tensor:
    """Every element set to 0."""
    self.array().fill(0)
    return self


@CPU.impl("_local_scalar_dense")
def local_scalar_dense(keys: int, self: Tensor) -> Number:
    """The one element as a Python number."""
    value = self.array().item()
    return value if type(value) in NATIVE else float(value)  # ml_dtypes has scalar types of its own
