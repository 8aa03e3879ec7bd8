"""One index_select along the next dimension if the positions are shared, else a gather with the positions expanded."""

from typing import Any

import glasstorch as torch


def index_select(batch: Any, operator: Any, arguments: list[Any]) -> Any:
    """The batch of the results of all examples.

    `arguments` are those of the call: the tensor, the dimension, the index.
    """
    tensor, dim, index = arguments
    dim = dim % tensor.ndim + 1
    positions, differ = batch.in_front(index)
    value = batch.expanded(tensor)
    if not differ:
        return batch.around(torch.index_select(value, dim, positions))
    shape = [1] * value.ndim
    shape[0], shape[dim] = positions.shape
    sizes = list(value.shape)
    sizes[dim] = positions.shape[1]
    return batch.around(torch.gather(value, dim, positions.reshape(shape).expand(sizes)))
