"""Of what are views, their copies and their gradients made?

Mirrors: torch/_refs/__init__.py (t, transpose, unbind, squeeze), torch/_decomp/decompositions.py (select_backward,
    slice_backward, split, unsafe_split, _unsafe_view)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.decompositions.shared import wrapped
from glasstorch.compiler.decompositions.table import decomposes
from glasstorch.core.layout import contiguous_format
from glasstorch.operators.generated import functions as f

Sizes = Sequence[int]

# Views ------------------------------------------------------------------------------------------------------------


@decomposes("t")
def t(self: Tensor) -> Tensor:
    """A matrix transposed."""
    return f.permute(self, [1, 0] if self.dim() == 2 else list(range(self.dim())))


@decomposes("transpose.int")
def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped."""
    order = list(range(self.dim()))
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return f.permute(self, order)


@decomposes("_unsafe_view")
def unsafe_view(self: Tensor, size: Sizes) -> Tensor:
    """Of a tensor that nothing else shows, a view."""
    return self.view(size)


@decomposes("_reshape_alias")
def reshape_alias(self: Tensor, size: Sizes, stride: Sizes) -> Tensor:
    """A view of other sizes."""
    return self.view(size)


@decomposes("detach")
def detach(self: Tensor) -> Tensor:
    """Itself, as no graph is recorded below autograd."""
    return f.alias(self)


@decomposes("squeeze")
def squeeze(self: Tensor) -> Tensor:
    """Without the dimensions of size 1."""
    return f.squeeze(self, [i for i, size in enumerate(self.shape) if size == 1])


@decomposes("squeeze.dim")
def squeeze_dim(self: Tensor, dim: int) -> Tensor:
    """Without one of them."""
    return f.squeeze(self, (dim,))


@decomposes("split.Tensor")
def split(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    """Parts of a size."""
    return list(f.split_with_sizes(self, _parts(self, split_size, dim), dim))


@decomposes("unsafe_split.Tensor")
def unsafe_split(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    """Parts of a size."""
    return list(f.split_with_sizes(self, _parts(self, split_size, dim), dim))


@decomposes("unsafe_split_with_sizes")
def unsafe_split_with_sizes(self: Tensor, split_sizes: Sizes, dim: int = 0) -> list[Tensor]:
    """Parts of several sizes."""
    return list(f.split_with_sizes(self, split_sizes, dim))


def _parts(self: Tensor, size: int, dim: int) -> list[int]:
    length = self.shape[dim]
    count = max((length + size - 1) // size, 1) if size else 1
    return [*[size] * (count - 1), size - (size * count - length)]


@decomposes("unbind.int")
def unbind(self: Tensor, dim: int = 0) -> list[Tensor]:
    """The slices along a dimension."""
    if not self.shape[dim]:
        return []
    return [f.squeeze(part, (dim,)) for part in f.split_with_sizes(self, [1] * self.shape[dim], dim)]


# Copies of views --------------------------------------------------------------------------------------------------


def _copied(view: Tensor) -> Tensor:
    copy: Tensor = f.clone(view, memory_format=contiguous_format)
    return copy


@decomposes("alias_copy")
def alias_copy(self: Tensor) -> Tensor:
    """A copy."""
    return _copied(self)


@decomposes("t_copy")
def t_copy(self: Tensor) -> Tensor:
    """A copy of `t`."""
    return _copied(f.t(self))


@decomposes("transpose_copy.int")
def transpose_copy(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """A copy of `transpose`."""
    return _copied(f.transpose(self, dim0, dim1))


@decomposes("diagonal_copy")
def diagonal_copy(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of `diagonal`."""
    return _copied(f.diagonal(self, offset, dim1, dim2))


@decomposes("expand_copy")
def expand_copy(self: Tensor, size: Sizes, *, implicit: bool = False) -> Tensor:
    """A copy of `expand`."""
    return _copied(self.expand(size))


@decomposes("unsqueeze_copy")
def unsqueeze_copy(self: Tensor, dim: int) -> Tensor:
    """A copy of `unsqueeze`."""
    return _copied(f.unsqueeze(self, dim))


@decomposes("squeeze_copy")
def squeeze_copy(self: Tensor) -> Tensor:
    """A copy of `squeeze`."""
    return _copied(f.squeeze(self))


@decomposes("squeeze_copy.dim")
def squeeze_copy_dim(self: Tensor, dim: int) -> Tensor:
    """A copy of `squeeze`."""
    return _copied(f.squeeze(self, dim))


@decomposes("squeeze_copy.dims")
def squeeze_copy_dims(self: Tensor, dim: Sizes) -> Tensor:
    """A copy of `squeeze`."""
    return _copied(f.squeeze(self, dim))


@decomposes("unfold_copy")
def unfold_copy(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A copy of `unfold`."""
    return _copied(self.unfold(dimension, size, step))


@decomposes("split_with_sizes_copy")
def split_with_sizes_copy(self: Tensor, split_sizes: Sizes, dim: int = 0) -> list[Tensor]:
    """Copies of the parts."""
    return [_copied(part) for part in f.split_with_sizes(self, split_sizes, dim)]


# The gradients of views -------------------------------------------------------------------------------------------


def _zeros(like: Tensor, sizes: Sizes) -> Any:
    return f.full(sizes, 0, dtype=like.dtype, device=like.device)


@decomposes("select_backward")
def select_backward(grad_output: Tensor, input_sizes: Sizes, dim: int, index: int) -> Tensor:
    """Zeros but for one slice."""
    return f.select_scatter(_zeros(grad_output, input_sizes), grad_output, dim, index)


@decomposes("slice_backward")
def slice_backward(grad_output: Tensor, input_sizes: Sizes, dim: int, start: int, end: int, step: int) -> Tensor:
    """Zeros but for a range."""
    return f.slice_scatter(_zeros(grad_output, input_sizes), grad_output, dim, start, end, step)


@decomposes("select_scatter")
def select_scatter(self: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """With one slice replaced."""
    dim = wrapped(dim, self.dim())
    length = self.shape[dim]
    sizes = [-1 if i == dim else 1 for i in range(self.dim())]
    is_there = f.arange(length, device=self.device).view(sizes) == index % length
    return f.where(is_there, f.unsqueeze(src, dim), self).to(self.dtype)
