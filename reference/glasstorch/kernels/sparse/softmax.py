"""How is softmax computed over the specified elements of a COO tensor?

Mirrors: aten/src/ATen/native/sparse/SoftMax.cpp
Differs: one pass over all elements, sorted into lines, in place of a loop over lines.

An element that is not specified counts as minus infinity: it has no share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentError, not_implemented_for
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.sparse.sparse import where_found
from glasstorch.kernels.sparse.tensors import SPARSE, coalesced, coo, coo_of, flat_places, parts
from glasstorch.operators.direct import on_tensors

DENSE: dict[bool, Callable[..., Tensor]] = {False: on_tensors("_softmax"), True: on_tensors("_log_softmax")}
DENSE_BACKWARD: dict[bool, Callable[..., Tensor]] = {
    False: on_tensors("_softmax_backward_data"),
    True: on_tensors("_log_softmax_backward_data"),
}


class Lines:
    """The elements of a COO tensor sorted into lines along a sparse dimension."""

    def __init__(self, indices: Array, shape: tuple[int, ...], dim: int) -> None:
        others = [d for d in range(len(indices)) if d != dim]
        places = flat_places(indices[others], tuple(shape[d] for d in others))
        self.order = np.argsort(places, kind="stable")
        ordered = places[self.order]
        begins = np.concatenate((np.ones(1, bool), ordered[1:] != ordered[:-1]))
        (self.firsts,) = np.nonzero(begins)
        self.line = np.empty(len(places), np.int64)  # of each element
        self.line[self.order] = np.cumsum(begins) - 1

    def reduced(self, function: Any, values: Array) -> Array:
        """For each element, what a function makes of the values of its line."""
        return function.reduceat(values[self.order], self.firsts, axis=0)[self.line]  # type: ignore[no-any-return]


def forward(name: str, log: bool) -> None:
    """Register the kernel of softmax, or of its logarithm."""

    def kernel(keys: int, self: Tensor, dim: int, half_to_float: bool) -> Tensor:
        if half_to_float:
            raise ArgumentError(f"softmax with half to float conversion is not supported on {self.device.type.upper()}")
        of = coalesced(self)
        held, dim = parts(of), wrap_dim(dim, len(self._shape))
        if not self.dtype.is_floating_point:
            raise not_implemented_for("softmax", self.dtype)
        if dim >= held.sparse_dim:
            values = DENSE[log](held.values, dim - held.sparse_dim + 1, False)
            return coo(held.indices.clone(), values, self._shape, True)
        if not held.nnz:
            return of.clone()
        lines = Lines(held.indices.array(), self._shape, dim)
        return coo_of(
            held.indices.array().copy(),
            quietly(_softmax, lines, held.values.array(), log),
            self._shape,
            self.dtype,
            True,
        )

    SPARSE.add(name, kernel)


def _softmax(lines: Lines, values: Array, log: bool) -> Array:
    most = lines.reduced(np.maximum, values)
    shifted = values - np.where(np.isneginf(most), 0, most)
    exponentials = np.exp(shifted)
    total = lines.reduced(np.add, exponentials)
    if log:
        return shifted - np.log(total)
    return exponentials / total  # type: ignore[no-any-return]


def backward(name: str, log: bool) -> None:
    """Register the kernel of the gradient of softmax, or of its logarithm."""

    def kernel(keys: int, grad_output: Tensor, output: Tensor, dim: int, self: Tensor) -> Tensor:
        out, given = parts(coalesced(output)), parts(coalesced(grad_output))
        dim = wrap_dim(dim, len(self._shape))
        if out.sparse_dim != given.sparse_dim:
            raise ArgumentError(
                f"grad and output sparse dimensions must be equal, got {given.sparse_dim} and {out.sparse_dim}"
            )
        indices = out.indices.array()
        at, found = where_found(flat_places(given.indices.array(), self._shape), flat_places(indices, self._shape))
        grad = np.zeros(out.values._shape, self.dtype.numpy)
        grad[found] = given.values.array()[at[found]]
        if dim >= out.sparse_dim:
            made = coo_of(indices.copy(), grad, self._shape, self.dtype, True)
            values = DENSE_BACKWARD[log](parts(made).values, out.values, dim - out.sparse_dim + 1, self.dtype)
            return coo(out.indices.clone(), values, self._shape, True)
        if not out.nnz:
            return output.clone()
        lines = Lines(indices, self._shape, dim)
        found_values = quietly(_backward, lines, grad, out.values.array(), log)
        return coo_of(indices.copy(), found_values, self._shape, self.dtype, True)

    SPARSE.add(name, kernel)


def _backward(lines: Lines, grad: Array, output: Array, log: bool) -> Array:
    if log:
        return grad - np.exp(output) * lines.reduced(np.add, grad)  # type: ignore[no-any-return]
    return output * (grad - lines.reduced(np.add, output * grad))  # type: ignore[no-any-return]


forward("_sparse_softmax", log=False)
forward("_sparse_log_softmax", log=True)
backward("_sparse_softmax_backward_data", log=False)
backward("_sparse_log_softmax_backward_data", log=True)
