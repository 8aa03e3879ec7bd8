"""How are elements chosen, interpolated and clamped in few steps?

Mirrors: the contiguous cases of aten/src/ATen/native/cpu/TensorCompareKernel.cpp (where_kernel_impl,
    clamp_scalar_kernel_impl), LerpKernel.cpp

# Note [Selecting without branches]
NumPy's `where` branches for every element, and for a random mask the processor mispredicts half of the branches: 7 ns
an element. Read as integers, y ^ (x ^ y) is x. With x ^ y multiplied by the mask (0 or 1), the result is x where the
mask is 1 and y where it is 0: three passes without a branch, 1 ns an element. The values are only read as bits, so that
infinity and NaN pass through unchanged.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.allocator import LARGE
from glasstorch.core.dtype import Number, bool_, dtype
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast, install
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.pointwise.loops import is_row_major, other_operand, plain_kernel, run_fresh
from glasstorch.kernels.cpu.pointwise import steps, ternary
from glasstorch.kernels.cpu.pointwise.loops import Kernel
from glasstorch.kernels.pointwise.dtypes import DIRECT, DIRECT_FLOATS
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes.scalars import number_as

# Selection ------------------------------------------------------------------------------------------------------------

BITS = {size: np.dtype(f"i{size}") for size in (1, 2, 4, 8)}
plain_where = plain_kernel("where.self")


@fast(steps.choose, when="more than 2,048 elements of at most 8 bytes", benchmark="1e6: where", exact="bits")
def choose(out: Array, mask: Array, x: Array, y: Array) -> None:
    """See Note [Selecting without branches]. A mask is enough where `x` is the number 0."""
    if out.size < thresholds.CHOICE_OF_BITS_FROM or out.itemsize not in BITS:
        steps.choose.plain(out, mask, x, y)
        return
    bits = BITS[out.itemsize]
    x, y, chosen = x.view(bits), y.view(bits), out.view(bits)
    if not x.ndim and not x:
        np.multiply(y, np.logical_not(mask), out=chosen)
    else:
        np.bitwise_xor(np.multiply(np.bitwise_xor(x, y), mask), y, out=chosen)


@fast("where.self", when="a row-major condition and sides of one dtype", benchmark="1e6: where", exact="bits")
def where(keys: int, condition: Tensor, self: Tensor, other: Tensor) -> Tensor:
    """See Note [The short path]."""
    sizes = condition._shape
    if condition.dtype is bool_ and condition._strides is None and sizes:
        if self._shape == sizes and other._shape in (sizes, ()):
            if (y := other_operand(DIRECT, self, other)) is not None:
                return run_choose(condition.array(), self.array(), y, self.dtype)
        elif other._shape == sizes and not self._shape and (x := other_operand(DIRECT, other, self)) is not None:
            return run_choose(condition.array(), x, other.array(), other.dtype)
    return plain_where(keys, condition, self, other)


def run_choose(mask: Array, x: Array, y: Array, result: dtype) -> Tensor:
    """Select from arrays of one dtype, into a fresh tensor of the mask's shape."""
    if mask.size < thresholds.CHOICE_OF_BITS_FROM:
        return wrap(np.where(mask, x, y), result)
    return run_fresh(choose, mask.shape, result, (mask, x, y))


# Interpolation and clamping -------------------------------------------------------------------------------------------

plain_lerp = plain_kernel("lerp.Tensor")


@fast(ternary.interpolate_each, when="real numbers", benchmark="1e6: lerp by a tensor", exact="bits")
def interpolate_each(out: Array, start: Array, end: Array, weight: Array) -> None:
    """The same steps in two arrays of a block's size. See Note [Selecting without branches]."""
    if out.dtype.kind == "c":
        ternary.interpolate_each.plain(out, start, end, weight)
        return
    scratch, way = np.empty_like(out), np.subtract(end, start, out=np.empty_like(out))
    near_end = np.greater_equal(np.absolute(weight), 0.5)
    scratch[...] = near_end
    way *= np.subtract(weight, scratch, out=scratch)
    bits = BITS[out.itemsize]
    start, end, chosen = start.view(bits), end.view(bits), scratch.view(bits)
    np.multiply(np.bitwise_xor(end, start, out=chosen), near_end, out=chosen)
    np.bitwise_xor(chosen, start, out=chosen)
    np.add(scratch, way, out=out)


@fast("lerp.Tensor", when="row-major floats of one shape", benchmark="1e6: lerp by a tensor", exact="bits")
def lerp_tensor(keys: int, self: Tensor, end: Tensor, weight: Tensor) -> Tensor:
    """See Note [The short path]."""
    if is_row_major(DIRECT_FLOATS, self, end, weight):
        return run_fresh(interpolate_each, self._shape, self.dtype, (self.array(), end.array(), weight.array()))
    return plain_lerp(keys, self, end, weight)


def clamp_of(name: str) -> Kernel:
    """The short path of an operator that clamps between numbers."""
    plain, bounds = plain_kernel(name), ternary.BOUNDS[name]

    def clamp(keys: int, self: Tensor, *given: Number | None) -> Tensor:
        lower, upper = bounds(*given)
        if self._strides is None and self.dtype in DIRECT_FLOATS and not (lower is None and upper is None):
            limits = [np.array(number_as(b, self.dtype), self.dtype.numpy) for b in (lower, upper) if b is not None]
            x = self.array()
            if len(limits) == 2:
                return run_fresh(steps.clip, self._shape, self.dtype, (x,), limits)
            extremum = np.minimum if lower is None else np.maximum
            if self._shape and x.nbytes < LARGE:
                return wrap(quietly(extremum, x, limits[0]), self.dtype)
            return run_fresh(extremum, self._shape, self.dtype, (x, *limits))
        return plain(keys, self, *given)

    return clamp


for _name in ternary.BOUNDS:
    install(_name, clamp_of(_name), "a row-major tensor of floats", "1e6: clamp", "bits")
