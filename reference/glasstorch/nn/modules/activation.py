"""Which activation layers are there?

Mirrors: torch/nn/modules/activation.py
Differs: only the layers whose operators exist.
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.nn import functional
from glasstorch.nn.modules.module import Module


class ReLU(Module):
    """The input where it is positive, else 0; `inplace` overwrites the input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Any size; the result has the same."""
        return functional.relu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        """Any size; the result has the same."""
        return functional.tanh(input)


class Sigmoid(Module):
    """`1 / (1 + exp(-input))`."""

    def forward(self, input: Tensor) -> Tensor:
        """Any size; the result has the same."""
        return functional.sigmoid(input)


class Softmax(Module):
    """Positive numbers that sum to 1 along a dimension."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Any size; the result has the same."""
        return functional.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """The logarithm of `Softmax`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Any size; the result has the same."""
        return functional.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"
