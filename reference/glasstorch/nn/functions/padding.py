"""Which functions pad, and exchange pixels and channels?

Mirrors: torch/nn/functional.py
Differs: all but `pad` are the operators' functions themselves, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary
from glasstorch.core.plain_types import PLAIN
from glasstorch.operators.generated import functions as operators
from glasstorch.operators.generated.functions import (
    channel_shuffle,
    native_channel_shuffle,
    pixel_shuffle,
    pixel_unshuffle,
)

__all__ = ["pad", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "native_channel_shuffle"]


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Enlarge, or cut, the borders: two numbers for each dimension, beginning with the last one.

    What stands there is a number ("constant"), the input mirrored at its border ("reflect"), its border again and again
    ("replicate"), or its other end ("circular"). Only "constant" takes a `value`, and any dimension.
    """
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(_pad, (input,), input, pad, mode=mode, value=value)
    return operators.pad(input, pad, mode, value)


_pad = pad  # under a name that is no parameter
