"""Of what are operators made that move elements?

Mirrors: torch/_refs/__init__.py (stack, roll, tril, trace, diag_embed), torch/_refs/nn/functional/__init__.py
    (pixel_shuffle, channel_shuffle)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.decompositions.shared import wrapped
from glasstorch.compiler.decompositions.table import decomposes
from glasstorch.operators.generated import functions as f

Sizes = Sequence[int]


@decomposes("stack")
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Joined along a new dimension."""
    dim = dim % (tensors[0].dim() + 1)
    return f.cat([f.unsqueeze(one, dim) for one in tensors], dim)


@decomposes("roll")
def roll(self: Tensor, shifts: Sizes, dims: Sizes = ()) -> Tensor:
    """Moved along dimensions, with what leaves at the end coming in at the front."""
    shifts, dims = ([one] if isinstance(one, int) else list(one) for one in (shifts, dims))
    if not self.numel():
        return f.clone(self)
    if not dims:
        return f.roll(self.flatten(), shifts[0], 0).view(self.shape)
    if len(dims) > 1:
        return f.roll(f.roll(self, shifts[0], dims[0]), shifts[1:], dims[1:])
    dim = wrapped(dims[0], self.dim())
    length = self.shape[dim] if self.dim() else 1
    if not self.dim():
        return f.clone(self)
    places = f.fmod(f.arange(length, device=self.device) + (length - shifts[0]) % length, length)
    return f.index_select(self, dim, places)


def _zero(like: Tensor) -> Any:
    return f.full((), 0, dtype=like.dtype, device=like.device)


def _distance(self: Tensor) -> Any:
    """For each element of a matrix its column less its row."""
    columns = f.arange(self.shape[-1], device=self.device).unsqueeze(-2)
    return columns - f.arange(self.shape[-2], device=self.device).unsqueeze(-1)


@decomposes("tril", fuses=False)
def tril(self: Tensor, diagonal: int = 0) -> Tensor:
    """The elements up to a diagonal, and else 0."""
    return f.where(_distance(self) <= diagonal, self, _zero(self)).contiguous()


@decomposes("triu", fuses=False)
def triu(self: Tensor, diagonal: int = 0) -> Tensor:
    """The elements from a diagonal on, and else 0."""
    return f.where(_distance(self) >= diagonal, self, _zero(self)).contiguous()


@decomposes("trace")
def trace(self: Tensor) -> Tensor:
    """The sum of the diagonal."""
    return f.sum(f.diagonal(self))


@decomposes("diag_embed")
def diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The last dimension on a diagonal of two, and else 0."""
    rank = self.dim() + 1
    dim1, dim2 = dim1 % rank, dim2 % rank
    if dim1 > dim2:
        dim1, dim2, offset = dim2, dim1, -offset
    length = self.shape[-1] + abs(offset)
    x = f.unsqueeze(f.movedim(self, -1, dim1 if offset >= 0 else dim2 - 1), dim2 if offset >= 0 else dim1)
    along = dim1 if offset >= 0 else dim2
    if offset:
        sizes = list(x.shape)
        sizes[along] = abs(offset)
        zeros = f.full(sizes, 0, dtype=self.dtype, device=self.device)
        x = f.cat([x, zeros], along)
    places = f.arange(length, device=self.device)
    rows = places.view([length if i == dim1 else 1 for i in range(rank)])
    columns = places.view([length if i == dim2 else 1 for i in range(rank)])
    return f.where(columns == rows + offset, x, _zero(self)).contiguous()


@decomposes("pixel_shuffle")
def pixel_shuffle(self: Tensor, upscale_factor: int) -> Tensor:
    """Channels moved into finer pixels."""
    r, rank = upscale_factor, self.dim() - 3
    *batch, channels, height, width = self.shape
    x = self.view(*batch, channels // r**2, r, r, height, width)
    order = [*range(rank), *(rank + i for i in (0, 3, 1, 4, 2))]
    return f.permute(x, order).reshape(*batch, channels // r**2, height * r, width * r)


@decomposes("pixel_unshuffle")
def pixel_unshuffle(self: Tensor, downscale_factor: int) -> Tensor:
    """Fine pixels moved into channels."""
    r, rank = downscale_factor, self.dim() - 3
    *batch, channels, height, width = self.shape
    x = self.view(*batch, channels, height // r, r, width // r, r)
    order = [*range(rank), *(rank + i for i in (0, 2, 4, 1, 3))]
    return f.permute(x, order).reshape(*batch, channels * r**2, height // r, width // r)


@decomposes("channel_shuffle", "native_channel_shuffle")
def channel_shuffle(self: Tensor, groups: int) -> Tensor:
    """Channels taken from the groups in turn."""
    batch, channels, *rest = self.shape
    return self.reshape(batch, groups, channels // groups, *rest).transpose(1, 2).reshape(self.shape)
