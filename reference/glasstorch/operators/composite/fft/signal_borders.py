"""How is a signal padded at its ends?

Mirrors: torch/functional.py (stft, which calls torch.nn.functional.pad), aten/src/ATen/native/ReflectionPad.cpp,
    ReplicationPadding.cpp, PadNd.cpp (_pad_circular)
Differs: joined from slices of the signal; only along the last dimension.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.errors import ArgumentTypeError, ShapeError
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def continued(self: Tensor, left: int, right: int, mode: str) -> Tensor:
    """The last dimension padded by `left` elements in front and `right` behind: zeros, or elements of the signal."""
    if mode == "constant":
        return functions.constant_pad_nd(self, [left, right], 0)
    last, size = self.dim() - 1, self._shape[-1]
    if mode == "replicate":
        ends = (self.narrow(last, 0, 1), self.narrow(last, size - 1, 1))
        before, after = (end.expand([*self._shape[:-1], count]) for end, count in zip(ends, (left, right), strict=True))
    elif mode == "circular":
        _check(self, left, right, size, "should be less than or equal to")
        before, after = self.narrow(last, size - left, left), self.narrow(last, 0, right)
    elif mode == "reflect":
        _check(self, left, right, size - 1, "should be less than")
        before = self.narrow(last, 1, left).flip([last])
        after = self.narrow(last, size - 1 - right, right).flip([last])
    else:
        raise ArgumentTypeError(f"pad_mode is one of 'constant', 'reflect', 'replicate', 'circular', but got {mode!r}")
    return functions.cat([before, self, after], last)


def _check(self: Tensor, left: int, right: int, most: int, words: str) -> None:
    if left > most or right > most:
        raise ShapeError(
            f"Argument #4: Padding size {words} the corresponding input dimension, but got: padding ({left}, {right}) "
            f"at dimension {self.dim() - 1} of input {list(self._shape)}"
        )
