"""What of a schema decides what may be registered for its operator?

Mirrors: torch/_library/utils.py (is_functional_schema, has_kwarg_only_tensors, mutated_args_kwargs and their like)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.operator import Operator
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.dispatch.tags import Tag


def is_mutable(schema: FunctionSchema) -> bool:
    """Whether the operator writes to an argument."""
    return any(a.type.is_write for a in schema.arguments)


def is_view(schema: FunctionSchema) -> bool:
    """Whether a result shares the memory of an argument, which is not written to."""
    return any(r.type.alias is not None and not r.type.is_write for r in schema.returns)


def is_functional(schema: FunctionSchema, allow_valid_view: bool = False) -> bool:
    """Whether the operator writes to nothing and returns new values; a view of one tensor counts where allowed."""
    if is_mutable(schema) or not schema.returns:
        return False
    if not is_view(schema):
        return True
    given = sum(a.type.is_tensor_like for a in schema.arguments)
    return allow_valid_view and given == 1 and sum(r.type.is_tensor_like for r in schema.returns) == 1


def has_tensor(schema: FunctionSchema) -> bool:
    """Whether an argument is a tensor or a list of tensors."""
    return any(a.type.is_tensor_like for a in schema.arguments)


def has_tensor_by_name(schema: FunctionSchema) -> bool:
    """Whether a tensor has to be given by name."""
    return any(a.type.is_tensor_like for a in schema.keyword_only)


def has_tensor_list(schema: FunctionSchema) -> bool:
    """Whether an argument or a result is a list of tensors."""
    kinds = [*(a.type for a in schema.arguments), *(r.type for r in schema.returns)]
    return any(kind.is_tensor_like and kind.is_list for kind in kinds)


def place_of_device(schema: FunctionSchema) -> int | None:
    """The place of the argument `device`, None where there is none."""
    return next((i for i, a in enumerate(schema.arguments) if a.type.base == "Device" and a.name == "device"), None)


def is_out(operator: Operator) -> bool:
    return Tag.out in operator.tags


def is_inplace(operator: Operator) -> bool:
    return Tag.inplace in operator.tags


def written(schema: FunctionSchema) -> list[int]:
    """The places of the arguments that the operator writes to."""
    return [i for i, a in enumerate(schema.arguments) if a.type.is_write]


def can_be_faked_without_a_kernel(operator: Operator) -> bool:
    """Whether it is known without a kernel what a call returns: what it was given to write to, or nothing."""
    return is_out(operator) or is_inplace(operator) or (is_mutable(operator.schema) and not operator.schema.returns)


def tensors_in(values: Sequence[Any]) -> Iterator[TensorImpl]:
    """The tensors among values and in the lists among them."""
    for value in values:
        if isinstance(value, TensorImpl):
            yield value
        elif isinstance(value, list | tuple):
            for one in value:
                if isinstance(one, TensorImpl):
                    yield one


def memory_of(tensor: TensorImpl) -> int:
    """What is the same for two tensors that share memory; a tensor whose storage was never asked for shares none."""
    return id(tensor if tensor._storage is None else tensor._storage)
