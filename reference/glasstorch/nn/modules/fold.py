"""Which layers cut images into sliding blocks, and put them together?

Mirrors: torch/nn/modules/fold.py
"""

from __future__ import annotations

from typing import ClassVar

from glasstorch._tensor import Tensor
from glasstorch.nn import functional
from glasstorch.nn.functions.convolution import Sizes
from glasstorch.nn.modules.module import Module


class Fold(Module):
    """Blocks added up where they lie: (N, C * kernel elements, places) gives (N, C, *output_size); also without N."""

    __constants__: ClassVar = ["output_size", "kernel_size", "dilation", "padding", "stride"]

    def __init__(
        self, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """The images that the blocks are from, where no two blocks overlap."""
        return functional.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Unfold(Module):
    """What a sliding kernel reads: (N, C, H, W) gives (N, C * kernel elements, places); also without N."""

    __constants__: ClassVar = ["kernel_size", "dilation", "padding", "stride"]

    def __init__(self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """A column for each place of the kernel."""
        return functional.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
