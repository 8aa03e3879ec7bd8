"""What does a tensor consist of that is not strided?

Mirrors: aten/src/ATen/SparseTensorImpl.h, SparseCsrTensorImpl.h, c10/core/Layout.h
Differs: the parts are values that a tensor of these layouts holds, where PyTorch has a class of TensorImpl for each.

A sparse tensor has no storage of its own. What it has instead is a few strided tensors, and each of those has one: the
places of the elements that are specified, and their values.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from glasstorch.core.device import device
from glasstorch.core.errors import MissingKernelError, StorageError
from glasstorch.core.layout import layout as Layout
from glasstorch.core.layout import sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr
from glasstorch.core.storage import Storage
from glasstorch.core.warn_once import warn_once

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

COMPRESSED_LAYOUTS = (sparse_csr, sparse_csc, sparse_bsr, sparse_bsc)
ROW_COMPRESSED = (sparse_csr, sparse_bsr)  # the others compress columns
BLOCKED = (sparse_bsr, sparse_bsc)
BETA = {
    of: f"Sparse {of.name.removeprefix('sparse_').upper()} tensor support is in beta state. If you miss a "
    "functionality in the sparse tensor support, please submit a feature request to "
    "https://github.com/pytorch/pytorch/issues."
    for of in COMPRESSED_LAYOUTS
}


class CooParts:
    """The places of elements as columns of indices, and the elements.

    `indices` is (sparse_dim, nnz), int64; `values` is (nnz, *dense sizes). Coalesced means that no place occurs twice
    and that the places are in row-major order.
    """

    __slots__ = ("coalesced", "indices", "values")

    layout: Layout = sparse_coo
    impl = "SparseTensorImpl"  # what PyTorch's errors call such a tensor

    def __init__(self, indices: Tensor, values: Tensor, coalesced: bool) -> None:
        self.indices, self.values, self.coalesced = indices, values, coalesced

    def again(self) -> CooParts:
        """The same tensors for another sparse tensor, which may come to hold others."""
        return CooParts(self.indices, self.values, self.coalesced)

    @property
    def sparse_dim(self) -> int:
        """How many leading dimensions the indices run over."""
        return self.indices._shape[0]

    @property
    def dense_dim(self) -> int:
        """How many trailing dimensions each element has."""
        return len(self.values._shape) - 1

    @property
    def nnz(self) -> int:
        """How many elements are specified; a place that occurs twice counts twice."""
        return self.values._shape[0]


class CompressedParts:
    """For each row (or column), where its elements begin; the other index of each element; and the elements.

    `compressed` is (*batch, rows + 1), `plain` is (*batch, nnz), `values` is (*batch, nnz, *block, *dense sizes): an
    element of the layouts with blocks is a matrix.
    """

    __slots__ = ("compressed", "layout", "plain", "values")

    layout: Layout
    impl = "SparseCsrTensorImpl"
    sparse_dim = 2

    def __init__(self, of: Layout, compressed: Tensor, plain: Tensor, values: Tensor) -> None:
        warn_once(BETA[of], "compressed layouts")  # as PyTorch: at the first one of a process, of whichever layout
        self.layout, self.compressed, self.plain, self.values = of, compressed, plain, values

    def again(self) -> CompressedParts:
        """The same tensors for another sparse tensor, which may come to hold others."""
        return CompressedParts(self.layout, self.compressed, self.plain, self.values)

    @property
    def batch_dim(self) -> int:
        """How many leading dimensions each have a matrix of their own."""
        return len(self.compressed._shape) - 1

    @property
    def block_dim(self) -> int:
        """2 where the elements are blocks, else 0."""
        return 2 if self.layout in BLOCKED else 0

    @property
    def dense_dim(self) -> int:
        """How many trailing dimensions each element has."""
        return len(self.values._shape) - self.batch_dim - 1 - self.block_dim

    @property
    def blocksize(self) -> tuple[int, ...]:
        """The sizes of a block; () where the elements are none."""
        start = self.batch_dim + 1
        return self.values._shape[start : start + self.block_dim]

    @property
    def nnz(self) -> int:
        """How many elements, or blocks, are specified in each matrix."""
        return self.plain._shape[-1]


Parts = CooParts | CompressedParts


class NoStorage(Storage):
    """Stands where a tensor has its storage, and says which device the parts are on; nobody outside gets to see it.

    A kernel of views asks a storage for its generation. This one refuses, so that no kernel for strided tensors makes
    a view of a sparse one.
    """

    __slots__ = ("layout",)

    def __init__(self, on: device, layout: Layout) -> None:
        self.memory = self.block = self.lazy = self.shared = None
        self.device, self.layout, self.may_resize, self.cloned_at_once = on, layout, False, False
        self._nbytes = 0

    @property
    def generation(self) -> int:  # type: ignore[override]
        """Refused, in the words that PyTorch has where a view is asked for."""
        if self.layout is not sparse_coo:
            raise without_strides(self.layout)
        backend = f"Sparse{BACKEND_OF_TYPE[self.device.type]}"
        raise MissingKernelError(f"Could not run 'aten::as_strided' with arguments from the '{backend}' backend.")


@cache
def no_storage(on: device, layout: Layout) -> NoStorage:
    """The one that all tensors of a layout share on a device."""
    return NoStorage(on, layout)


def without_strides(layout: Layout) -> StorageError:
    """The error of a view that is arithmetic on strides, of a tensor of a compressed layout."""
    return StorageError(f"Sparse {layout.name.removeprefix('sparse_').upper()} tensors do not have strides")


BACKEND_OF_TYPE = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta"}
