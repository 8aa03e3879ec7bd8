"""How does vmap run the rule that a user has registered for an operator?

Mirrors: torch/_functorch/autograd_function.py (custom_function_call_vmap_helper)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch.core.pytree import _broadcast_to_and_flatten, tree_flatten, tree_leaves
from glasstorch.dispatch.operator import Operator
from glasstorch.dispatch.resolve import users_arguments
from glasstorch.func.batching import Batch, RuleOfUser
from glasstorch.func.function import VmapInfo, around, hidden, two_returns
from glasstorch.func.function_vmap import dims_of
from glasstorch.func.layers import Rest, call
from glasstorch.func.wrapped import values_of


class UsersRule(RuleOfUser):
    """A function that is called as `function(info, in_dims, *args, **kwargs)` with whole batches, at the levels below.

    It is found at each call, so that another may be registered later.
    """

    def __init__(self, found: Callable[[], Callable[..., Any] | None]) -> None:
        self.found = found

    def process(self, batch: Batch, operator: Operator, arguments: Sequence[Any], rest: Rest) -> Any:
        args, kwargs = users_arguments(operator, arguments)
        values, dims = values_of(args, batch), dims_of(args, batch)
        if all(dim is None for dim in tree_leaves(dims, is_leaf=lambda leaf: leaf is None)):
            return rest.call(call, operator, arguments)
        info = VmapInfo(batch.size, batch.randomness)
        function = self.found()
        assert function is not None
        made = rest.call(lambda: function(info, dims, *values, **kwargs))
        result, out_dims = two_returns(made)
        spec = tree_flatten(result)[1]
        flat_dims = _broadcast_to_and_flatten(out_dims, spec)
        if flat_dims is None:
            raise RuntimeError(
                f"The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. "
                f"Expected out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
                f"{tree_flatten(out_dims)[1]} but output has structure {spec}."
            )
        return around(result, values, args, lambda value, dim: hidden(batch, value, dim), flat_dims)
