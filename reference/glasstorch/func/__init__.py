"""How is a function transformed: mapped over a batch, differentiated?

Reading order: `wrapped` (what a transform puts around a tensor), `layers` (how nested transforms take turns),
`tracking` (a level at which autograd records), `dual`, `batching` (how vmap finds a rule) and `rules` (what an operator
does to a batch), `vmap`, `arguments`, `transforms` (grad, vjp, jvp, Jacobians), `linearize`, `function_vmap` and
`function` (a user's Function under transforms), `users_rule` (the rule of a user's operator), `modules`, `printing`,
`view_inverses`, `functional_tensor`, `functionalization`, `changes_of_storage` and `functionalize` (writes and views
without shared memory), `functional_api`, `rearranging`, and `functional`, which is `glasstorch.autograd.functional`.

Mirrors: torch/func, torch/_functorch, aten/src/ATen/functorch
Differs: Python throughout.
"""

from glasstorch.func import changes_of_storage as _changes_of_storage  # noqa: F401  # registers its kernels
from glasstorch.func import function as function
from glasstorch.func import rules as rules
from glasstorch.func.functionalization import register_functionalization
from glasstorch.func.functionalize import functionalize as functionalize
from glasstorch.func.layers import register_transforms
from glasstorch.func.linearize import linearize as linearize
from glasstorch.func.modules import functional_call as functional_call
from glasstorch.func.modules import replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_
from glasstorch.func.modules import stack_module_state as stack_module_state
from glasstorch.func.printing import debug_unwrap as debug_unwrap
from glasstorch.func.rearranging import rearrange as rearrange
from glasstorch.func.transforms import grad as grad
from glasstorch.func.transforms import grad_and_value as grad_and_value
from glasstorch.func.transforms import hessian as hessian
from glasstorch.func.transforms import jacfwd as jacfwd
from glasstorch.func.transforms import jacrev as jacrev
from glasstorch.func.transforms import jvp as jvp
from glasstorch.func.transforms import vjp as vjp
from glasstorch.func.vmap import vmap as vmap

register_transforms()
register_functionalization()
