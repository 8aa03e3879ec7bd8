"""Of what are paddings and sliding windows made?

Mirrors: torch/_decomp/decompositions.py (_reflection_pad, _replication_pad, _reflection_pad_backward, im2col, col2im)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.decompositions.shared import cast, wide, with_rank
from glasstorch.compiler.decompositions.table import decomposes
from glasstorch.operators.generated import functions as f

Sizes = Sequence[int]

# Padding ----------------------------------------------------------------------------------------------------------


def _padded(self: Tensor, padding: Sizes, place: Any) -> Tensor:
    """Each of the last dimensions read at `place(arange, size)`."""
    spatial = len(padding) // 2
    x = self
    for i in range(spatial):
        dim = self.dim() - 1 - i
        before, after, size = padding[2 * i], padding[2 * i + 1], self.shape[dim]
        places = place(f.arange(-before, size + after, device=self.device), size)
        x = f.index(x, [*[None] * dim, places])
    return x


def _mirrored(places: Tensor, size: int) -> Tensor:
    return (size - 1) - f.abs((size - 1) - f.abs(places))


@decomposes("reflection_pad1d", "reflection_pad2d", fuses=False)
@decomposes("reflection_pad3d", fuses=False)
def reflection_pad(self: Tensor, padding: Sizes) -> Tensor:
    """The tensor mirrored at its ends."""
    return _padded(self, padding, _mirrored)


@decomposes("replication_pad1d", "replication_pad2d", fuses=False)
@decomposes("replication_pad3d", fuses=False)
def replication_pad(self: Tensor, padding: Sizes) -> Tensor:
    """The outermost elements repeated."""
    return _padded(self, padding, lambda places, size: f.clamp(places, 0, size - 1))


@decomposes("reflection_pad1d_backward", "reflection_pad2d_backward", fuses=False)
@decomposes("reflection_pad3d_backward", fuses=False)
def reflection_pad_backward(grad_output: Tensor, self: Tensor, padding: Sizes) -> Tensor:
    """The gradients of the copies of each element added up, one dimension after the other."""
    grad = wide(grad_output)
    for i in range(len(padding) // 2):
        dim = self.dim() - 1 - i
        before, after, size = padding[2 * i], padding[2 * i + 1], self.shape[dim]
        places = _mirrored(f.arange(-before, size + after, device=self.device), size)
        sizes = [*grad.shape[:dim], size, *grad.shape[dim + 1 :]]
        empty = f.full(sizes, 0, dtype=grad.dtype, device=grad.device)
        grad = f.index_put(empty, [*[None] * dim, places], grad, True)
    return cast(grad, grad_output.dtype)


# Windows ----------------------------------------------------------------------------------------------------------


def _starts(like: Tensor, size: int, kernel: int, dilation: int, padding: int, stride: int) -> Any:
    """For each element of a window its place in the padded input, at every step: (kernel, steps)."""
    steps = f.arange(0, size + 2 * padding - dilation * (kernel - 1), stride, device=like.device).unsqueeze(0)
    return steps + f.arange(0, kernel * dilation, dilation, device=like.device).unsqueeze(-1)


@decomposes("im2col", fuses=False)
def im2col(self: Tensor, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Tensor:
    """The elements under a window at each of its places, as columns."""
    x = self if self.dim() == 4 else self.unsqueeze(0)
    batch, channels, height, width = x.shape
    rows, columns = (
        _starts(self, size, *options)
        for size, *options in zip((height, width), kernel_size, dilation, padding, stride, strict=True)
    )
    padded = f.constant_pad_nd(x, [padding[1], padding[1], padding[0], padding[0]])
    found = f.index(padded, [None, None, rows.unsqueeze(-1).unsqueeze(-1), columns])
    count = channels * kernel_size[0] * kernel_size[1]
    found = f.permute(found, (0, 1, 2, 4, 3, 5)).reshape(batch, count, rows.shape[1] * columns.shape[1])
    return found if self.dim() == 4 else f.squeeze(found, 0)


@decomposes("col2im", fuses=False)
def col2im(
    self: Tensor, output_size: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> Tensor:
    """Columns added up at the places where their window was."""
    x = self if self.dim() == 3 else self.unsqueeze(0)
    batch, channels = x.shape[0], x.shape[1] // prod(kernel_size)
    rows, columns = (
        _starts(self, size, *options)
        for size, *options in zip(output_size, kernel_size, dilation, padding, stride, strict=True)
    )
    x = x.reshape(batch, channels, *kernel_size, rows.shape[1], columns.shape[1])
    x = f.permute(x, (0, 1, 2, 4, 3, 5))
    sizes = [size + 2 * pad for size, pad in zip(output_size, padding, strict=True)]
    empty = f.full([batch, channels, *sizes], 0, dtype=self.dtype, device=self.device)
    found = f.index_put(empty, [None, None, with_rank(rows, 4), columns], x, True)
    found = f.constant_pad_nd(found, [-padding[1], -padding[1], -padding[0], -padding[0]])
    return found if self.dim() == 3 else f.squeeze(found, 0)
