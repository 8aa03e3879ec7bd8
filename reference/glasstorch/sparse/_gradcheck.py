"""How are gradients of functions of sparse tensors checked by a function that knows strided ones only?

Mirrors: torch/sparse/__init__.py (as_sparse_gradcheck)

The check moves one element after the other by a little. Of a sparse tensor it is given the values, which are strided;
the function that it calls puts them back between their indices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from glasstorch.core.layout import sparse_coo, strided
from glasstorch.core.sparse_parts import ROW_COMPRESSED
from glasstorch.operators.generated import functions
from glasstorch.python_forms.compressed_tensors import sparse_compressed_tensor
from glasstorch.python_forms.sparse_tensors import sparse_coo_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Restore = Callable[[Any], Any]


def as_sparse_gradcheck(gradcheck: Callable[..., bool]) -> Callable[..., bool]:
    """`gradcheck` for functions that take or return sparse tensors too.

    With `masked=True` only the specified elements are moved; otherwise all are, and a sparse input is given as one in
    which every element is specified.

    >>> import glasstorch as torch
    >>> gradcheck = torch.sparse.as_sparse_gradcheck(torch.autograd.gradcheck)
    >>> gradcheck(lambda x: x.to_sparse_csr(), torch.eye(2, dtype=torch.float64).to_sparse().requires_grad_())
    True
    """

    def gradcheck_with_sparse_support(func: Callable[..., Any], inputs: Any, **kwargs: Any) -> bool:
        masked = kwargs.pop("masked", False)
        given, restores = [], []
        for one in inputs if isinstance(inputs, list | tuple) else (inputs,):
            is_moved = getattr(one, "requires_grad", False) and one.layout is not strided
            values, restore = taken_apart(one, masked) if is_moved else (one, as_it_is)
            given.append(values)
            restores.append(restore)

        def of_values(*values: Any, **options: Any) -> Any:
            outputs = func(*(restore(one) for restore, one in zip(restores, values, strict=True)), **options)
            if isinstance(outputs, list | tuple):
                return tuple(as_strided_one(one, masked) for one in outputs)
            return as_strided_one(outputs, masked)

        return gradcheck(of_values, tuple(given), **kwargs)

    return gradcheck_with_sparse_support


def as_it_is(value: Any) -> Any:
    """The argument itself."""
    return value


def as_strided_one(output: Any, masked: bool) -> Any:
    """A sparse output as a strided tensor; anything else as it is."""
    if not getattr(output, "requires_grad", False) or output.layout is strided:
        return output
    return output.to_dense(masked_grad=masked)


def taken_apart(tensor: Tensor, masked: bool) -> tuple[Tensor, Restore]:
    """The values of a sparse tensor as a leaf, and the function that makes a sparse tensor of such values."""
    tensor = tensor if masked else with_every_element(tensor)
    layout, size = tensor.layout, tuple(tensor.shape)
    if layout is sparse_coo:
        indices, is_coalesced = tensor._indices(), tensor.is_coalesced()
        values = tensor._values()

        def restore_coo(values: Any) -> Any:
            return sparse_coo_tensor(indices, values, size, is_coalesced=is_coalesced, check_invariants=False)

        return values.detach().requires_grad_(), restore_coo
    rows = layout in ROW_COMPRESSED
    compressed = tensor.crow_indices() if rows else tensor.ccol_indices()
    plain = tensor.col_indices() if rows else tensor.row_indices()

    def restore_compressed(values: Any) -> Any:
        return sparse_compressed_tensor(compressed, plain, values, size, layout=layout, check_invariants=False)

    return tensor.values().detach().requires_grad_(), restore_compressed


def with_every_element(tensor: Tensor) -> Tensor:
    """A sparse tensor of the same layout and elements in which all are specified, 0 where one was not."""
    blocksize = getattr(tensor._parts, "blocksize", ()) or None
    options: dict[str, Any] = {"layout": tensor.layout, "blocksize": blocksize, "dense_dim": tensor.dense_dim()}
    everywhere = functions.ones_like(tensor.detach().to_dense()).to_sparse(**options)
    return tensor.detach().to_dense().sparse_mask(everywhere)
