"""Which layers normalize within a sample, over its last dimensions or over groups of channels?

Mirrors: torch/nn/modules/normalization.py, _functions.py (CrossMapLRN2d)
Differs: CrossMapLRN2d is composed of operators, which differentiate themselves.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import ClassVar

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ArgumentValueError
from glasstorch.nn import functional, init
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter
from glasstorch.operators.generated import functions as operators


class LocalResponseNorm(Module):
    """Divides each element of (N, C, ...) by a power of the mean square of `size` channels around it."""

    __constants__: ClassVar[list[str]] = ["size", "alpha", "beta", "k"]

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """As LocalResponseNorm for (N, C, H, W), with the longer half of an even `size` after the channel."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ArgumentValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach = (self.size - 1) // 2
        padded = operators.constant_pad_nd(input * input, (0, 0, 0, 0, reach + 1, reach), 0)
        sums = padded.cumsum(1)
        around = sums[:, 2 * reach + 1 :] - sums[:, : input.size(1)]
        return input * (around * (self.alpha / self.size) + self.k).pow(-self.beta)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LayerNorm(Module):
    """Normalizes the last dimensions, of sizes `normalized_shape`; weight and bias have these sizes."""

    __constants__: ClassVar[list[str]] = ["normalized_shape", "eps", "elementwise_affine"]

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = sizes_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, given in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            sizes = self.normalized_shape
            parameter = Parameter(operators.empty(sizes, device=device, dtype=dtype)) if given else None
            self.register_parameter(name, parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The weight becomes 1, the bias 0."""
        if self.weight is not None and self.elementwise_affine:
            init.ones_(self.weight)
        if self.bias is not None and self.elementwise_affine:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


def sizes_of(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    """One number stands for one dimension.

    >>> sizes_of(3)
    (3,)
    """
    if isinstance(normalized_shape, numbers.Integral):
        return (int(normalized_shape),)
    return tuple(normalized_shape)  # type: ignore[arg-type]


class GroupNorm(Module):
    """Normalizes `num_groups` groups of the channels of (N, C, ...); weight and bias have shape (C)."""

    __constants__: ClassVar[list[str]] = ["num_groups", "num_channels", "eps", "affine"]

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ArgumentValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, given in (("weight", affine), ("bias", affine and bias)):
            parameter = Parameter(operators.empty(num_channels, device=device, dtype=dtype)) if given else None
            self.register_parameter(name, parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The weight becomes 1, the bias 0."""
        if self.weight is not None and self.affine:
            init.ones_(self.weight)
        if self.bias is not None and self.affine:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divides the last dimensions, of sizes `normalized_shape`, by their root mean square."""

    __constants__: ClassVar[list[str]] = ["normalized_shape", "eps", "elementwise_affine"]

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = sizes_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(operators.empty(self.normalized_shape, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The weight becomes 1."""
        if self.weight is not None and self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
