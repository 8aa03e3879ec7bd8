"""How do special functions that are other operators write to out= or in place?

They hand it on to the operator that they are. See Note [The ways to write to out=].

Mirrors: aten/src/ATen/native/UnaryOps.cpp (the `_out` functions of special_*, mvlgamma_), BinaryOps.cpp
    (special_xlogy_out, xlogy_, special_zeta_out)
Differs: nothing in substance.
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import check_can_cast
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.composite.special import POLYNOMIALS, with_number
from glasstorch.operators.direct import on_tensors
from glasstorch.operators.generated.functions import erf, mul, mvlgamma

# Autograd sees the operators that these are, and refuses them where a gradient is wanted.
IMPLICIT = KernelTable("CompositeImplicitAutograd", calls_operators=True, takes_keys=False)
EXPLICIT = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)

ALIASES = {
    "special_digamma.out": "digamma.out",
    "special_erf.out": "erf.out",
    "special_erfc.out": "erfc.out",
    "special_erfinv.out": "erfinv.out",
    "special_exp2.out": "exp2.out",
    "special_expit.out": "sigmoid.out",
    "special_expm1.out": "expm1.out",
    "special_gammainc.out": "igamma.out",
    "special_gammaincc.out": "igammac.out",
    "special_gammaln.out": "lgamma.out",
    "special_i0.out": "i0.out",
    "special_log1p.out": "log1p.out",
    "special_logit.out": "logit.out",
    "special_logsumexp.out": "logsumexp.out",
    "special_multigammaln.out": "mvlgamma.out",
    "special_polygamma.out": "polygamma.out",
    "special_psi.out": "digamma.out",
    "special_round.out": "round.decimals_out",
    "special_sinc.out": "sinc.out",
    "special_xlogy.out": "xlogy.OutTensor",
    "special_xlogy.self_scalar_out": "xlogy.OutScalar_Self",
    "special_xlogy.other_scalar_out": "xlogy.OutScalar_Other",
}

SIDES = {"xlog1py": ("self", "other"), "zeta": ("self", "other"), **dict.fromkeys(POLYNOMIALS, ("x", "n"))}
WITH_NUMBER = {
    "xlogy_.Scalar_Other": "xlogy_.Tensor",
    "xlogy.OutScalar_Self": "xlogy.OutTensor",
    "xlogy.OutScalar_Other": "xlogy.OutTensor",
    **{f"special_{name}.{side}_scalar_out": f"special_{name}.out" for name, sides in SIDES.items() for side in sides},
}

for _form, _target in ALIASES.items():
    IMPLICIT.add(_form, on_tensors(_target))
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
