"""Which functions of each element, sums and products are there for tensors of the compressed layouts?

Mirrors: aten/src/ATen/native/sparse/SparseCsrTensorMath.cpp
Differs: an operator's own strided kernel computes the values, as for COO tensors. A sum merges places by a sort.
    `add(sparse, strided, alpha=2)` doubles the second one; PyTorch doubles the first. A sum of blocks keeps them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number, check_can_cast
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.core.layout import sparse_csr, strided
from glasstorch.core.sparse_parts import BLOCKED, ROW_COMPRESSED
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.sparse.compressed.conversion import coo_of_compressed, in_blocks
from glasstorch.kernels.sparse.compressed.copies import sparse_mask
from glasstorch.kernels.sparse.compressed.creation import no_blocks
from glasstorch.kernels.sparse.compressed.tensors import (
    COMPRESSED,
    COMPRESSED_META,
    Places,
    built,
    is_compressed,
    parts,
    places_of,
    set_parts,
    with_values,
)
from glasstorch.kernels.sparse.pointwise import AS_IT_IS, OF_VALUES
from glasstorch.kernels.sparse.tensors import coalesced
from glasstorch.kernels.structured import FORMS
from glasstorch.operators.composite.sparse.compressed import expected_compressed, expected_part
from glasstorch.operators.direct import on_pair, on_tensor, on_tensors
from glasstorch.operators.shapes.promotion import result_type

Kernel = Callable[..., Any]

FOR_COO_ALONE = ("nan_to_num",)
FOR_COMPRESSED_TOO = ("angle",)

# Functions of each element ----------------------------------------------------------------------------------------


def unary(name: str) -> Kernel:
    """The kernel of a function: the same function of the values."""
    function: Kernel = on_tensors(name)

    def kernel(keys: int, self: Tensor, *rest: Any) -> Tensor:
        return with_values(self, function(parts(self).values, *rest))

    return kernel


def in_place(name: str) -> Kernel:
    """The kernel of its in-place form."""
    function: Kernel = on_tensors(name)

    def kernel(keys: int, self: Tensor, *rest: Any) -> Tensor:
        function(parts(self).values, *rest)
        return self

    return kernel


def written_out(kernel: Kernel) -> Kernel:
    """The kernel of an out= form: a tensor of the same layout with as many elements."""

    def with_out(keys: int, *arguments: Any) -> Tensor:
        *inputs, out = arguments
        made = kernel(keys, *inputs)
        check_can_cast(made.dtype, out.dtype)
        result: Tensor = out.copy_(made)
        return result

    return with_out


for _name in (*OF_VALUES, *AS_IT_IS, *FOR_COMPRESSED_TOO):
    if _name not in FOR_COO_ALONE:
        _kernel = unary(_name)
        for _table in (COMPRESSED, COMPRESSED_META):
            _table.add(_name, _kernel)
            for _form in FORMS.get(_name, ()):
                is_in_place = _form.partition(".")[0].endswith("_")
                _table.add(_form, in_place(_form) if is_in_place else written_out(_kernel))


@COMPRESSED.impl("_conj", "_conj_physical")
def conjugate(keys: int, self: Tensor) -> Tensor:
    """The conjugates of the values, computed at once: a sparse tensor has no conjugate bit."""
    return with_values(self, parts(self).values.conj().resolve_conj())


COMPRESSED.add("conj_physical_", in_place("conj_physical_"))
COMPRESSED.add("conj_physical.out", written_out(conjugate))


values = on_tensor("values")
_threshold_backward: Kernel = on_tensors("threshold_backward")


@COMPRESSED.impl("threshold_backward")
def threshold_backward(keys: int, grad_output: Tensor, self: Tensor, threshold: Number) -> Tensor:
    """The gradient where the values are above the threshold."""
    return with_values(self, _threshold_backward(values(grad_output), parts(self).values, threshold))


# Sums -------------------------------------------------------------------------------------------------------------


@COMPRESSED.impl("add.Tensor")
def add(keys: int, self: Tensor, other: Tensor, alpha: Number) -> Tensor:
    """The sum with `alpha` times another tensor: sparse of two sparse ones, else strided."""
    if self.layout is strided or other.layout is strided:
        return added_to_dense(self, other, alpha)
    if not (is_compressed(self) and is_compressed(other)):
        raise ArgumentError(
            f"add: two tensors of compressed layouts are expected, or a strided one; got the layouts {self.layout} and "
            f"{other.layout}"
        )
    if self._shape != other._shape:
        raise ShapeError(
            "torch.add: Expected input tensors to have the same shape, but got tensor `self` with shape "
            f"{list(self._shape)} and tensor `other` with shape {list(other._shape)}"
        )
    ours, theirs = parts(self), parts(other)
    if self is other:  # the places need not be compared, so that any of the layouts will do
        return with_values(self, ours.values.add(ours.values, alpha=alpha))
    for tensor in (other, self):
        if tensor.layout not in ROW_COMPRESSED:
            raise expected_part("crow_indices", "row", tensor)
    if ours.layout is not theirs.layout or ours.blocksize != theirs.blocksize:
        raise ArgumentError(
            f"add: blocks of the same size are expected, got the layouts {self.layout} and {other.layout} with blocks "
            f"of {list(ours.blocksize)} and {list(theirs.blocksize)}"
        )
    return merged(self, other, alpha)


def merged(self: Tensor, other: Tensor, alpha: Number) -> Tensor:
    """The sum of two tensors of the same layout, at the places that one or both specify."""
    to, held = result_type(self, other), parts(self)
    left, right = places_of(self), places_of(other)
    added = _in(right.values, parts(other).values, to)
    if alpha != 1:
        added = added * to.numpy.type(alpha)
    batch, rows, columns = (np.concatenate(pair) for pair in zip(left[:3], right[:3], strict=True))
    elements = np.concatenate((_in(left.values, held.values, to), added))
    matrices = self._shape[: held.batch_dim + 2]
    keys = (batch * matrices[-2] + rows) * matrices[-1] + columns
    order = np.argsort(keys, kind="stable")
    (firsts,) = np.nonzero(np.concatenate((np.ones(min(1, len(keys)), bool), np.diff(keys[order]) != 0)))
    if len(firsts):
        elements = np.add.reduceat(elements[order], firsts, axis=0, dtype=elements.dtype)
    chosen = order[firsts]
    places = Places(batch[chosen], rows[chosen], columns[chosen], elements)
    counts = np.bincount(places.batch, minlength=1)
    if held.batch_dim and (counts != counts[0]).any():
        raise ShapeError("Expect the same number of specified elements per batch.")
    return built(held.layout, places, self._shape[: held.batch_dim], self._shape, to, held.plain.array().dtype)


def _in(array: Array, of: Tensor, to: Any) -> Array:
    """Values in a dtype."""
    return array if of.dtype is to else of.to(to).array().reshape(array.shape)


def added_to_dense(self: Tensor, other: Tensor, alpha: Number) -> Tensor:
    """The sum of a strided and a CSR or CSC tensor, which is strided."""
    dense, sparse = (self, other) if self.layout is strided else (other, self)
    if dense._shape != sparse._shape:
        raise ShapeError(
            f"add: expected 'self' and 'other' to have same size, but self has size {list(dense._shape)} while other "
            f"has size {list(sparse._shape)} (FYI: op2-sparse addition does not currently support broadcasting)"
        )
    if sparse.layout in BLOCKED:
        raise ArgumentError(f"add: a CSR or CSC tensor is expected beside a strided one, got one of {sparse.layout}")
    to = result_type(self, other)
    result, places = dense.to(to, copy=True), places_of(sparse)
    elements = _in(places.values, parts(sparse).values, to)
    if alpha != 1:
        factor = to.numpy.type(alpha)
        if sparse is other:
            elements = elements * factor
        else:
            result = result * alpha
    blocks = in_blocks(result.array(), parts(sparse).batch_dim, (1, 1))
    if len(elements):
        blocks[places.batch, places.rows, places.columns, 0, 0] += elements
    return result


# Products ---------------------------------------------------------------------------------------------------------

_times: Callable[..., Tensor] = on_pair("mul.Tensor")


@COMPRESSED.impl("mul.Tensor")
def multiply(keys: int, self: Tensor, other: Tensor) -> Tensor:
    """The product: with a number in any layout, else of a CSR tensor, at the places that both specify."""
    if not other._shape and other.layout is strided:
        return with_values(self, _times(parts(self).values, other))
    if not self._shape and self.layout is strided:
        return with_values(other, _times(parts(other).values, self))
    if self.layout is strided and other.layout is sparse_csr:
        self, other = other, self
    if self.layout in BLOCKED:
        raise no_blocks("empty_sparse_compressed", self.layout)
    if self.layout is not sparse_csr:
        raise ArgumentError("Expected result Tensor to be of format CSR")
    if other.layout is strided:
        picked = sparse_mask(keys, other, self)
        return with_values(self, _times(parts(self).values, parts(picked).values))
    theirs = other if other.is_sparse else coo_of_compressed(other)
    return _to_csr(_times(coo_of_compressed(self), coalesced(theirs)), None)


_to_csr: Callable[..., Tensor] = on_tensor("_to_sparse_csr")


# In place, and out= -----------------------------------------------------------------------------------------------


def replaced(kernel: Kernel) -> Kernel:
    """The in-place form of an operator of two tensors: its result takes the place of the first one's parts."""

    def in_place(keys: int, self: Tensor, other: Tensor, *rest: Any) -> Tensor:
        return put_into(self, kernel(keys, self, other, *rest))

    return in_place


def put_into(out: Tensor, made: Tensor) -> Tensor:
    """A result put into a tensor of the same layout, whose dtype stays."""
    check_can_cast(made.dtype, out.dtype)
    if made.layout is strided:
        if out.layout is not strided:
            raise expected_compressed("add", made.layout)
        return out.resize_(made._shape).copy_(made)
    if out.layout is not made.layout:
        raise ArgumentError(f"expected a tensor of the layout {made.layout} to write to, got one of {out.layout}")
    return set_parts(out, made.to(out.dtype))


def out_of_two(kernel: Kernel) -> Kernel:
    """The out= form of an operator."""

    def with_out(keys: int, *arguments: Any) -> Tensor:
        *inputs, out = arguments
        return put_into(out, kernel(keys, *inputs))

    return with_out


for _name, _kernel in (("add.Tensor", add), ("mul.Tensor", multiply)):
    for _form in FORMS[_name]:
        COMPRESSED.add(_form, (replaced if _form.partition(".")[0].endswith("_") else out_of_two)(_kernel))
