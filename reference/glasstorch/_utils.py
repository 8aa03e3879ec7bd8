"""Which functions of torch._utils do programs and pickles call?

Mirrors: torch/_utils.py
Differs: how a pickled tensor is rebuilt is in serialization/rebuild.py, and how an error reaches another process in
    core/exception_wrapper.py. PyTorch's file has more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ArgumentError
from glasstorch.core.exception_wrapper import ExceptionWrapper as ExceptionWrapper
from glasstorch.core.exception_wrapper import KeyErrorMessage as KeyErrorMessage
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.operators.generated.functions import cat
from glasstorch.serialization.rebuild import device_tensor as _rebuild_device_tensor_from_cpu_tensor
from glasstorch.serialization.rebuild import device_tensor as _rebuild_device_tensor_from_numpy
from glasstorch.serialization.rebuild import meta_tensor as _rebuild_meta_tensor_no_storage
from glasstorch.serialization.rebuild import nested_tensor as _rebuild_nested_tensor
from glasstorch.serialization.rebuild import parameter as _rebuild_parameter
from glasstorch.serialization.rebuild import parameter_with_state as _rebuild_parameter_with_state
from glasstorch.serialization.rebuild import quantized_tensor as _rebuild_qtensor
from glasstorch.serialization.rebuild import sparse_tensor as _rebuild_sparse_tensor
from glasstorch.serialization.rebuild import tensor as _rebuild_tensor
from glasstorch.serialization.rebuild import tensor_v2 as _rebuild_tensor_v2
from glasstorch.serialization.rebuild import tensor_v3 as _rebuild_tensor_v3
from glasstorch.serialization.rebuild import wrapper_subclass as _rebuild_wrapper_subclass

__all__ = [
    "ExceptionWrapper",
    "KeyErrorMessage",
    "_element_size",
    "_flatten_dense_tensors",
    "_rebuild_device_tensor_from_cpu_tensor",
    "_rebuild_device_tensor_from_numpy",
    "_rebuild_meta_tensor_no_storage",
    "_rebuild_nested_tensor",
    "_rebuild_parameter",
    "_rebuild_parameter_with_state",
    "_rebuild_qtensor",
    "_rebuild_sparse_tensor",
    "_rebuild_tensor",
    "_rebuild_tensor_v2",
    "_rebuild_tensor_v3",
    "_rebuild_wrapper_subclass",
    "_take_tensors",
    "_unflatten_dense_tensors",
]


def _flatten_dense_tensors(tensors: Iterable[Tensor]) -> Tensor:
    """The elements of all tensors in one tensor of one dimension; of one contiguous tensor, a view."""
    rows = [tensor.contiguous().view(-1) for tensor in tensors]
    return rows[0] if len(rows) == 1 else cat(rows)


def _unflatten_dense_tensors(flat: Tensor, tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Views of a flat tensor with the shapes of these tensors, one after the other."""
    parts, start = [], 0
    for tensor in tensors:
        parts.append(flat.narrow(0, start, tensor.numel()).view(tensor.shape))
        start += tensor.numel()
    return tuple(parts)


def _take_tensors(tensors: Sequence[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Groups of tensors of one dtype and device, of at most so many bytes each; a larger tensor is alone in its group.

    The order is kept among the tensors of one dtype and device.
    """
    groups: dict[str, tuple[list[Tensor], int]] = {}
    for tensor in tensors:
        kind, size = str(tensor.type()), tensor.nbytes
        group, total = groups.get(kind, ([], 0))
        if total > 0 and total + size > size_limit:
            yield group
            group, total = [], 0
        groups[kind] = ([*group, tensor], total + size)
    yield from (group for group, _ in groups.values())


def _element_size(dtype: Dtype) -> int:
    """How many bytes an element of a dtype has."""
    if not isinstance(dtype, Dtype):
        raise ArgumentError(f"expected torch.dtype, but got {type(dtype)}")
    return dtype.itemsize


__getattr__ = refuse_unknown_names("glasstorch._utils")
