"""Which functions slide a kernel over their input?

Mirrors: torch/nn/functional.py
Differs: the convolutions are the operators' functions themselves, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary
from glasstorch.core.plain_types import PLAIN
from glasstorch.nn.functions.tuples import for_each
from glasstorch.operators.generated import functions as operators
from glasstorch.operators.generated.functions import (
    conv1d,
    conv2d,
    conv3d,
    conv_tbc,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "conv_tbc",
    "unfold",
    "fold",
]

Sizes = int | Sequence[int]


def unfold(input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> Tensor:
    """What a sliding kernel reads: (N, C, H, W) gives (N, C * kernel elements, places), a copy."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            unfold, (input,), input, kernel_size, dilation=dilation, padding=padding, stride=stride
        )
    window = (for_each(2, numbers) for numbers in (kernel_size, dilation, padding, stride))
    return operators.im2col(input, *window)


def fold(
    input: Tensor,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Tensor:
    """Columns added up where a sliding kernel reads them: (N, C * kernel elements, places) gives (N, C, H, W)."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            fold, (input,), input, output_size, kernel_size, dilation=dilation, padding=padding, stride=stride
        )
    window = (for_each(2, numbers) for numbers in (output_size, kernel_size, dilation, padding, stride))
    return operators.col2im(input, *window)
