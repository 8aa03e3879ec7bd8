"""What does autocast do to the arguments of an operator before it runs?

A policy makes the kernel of an operator under autocast's key. Each kernel masks the key for what it calls, so that the
operators which an operator is composed of do not cast again; casts lie above autograd's key, so that they are recorded.

Mirrors: aten/src/ATen/autocast_mode.h (CastPolicy, WrapFunction_), autocast_mode.cpp (binary_cross_entropy_banned)
Differs: a kernel reads from the schema which of its arguments are tensors, where C++ has an overload for each type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from glasstorch.amp.casts import cast, cast_list, is_eligible, widest
from glasstorch.amp.settings import DEVICES, lower_precision
from glasstorch.core.device import PRIVATE_USE
from glasstorch.core.dtype import dtype, float32
from glasstorch.core.errors import DtypeError
from glasstorch.core.keys import BACKEND_BIT, FUNCTIONALITY_BIT, below
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.operator import Boxed, Operator, registry


@dataclass(frozen=True)
class Cast:
    """An operator on a type of device for which autocast has a kernel."""

    operator: Operator
    device: str

    @cached_property
    def tensors(self) -> tuple[int, ...]:
        """The positions of its arguments that are tensors, or may be None."""
        return tuple(
            i for i, a in enumerate(self.operator.schema.arguments) if a.type.is_tensor_like and not a.type.is_list
        )

    @cached_property
    def lists(self) -> tuple[int, ...]:
        """The positions of its arguments that are lists of tensors."""
        arguments = self.operator.schema.arguments
        return tuple(i for i, a in enumerate(arguments) if a.type.base == "Tensor" and a.type.is_list)

    @property
    def backend(self) -> int:
        """The bit that a tensor must have to be cast."""
        return BACKEND_BIT["PrivateUse1" if self.device == PRIVATE_USE else self.device.upper()]

    @property
    def bit(self) -> int:
        """The bit of autocast's key."""
        return FUNCTIONALITY_BIT[DEVICES[self.device].key]

    @property
    def below(self) -> int:
        """What is kept of a call's key set for the next kernel."""
        return below(DEVICES[self.device].key)


def lower_precision_fp(of: Cast) -> Boxed:
    """Casts to the dtype of the running block: matrix products and convolutions, which are fast in it."""
    return _cast_to(of, None)


def fp32(of: Cast) -> Boxed:
    """Casts to float32: what would overflow, or lose too much, in fewer bits."""
    return _cast_to(of, float32)


def _cast_to(of: Cast, fixed: dtype | None) -> Boxed:
    """The kernel that casts all arguments to one dtype, or to that of the running block."""
    table, tensors, lists, backend, bit, below = of.operator.table, of.tensors, of.lists, of.backend, of.bit, of.below
    device = of.device

    def kernel(keys: int, *arguments: Any) -> Any:  # hot path: benchmarks/amp.py
        included, allowed = active_keys.get()
        token = active_keys.set((included, allowed & ~bit))
        try:
            lower = lower_precision.get()[device]
            to = fixed or lower
            given: Any = arguments
            for i in tensors:
                argument = arguments[i]
                if argument is not None and argument.dtype is not to:
                    if given is arguments:
                        given = [*arguments]
                    given[i] = cast(argument, to, lower, backend)
            if lists:
                given = [*given]
                for i in lists:
                    given[i] = cast_list(arguments[i], to, lower, backend)
            keys &= below
            return table[keys](keys, *given)
        finally:
            active_keys.reset(token)

    return kernel


def fp32_set_opt_dtype(of: Cast) -> Boxed:
    """Asks for a result in float32, of an operator that has an optional `dtype`, unless the caller gave one."""
    table, backend, bit, below = of.operator.table, of.backend, of.bit, of.below
    at = [a.name for a in of.operator.schema.arguments].index("dtype")

    def kernel(keys: int, *arguments: Any) -> Any:
        included, allowed = active_keys.get()
        token = active_keys.set((included, allowed & ~bit))
        try:
            if arguments[at] is None and is_eligible(arguments[0], backend):
                arguments = (*arguments[:at], float32, *arguments[at + 1 :])
            keys &= below
            return table[keys](keys, *arguments)
        finally:
            active_keys.reset(token)

    return kernel


def fp32_append_dtype(of: Cast) -> Boxed:
    """Calls the overload that takes a `dtype` besides, with float32."""
    wanted = [*(a.name for a in of.operator.schema.arguments), "dtype"]
    named = of.operator.name.removeprefix("aten::").partition(".")[0]
    with_dtype = next(
        other for other in registry.overloads("aten", named) if [a.name for a in other.schema.arguments] == wanted
    )
    table, backend, bit, below = with_dtype.table, of.backend, of.bit, of.below

    def kernel(keys: int, *arguments: Any) -> Any:
        included, allowed = active_keys.get()
        token = active_keys.set((included, allowed & ~bit))
        try:
            to = float32 if is_eligible(arguments[0], backend) else arguments[0].dtype
            keys &= below
            return table[keys](keys, *arguments, to)
        finally:
            active_keys.reset(token)

    return kernel


def promote(of: Cast) -> Boxed:
    """Casts to the widest dtype among the arguments, of an operator that wants one for all."""
    table, tensors, lists, backend, bit, below = of.operator.table, of.tensors, of.lists, of.backend, of.bit, of.below
    device = of.device

    def kernel(keys: int, *arguments: Any) -> Any:
        included, allowed = active_keys.get()
        token = active_keys.set((included, allowed & ~bit))
        try:
            lower = lower_precision.get()[device]
            given = [*arguments]
            to = widest([given[i] for i in (*tensors, *lists)], lower, backend)
            for i in tensors:
                if given[i] is not None:
                    given[i] = cast(given[i], to, lower, backend)
            for i in lists:
                given[i] = cast_list(given[i], to, lower, backend)
            keys &= below
            return table[keys](keys, *given)
        finally:
            active_keys.reset(token)

    return kernel


def banned(of: Cast) -> Boxed:
    """Refuses: the loss of probabilities, whose logarithm of a rounded 0 or 1 is infinite."""

    def kernel(keys: int, *arguments: Any) -> Any:
        raise DtypeError(
            "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\nMany models use a "
            "sigmoid layer right before the binary cross entropy layer.\nIn this case, combine the two layers using "
            "torch.nn.functional.binary_cross_entropy_with_logits\nor torch.nn.BCEWithLogitsLoss.  "
            "binary_cross_entropy_with_logits and BCEWithLogits are\nsafe to autocast."
        )

    return kernel


# The words of the operator table -> what makes the kernel
POLICIES: Final[dict[str, Callable[[Cast], Boxed]]] = {
    policy.__name__: policy
    for policy in (lower_precision_fp, fp32, fp32_set_opt_dtype, fp32_append_dtype, promote, banned)
}
