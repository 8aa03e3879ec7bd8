"""What is a linear layer?

Mirrors: torch/nn/modules/linear.py
Differs: no bilinear and no lazily sized layers.
"""

from __future__ import annotations

import math
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.nn import functional, init
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter
from glasstorch.operators.generated import functions as operators


class Linear(Module):
    """`input @ weight.T + bias`, where weight has shape (out_features, in_features).

    The input has shape (..., in_features), the result (..., out_features).
    """

    in_features: int
    out_features: int
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(operators.empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(operators.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias again, in this order: uniform in +-1 / sqrt(in_features)."""
        # He's bound is sqrt(3) * sqrt(2 / (1 + a**2)) / sqrt(in_features): with this slope it is the one above.
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """`input @ weight.T + bias`."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Identity(Module):
    """Returns its input; accepts any arguments, so that it can replace any layer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The input itself."""
        return input
