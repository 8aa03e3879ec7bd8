"""How are the gradients of sparse inputs checked?

Mirrors: torch/autograd/gradcheck.py (_iter_tensor, _densify, _check_outputs)
Differs: a function of sparse tensors is checked as one of strided leaves, of which it makes the sparse tensors anew.
    The leaves are the whole tensors. With `masked`, an element that is not specified can be moved without effect, so
    that the gradient must be 0 there; without, it becomes specified. Of a COO tensor that is not coalesced the leaf is
    the values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.checking.values import requires_grad
from glasstorch.autograd.function import Function
from glasstorch.core.layout import sparse_coo, strided
from glasstorch.core.sparse_parts import BLOCKED, COMPRESSED_LAYOUTS, ROW_COMPRESSED
from glasstorch.operators.direct import on_tensors
from glasstorch.operators.generated.functions import _sparse_coo_tensor_unsafe

Make = Callable[[Any], Any]  # a sparse tensor, from its leaf
compressed_tensor = on_tensors("sparse_compressed_tensor.comp_plain_value_size")
LAYOUTS = (sparse_coo, *COMPRESSED_LAYOUTS)


def is_sparse(value: Any) -> bool:
    """Whether this is a tensor of one of the sparse layouts."""
    return isinstance(value, Tensor) and value.layout in LAYOUTS


def of_leaves(
    func: Callable[..., Any], inputs: tuple[Any, ...], masked: bool
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function, and its inputs, with a strided leaf in place of each sparse input that requires grad."""
    split = [leaf_of(value, masked) if is_sparse(value) and requires_grad(value) else (value, None) for value in inputs]

    def of_strided(*leaves: Any) -> Any:
        made = (leaf if make is None else make(leaf) for leaf, (_, make) in zip(leaves, split, strict=True))
        return func(*made)

    return of_strided, tuple(leaf for leaf, _ in split)


def leaf_of(tensor: Any, masked: bool) -> tuple[Tensor, Make]:
    """A strided leaf, and how the tensor is made of it."""
    if masked and tensor.layout is sparse_coo and not tensor.is_coalesced():
        return of_values(tensor)
    return of_elements(tensor, masked)


def check_no_sparse(outputs: tuple[Any, ...]) -> None:
    """Refuse sparse outputs."""
    if any(is_sparse(output) for output in outputs):
        raise ValueError(
            "Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on the output of "
            "fn for gradcheck."
        )


def of_values(tensor: Any) -> tuple[Tensor, Make]:
    """The values of a tensor, and how it is made of such."""
    x = tensor.detach()
    if x.layout is sparse_coo:
        indices, known = x._indices(), x.is_coalesced()
        leaf = x._values().clone().requires_grad_()
        return leaf, lambda values: _sparse_coo_tensor_unsafe(indices, values, x.shape, is_coalesced=known)
    by_row = x.layout in ROW_COMPRESSED
    compressed, plain = (x.crow_indices(), x.col_indices()) if by_row else (x.ccol_indices(), x.row_indices())
    leaf = x.values().clone().requires_grad_()
    options = x.dtype, x.layout, x.device, None
    return leaf, lambda values: compressed_tensor(compressed, plain, values, x.shape, *options)


def of_elements(tensor: Any, masked: bool) -> tuple[Tensor, Make]:
    """All elements of a tensor, and how it is made of such."""
    x = tensor.detach()
    specified = _ones_at(x).to_dense() != 0
    options = {"layout": x.layout, "dense_dim": x.dense_dim()}
    if x.layout in BLOCKED:
        options["blocksize"] = x._parts.blocksize
    leaf = x.to_dense().requires_grad_()

    class Specified(Function):
        """A strided tensor in the layout and with the specified elements of another, and maybe whatever is not 0."""

        @staticmethod
        def forward(ctx: Any, elements: Any) -> Any:
            places = (specified if masked else specified | (elements != 0)).to(x.dtype).to_sparse(**options)
            return elements.sparse_mask(places)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad if grad.layout is strided else grad.to_dense()

    return leaf, Specified.apply


def _ones_at(x: Any) -> Any:
    """A tensor with ones where `x` has specified elements."""
    _, make = of_values(x)
    values = x._values() if x.layout is sparse_coo else x.values()
    return make(values.new_ones(values.shape))
