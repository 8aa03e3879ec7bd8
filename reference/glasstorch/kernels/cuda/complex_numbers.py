"""How are complex tensors built from real ones on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/ComplexKernel.cu
Differs: the general copy kernel writes each part; `polar` computes the parts first.
"""

from __future__ import annotations

from glasstorch._tensor import Tensor, make
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cuda.copies import copy_elements
from glasstorch.kernels.cuda.tensors import common_device, output
from glasstorch.kernels.structured import structured
from glasstorch.operators.generated.functions import cos, mul, sin
from glasstorch.operators.shapes.complex_numbers import from_parts, from_polar

CUDA = KernelTable("CUDA")
COMPUTED = KernelTable("CUDA", calls_operators=True)


@structured(CUDA, "complex")
def complex_(keys: int, real: Tensor, imag: Tensor, out: Tensor | None = None) -> Tensor:
    """`real + imag * 1j`."""
    made = output(from_parts(real, imag), common_device(real, imag)) if out is None else out
    return put_parts(made, real, imag)


@structured(COMPUTED, "polar")
def polar(keys: int, abs: Tensor, angle: Tensor, out: Tensor | None = None) -> Tensor:
    """`abs * (cos(angle) + sin(angle) * 1j)`."""
    made = output(from_polar(abs, angle), common_device(abs, angle)) if out is None else out
    return put_parts(made, mul(abs, cos(angle)), mul(abs, sin(angle)))


def put_parts(out: Tensor, *parts: Tensor) -> Tensor:
    """Write real and imaginary parts, broadcast, into a complex tensor."""
    strides = tuple(2 * step for step in out.strides())
    for offset, part in enumerate(parts):
        own = make(out.untyped_storage(), part.dtype, out._shape, strides, 2 * out._offset + offset)
        copy_elements(own, part)
    return out
