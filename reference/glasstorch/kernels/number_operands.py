"""How does a kernel for two tensors accept a number as one operand?

Mirrors: aten/src/ATen/ScalarOps.h (wrapped_scalar_tensor), aten/src/ATen/native/BinaryOps.cpp (the Scalar overloads)
Differs: one file serves all devices, as the number is wrapped before anything is computed.
"""

from __future__ import annotations

from collections.abc import Callable

from glasstorch._tensor import Tensor, wrapped_number
from glasstorch.core.dtype import Number

Kernel = Callable[..., Tensor]


def with_wrapped_number(tensor_kernel: Kernel) -> Kernel:
    """The kernel of a Scalar overload: the number travels as a wrapped 0-dim tensor."""

    def kernel(keys: int, self: Tensor, other: Number, out: Tensor | None = None) -> Tensor:
        return tensor_kernel(keys, self, wrapped_number(other), out=out)

    return kernel


def number_first(tensor_kernel: Kernel) -> Kernel:
    """The kernel of a Scalar_Tensor overload, whose first argument is the number."""

    def kernel(keys: int, self: Number, other: Tensor, out: Tensor | None = None) -> Tensor:
        return tensor_kernel(keys, wrapped_number(self), other, out=out)

    return kernel
