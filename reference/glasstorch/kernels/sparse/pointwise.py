"""Which functions of each element and sums, products and quotients of tensors are there for COO tensors?

Mirrors: aten/src/ATen/native/sparse/SparseUnaryOps.cpp, SparseTensorMath.cpp, SparseBinaryOpIntersectionCommon.h
Differs: an operator's own strided kernel computes the values.

A function of each element is here if it maps 0 to 0: the elements that are not specified stay so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import Number, bool_, check_can_cast, dtype
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.core.layout import contiguous_format
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.tags import Tag
from glasstorch.kernels.sparse.sparse import where_found
from glasstorch.kernels.sparse.tensors import KNOWN, SPARSE, coalesced, coo, coo_of, flat_places, parts, set_parts
from glasstorch.kernels.structured import FORMS
from glasstorch.operators.direct import on_tensors
from glasstorch.operators.generated.registry import OPERATORS
from glasstorch.operators.shapes.promotion import result_type

AS_IT_IS = ("neg",)  # of the values of a place that occurs twice, too: the function is linear

Kernel = Callable[..., Any]


# Functions of each element ----------------------------------------------------------------------------------------


def unary(name: str, prepared: Callable[[Tensor], Tensor]) -> Kernel:
    """The kernel of a function: the same function of the values."""
    function: Kernel = on_tensors(name)

    def kernel(keys: int, self: Tensor, *rest: Any) -> Tensor:
        held = parts(prepared(self))
        return coo(held.indices.clone(), function(held.values, *rest), self._shape, held.coalesced)

    return kernel


def in_place(name: str, function: Kernel, any_form: bool) -> Kernel:
    """The kernel of its in-place form: values of other dtypes are refused, and so is a tensor that is not coalesced."""

    def kernel(keys: int, self: Tensor, *rest: Any) -> Tensor:
        held = parts(self)
        if not (held.coalesced or any_form):
            raise ArgumentError(f"{name}_ requires coalesced input")
        function(held.values, *rest)
        return self

    return kernel


def written_out(kernel: Kernel) -> Kernel:
    """The kernel of an out= form, which must be a COO tensor."""

    def with_out(keys: int, *arguments: Any) -> Tensor:
        *inputs, out = arguments
        if not (out.is_sparse and inputs[0].is_sparse):
            raise ArgumentError(
                "Expected self.is_sparse() && result.is_sparse() to be true, but got false.  (Could this error "
                "message be improved?  If so, please report an enhancement request to PyTorch.)"
            )
        return written_to(out, kernel(keys, *inputs))

    return with_out


def written_to(out: Tensor, result: Tensor) -> Tensor:
    """A result put into a tensor, whose dtype stays."""
    check_can_cast(result.dtype, out.dtype)
    held = parts(result)
    return set_parts(out, held.indices, held.values.to(out.dtype), held.coalesced, result._shape)


OF_VALUES = [row.name for row in OPERATORS if row.functional is None and Tag.of_values.name in row.tags]
for _name in (*OF_VALUES, *AS_IT_IS):
    _kernel = unary(_name, (lambda self: self) if _name in AS_IT_IS else coalesced)
    SPARSE.add(_name, _kernel)
    for _form in FORMS.get(_name, ()):
        if _form.partition(".")[0].endswith("_"):
            SPARSE.add(_form, in_place(_name, on_tensors(_form), _name in AS_IT_IS))
        else:
            SPARSE.add(_form, written_out(_kernel))


@SPARSE.impl("_conj", "_conj_physical")
def conjugate(keys: int, self: Tensor) -> Tensor:
    """The conjugates of the values, computed at once: a sparse tensor has no conjugate bit."""
    held = parts(self)
    return coo(held.indices.clone(), held.values.conj().resolve_conj(), self._shape, held.coalesced)


@SPARSE.impl("pow.Tensor_Scalar")
def power(keys: int, self: Tensor, exponent: Number) -> Tensor:
    """Each value to a power, which is not 0: then nothing would remain unspecified."""
    if exponent == 0:
        raise ArgumentError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
    held = parts(coalesced(self))
    return coo(held.indices.clone(), _power(held.values, exponent), self._shape, held.coalesced)


_power: Kernel = on_tensors("pow.Tensor_Scalar")
SPARSE.add("pow.Tensor_Scalar_out", written_out(power))
_threshold_backward: Kernel = on_tensors("threshold_backward")


@SPARSE.impl("threshold_backward")
def threshold_backward(keys: int, grad_output: Tensor, self: Tensor, threshold: Number) -> Tensor:
    """The gradient where the values are above the threshold."""
    grad, of = coalesced(grad_output), coalesced(self)
    if not parts(of).nnz:
        return self.clone()
    held = parts(of)
    values = _threshold_backward(parts(grad.sparse_mask(of)).values, held.values, threshold)
    return coo(held.indices.clone(), values, self._shape, held.coalesced)


# Sums -------------------------------------------------------------------------------------------------------------


@SPARSE.impl("add.Tensor")
def add(keys: int, self: Tensor, other: Tensor, alpha: Number) -> Tensor:
    """The sum with `alpha` times another tensor: sparse of two sparse ones, strided of a strided and a sparse one."""
    if not self.is_sparse:
        return added_to_dense(self, other, alpha)
    if not other.is_sparse:
        raise ArgumentError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if self._shape != other._shape:
        raise ShapeError(
            f"add: expected sizes of 'self' and 'other' to match, but {list(self._shape)} != {list(other._shape)}"
        )
    to = result_type(self, other)
    if to is bool_:
        raise not_implemented_for("cadd_sparse", to)
    left, right = parts(self), parts(other)
    if left.sparse_dim != right.sparse_dim and left.nnz and right.nnz:
        raise ShapeError(
            f"add: expected 'self' and 'other' to have same number of sparse dimensions, but 'self' has "
            f"{left.sparse_dim} and 'other' has {right.sparse_dim}"
        )
    if not right.nnz or not left.nnz:
        only, held = (self, left) if not right.nnz else (other, right)
        values = held.values.to(to, copy=True)
        if only is other and alpha != 1:
            values = values * alpha
        return coo(held.indices.clone(), values, self._shape, held.coalesced)
    ours, theirs = _values_in(left.values, to), _values_in(right.values, to)
    if alpha != 1:
        theirs = theirs * np.asarray(alpha).astype(to.numpy)  # -1 of unsigned numbers, too
    indices = np.concatenate((left.indices.array(), right.indices.array()), 1)
    joined = np.concatenate((ours, theirs))
    if left.coalesced and right.coalesced:
        return coalesced(coo_of(indices, joined, self._shape, to, False))
    if not (left.values.is_contiguous() and right.values.is_contiguous()):
        return coo_of(indices, joined, self._shape, to, False)
    return merged(indices, joined, left.nnz, self._shape, to)


def merged(indices: Array, values: Array, split: int, shape: tuple[int, ...], to: dtype) -> Tensor:
    """Two lists of elements, which part at `split`, read from both heads: equal places are added, else the lower goes.

    That is what PyTorch does with tensors whose elements need not be in order: a place may still occur twice.
    """
    places = flat_places(indices, shape).tolist()
    i, j, count = 0, split, len(places)
    taken, with_other = [], []
    while i < split and j < count:
        lower, higher = places[i], places[j]
        taken.append(i if lower <= higher else j)
        with_other.append(j if lower == higher else -1)
        i, j = i + (lower <= higher), j + (higher <= lower)
    rest = [*range(i, split), *range(j, count)]
    first, second = np.array(taken + rest, np.int64), np.array(with_other + [-1] * len(rest), np.int64)
    added = values[first]
    both = second >= 0
    added[both] += values[second[both]]
    return coo_of(indices[:, first], added, shape, to, len(first) < KNOWN)


def added_to_dense(self: Tensor, other: Tensor, alpha: Number) -> Tensor:
    """A strided tensor with a sparse one's values added where they are."""
    if self._shape != other._shape:
        raise ShapeError(
            f"add: expected 'self' and 'other' to have same size, but self has size {list(self._shape)} while other "
            f"has size {list(other._shape)} (FYI: dense-sparse addition does not currently support broadcasting)"
        )
    to = result_type(self, other)
    result = self.to(to).clone(memory_format=contiguous_format)
    held = parts(coalesced(other))
    if held.values.numel():
        values = _values_in(held.values, to)
        where = tuple(held.indices.array()) or slice(None)
        array = result.array() if held.sparse_dim else result.array()[None]
        array[where] += values if alpha == 1 else values * to.numpy.type(alpha)
    return result


def _values_in(values: Tensor, to: dtype) -> Array:
    return values.array() if values.dtype is to else values.to(to).array()


@SPARSE.impl("sub.Tensor")
def subtract(keys: int, self: Tensor, other: Tensor, alpha: Number) -> Tensor:
    """The sum with `-alpha` times another tensor."""
    return add(keys, self, other, -alpha)


# Products ---------------------------------------------------------------------------------------------------------


@SPARSE.impl("mul.Tensor")
def multiply(keys: int, self: Tensor, other: Tensor) -> Tensor:
    """The product: the elements that both tensors specify, or those that the sparse one does, times a strided one's."""
    to = result_type(self, other)
    if self.is_sparse and other.is_sparse:
        if self._shape and other._shape:
            return intersection(self, other)
        self, other = (self.to_dense(), other) if not self._shape else (self, other.to_dense())
    sparse, dense = (self, other) if self.is_sparse else (other, self)
    if not dense._shape:
        held = parts(sparse)
        return coo(held.indices.clone(), _times(held.values, dense).to(to), sparse._shape, held.coalesced)
    shape = broadcast_shapes(dense._shape, sparse._shape)
    wide = broadcast_to(sparse, shape)
    held = parts(wide)
    factor = np.broadcast_to(dense.array(), shape)
    picked = factor[tuple(held.indices.array())] if held.sparse_dim else factor[None]
    picked = wrap(np.ascontiguousarray(picked), dense.dtype)
    return coo(held.indices.clone(), _times(held.values, picked).to(to), shape, held.coalesced)


_times: Kernel = on_tensors("mul.Tensor")


def intersection(self: Tensor, other: Tensor) -> Tensor:
    """The products at the places that both specify; places of the one that is not coalesced stay as they are."""
    left, right = parts(self), parts(other)
    split = left.sparse_dim
    if (
        len(self._shape) != len(other._shape)
        or split != right.sparse_dim
        or self._shape[:split] != other._shape[:split]
    ):
        raise ShapeError(
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of sparse "
            "dimensions, and shape of sparse dimensions"
        )
    to = result_type(self, other)
    both_coalesced = left.coalesced and right.coalesced
    if to is bool_ and both_coalesced:
        raise not_implemented_for("mul_out_sparse", to)
    # What is looked up in must be coalesced; the other one's places are those of the result. Where neither is, the
    # places are those of the one with fewer elements.
    keeps_left = right.coalesced if left.coalesced != right.coalesced else both_coalesced or left.nnz < right.nnz
    kept, sought = (self, other) if keeps_left else (other, self)
    held, table = parts(kept), parts(coalesced(sought))
    shape = self._shape[:split] + broadcast_shapes(self._shape[split:], other._shape[split:])
    places = flat_places(held.indices.array(), shape)
    at, found = where_found(flat_places(table.indices.array(), shape), places)
    if both_coalesced:
        values = _times(_rows(held.values, found), _rows(table.values, at[found]))
        return coo_of(held.indices.array()[:, found], values.to(to), shape, to, True)
    products = np.zeros((held.nnz, *shape[split:]), to.numpy)
    products[found] = _times(_rows(held.values, found), _rows(table.values, at[found])).to(to).array()
    return coo(held.indices.clone(), wrap(products, to), shape, held.coalesced)


def _rows(values: Tensor, chosen: Array) -> Tensor:
    return wrap(values.array()[chosen], values.dtype)


def broadcast_to(self: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A COO tensor repeated along dimensions that it lacks, or that have one element.

    Mirrors: sparse_broadcast_to in aten/src/ATen/native/sparse/SparseTensorMath.cpp
    Differs: a sparse dimension of one element is repeated; PyTorch leaves it, and loses elements.
    """
    if self._shape == shape:
        return self
    held = parts(coalesced(self))
    more = len(shape) - len(self._shape)
    sparse_dim = held.sparse_dim + more
    # The places of a tensor of ones tell which new places there are for each old one.
    sizes = shape[:sparse_dim]
    old = np.concatenate((np.zeros((more, held.nnz), np.int64), held.indices.array()))
    stretched = [d for d in range(sparse_dim) if d < more or self._shape[d - more] != shape[d]]
    grid = np.indices([sizes[d] for d in stretched], np.int64).reshape(len(stretched), -1)
    count = grid.shape[1]
    indices = np.repeat(old, count, axis=1)
    for row, d in zip(grid, stretched, strict=True):
        indices[d] = np.tile(row, held.nnz)
    values = np.repeat(held.values.array(), count, axis=0)
    values = np.broadcast_to(values, (values.shape[0], *shape[sparse_dim:])).copy()
    order = np.argsort(flat_places(indices, shape), kind="stable")
    return coo_of(indices[:, order], values[order], shape, self.dtype, True)


# Quotients --------------------------------------------------------------------------------------------------------


def _divisor(other: Tensor) -> Tensor:
    if other._shape or other.is_sparse:
        raise ShapeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(other._shape)} for divisor)"
        )
    return other


def quotient(name: str) -> Kernel:
    """The kernel of a division by a number; where it rounds, values of the same place are added up before."""
    function: Kernel = on_tensors(name)

    def kernel(keys: int, self: Tensor, other: Tensor, *mode: Any) -> Tensor:
        by = _divisor(other)
        held = parts(self if name == "div.Tensor" or mode == (None,) else coalesced(self))
        values = function(held.values, by, *mode)
        return coo(held.indices.clone(), values, self._shape, held.coalesced)

    return kernel


# In place, and out= -----------------------------------------------------------------------------------------------


def replaced(kernel: Kernel, name: str) -> Kernel:
    """The in-place form of an operator of two tensors: its result takes the place of the first one's parts."""

    def in_place(keys: int, self: Tensor, other: Tensor, *rest: Any) -> Tensor:
        made = kernel(keys, self, other, *rest)
        if made.dtype is not self.dtype:
            _check_cast(name, made.dtype, self.dtype)
        if not self.is_sparse:
            self.copy_(made if not made.is_sparse else made.to_dense())
            return self
        if made._shape != self._shape:
            raise ShapeError(
                f"{name}: the result has sizes {list(made._shape)}, which do not fit into {list(self._shape)}"
            )
        return written_to(self, made)

    return in_place


def _check_cast(name: str, of: dtype, to: dtype) -> None:
    if of.category > to.category:
        raise DtypeError(f"Can't convert result type {of.scalar_name} to output {to.scalar_name} in {name} operation")


def out_of_two(kernel: Kernel) -> Kernel:
    """The out= form of an operator of two tensors."""

    def with_out(keys: int, *arguments: Any) -> Tensor:
        *inputs, out = arguments
        made = kernel(keys, *inputs)
        if out.is_sparse != made.is_sparse:
            raise ArgumentError(f"expected out= to have the layout {made.layout}, but it has {out.layout}")
        return written_to(out, made) if made.is_sparse else out.copy_(made)

    return with_out


def register_forms(name: str, kernel: Kernel) -> None:
    """Register the in-place form and the out= form of an operator of two tensors."""
    for form in FORMS[name]:
        word = form.partition(".")[0]
        SPARSE.add(form, replaced(kernel, word[:-1]) if word.endswith("_") else out_of_two(kernel))


def register_quotient(name: str) -> None:
    """Register a division by a number and its forms."""
    kernel = quotient(name)
    SPARSE.add(name, kernel)
    register_forms(name, kernel)


register_forms("add.Tensor", add)
register_forms("sub.Tensor", subtract)
register_forms("mul.Tensor", multiply)
register_quotient("div.Tensor")
register_quotient("div.Tensor_mode")
register_quotient("floor_divide")


@SPARSE.impl("any")
def any_(keys: int, self: Tensor) -> Tensor:
    """Whether any value is not 0."""
    return parts(coalesced(self)).values.any()
