"""How are relu, and quotients with a rounding mode, computed in few steps?

Mirrors: the contiguous cases of aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (div_trunc_kernel, div_floor_kernel),
    TensorCompareKernel.cpp (clamp_min_scalar_kernel_impl)
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast.pointwise.loops import BINARY, OR_NUMBER, binary_form, binary_in_place, plain_kernel
from glasstorch.kernels.cpu.pointwise import loops, shared
from glasstorch.kernels.cpu.pointwise.loops import Kernel, Row
from glasstorch.kernels.pointwise.dtypes import NOT_BOOL
from glasstorch.kernels.pointwise.formulas import TRUNC_DIVIDE

# relu, which is the maximum with 0 ------------------------------------------------------------------------------------

ZERO = {d: wrap(np.zeros((), d.numpy), d) for d in NOT_BOOL}
plain_relu, plain_relu_in_place = plain_kernel("relu"), plain_kernel("relu_")
maximum = BINARY["maximum"]
maximum_in_place = binary_in_place(loops.BINARY["maximum"], lambda keys, self, zero: plain_relu_in_place(keys, self))


@fast("relu", when="a row-major tensor", benchmark="1e6: maximum", exact="bits")
def relu(keys: int, self: Tensor) -> Tensor:
    """The short path of `maximum`, with 0."""
    if self._strides is None and self.dtype in ZERO:
        return maximum(keys, self, ZERO[self.dtype])
    return plain_relu(keys, self)


@fast("relu_", when="a row-major tensor", benchmark="1e6: maximum", exact="bits")
def relu_in_place(keys: int, self: Tensor) -> Tensor:
    """The short path of `maximum` in place, with 0."""
    if self.dtype in ZERO:
        return maximum_in_place(keys, self, ZERO[self.dtype])
    return plain_relu_in_place(keys, self)


# Division with a rounding mode ----------------------------------------------------------------------------------------

plain_divide_mode = plain_kernel("div.Tensor_mode")
DIVISIONS: dict[str | None, Kernel] = {
    None: BINARY["div.Tensor"],
    "floor": BINARY["floor_divide"],
    "trunc": binary_form(Row.of(TRUNC_DIVIDE), shared.DIVISIONS["trunc"]),
}


@fast("div.Tensor_mode", when=OR_NUMBER, benchmark="1e6: floor_divide of int64", exact="bits")
def divide_mode(keys: int, self: Tensor, other: Tensor, rounding_mode: str | None) -> Tensor:
    """The short path of one of three quotients."""
    if rounding_mode in DIVISIONS:
        return DIVISIONS[rounding_mode](keys, self, other)
    return plain_divide_mode(keys, self, other, rounding_mode)
