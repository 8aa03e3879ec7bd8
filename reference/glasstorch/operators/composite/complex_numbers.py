"""Which operators speak of conjugates, and of the parts of complex numbers?

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
    """The real parts: a view; a tensor of real numbers is its own."""
    if not self.dtype.is_complex:
        return self
    return select(view_as_real(conj_view(self) if self.is_conj() else self), -1, 0)


def imag(self: Tensor) -> Tensor:
    """The imaginary parts: a view, which says that it is negated where the tensor says that it is conjugated."""
    if not self.dtype.is_complex:
        raise ShapeError("imag is not implemented for tensors with non-complex dtypes.")
    parts = neg_view(view_as_real(conj_view(self))) if self.is_conj() else view_as_real(self)
    return select(parts, -1, 1)


# The bits -------------------------------------------------------------------------------------------------------


def is_conj(self: Tensor) -> bool:
    """Whether the tensor says that it is conjugated."""
    return self.is_conj()


def is_neg(self: Tensor) -> bool:
    """Whether the tensor says that it is negated."""
    return self.is_neg()


# The conjugate --------------------------------------------------------------------------------------------------


def conj(self: Tensor) -> Tensor:
    """The conjugate: a view that says so; a tensor of real numbers is its own."""
    return conj_view(self) if self.dtype.is_complex else self


def conj_physical(self: Tensor) -> Tensor:
    """The conjugate, computed; a tensor of real numbers is its own."""
    return conj_copy(self) if self.dtype.is_complex else self


def computed_conj(self: Tensor) -> Tensor:
    """The conjugate in new memory, in the tensor's own order of dimensions."""
    return conj_into(self, empty_like(0, self, None, None, None, None, None))


def resolve_conj(self: Tensor) -> Tensor:
    """The tensor itself, or a copy that holds the conjugates where it only says that it does."""
    return clone(self, None) if self.is_conj() else self


def resolve_neg(self: Tensor) -> Tensor:
    """The tensor itself, or a copy that holds the negatives where it only says that it does."""
    return clone(self, None) if self.is_neg() else self
