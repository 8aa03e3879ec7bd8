"""How are rows of a table looked up on the CPU, one by one and in bags?

Mirrors: aten/src/ATen/native/Embedding.cpp, EmbeddingBag.cpp
Differs: sums are float64 and rounded once; all bags are computed at once, their k-th elements together for maxima.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import bfloat16, float16, float32
from glasstorch.core.errors import ArgumentError, DimensionError, DtypeError, IndexValueError, ShapeError
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.indexing.along import reduce_slices
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, Outs, finish_as, structured
from glasstorch.operators.shapes import embedding as shapes
from glasstorch.operators.shapes.embedding import MAX, MEAN

CPU = KernelTable("CPU")


def checked(indices: Tensor, rows: int) -> Array:
    """The indices as one vector; one that no row has is refused."""
    flat = indices.array().reshape(-1)
    if flat.size and not rows:
        raise ShapeError("index_select(): self indexing axis dim should be positive")
    if flat.size and (flat.min() < 0 or flat.max() >= rows):
        raise DimensionError("index out of range in self")
    return flat


@structured(CPU, "embedding")
def embedding(
    keys: int,
    weight: Tensor,
    indices: Tensor,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool,
    out: Out = None,
) -> Tensor:
    """A row of the table for each index."""
    result = shapes.embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)
    rows = weight.array()[checked(indices, weight._shape[0])]
    return finish_as(result, rows.reshape(result.shape), out)


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
    """The sum of the gradients that arrive at each row of the table."""
    result = shapes.embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)
    flat = checked(indices, num_weights)
    grad = wide(grad_output.array()).reshape(flat.size, grad_output._shape[-1])
    if scale_grad_by_freq:
        grad = grad / np.bincount(flat, minlength=num_weights)[flat][:, None]
    return finish_as(result, added_to_rows(grad, flat, flat != padding_idx, num_weights), out)


def wide(array: Array) -> Array:
    """The elements in the dtype that sums of them are computed in."""
    kind = {"f": np.float64, "V": np.float64, "c": np.complex128}.get(array.dtype.kind, np.int64)
    return array.astype(kind)


def added_to_rows(terms: Array, rows: Array, kept: Array, count: int) -> Array:
    """A table of sums: each kept term is added to its row."""
    table = np.zeros((count, terms.shape[1]), terms.dtype)
    reduce_slices.run(np.add, table, 0, rows[kept], terms[kept])
    return table


@structured(CPU, "embedding_renorm")
def embedding_renorm(
    keys: int, self: Tensor, indices: Tensor, max_norm: float, norm_type: float, out: Out = None
) -> Tensor:
    """The table with those of the indexed rows scaled to `max_norm` that are longer."""
    result = shapes.embedding_renorm(self, indices, max_norm, norm_type)
    table = self.array().copy()
    if indices.numel() and not self._shape[0]:
        raise DimensionError(f"index out of range for a table of sizes {list(self._shape)}, which has no rows")
    used = np.unique(checked(indices, self._shape[0]))
    if used.size and not (self.dtype.is_floating_point or self.dtype.is_complex):
        raise DtypeError(
            f"norm(): input dtype should be either floating point or complex. Got {self.dtype.scalar_name} instead."
        )
    lengths = np.linalg.norm(wide(table[used]), norm_type, axis=1)
    longer = lengths > max_norm
    table[used[longer]] *= (max_norm / (lengths[longer] + 1e-7))[:, None].astype(table.dtype)
    return finish_as(result, table, out)


# Bags -----------------------------------------------------------------------------------------------------------


@structured(CPU, "_embedding_bag")
@structured(CPU, "_embedding_bag_forward_only")
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
) -> tuple[Any, ...]:
    """The sum, mean or maxima of the rows of each bag; a bag without rows is zeros."""
    results = shapes.embedding_bag(
        weight,
        indices,
        offsets,
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )
    bags = results[2].shape[0]
    is_narrow = weight.dtype in (float32, float16, bfloat16)
    fast = mode != MAX and padding_idx < 0 and is_narrow and weight.stride(-1) == 1
    flat = checked_in_bags(indices, weight._shape[0], fast)
    bag = bags_of(flat.size, offsets.array(), bags)
    kept = flat != padding_idx
    sizes = np.bincount(bag[kept], minlength=bags)

    def joined() -> tuple[Array, Array]:
        rows = weight.array()[flat].astype(np.float64)
        if mode == MAX:
            return maxima(rows, flat, bag, kept, bags)
        if per_sample_weights is not None:
            rows = rows * per_sample_weights.array().reshape(-1, 1)
        values = added_to_rows(rows, bag, kept, bags)
        if mode == MEAN:
            values /= np.maximum(sizes, 1)[:, None]
        return values, sizes

    values, chosen = quietly(joined)
    outs = out or (None,) * 4
    found = (values, bag, sizes, chosen)
    return tuple(finish_as(result, array, one) for result, array, one in zip(results, found, outs, strict=True))


def checked_in_bags(indices: Tensor, rows: int, fast: bool) -> Array:
    """The indices as one vector. What refuses one that no row has is PyTorch's fast kernel or the other one."""
    flat = indices.array().reshape(-1)
    (wrong,) = np.nonzero((flat < 0) | (flat >= rows))
    if wrong.size and fast:
        raise IndexValueError(
            f"Index {wrong[0]} of input takes value {flat[wrong[0]]} which is not in the valid range [0, {rows})"
        )
    if wrong.size:
        raise IndexValueError(
            f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {flat[wrong[0]]}"
        )
    return flat


def bags_of(count: int, offsets: Array, bags: int) -> Array:
    """The number of the bag that each index is in; a bag begins at its offset."""
    if offsets.size and offsets[0] != 0:
        raise ArgumentError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
            f"got {offsets[0]}"
        )
    if offsets.size and offsets[-1] > count:
        raise ArgumentError(
            f"offsets[-1] can not be greater than input's length({count}) but got offsets[-1] of {offsets[-1]}"
        )
    ends = np.append(offsets[1:bags], count) if bags == len(offsets) else offsets[1:]
    return np.repeat(np.arange(bags), ends - offsets[:bags])


def maxima(rows: Array, flat: Array, bag: Array, kept: Array, bags: int) -> tuple[Array, Array]:
    """The largest element of each column in each bag, and the row of the table that it is from; -1 for none."""
    values, chosen = np.zeros((bags, rows.shape[1])), np.full((bags, rows.shape[1]), -1)
    rows, flat, bag = rows[kept], flat[kept], bag[kept]
    begins = np.searchsorted(bag, np.arange(bags))
    within = np.arange(len(bag)) - begins[bag]
    for k in range(within.max(initial=-1) + 1):
        at = within == k
        ours = bag[at]
        better = (rows[at] > values[ours]) | (chosen[ours] < 0)
        values[ours] = np.where(better, rows[at], values[ours])
        chosen[ours] = np.where(better, flat[at][:, None], chosen[ours])
    return values, chosen


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
    """The sum of the gradients that arrive at each row of the table."""
    result = shapes._embedding_bag_dense_backward(
        grad,
        indices,
        offset2bag,
        bag_size,
        maximum_indices,
        num_weights,
        scale_grad_by_freq,
        mode,
        per_sample_weights,
        padding_idx,
    )
    grads = wide(grad.array())
    if mode == MAX:
        chosen = maximum_indices.array()
        table = np.zeros(result.shape)
        columns = np.broadcast_to(np.arange(grads.shape[1]), grads.shape)
        some = chosen >= 0
        np.add.at(table, (chosen[some], columns[some]), grads[some])
        return finish_as(result, table, out)
    flat, bag = indices.array().reshape(-1), offset2bag.array()
    terms = grads[bag]
    if mode == MEAN:
        terms /= np.maximum(bag_size.array()[bag], 1)[:, None]
    if per_sample_weights is not None:
        terms *= per_sample_weights.array().reshape(-1, 1)
    if scale_grad_by_freq:
        terms /= np.bincount(flat, minlength=num_weights)[flat][:, None]
    return finish_as(result, added_to_rows(terms, flat, flat != padding_idx, num_weights), out)


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
    """The product of each row with the gradient of its bag."""
    result = shapes._embedding_bag_per_sample_weights_backward(
        grad, weight, indices, offsets, offset2bag, mode, padding_idx
    )
    flat = indices.array().reshape(-1)
    products = (grad.array()[offset2bag.array()].astype(np.float64) * weight.array()[flat]).sum(1)
    return finish_as(result, np.where(flat != padding_idx, products, 0.0), out)
