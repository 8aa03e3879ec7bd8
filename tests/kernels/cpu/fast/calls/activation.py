"""Which random calls reach the fast gelu?"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch import Tensor
from tests.agreement.oracles import operator
from tests.kernels.cpu.fast.calls.drawing import HALVES, laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call


def numbers(rng: np.random.Generator, shape: list[int], dtype: str) -> Tensor:
    """Numbers of which some are far out."""
    return laid_out(rng, shape, dtype, one_of(rng, [0, 0.01])) * one_of(rng, [1, 3, 1000])


def gelu(rng: np.random.Generator) -> Call:
    """Few numbers or many, mostly in float32."""
    shape = sizes_of(rng, one_of(rng, [0, 100, 5_000, 50_000]), int(rng.integers(1, 4)))
    x = numbers(rng, shape, one_of(rng, [*["float32"] * 3, "float64", *HALVES]))
    return Call(operator("gelu"), (x,), {"approximate": one_of(rng, KINDS)}, scale=lambda x, **_: largest(x))


def gelu_backward(rng: np.random.Generator) -> Call:
    """The same, and a gradient, whose sizes are sometimes others; tanh's slope is near 0 times up to 16."""
    shape = sizes_of(rng, one_of(rng, [0, 100, 5_000, 50_000]), int(rng.integers(1, 4)))
    dtype = one_of(rng, [*["float32"] * 3, "float64", *HALVES])
    grad = laid_out(rng, shape[int(rng.integers(5) == 0) :], one_of(rng, [dtype, dtype, "float32"]))
    given = (grad, numbers(rng, shape, dtype))
    kinds = {"approximate": one_of(rng, KINDS)}
    return Call(operator("gelu_backward"), given, kinds, scale=lambda grad, x, **_: 16 * largest(grad))


KINDS = ("none", "none", "tanh", "none of them")


def largest(x: Tensor) -> Any:
    """The largest finite number."""
    return x.nan_to_num(0.0, 0.0, 0.0).abs().max() if x.numel() else x.new_ones(())


CALLS = {"aten::gelu": gelu, "aten::gelu_backward": gelu_backward}
