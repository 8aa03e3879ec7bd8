"""Which loops combine two tensors element by element on the CPU alone?

Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
Differs: NumPy's ufuncs are the loops.
"""

from __future__ import annotations

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise.loops import BINARY, Row, register_row
from glasstorch.kernels.pointwise.dtypes import ALL, DIRECT, DIRECT_FLOATS, DIRECT_NOT_BOOL

INTEGERS = DIRECT_NOT_BOOL - DIRECT_FLOATS


def lcm(out: Array, x: Array, y: Array) -> None:
    """The least common multiple; on overflow, the absolute value of the product wrapped in int32 or wider."""
    divisor = np.gcd(x, y)
    whole = np.floor_divide(x, np.where(divisor == 0, 1, divisor), dtype=divisor.dtype)
    out[...] = np.absolute(np.multiply(whole, y, dtype=np.promote_types(divisor.dtype, np.int32)))


def heaviside(out: Array, x: Array, values: Array) -> None:
    """0 below 0, 1 above, `values` at 0; 0 for NaN, where np.heaviside gives NaN."""
    out[...] = np.where(np.equal(x, 0), values, np.greater(x, 0))


register_row(BINARY, "fmax", Row(np.fmax, DIRECT, ALL, "fmax_cpu"))
register_row(BINARY, "fmin", Row(np.fmin, DIRECT, ALL, "fmin_cpu"))
register_row(BINARY, "heaviside", Row(heaviside, DIRECT, ALL, "heaviside_cpu"))
register_row(BINARY, "gcd", Row(np.gcd, INTEGERS, INTEGERS, "gcd_cpu"))
register_row(BINARY, "lcm", Row(lcm, INTEGERS, INTEGERS, "lcm_cpu"))
