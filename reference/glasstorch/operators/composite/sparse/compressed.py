"""How are tensors of the compressed sparse layouts checked and made, and when is one converted?

Mirrors: aten/src/ATen/native/sparse/SparseCsrTensor.cpp, aten/src/ATen/native/TensorConversions.cpp (to_sparse_csr),
    aten/src/ATen/native/sparse/ValidateCompressedIndicesCommon.h
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.layout import layout as Layout
from glasstorch.core.layout import sparse_bsc, sparse_bsr, sparse_csc, sparse_csr, strided
from glasstorch.core.sparse_parts import BLOCKED, COMPRESSED_LAYOUTS, ROW_COMPRESSED
from glasstorch.core.tensor_impl import Array
from glasstorch.operators.composite.sparse.coo import SAID, check_conversion
from glasstorch.operators.direct import on_tensor, on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

compressed_tensor = on_tensors("sparse_compressed_tensor.comp_plain_value_size")
compressed_unchecked = on_tensors("_sparse_compressed_tensor_unsafe")
_sized_like_indices = on_tensors("sparse_compressed_tensor.comp_plain_value")

# Checks -----------------------------------------------------------------------------------------------------------


def index_names(of: Layout) -> tuple[str, str]:
    """What the two tensors of indices are called."""
    return ("crow_indices", "col_indices") if of in ROW_COMPRESSED else ("ccol_indices", "row_indices")


def expected_compressed(name: str, got: Layout | None) -> ArgumentError:
    """The error of a layout that is not a compressed one."""
    said = "none" if got is None else SAID[got.name]
    what = "expected sparse compressed tensor layout but got"
    return ArgumentError(f"{name} {what} {said}")


def check_layout(name: str, given: Layout | None) -> Layout:
    """The layout, which must be a compressed one."""
    if given is None or given not in COMPRESSED_LAYOUTS:
        raise expected_compressed(name, given)
    return given


def check_compressed(
    compressed_indices: Tensor,
    plain_indices: Tensor,
    values: Tensor,
    size: Sequence[int],
    layout: Layout,
    check_pinning: bool | None,
) -> None:
    """Refuse parts that make no tensor of a compressed layout of these sizes."""
    check_layout("validate_sparse_compressed_tensor_args", layout)
    names = index_names(layout)
    for name, part in zip((*names, "values"), (compressed_indices, plain_indices, values), strict=True):
        if part.layout is not strided:
            raise ArgumentError(f"expected {name} to be a strided tensor but got {SAID[part.layout.name]} tensor")
    batch_dim, dense_dim = check_ranks(compressed_indices, plain_indices, values, layout)
    if len(size) != batch_dim + 2 + dense_dim:
        raise ShapeError(
            f"tensor dimensionality must be sum of batch, base, and dense dimensionalities (={batch_dim} + 2 + "
            f"{dense_dim}) but got {len(size)}"
        )
    for name, part in zip(names, (compressed_indices, plain_indices), strict=True):
        if part._shape[-1] > 1 and part.strides()[-1] != 1:
            raise ArgumentError(f"expected {name} to be a contiguous tensor per batch")
    check_sizes(compressed_indices, plain_indices, values, tuple(size), layout, batch_dim)
    for name, part in zip(names, (compressed_indices, plain_indices), strict=True):
        if part.dtype is not compressed_indices.dtype:
            one, two = compressed_indices.dtype.scalar_name, part.dtype.scalar_name
            raise DtypeError(f"{names[0]} and {name} must have the same dtype, bot got {one} and {two}, respectively")
    if compressed_indices.dtype.name not in ("int32", "int64"):
        raise DtypeError(
            f"{names[0]} and {names[1]} dtype must be Int or Long, but got {compressed_indices.dtype.scalar_name}"
        )
    rows, columns = blocks_of(values, tuple(size), layout, batch_dim)
    by_row = layout in ROW_COMPRESSED
    check_indices(
        by_row,
        compressed_indices.detach().host_array(),
        plain_indices.detach().host_array(),
        rows if by_row else columns,
        columns if by_row else rows,
        plain_indices._shape[-1],
    )


def check_ranks(compressed: Tensor, plain: Tensor, values: Tensor, of: Layout) -> tuple[int, int]:
    """The numbers of batch and of dense dimensions; refused where the tensors' numbers do not make any."""
    names, block_dim = index_names(of), 2 if of in BLOCKED else 0
    one, two, batch_dim = len(compressed._shape), len(plain._shape), len(compressed._shape) - 1
    if batch_dim < 0:
        raise ShapeError(f"{names[0]} must have dimensionality >= 1 but got {one}")
    if one != two:
        raise ShapeError(
            f"{names[0]} and {names[1]} dimensionalities must be equal but got {one} and {two}, respectively"
        )
    dense_dim = len(values._shape) - batch_dim - block_dim - 1
    if dense_dim < 0:
        raise ShapeError(
            f"values must have dimensionality > sum of batch and block dimensionalities (={batch_dim} + {block_dim}) "
            f"but got {len(values._shape)}"
        )
    return batch_dim, dense_dim


def check_sizes(
    compressed: Tensor, plain: Tensor, values: Tensor, size: tuple[int, ...], of: Layout, batch_dim: int
) -> None:
    """Refuse sizes of the parts that do not fit together, or not to the tensor's."""
    names = index_names(of)
    batches = [list(part._shape[:batch_dim]) for part in (compressed, plain, values)]
    if any(batch != list(size[:batch_dim]) for batch in batches):
        one, two, three = batches
        raise ShapeError(
            f"all batch dimensions of {names[0]} (={one}), {names[1]} (={two}), and values (={three}) must be equal "
            f"to tensor batch dimensions (={list(size[:batch_dim])})"
        )
    block = values._shape[batch_dim + 1 : batch_dim + 3] if of in BLOCKED else (1, 1)
    for dim, length in enumerate(block):
        if length and size[batch_dim + dim] % length:
            raise ShapeError(
                f"tensor shape[{batch_dim + dim}] (={size[batch_dim + dim]}) must be divisible with blocksize[{dim}] "
                f"(={length}) as defined by values shape"
            )
    nnz = values._shape[batch_dim]
    if plain._shape[batch_dim] != nnz:
        raise ShapeError(
            f"{names[1]}.shape[-1] must be equal to nnz (={nnz}) as defined by values.shape[{batch_dim}], but got "
            f"{plain._shape[batch_dim]}"
        )
    by_row = of in ROW_COMPRESSED
    lines = blocks_of(values, size, of, batch_dim)[0 if by_row else 1]
    if compressed._shape[-1] != lines + 1:
        what = f"{'row' if by_row else 'column'}{' block' if of in BLOCKED else ''}s"
        raise ShapeError(
            f"{names[0]}.shape[-1] must be equal to the number of {what} + 1 (={lines + 1}), but got "
            f"{compressed._shape[-1]}"
        )


def blocks_of(values: Tensor, size: tuple[int, ...], of: Layout, batch_dim: int) -> tuple[int, int]:
    """How many rows and columns of blocks, or of elements, a matrix of these sizes has."""
    rows, columns = size[batch_dim : batch_dim + 2]
    if of not in BLOCKED:
        return rows, columns
    high, wide = values._shape[batch_dim + 1 : batch_dim + 3]
    return rows // (high or 1), columns // (wide or 1)


def check_indices(by_row: bool, compressed: Array, plain: Array, lines: int, width: int, nnz: int) -> None:
    """Refuse indices that are not those of a compressed layout, by the first rule that they break."""
    (one, two), counted = (
        (("crow_indices", "col_indices"), ("ncols", "nrows"))
        if by_row
        else (("ccol_indices", "row_indices"), ("nrows", "ncols"))
    )
    counts = np.diff(compressed, axis=-1)
    ordered = (
        f"{two}[..., {one}[..., i - 1]:{one}[..., i]] for all i = 1, ..., {counted[1]} are sorted and distinct along "
        "the last dimension values"
    )
    rules: tuple[tuple[str, Callable[[], bool]], ...] = (
        (f"{one}[..., 0] == 0", lambda: bool((compressed[..., 0] == 0).all())),
        (f"{one}[..., -1] == nnz", lambda: bool((compressed[..., -1] == nnz).all())),
        (f"0 <= {one}[..., 1:] - {one}[..., :-1] <= {counted[0]}", lambda: _within(counts, 0, width + 1)),
        (f"0 <= {two} < {counted[0]}", lambda: _within(plain, 0, width)),
        (ordered, lambda: _is_ordered(counts, plain)),
    )
    for rule, holds in rules:
        if not holds():  # asked only where those before hold: the last one relies on them
            raise ArgumentError(f"`{rule}` is not satisfied.")


def _within(values: Array, low: int, end: int) -> bool:
    return bool(((values >= low) & (values < end)).all())


def _is_ordered(counts: Array, plain: Array) -> bool:
    """Whether the plain indices of each line rise."""
    flat = plain.reshape(-1)
    line = np.repeat(np.arange(counts.size), counts.reshape(-1))
    return bool(((line[1:] != line[:-1]) | (flat[1:] > flat[:-1])).all())


def size_of_indices(compressed: Tensor, plain: Tensor, values: Tensor, of: Layout) -> tuple[int, ...]:
    """The sizes of the smallest tensor that has these indices."""
    batch_dim, _ = check_ranks(compressed, plain, values, of)
    if compressed.dtype.is_floating_point or compressed.dtype.is_complex:
        raise not_implemented_for("estimate_sparse_compressed_tensor_size", compressed.dtype)
    block_dim = 2 if of in BLOCKED else 0
    high, wide = values._shape[batch_dim + 1 : batch_dim + 1 + block_dim] or (1, 1)
    found = plain.detach().host_array()
    lines, width = compressed._shape[-1] - 1, int(found.max()) + 1 if found.size else 0
    rows, columns = (lines, width) if of in ROW_COMPRESSED else (width, lines)
    return (*compressed._shape[:batch_dim], rows * high, columns * wide, *values._shape[batch_dim + 1 + block_dim :])


# One function for each layout -------------------------------------------------------------------------------------


def of_layout(name: str, of: Layout) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any], Any]:
    """Of one layout: made with given sizes, without, unchecked, and the check alone."""

    def checked(given: Layout | None) -> Layout:
        if given is not None and given is not of:
            raise ArgumentError(f"{name}: layout must be {SAID[of.name]} but got {SAID[given.name]}")
        return of

    def with_size(
        compressed: Tensor, plain: Tensor, values: Tensor, size: Any, dtype: Any, layout: Any, device: Any, pin: Any
    ) -> Tensor:
        return compressed_tensor(compressed, plain, values, size, dtype, checked(layout), device, pin)

    def without_size(
        compressed: Tensor, plain: Tensor, values: Tensor, dtype: Any, layout: Any, device: Any, pin: Any
    ) -> Tensor:
        return _sized_like_indices(compressed, plain, values, dtype, checked(layout), device, pin)

    def unchecked(
        compressed: Tensor, plain: Tensor, values: Tensor, size: Any, dtype: Any, layout: Any, device: Any, pin: Any
    ) -> Tensor:
        return compressed_unchecked(compressed, plain, values, size, dtype, checked(layout), device, pin)

    def check(compressed: Tensor, plain: Tensor, values: Tensor, size: Any, check_pinning: bool | None) -> None:
        check_compressed(compressed, plain, values, size, of, check_pinning)

    return with_size, without_size, unchecked, check


csr_of_size, csr_of_indices, csr_unchecked, check_csr = of_layout("sparse_csr_tensor", sparse_csr)
csc_of_size, csc_of_indices, csc_unchecked, check_csc = of_layout("sparse_csc_tensor", sparse_csc)
bsr_of_size, bsr_of_indices, bsr_unchecked, check_bsr = of_layout("sparse_bsr_tensor", sparse_bsr)
bsc_of_size, bsc_of_indices, bsc_unchecked, check_bsc = of_layout("sparse_bsc_tensor", sparse_bsc)


# Its parts, of a tensor of another layout -------------------------------------------------------------------------


def refusing(name: str, what: str) -> Callable[[Tensor], Tensor]:
    """The kernel of all other layouts of a function that returns a part of a compressed one."""

    def refuse(self: Tensor) -> Tensor:
        raise expected_part(name, what, self)

    return refuse


def expected_part(name: str, what: str, tensor: Tensor) -> ArgumentError:
    """The error of a part that a layout does not have."""
    return ArgumentError(f"{name} expected sparse {what} compressed tensor layout but got {SAID[tensor.layout.name]}")


crow_indices, col_indices = refusing("crow_indices", "row"), refusing("col_indices", "row")
ccol_indices, row_indices = refusing("ccol_indices", "column"), refusing("row_indices", "column")


# Converted --------------------------------------------------------------------------------------------------------


def converting(name: str, of: Layout) -> Callable[..., Tensor]:
    """The function that makes a tensor of a layout from any other: the tensor itself where it has that layout."""
    convert: Callable[..., Tensor] = on_tensor(f"_{name}")

    def to_layout(self: Tensor, *options: Any) -> Tensor:
        *blocksize, dense_dim = options
        if self.layout is not of:
            return convert(self, *options)
        check_conversion(name, self, of, blocksize[0] if blocksize else None, dense_dim)
        return self

    return to_layout


to_sparse_csr, to_sparse_csc = converting("to_sparse_csr", sparse_csr), converting("to_sparse_csc", sparse_csc)
to_sparse_bsr, to_sparse_bsc = converting("to_sparse_bsr", sparse_bsr), converting("to_sparse_bsc", sparse_bsc)


# Products ---------------------------------------------------------------------------------------------------------

_reduced: Callable[..., Any] = on_tensors("_sparse_mm_reduce_impl")


def sparse_mm_reduced(sparse: Tensor, dense: Tensor, reduce: str) -> Tensor:
    """The product of a CSR and a strided matrix, whose terms are reduced as asked for."""
    return _reduced(sparse, dense, reduce)[0]  # type: ignore[no-any-return]
