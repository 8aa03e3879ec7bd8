"""How are elements selected by a mask on the CPU?

Mirrors: aten/src/ATen/native/cpu/TensorCompareKernel.cpp (where), aten/src/ATen/native/cpu/IndexKernel.cpp
    (masked_fill), aten/src/ATen/native/cpu/Activation.cpp (threshold)
Differs: see Note [Selecting without branches].

# Note [Selecting without branches]
NumPy's `where` branches for every element, and for a random mask the processor mispredicts half of the branches: 7 ns
an element. Read as integers, y ^ (x ^ y) is x. With x ^ y multiplied by the mask (0 or 1), the result is x where the
mask is 1 and y where it is 0: three passes without a branch, 1 ns an element. The values are only read as bits, so that
infinity and NaN pass through unchanged.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import Number, bool_, dtype
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise.loops import (
    DIRECT,
    DIRECT_NOT_BOOL,
    NOT_BOOL,
    WITH_COMPLEX,
    Row,
    plain_operand,
    register,
    run_fresh,
    ternary_kernel,
)
from glasstorch.kernels.iterator import allocate_output, in_blocks, operand
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import written_where_expanded
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.scalars import number_as

NUMPY_WHERE_UP_TO = 1 << 11  # elements up to which NumPy's `where` is as fast
BITS = {size: np.dtype(f"i{size}") for size in (1, 2, 4, 8)}


def choose(out: Array, mask: Array, x: Array, y: Array) -> None:
    """`x` where the mask is true, else `y`. See Note [Selecting without branches]."""
    if out.size <= NUMPY_WHERE_UP_TO or out.itemsize not in BITS:
        out[...] = np.where(mask, x, y)
        return
    bits = BITS[out.itemsize]
    x, y = x.view(bits), y.view(bits)
    np.bitwise_xor(np.multiply(np.bitwise_xor(x, y), mask), y, out=out.view(bits))


def choose_bits(out: Array, mask: Array, x: Array, y: Array) -> None:
    """As `choose`, for elements of 1 to 8 bytes, into an array distinct from the others; nothing is allocated."""
    bits = BITS[out.itemsize]
    x, y, chosen = x.view(bits), y.view(bits), out.view(bits)
    np.multiply(np.bitwise_xor(x, y, out=chosen), mask, out=chosen)
    np.bitwise_xor(chosen, y, out=chosen)


def pass_above(out: Array, grad: Array, x: Array, threshold: Array) -> None:
    """`grad` where `x` is above the threshold or NaN, else 0."""
    drop = np.less_equal(x, threshold)
    if out.size <= NUMPY_WHERE_UP_TO:
        out[...] = np.where(drop, 0, grad)
        return
    keep = np.logical_not(drop, out=drop)
    bits = BITS[out.itemsize]
    np.multiply(grad.view(bits), keep, out=out.view(bits))


def where(keys: int, condition: Tensor, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `where.self`."""
    sizes = condition._shape
    if out is None and condition.dtype is bool_ and condition._strides is None and sizes:
        if self._shape == sizes and other._shape in (sizes, ()):
            if (y := plain_operand(DIRECT, self, other)) is not None:
                return run_choose(condition.array(), self.array(), y, self.dtype)
        elif other._shape == sizes and not self._shape and (x := plain_operand(DIRECT, other, self)) is not None:
            return run_choose(condition.array(), x, other.array(), other.dtype)
    output = allocate_output(shapes.where(condition, self, other)) if out is None else out
    common = result_type(self, other)
    inputs = [condition.array(), operand(self, common), operand(other, common)]
    quietly(in_blocks.run, choose, output.array(), inputs, (common.numpy, bool_.numpy, common.numpy, common.numpy))
    return output


def run_choose(mask: Array, x: Array, y: Array, result: dtype) -> Tensor:
    """Select from arrays of one dtype, into a fresh tensor of the mask's shape; see Note [The short path]."""
    if mask.size <= NUMPY_WHERE_UP_TO:
        return wrap(np.where(mask, x, y), result)
    return run_fresh(choose, mask.shape, result, (mask, x, y))


MASKED_FILL = Row(choose, DIRECT, WITH_COMPLEX, "masked_fill")


def masked_fill(keys: int, self: Tensor, mask: Tensor, value: Number, out: Tensor | None = None) -> Tensor:
    """The kernel of `masked_fill.Scalar`."""
    output = allocate_output(shapes.masked_fill(self, mask, value)) if out is None else out
    MASKED_FILL.check(self.dtype)
    own = self.dtype.numpy
    inputs = [mask.array(), np.array(number_as(value, self.dtype), own), self.array()]
    in_blocks.run(choose, output.array(), inputs, (own, bool_.numpy, own, own))
    return output


register("where.self", where)
register("masked_fill.Scalar", masked_fill, written_where_expanded("masked_fill.Scalar", masked_fill))
register(
    "threshold_backward",
    ternary_kernel(shapes.threshold_backward, Row(pass_above, DIRECT_NOT_BOOL, NOT_BOOL, "threshold_cpu"))[0],
)
