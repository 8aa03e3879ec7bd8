"""Which operators concern conjugates, and the parts of complex numbers?

Mirrors: aten/src/ATen/native/UnaryOps.cpp (real, imag, conj, conj_physical, resolve_conj, resolve_neg)
Differs: the bits that mark a view as conjugated or negated are set in kernels/views.py and
    resolved by kernels/math_bits.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.errors import ShapeError
from glasstorch.operators.composite.creation import empty_like
from glasstorch.operators.direct import on_tensor, on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

clone = on_tensor("clone")
select = on_tensor("select.int")
view_as_real = on_tensor("view_as_real")
conj_view = on_tensor("_conj")
neg_view = on_tensor("_neg_view")
conj_copy = on_tensor("_conj_physical")
conj_into = on_tensors("_conj_physical.out")

# The two parts --------------------------------------------------------------------------------------------------


def real(self: Tensor) -> Tensor:
    """The real parts, as a view; a real tensor is returned itself."""
    if not self.dtype.is_complex:
        return self
    return select(view_as_real(conj_view(self) if self.is_conj() else self), len(self._shape), 0)


def imag(self: Tensor) -> Tensor:
    """The imaginary parts, as a view; of a tensor with the conjugate bit it has the negative bit."""
    if not self.dtype.is_complex:
        raise ShapeError("imag is not implemented for tensors with non-complex dtypes.")
    parts = neg_view(view_as_real(conj_view(self))) if self.is_conj() else view_as_real(self)
    return select(parts, len(self._shape), 1)


# The bits -------------------------------------------------------------------------------------------------------


def is_conj(self: Tensor) -> bool:
    """Whether the conjugate bit is set."""
    return self.is_conj()


def is_neg(self: Tensor) -> bool:
    """Whether the negative bit is set."""
    return self.is_neg()


# The conjugate --------------------------------------------------------------------------------------------------


def conj(self: Tensor) -> Tensor:
    """The conjugate, as a view with the conjugate bit; a real tensor is returned itself."""
    return conj_view(self) if self.dtype.is_complex else self


def conj_physical(self: Tensor) -> Tensor:
    """The conjugate, computed; a real tensor is returned itself."""
    return conj_copy(self) if self.dtype.is_complex else self


def computed_conj(self: Tensor) -> Tensor:
    """The conjugate in new memory, with the tensor's order of dimensions."""
    return conj_into(self, empty_like(self.key_set, self, None, None, None, None, None))


def resolve_conj(self: Tensor) -> Tensor:
    """The tensor itself, or if its conjugate bit is set, a copy with the conjugates computed."""
    return clone(self, None) if self.is_conj() else self


def resolve_neg(self: Tensor) -> Tensor:
    """The tensor itself, or if its negative bit is set, a copy with the negatives computed."""
    return clone(self, None) if self.is_neg() else self
