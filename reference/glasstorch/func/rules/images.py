"""What do operators of images, which are in batches already, do to a batch?

Mirrors: aten/src/ATen/functorch/BatchRulesConvolution.cpp, BatchRulesPooling.cpp, BatchRulesModules.cpp
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.dispatch.operator import Operator, tensors_of
from glasstorch.func.batching import Batch
from glasstorch.func.layers import call, map_tensors


def folded(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """An operator whose first dimension is a batch already: the two become one."""
    values = batch.fronts(arguments, everything=True)
    size = next(tensors_of(values))._shape[:2]
    for place, argument in enumerate(operator.schema.arguments):
        if argument.name == "input_size":
            values[place] = [size[0] * arguments[place][0], *arguments[place][1:]]
    joined = map_tensors(lambda tensor: tensor.reshape((-1, *tensor._shape[2:])), values)
    result = call(operator, joined)
    return batch.around(map_tensors(lambda tensor: tensor.reshape((*size, *tensor._shape[1:])), [result])[0])


def _groups(tensor: Tensor) -> Tensor:
    """Of a batch (B, N, C, ...) the examples side by side: (N, B * C, ...)."""
    tensor = tensor.movedim(0, 1)
    return tensor.reshape((tensor._shape[0], -1, *tensor._shape[3:]))


def _rows(tensor: Tensor) -> Tensor:
    """Of a batch (B, N, ...) all rows: (B * N, ...)."""
    return tensor.reshape((-1, *tensor._shape[2:]))


def convolution(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Images of all examples are more images; weights of all examples are more groups of channels."""
    image, weight, bias, *more, groups = arguments
    (value, has_image), (kernel, has_kernel) = batch.in_front(image), batch.in_front(weight)
    if not has_kernel:
        own = bias is not None and batch.in_front(bias)[1]
        rows = _rows(value) if has_image else value
        result = call(operator, [rows, kernel, None if own else bias, *more, groups])
        result = result.reshape((batch.size, -1, *result._shape[1:])) if has_image else result.unsqueeze(0)
        bias = bias if own else None
    elif has_image:
        result = call(operator, [_groups(value), _rows(kernel), None, *more, groups * batch.size])
        result = result.reshape((result._shape[0], batch.size, -1, *result._shape[2:])).movedim(1, 0)
    else:  # (B, G * o, ...) as (G * B * o, ...), or transposed (B, i, o, ...) as (i, B * o, ...)
        if more[3]:
            joined = _groups(kernel)
        else:
            joined = kernel.reshape((batch.size, groups, -1, *kernel._shape[2:])).movedim(0, 1)
            joined = joined.reshape((-1, *kernel._shape[2:]))
        result = call(operator, [value, joined, None, *more, groups])
        shape = result._shape
        result = result.reshape((shape[0], groups, batch.size, -1, *shape[2:])).movedim(2, 0)
        result = result.reshape((batch.size, shape[0], -1, *shape[2:]))
    if bias is not None:
        added, is_batched = batch.in_front(bias)
        result = result + added.reshape((batch.size if is_batched else 1, 1, -1, *[1] * (image.ndim - 2)))
    return batch.around(result)


def convolution_backward(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """The gradients of images as those of more images; those of weights as those of more groups of channels."""
    grad, image, weight, biases, *more, groups, mask = arguments
    values = [batch.expanded(tensor) for tensor in (grad, image, weight)]
    for_image = for_weight = for_bias = None
    if mask[0] and not batch.in_front(weight)[1]:
        given = [_rows(values[0]), _rows(values[1]), weight]
        made = call(operator, [*given, biases, *more, groups, [True, False, False]])[0]
        for_image = made.reshape((batch.size, -1, *made._shape[1:]))
    wanted = [mask[0] and for_image is None, mask[1], False]
    if any(wanted):
        given = [_groups(values[0]), _groups(values[1]), _rows(values[2])]
        made = call(operator, [*given, biases, *more, groups * batch.size, wanted])
        if wanted[0]:
            for_image = made[0].reshape((made[0]._shape[0], batch.size, -1, *made[0]._shape[2:])).movedim(1, 0)
        if wanted[1]:
            for_weight = made[1].reshape((batch.size, -1, *made[1]._shape[1:]))
    if mask[2]:
        for_bias = values[0].sum([1, *range(3, values[0].ndim)])
    return batch.around((for_image, for_weight, for_bias))
