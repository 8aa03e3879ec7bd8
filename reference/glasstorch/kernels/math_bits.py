"""How are the conjugate and negative bits resolved before an operator computes?

Mirrors: aten/src/ATen/native/MathBitsFallback.h, NegateFallback.cpp, aten/src/ATen/ConjugateFallback.cpp
Differs: schemas and tags decide which operators may see the bits, where PyTorch lists them by name; and `clone` and
    `copy_` have kernels here, where PyTorch's copy reads the bits itself.

# Note [Lazy conjugation and negation]
`x.conj()` computes nothing. It is a view whose key set has the bit Conjugate, so that for any operator on it the kernel
of that key runs first. That kernel computes the conjugates and redispatches to the keys below, so that no backend
kernel ever sees the bit. An argument that the operator writes to is replaced by a copy without the bit; the operator
changes the copy, and `copy_` writes the result back through the bit. View operators and composites pass through: their
results keep the bit. `x.imag` of a conjugated x is the negative of what is stored, which the bit Negative records.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from glasstorch._tensor import Tensor, make_view
from glasstorch.core.errors import DtypeError
from glasstorch.core.keys import (
    BELOW_ADINPLACEORVIEW,
    CONJUGATE,
    FUNCTIONALIZE,
    MATH_BITS,
    NEGATIVE,
    PYTHON,
    DispatchKey,
    below,
)
from glasstorch.core.layout import memory_format
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.dispatch.operator import Boxed, Kernel, Operator, registry
from glasstorch.dispatch.tags import Tag
from glasstorch.kernels.complex_numbers import view_as_real
from glasstorch.kernels.structured import check_writable, resize_output
from glasstorch.kernels.views import select
from glasstorch.operators.generated.registry import table

# A functional tensor's value, and what a mode or a class with a `__torch_dispatch__` calls, see the bit themselves.
ELSEWHERE: Final = FUNCTIONALIZE | PYTHON

CLONE, COPY_ = table("clone"), table("copy_")
CONJ_PHYSICAL_OUT, NEG_ = table("_conj_physical.out"), table("neg_")

EVERY_BACKEND = KernelTable("CompositeExplicitAutograd")


@cache
def passes(operator: Operator) -> bool:
    """Whether an operator may see the bits: it reads no element, or it is composed of operators that handle them."""
    schema = operator.schema
    return (
        schema.is_view
        or schema.is_factory
        or Tag.inplace_view in operator.tags
        or operator.has_kernel_for(DispatchKey.CompositeImplicitAutograd)
    )


def fallback_for(bit: int, name: str) -> Boxed:
    """The boxed kernel of one bit's key, `fallback(operator, keys, *arguments)`."""
    lower = below(name)

    def fallback(operator: Operator, keys: int, *arguments: Any) -> Any:
        keys &= lower
        if keys & FUNCTIONALIZE or passes(operator):  # the value of a functional tensor has the bit, too
            return operator.redispatch(keys, *arguments)
        written: list[tuple[Tensor, Tensor]] = []

        def resolved(value: Any, is_written: bool) -> Any:
            if isinstance(value, list | tuple):
                return [resolved(element, is_written) for element in value]
            if not isinstance(value, Tensor) or not value.key_set & bit:
                return value
            copy = clone(value)
            if is_written:
                written.append((value, copy))
            return copy

        parameters = operator.schema.arguments
        given = [resolved(value, p.type.is_write) for value, p in zip(arguments, parameters, strict=True)]
        result = operator.redispatch(keys, *given)
        for original, copy in written:
            if copy._shape != original._shape:  # an out= tensor that was resized
                original.resize_(copy._shape)
            copy_(original, copy)
        return _given_back(result, written)

    return fallback


def _given_back(result: Any, written: list[tuple[Tensor, Tensor]]) -> Any:
    """The results, with copies replaced by the tensors that were written to."""
    if isinstance(result, tuple) and written:
        values = [_given_back(value, written) for value in result]
        return type(result)(*values) if hasattr(result, "_fields") else type(result)(values)
    return next((original for original, copy in written if copy is result), result)


def clone(tensor: Tensor) -> Tensor:
    """A copy without the bits, without autograd or a version bump."""
    keys = _below_autograd(tensor.key_set)
    return CLONE[keys](keys, tensor, None)  # type: ignore[no-any-return]


def copy_(target: Tensor, source: Tensor) -> None:
    """Overwrite a tensor through its bits, without autograd or a version bump."""
    keys = _below_autograd(target.key_set | source.key_set)
    COPY_[keys](keys, target, source, False)


def _below_autograd(keys: int) -> int:
    """The keys of a call that starts below autograd, those of the modes that are on included."""
    included, allowed = active_keys.get()
    return (keys | included) & allowed & BELOW_ADINPLACEORVIEW


# Copies ---------------------------------------------------------------------------------------------------------


def change_stored(tensor: Tensor, bit: int) -> None:
    """Replace the stored elements by their conjugates or negatives, regardless of the tensor's bits."""
    stored = make_view(tensor, tensor._shape, tensor._strides, tensor._offset)
    stored.key_set &= ~MATH_BITS
    keys = stored.key_set & BELOW_ADINPLACEORVIEW
    if bit == NEGATIVE:
        NEG_[keys](keys, stored)
    elif stored.dtype.is_complex:
        CONJ_PHYSICAL_OUT[keys](keys, stored, stored)


@EVERY_BACKEND.impl("_conj_physical.out")
def negate_imaginary(keys: int, self: Tensor, out: Tensor) -> Tensor:
    """The conjugates on a device without complex arithmetic: a copy with the imaginary parts negated."""
    if out.dtype is not self.dtype:
        raise DtypeError(f"Found dtype {out.dtype.scalar_name} but expected {self.dtype.scalar_name}")
    resize_output(out, self._shape)
    check_writable(out, (self,))
    if out is not self:
        COPY_[keys](keys, out, self, False)
    if out.dtype.is_complex:
        parts = select(keys, view_as_real(keys, out), -1, 1)
        NEG_[keys](keys, parts)
    return out


def copies_for(bit: int, name: str) -> None:
    """Register the kernels of one bit's key for `clone` and `copy_`: they copy first, then apply the bit."""
    kernels, lower = KernelTable(name), below(name)

    @kernels.impl("clone")
    def clone_kernel(keys: int, self: Tensor, memory_format: memory_format | None) -> Tensor:
        keys &= lower
        result: Tensor = CLONE[keys](keys, self, memory_format)
        if not keys & ELSEWHERE:
            change_stored(result, bit)
        return result

    @kernels.impl("copy_")
    def copy_kernel(keys: int, self: Tensor, src: Tensor, non_blocking: bool) -> Tensor:
        keys &= lower
        if keys & ELSEWHERE:
            return COPY_[keys](keys, self, src, non_blocking)  # type: ignore[no-any-return]
        said = src.key_set & bit
        if said and src.dtype is not self.dtype:
            src, said = clone(src), 0  # the bit applies to elements of the source's dtype
        COPY_[keys](keys, self, src, non_blocking)
        if (self.key_set & bit) != said:
            change_stored(self, bit)
        return self


# The conjugate, computed ----------------------------------------------------------------------------------------


@EVERY_BACKEND.impl("conj_physical_")
def conj_physical_(keys: int, self: Tensor) -> Tensor:
    """Each element replaced by its conjugate."""
    if self.dtype.is_complex:
        change_stored(self, CONJUGATE)
    return self


@EVERY_BACKEND.impl("conj_physical.out")
def conj_physical_out(keys: int, self: Tensor, out: Tensor) -> Tensor:
    """The conjugates, written to `out`."""
    return CONJ_PHYSICAL_OUT[keys](keys, self, out)  # type: ignore[no-any-return]


for _bit, _name in ((CONJUGATE, "Conjugate"), (NEGATIVE, "Negative")):
    registry.fallbacks[DispatchKey[_name]] = Kernel(
        fallback_for(_bit, _name), DispatchKey[_name], caller(0), takes_keys=True
    )
    copies_for(_bit, _name)
