"""Which functions of whole functions are in torch.autograd: Jacobians, Hessians, products with them?

Mirrors: torch/autograd/functional.py
Differs: re-exports; the code is in func/functional.py, as it stands on vmap.
"""

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.func.functional import hessian as hessian
from glasstorch.func.functional import hvp as hvp
from glasstorch.func.functional import jacobian as jacobian
from glasstorch.func.functional import jvp as jvp
from glasstorch.func.functional import vhp as vhp
from glasstorch.func.functional import vjp as vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

__getattr__ = refuse_unknown_names(__name__)
