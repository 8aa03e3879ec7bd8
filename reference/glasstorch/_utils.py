"""Which functions of torch._utils do programs and pickles call?

Mirrors: torch/_utils.py
Differs: re-exports, but for the two functions of flattened tensors: how a pickled tensor is rebuilt is in
    serialization/rebuild.py, and how an error reaches another process in core/exception_wrapper.py. PyTorch's file has
    more.
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor
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
    "_unflatten_dense_tensors",
]


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """One tensor of one dimension with the elements of all, in their order: a copy of them."""
    return cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of a flat tensor with the shapes of these tensors, one behind the other."""
    parts = flat.split([tensor.numel() for tensor in tensors])
    return tuple(part.view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True))


__getattr__ = refuse_unknown_names("glasstorch._utils")
