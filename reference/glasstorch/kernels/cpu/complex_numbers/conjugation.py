"""How are conjugates computed on the CPU?

Mirrors: conj_kernel in aten/src/ATen/native/cpu/UnaryOpsKernel.cpp

Real numbers are their own conjugates and are copied.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from glasstorch.core.dtype import DTYPES
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise.loops import CPU, Row, kernel_of
from glasstorch.kernels.structured import out_form, shape_function

EVERY: Final = frozenset(DTYPES)


def conjugate(out: Array, x: Array) -> None:
    """The conjugate of each element."""
    if x.dtype.kind == "c":
        np.conjugate(x, out=out)
    else:
        out[...] = x


kernel = kernel_of(shape_function("_conj_physical"), Row(conjugate, EVERY, EVERY))
CPU.add("_conj_physical.out", out_form("_conj_physical", kernel))
