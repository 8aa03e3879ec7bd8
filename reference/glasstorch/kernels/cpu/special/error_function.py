"""How is the error function computed on the CPU?

It is a word of pointwise formulas (gelu) and an operator.

Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp (erf), c10/util/generic_math.h
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot


@slot
def erf(out: Array, x: Array) -> None:
    """SciPy's function in float64, rounded once; imported at the first call, as the import takes long."""
    import_module("scipy.special").erf(x, out=out, dtype=np.float64)
