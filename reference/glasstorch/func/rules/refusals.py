"""What of a batch cannot be computed, as examples would differ in more than their elements?

Mirrors: aten/src/ATen/functorch/BatchRulesDynamic.cpp, BatchedFallback.cpp (vmapErrorFallback)
"""

from __future__ import annotations

from typing import Any, NoReturn

from glasstorch.dispatch.operator import Operator
from glasstorch.func.batching import Batch, full_name, incompatible
from glasstorch.func.wrapped import NO_VALUE, wrapping_by

ISSUES = "Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."


def dynamic_shape(batch: Batch, operator: Operator, arguments: list[Any]) -> NoReturn:
    """The size of the result depends on the elements."""
    raise RuntimeError(
        f"vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"{operator.name}. {ISSUES}"
    )


def number(batch: Batch, operator: Operator, arguments: list[Any]) -> NoReturn:
    """The result is a number of Python."""
    raise RuntimeError(NO_VALUE)


def comparison(batch: Batch, operator: Operator, arguments: list[Any]) -> NoReturn:
    """The result is a bool of Python."""
    raise RuntimeError(f"vmap over torch.{operator.name.partition('::')[2]} isn't supported yet. {ISSUES}")


def equality(batch: Batch, operator: Operator, arguments: list[Any]) -> NoReturn:
    """The result is a bool of Python, and PyTorch has no rule that refuses it."""
    raise RuntimeError(f"Batching rule not implemented for {operator.name}. We could not generate a fallback.")


def other_storage(batch: Batch, operator: Operator, arguments: list[Any]) -> NoReturn:
    """The tensor is to point at another storage, which an example has no part of.

    PyTorch changes what each example of a batch points at, which the batch does not see.
    """
    if wrapping_by(batch, arguments[0]) is None:
        raise incompatible(full_name(operator), f"at level {batch.level}")
    raise RuntimeError("vmap: set_ is not possible, as all examples lie in the storage of their batch; use copy_")


def special_handling(batch: Batch, operator: Operator, arguments: list[Any]) -> NoReturn:
    """The result is laid out as the argument, of which an example is a slice."""
    raise RuntimeError(
        f"Error: {operator.name} requires special handling, and does not yet have a batching rule. Feel free to file a "
        f"github issue!"
    )


def masked_select(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Refused where examples have masks of their own."""
    if batch.in_front(arguments[1])[1]:
        raise RuntimeError(
            f"vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because "
            f"for each batch this would return a differently shaped Tensor. {ISSUES}"
        )
    value, _ = batch.in_front(arguments[0])
    mask = arguments[1].expand(arguments[0]._shape) if arguments[1].ndim < arguments[0].ndim else arguments[1]
    value = value.expand((batch.size, *mask._shape)).reshape((batch.size, -1))
    return batch.around(value[:, mask.reshape(-1)])
