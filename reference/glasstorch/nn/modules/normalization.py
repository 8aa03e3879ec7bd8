"""Which layers normalize over the last dimensions, over groups of channels, and over neighbouring channels?

Mirrors: torch/nn/modules/normalization.py
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.nn import functional as F
from glasstorch.nn import init
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter
from glasstorch.operators.generated import functions as operators

__all__ = ["LocalResponseNorm", "CrossMapLRN2d", "LayerNorm", "GroupNorm", "RMSNorm"]

Sizes = int | Sequence[int]


class LocalResponseNorm(Module):
    """Divide (N, C, ...) by a power of the mean square over `size` neighbouring channels."""

    __constants__ = ("size", "alpha", "beta", "k")

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """Nearly the same for (N, C, H, W); PyTorch keeps it for networks of Lua Torch.

    The first channel counts among those around all channels after it, as PyTorch's running sum, which never lets go of
    it, has it. PyTorch's gradient is that of other channels; this one is the derivative.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach = (self.size + 1) // 2
        squares = input * input
        entered = operators.constant_pad_nd(squares, (0, 0, 0, 0, 0, reach - 1)).cumsum(1)[:, reach - 1 :]
        left = operators.constant_pad_nd(squares[:, 1:], (0, 0, 0, 0, reach + 1, 0)).cumsum(1)[:, : input.size(1)]
        return input * ((entered - left) * (self.alpha / self.size) + self.k).pow(-self.beta)


class LayerNorm(Module):
    """Normalize over the last dimensions, which have the sizes `normalized_shape`."""

    __constants__ = ("normalized_shape", "eps", "elementwise_affine")

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: Sizes,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        _register(self, "weight", self.normalized_shape, elementwise_affine, device, dtype)
        _register(self, "bias", self.normalized_shape, elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights of 1 and biases of 0."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class GroupNorm(Module):
    """Normalize each of `num_groups` groups of the `num_channels` channels of (N, C, ...), image by image."""

    __constants__ = ("num_groups", "num_channels", "eps", "affine")

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
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        _register(self, "weight", (num_channels,), affine, device, dtype)
        _register(self, "bias", (num_channels,), affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights of 1 and biases of 0."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divide by the root of the mean square over the last dimensions, which have the sizes `normalized_shape`."""

    __constants__ = ("normalized_shape", "eps", "elementwise_affine")

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: Sizes,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        _register(self, "weight", self.normalized_shape, elementwise_affine, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights of 1."""
        _reset(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


def _as_tuple(sizes: Sizes) -> tuple[int, ...]:
    return (int(sizes),) if isinstance(sizes, Integral) else tuple(sizes)  # type: ignore[arg-type]


def _register(
    module: Module,
    name: str,
    shape: tuple[int, ...],
    wanted: bool,
    device: Device | str | None,
    dtype: Dtype | None,
) -> None:
    empty = operators.empty(shape, device=device, dtype=dtype) if wanted else None
    module.register_parameter(name, None if empty is None else Parameter(empty))


def _reset(weight: Parameter | None, bias: Parameter | None = None) -> None:
    if weight is not None:
        init.ones_(weight)
    if bias is not None:
        init.zeros_(bias)
