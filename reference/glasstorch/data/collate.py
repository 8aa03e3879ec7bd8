"""How do samples become a batch?

Mirrors: torch/utils/data/_utils/collate.py
Differs: a worker stacks small tensors in memory of its own, which is copied when the batch is sent; PyTorch's stacks
    all in shared memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import float64
from glasstorch.core.hooks import tensor_hooks
from glasstorch.core.keys import CPU_KEYS
from glasstorch.core.layout import strided
from glasstorch.core.shared_memory import SharedMemory
from glasstorch.core.storage import UntypedStorage
from glasstorch.data.containers import is_named_tuple, with_items, with_values
from glasstorch.data.worker_info import get_worker_info
from glasstorch.dispatch.active_keys import BY_DEFAULT, active_keys
from glasstorch.operators.generated import functions as f
from glasstorch.outside_data.creation import as_tensor, tensor

__all__ = ["collate", "default_collate", "default_convert"]

Kinds = type | tuple[type, ...]
CollateFunctions = dict[Kinds, Callable[..., Any]]
default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)
SHARED_FROM: Final = 1 << 20  # bytes of a batch from which copying it costs more than an open file
FEW: Final = 1 << 10  # elements of a sample, up to which finding the operator costs more than copying
TEXT_OR_OBJECTS: Final = "SaUO"  # kinds of NumPy's dtypes that no tensor has


def default_convert(data: Any) -> Any:
    """The data with each NumPy array and number in it, at any depth, as a tensor; arrays of text are left as they are.

    A loader that does not batch converts each sample in this way. A tuple becomes a list.
    """
    if isinstance(data, Tensor):
        return data
    kind = type(data)
    if isinstance(data, np.ndarray | np.generic) and not isinstance(data, np.str_):
        return data if isinstance(data, np.ndarray) and data.dtype.kind in TEXT_OR_OBJECTS else as_tensor(data)
    if isinstance(data, Mapping):
        return with_values(data, {key: default_convert(data[key]) for key in data})
    if is_named_tuple(data):
        return kind(*(default_convert(item) for item in data))
    if isinstance(data, tuple):
        return [default_convert(item) for item in data]
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return with_items(data, (default_convert(item) for item in data))
    return data


def collate(batch: Any, *, collate_fn_map: CollateFunctions | None = None) -> Any:
    """A batch of a list of samples: the function that the table has for the type of the first, applied to all.

    Without a function for the type itself, the first is taken whose type the sample is an instance of. Containers are
    collated by their keys or places. A function is called with the samples and the table.
    """
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        function = collate_fn_map.get(kind) or _function_for(first, collate_fn_map)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return with_values(
            first, {key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map) for key in first}
        )
    if is_named_tuple(first):
        return kind(*(collate(part, collate_fn_map=collate_fn_map) for part in zip(*batch, strict=False)))
    if isinstance(first, Sequence):
        size = len(first)
        if not all(len(sample) == size for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [collate(part, collate_fn_map=collate_fn_map) for part in zip(*batch, strict=True)]
        return parts if isinstance(first, tuple) else with_items(first, parts)
    raise TypeError(default_collate_err_msg_format.format(kind))


def _function_for(sample: object, table: CollateFunctions) -> Callable[..., Any] | None:
    return next((function for kinds, function in table.items() if isinstance(sample, kinds)), None)


def collate_tensor_fn(batch: Any, *, collate_fn_map: CollateFunctions | None = None) -> Tensor:
    """Tensors of the same shape stacked along a new first dimension."""
    if batch[0].layout is not strided:
        raise RuntimeError(
            "Batches of sparse tensors are not currently supported by the default collate_fn; please provide a custom "
            "collate_fn to handle them appropriately."
        )
    stacked = stacked_at_once(batch)
    if stacked is not None:
        return stacked
    return f.stack(batch, 0, out=_in_shared_memory(batch))


def _in_shared_memory(batch: Any) -> Tensor | None:
    """In a worker, the shared memory for a large batch, which is sent without being copied; None for other batches."""
    first = batch[0]
    shape, kind = (len(batch), *first.shape), first.dtype
    nbytes = math.prod(shape) * kind.itemsize
    if get_worker_info() is None or nbytes < SHARED_FROM or not first.is_cpu:
        return None
    if any(one.dtype is not kind or one.requires_grad for one in batch):
        return None
    storage = UntypedStorage.over_shared(SharedMemory.allocate(nbytes))
    return tensor_hooks.make(storage, kind, shape, None, 0)


def stacked_at_once(batch: Any) -> Tensor | None:  # hot path: benchmarks/dataloader.py
    """What `stack(batch, 0)` returns for small tensors that need no gradient, by one call of NumPy's.

    None for other tensors, and while a mode is active that has to see each operator.
    """
    first = batch[0]
    shape, kind = first._shape, first.dtype
    if first.numel() > FEW or active_keys.get() != BY_DEFAULT:
        return None
    for one in batch:
        if type(one) is not Tensor or one.key_set != CPU_KEYS or one.dtype is not kind or one._shape != shape:
            return None
        if one._autograd_meta is not None and one.requires_grad:
            return None
    arrays = [one.array() for one in batch]
    if not shape:
        return wrap(np.array(arrays, kind.numpy), kind)
    return wrap(np.concatenate(arrays).reshape(len(batch), *shape), kind)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: CollateFunctions | None = None) -> Any:
    """Arrays as tensors, then collated as those; arrays of text and objects are refused."""
    if batch[0].dtype.kind in TEXT_OR_OBJECTS:
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: CollateFunctions | None = None) -> Tensor:
    """NumPy's numbers as a tensor of their dtype."""
    return as_tensor(batch)


def collate_float_fn(batch: Any, *, collate_fn_map: CollateFunctions | None = None) -> Tensor:
    """Python's floats as a tensor of float64."""
    return tensor(batch, dtype=float64)


def collate_int_fn(batch: Any, *, collate_fn_map: CollateFunctions | None = None) -> Tensor:
    """Python's ints as a tensor of int64, and its bools as one of bool."""
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: CollateFunctions | None = None) -> Any:
    """Texts as they are."""
    return batch


default_collate_fn_map: CollateFunctions = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Any) -> Any:
    """A batch of a list of samples: tensors stacked, numbers made tensors, containers collated by their parts.

    Texts stay in a list; a tuple becomes a list. `default_collate_fn_map` is the table, which a program may extend.

    >>> default_collate([{"x": 1, "name": "a"}, {"x": 2, "name": "b"}])
    {'x': tensor([1, 2]), 'name': ['a', 'b']}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
