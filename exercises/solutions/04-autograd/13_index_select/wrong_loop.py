"""Loops over the examples.

Refused by: check
"""

from typing import Any

import glasstorch as torch


def index_select(batch: Any, operator: Any, arguments: list[Any]) -> Any:
    """The batch of what each example selects.

    `arguments` are those of the call: the tensor, the dimension, the index.
    """
    tensor, dim, index = arguments
    value, positions = batch.expanded(tensor), batch.expanded(index)
    pairs = zip(value.unbind(), positions.unbind(), strict=True)
    return batch.around(torch.stack([torch.index_select(x, dim, i) for x, i in pairs]))
