"""How are bags of rows, and the gradients of tables, computed on the CPU?

Mirrors: aten/src/ATen/native/Embedding.cpp, EmbeddingBag.cpp
Differs: indices are sorted and rows with equal ones added at once, in float64. The bag of each index is always a
    result; PyTorch's sums of single precision leave it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentError, DimensionError
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, finish, structured
from glasstorch.operators.shapes import embedding as shapes
from glasstorch.operators.shapes.embedding import MAX, MEAN, SUM

CPU = KernelTable("CPU")

Outs = Sequence[Tensor] | None


def wide(tensor: Tensor) -> Array:
    """The elements, floating point numbers in float64."""
    array = tensor.array()
    return array.astype(np.float64) if tensor.dtype.is_floating_point else array


def joined(reduce: np.ufunc, rows: Array, places: Array, count: int) -> Array:
    """`count` rows, each made of those whose place is its own; 0 where there are none."""
    result = np.zeros((count, *rows.shape[1:]), rows.dtype)
    if places.size:
        order = np.argsort(places, kind="stable")
        ordered = places[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        result[ordered[starts]] = reduce.reduceat(rows[order], starts, axis=0)
    return result


# embedding ------------------------------------------------------------------------------------------------------


@structured(CPU, "embedding_dense_backward")
def embedding_dense_backward(
    keys: int,
    grad_output: Tensor,
    indices: Tensor,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
    out: Out = None,
) -> Tensor:
    """Each row's gradients added; none for the padding, nor for indices that are out of range."""
    arguments = (indices, num_weights, padding_idx, scale_grad_by_freq)
    result = shapes.embedding_dense_backward(grad_output, *arguments)

    def computed() -> Array:
        places = indices.array().reshape(-1)
        rows = wide(grad_output).reshape(places.size, -1 if places.size else result.shape[1])
        kept = (places >= 0) & (places < num_weights) & (places != padding_idx)
        total = joined(np.add, rows[kept], places[kept], num_weights)
        if scale_grad_by_freq:
            counts = np.maximum(np.bincount(places[kept], minlength=num_weights), 1)[:, None]
            total = total / counts if total.dtype.kind == "f" else total // counts
        return total

    return finish(quietly(computed), result.dtype, out)


@CPU.impl("embedding_renorm_")
def embedding_renorm_(keys: int, self: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Each row that is named and longer than `max_norm` is scaled to it."""
    shapes.embedding_renorm_(self, indices, max_norm, norm_type)
    table, named = self.array(), np.unique(indices.array())
    wrong = named[(named < -len(table)) | (named >= len(table))]
    if wrong.size:
        raise DimensionError(
            f"select(): index {wrong[0]} out of range for tensor of size {list(self._shape)} at dimension 0"
        )

    def shortened() -> None:
        rows = table[named].astype(np.complex128 if self.dtype.is_complex else np.float64)
        lengths = np.linalg.norm(rows, ord=norm_type, axis=1) if rows.size else np.zeros(len(rows))
        long = lengths > max_norm
        table[named[long]] = rows[long] * (max_norm / (lengths[long] + 1e-7))[:, None]

    quietly(shortened)
    return self


# embedding_bag --------------------------------------------------------------------------------------------------


def bag_of_each(offsets: Array, indices: Array) -> Array:
    """In which bag each index lies: how many begin up to it, less one.

    >>> bag_of_each(np.array([0, 2, 2]), np.array([7, 7, 8, 9]))
    array([0, 0, 2, 2])
    """
    begins = np.bincount(offsets, minlength=len(indices) + 1)
    return np.add.accumulate(begins[: len(indices)]) - 1


def check_values(indices: Array, offsets: Array, rows: int) -> None:
    """Indices name rows; offsets begin at 0, and lie within the indices."""
    if offsets.size and offsets[0] != 0:
        raise ArgumentError(
            f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
            f"However, got {offsets[0]}"
        )
    if offsets.size and offsets[-1] > len(indices):
        raise ArgumentError(
            f"offsets[-1] can not be greater than input's length {len(indices)} but got offsets[-1] of {offsets[-1]}"
        )
    wrong = np.flatnonzero((indices < 0) | (indices >= rows))
    if wrong.size:
        raise ArgumentError(
            f"Index {wrong[0]} of input takes value {indices[wrong[0]]} which is not in the valid range [0, {rows})"
        )
    if offsets.size and (offsets.min() < 0 or offsets.max() > len(indices)):
        raise ArgumentError(f"offsets have to lie between 0 and {len(indices)}, the number of indices")


@structured(CPU, "_embedding_bag_forward_only")
@structured(CPU, "_embedding_bag")
def embedding_bag(
    keys: int,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int,
    out: Outs = None,
) -> tuple[Tensor, ...]:
    """The sum, mean or maximum of each bag's rows, without those of the padding; 0 for an empty bag."""
    how = (scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx)
    results = shapes.embedding_bag(weight, indices, offsets, *how)
    named = indices.array()
    check_values(named, offsets.array(), weight._shape[0])
    count = results[0].shape[0]

    def computed() -> tuple[Array, ...]:
        bags = bag_of_each(offsets.array(), named)
        kept = np.flatnonzero((named != padding_idx) & (bags < count))
        rows, places = wide(weight)[named[kept]], bags[kept]
        sizes = np.bincount(places, minlength=count)
        if mode == MAX:
            largest = joined(np.maximum, rows, places, count)
            first = np.where(rows == largest[places], kept[:, None], len(named))
            source = joined(np.minimum, first, places, count)
            return largest, bags, sizes, named[source] * (sizes > 0)[:, None] if named.size else source
        if per_sample_weights is not None:
            rows = rows * wide(per_sample_weights)[kept, None]
        total = joined(np.add, rows, places, count)
        if mode == SUM:
            return total, bags, np.zeros(count), np.zeros(count)
        return total / np.maximum(sizes, 1)[:, None], bags, sizes, sizes

    outs = out or (None,) * len(results)
    arrays = quietly(computed)
    return tuple(finish(a, r.dtype, o) for a, r, o in zip(arrays, results, outs, strict=True))


@structured(CPU, "_embedding_bag_dense_backward")
def embedding_bag_dense_backward(
    keys: int,
    grad: Tensor,
    indices: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Tensor | None,
    padding_idx: int,
    out: Out = None,
) -> Tensor:
    """Each row's share of the gradients of the bags that it lies in."""
    how = (num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx)
    result = shapes.embedding_bag_dense_backward(grad, indices, offset2bag, bag_size, maximum_indices, *how)

    def of_largest() -> Array:
        full = np.flatnonzero(bag_size.array())
        columns = np.arange(result.shape[1])
        places = maximum_indices.array()[full] * len(columns) + columns
        total = joined(np.add, wide(grad)[full].reshape(-1), places.reshape(-1), num_weights * len(columns))
        return total.reshape(result.shape)

    def of_sums() -> Array:
        named, bags, slopes = indices.array(), offset2bag.array(), wide(grad)
        if mode == MEAN:
            slopes = slopes / np.maximum(bag_size.array(), 1)[:, None]
        kept = np.flatnonzero((named != padding_idx) & (bags < len(slopes)))
        rows: Any = slopes[bags[kept]]
        if per_sample_weights is not None:
            rows = rows * wide(per_sample_weights)[kept, None]
        if scale_grad_by_freq:
            rows = rows / np.bincount(named, minlength=num_weights)[named[kept], None]
        return joined(np.add, rows, named[kept], num_weights)

    return finish(quietly(of_largest if mode == MAX else of_sums), result.dtype, out)


@structured(CPU, "_embedding_bag_per_sample_weights_backward")
def embedding_bag_per_sample_weights_backward(
    keys: int,
    grad: Tensor,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    mode: int,
    padding_idx: int,
    out: Out = None,
) -> Tensor:
    """The product of each index's row with the gradient of its bag; 0 for the padding."""
    arguments = (weight, indices, offsets, offset2bag, mode, padding_idx)
    result = shapes.embedding_bag_per_sample_weights_backward(grad, *arguments)

    def computed() -> Array:
        named, bags, slopes = indices.array(), offset2bag.array(), wide(grad)
        total = np.zeros(len(named))
        kept = np.flatnonzero((named != padding_idx) & (bags < len(slopes)))
        total[kept] = np.einsum("ij,ij->i", slopes[bags[kept]], wide(weight)[named[kept]])
        return total

    return finish(quietly(computed), result.dtype, out)
