"""What do copies, fills and reads do on meta tensors?

Mirrors: torch/_meta_registrations.py, aten/src/ATen/native/Copy.cpp
"""

from __future__ import annotations

from typing import Any, NoReturn

from glasstorch._tensor import Tensor, empty, empty_strided
from glasstorch.core.device import META as NOWHERE
from glasstorch.core.errors import NoDataError, StorageError
from glasstorch.core.layout import memory_format
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.copies import check_copy, same_elements, strides_of_copy

META = KernelTable("Meta")


@META.impl("copy_")
def copy_(keys: int, self: Tensor, src: Tensor, non_blocking: bool) -> Tensor:
    """Write nothing; the sizes must fit. A tensor with data cannot be filled from one without."""
    if self.device is not NOWHERE:
        raise NoDataError("Cannot copy out of meta tensor; no data!")
    if not same_elements(self, src):
        check_copy(self, src)
    return self


@META.impl("clone")
def clone(keys: int, self: Tensor, memory_format: memory_format | None) -> Tensor:
    """Another tensor of these sizes."""
    strides = strides_of_copy(self, memory_format)
    if strides is None:
        return empty(self._shape, self.dtype, NOWHERE)
    return empty_strided(self._shape, strides, self.dtype, NOWHERE)


@META.impl("fill_.Scalar", "zero_")
def nothing_to_write(keys: int, self: Tensor, *arguments: Any) -> Tensor:
    """The tensor itself."""
    return self


@META.impl("_local_scalar_dense")
def local_scalar_dense(keys: int, self: Tensor) -> NoReturn:
    """Refused: there is no element to read."""
    raise StorageError("Tensor.item() cannot be called on meta tensors")
