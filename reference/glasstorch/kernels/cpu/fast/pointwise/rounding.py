"""How are numbers rounded to decimals in few steps?

Mirrors: the contiguous case of round_decimals_kernel (aten/src/ATen/native/cpu/UnaryOpsKernel.cpp)
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast.pointwise.loops import plain_kernel, run_fresh
from glasstorch.kernels.cpu.pointwise import rounding
from glasstorch.kernels.pointwise.dtypes import DIRECT_FLOATS

plain_round = plain_kernel("round.decimals")


@fast("round.decimals", when="a row-major tensor of floats", benchmark="1e6: round", exact="bits")
def round_decimals(keys: int, self: Tensor, decimals: int) -> Tensor:
    """See Note [The short path]."""
    if self._strides is None and self.dtype in DIRECT_FLOATS:
        return run_fresh(rounding.round_to(decimals), self._shape, self.dtype, (self.array(),))
    return plain_round(keys, self, decimals)
