"""How do special functions that are made of other operators write to out= or in place?

They hand it on to those. See Note [The ways to write to out=].

Mirrors: aten/src/ATen/native/UnaryOps.cpp (special_ndtr_out, mvlgamma_), BinaryOps.cpp (xlogy_out, xlogy_,
    special_zeta_out)
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import check_can_cast
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.composite.special import POLYNOMIALS, with_number
from glasstorch.operators.generated.functions import erf, mul, mvlgamma

# Autograd sees the operators that these are, and refuses them where a gradient is wanted.
IMPLICIT = KernelTable("CompositeImplicitAutograd", calls_operators=True, takes_keys=False)
EXPLICIT = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)

SIDES = {"xlog1py": ("self", "other"), "zeta": ("self", "other"), **dict.fromkeys(POLYNOMIALS, ("x", "n"))}
WITH_NUMBER = {
    "xlogy_.Scalar_Other": "xlogy_.Tensor",
    "xlogy.OutScalar_Self": "xlogy.OutTensor",
    "xlogy.OutScalar_Other": "xlogy.OutTensor",
    **{f"special_{name}.{side}_scalar_out": f"special_{name}.out" for name, sides in SIDES.items() for side in sides},
}

for _form, _target in WITH_NUMBER.items():
    EXPLICIT.add(_form, with_number(_target))


@IMPLICIT.impl("special_ndtr.out")
def ndtr_out(self: Tensor, out: Tensor) -> Tensor:
    """The share of a normal distribution below each element."""
    return mul(1 + erf(self * math.sqrt(0.5)), 0.5, out=out)


@EXPLICIT.impl("mvlgamma_")
def mvlgamma_(self: Tensor, p: int) -> Tensor:
    """`mvlgamma`, written where the input was."""
    result = mvlgamma(self, p)
    check_can_cast(result.dtype, self.dtype)
    return self.copy_(result)
