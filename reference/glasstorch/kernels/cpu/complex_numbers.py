"""How are complex numbers built from real ones, and conjugated, on the CPU?

Mirrors: aten/src/ATen/native/cpu/ComplexKernel.cpp, cpu/UnaryOpsKernel.cpp (conj_kernel)
Differs: each part is written through NumPy's view of it.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise.loops import CPU, Row, kernel_of
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.pointwise.dtypes import EVERY
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import out_form, shape_function, structured
from glasstorch.operators.shapes.complex_numbers import from_parts, from_polar


@structured(CPU, "complex")
def complex_(keys: int, real: Tensor, imag: Tensor, out: Tensor | None = None) -> Tensor:
    """`real + imag * 1j`."""
    output = allocate_output(from_parts(real, imag)) if out is None else out
    array = output.array()
    array.real[...] = real.array()
    array.imag[...] = imag.array()
    return output


@structured(CPU, "polar")
def polar(keys: int, abs: Tensor, angle: Tensor, out: Tensor | None = None) -> Tensor:
    """`abs * (cos(angle) + sin(angle) * 1j)`."""
    output = allocate_output(from_polar(abs, angle)) if out is None else out
    quietly(_turn, output.array(), abs.array(), angle.array())
    return output


def _turn(out: Array, abs: Array, angle: Array) -> None:
    out.real[...] = abs * np.cos(angle)
    out.imag[...] = abs * np.sin(angle)


# Real numbers are their own conjugates.
conjugate = kernel_of(shape_function("_conj_physical"), Row(np.copyto, EVERY, EVERY, on_complex=np.conjugate))
CPU.add("_conj_physical.out", out_form("_conj_physical", conjugate))
