"""How are running sums and products computed on the CPU?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (cumsum, cumprod), cpu/ReduceOpsKernel.cpp (cumsum_cpu_kernel,
    cumprod_cpu_kernel)
Differs: NumPy's accumulate. float32 is accumulated in float64 and rounded once, as there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import FLOAT8, dtype
from glasstorch.core.geometry import wrap_dim
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions import check_implemented, finish
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import statistics as shapes

CPU = KernelTable("CPU")

ACCUMULATED_IN = {"e": np.float64, "E": np.float64, "f": np.float64, "F": np.complex128}  # by NumPy's character


def register_scan(name: str, ufunc: np.ufunc) -> None:
    """Register one operator and its forms."""

    def scan(keys: int, self: Tensor, dim: int, dtype: dtype | None, out: Tensor | None = None) -> Tensor:
        computed = out.dtype if out is not None else shapes.cumulative(self, dim, dtype).dtype
        check_implemented(f"{name}_out_cpu", computed, FLOAT8)
        array: Any = self.array()
        if array.dtype != computed.numpy:
            array = quietly(array.astype, computed.numpy)
        if not array.ndim:
            return finish(array.copy(), computed, out)
        wide = ACCUMULATED_IN.get(computed.numpy.char, computed.numpy)
        if computed.name == "bfloat16":
            array = array.astype(np.float32)
        return finish(quietly(ufunc.accumulate, array, wrap_dim(dim, array.ndim), wide), computed, out)

    structured(CPU, name, scan)


register_scan("cumsum", np.add)
register_scan("cumprod", np.multiply)
