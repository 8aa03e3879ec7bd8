"""What does an operator that draws random numbers do to a batch?

Mirrors: aten/src/ATen/functorch/BatchRulesRandomness.cpp

`randomness` of vmap says whether all examples get the same numbers, others each, or an error. Others for each are drawn
at once, as one tensor with the batch in front.
"""

from __future__ import annotations

from typing import Any

from glasstorch.dispatch.operator import Operator, tensors_of
from glasstorch.func.batching import Batch, incompatible, one_by_one
from glasstorch.func.layers import call, map_tensors
from glasstorch.func.rules.elements import aligned
from glasstorch.func.wrapped import refresh, wrapping_by

NO_RANDOMNESS = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
    "randomness flags on vmap or perform the randomness operation out of vmap"
)
NOT_THE_SAME = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch"
)
NOT_DIFFERENT = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. "
    "If this is necessary for your usage, please file an issue with functorch."
)


def drawn(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Random numbers in the mode of vmap: new ones, or in place of a tensor's elements."""
    if batch.randomness == "error":
        raise RuntimeError(NO_RANDOMNESS)
    if operator.schema.is_inplace:
        return in_place(batch, operator, arguments)
    names = [argument.name for argument in operator.schema.arguments]
    if not any(True for _ in tensors_of(arguments)):
        if batch.randomness == "same":
            return call(operator, arguments)
        if "size" not in names:
            return one_by_one(batch, operator, arguments)
        place = names.index("size")
        return batch.around(
            call(operator, [*arguments[:place], [batch.size, *arguments[place]], *arguments[place + 1 :]])
        )
    return of_tensors(batch, operator, arguments)


def of_tensors(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Numbers whose distribution, or number, is told by tensors."""
    some = any(wrapping_by(batch, tensor) is not None for tensor in tensors_of(arguments))
    if batch.randomness == "same":
        if not some:
            return call(operator, arguments)
        if operator.schema.name.endswith("_like"):
            return call(operator, map_tensors(lambda tensor: batch.in_front(tensor)[0].select(0, 0), arguments))
        raise RuntimeError(NOT_THE_SAME)
    if not some:
        return batch.around(call(operator, batch.fronts(arguments, everything=True)))
    return batch.around(call(operator, aligned(batch, arguments)))


def in_place(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Numbers in place of a tensor's elements."""
    own, *others = (wrapping_by(batch, tensor) is not None for tensor in tensors_of(arguments))
    if own:
        batch.check_writable(operator, arguments)
    elif any(others):
        raise incompatible(f"inplace {operator.schema.name.removesuffix('_')}")
    if batch.randomness == "different":
        if not own:
            raise RuntimeError(NOT_DIFFERENT)
        call(operator, aligned(batch, arguments))
    elif any(others):
        raise RuntimeError(NOT_THE_SAME)
    elif own:
        value, _ = batch.in_front(arguments[0])
        value.copy_(call(operator, [value.new_empty(value._shape[1:]), *arguments[1:]]))
    else:
        call(operator, arguments)
    if own:
        refresh(arguments[0])
    return arguments[0]


def multinomial(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Draws of categories, of which each row of a matrix has its own probabilities."""
    if batch.randomness == "error":
        raise RuntimeError(NO_RANDOMNESS)
    value, some = batch.in_front(arguments[0])
    if batch.randomness == "same":
        if some:
            raise RuntimeError(NOT_THE_SAME)
        return call(operator, arguments)
    value = value if some else value.expand((batch.size, *value._shape))
    drawn = call(operator, [value.reshape((-1, value._shape[-1])), *arguments[1:]])
    return batch.around(drawn.reshape((*value._shape[:-1], drawn._shape[-1])))


def example_by_example(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """An operator that draws in a way that a tensor with the batch in front would change."""
    if batch.randomness == "error":
        raise RuntimeError(NO_RANDOMNESS)
    some = any(wrapping_by(batch, tensor) is not None for tensor in tensors_of(arguments))
    if batch.randomness == "same":
        if some:
            raise RuntimeError(NOT_THE_SAME)
        return call(operator, arguments)
    return one_by_one(batch, operator, arguments)
