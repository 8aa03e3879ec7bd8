"""Which functions are linear in each input?

Mirrors: torch/nn/functional.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.calls.parser import publish
from glasstorch.operators.generated import functions as operators

__all__ = ["bilinear", "linear"]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """`input @ weight.T + bias`: (..., in_features) gives (..., out_features).

    `weight` has shape (out_features, in_features) or (in_features,), `bias` (out_features,) or ().
    """
    return operators.linear(input, weight, bias, out=out)


bilinear = operators.bilinear
publish(linear, operators._parse_linear)  # others are asked about the function here
