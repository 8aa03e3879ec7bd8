"""How is a function made into one that writes to nothing?

Mirrors: torch/_functorch/eager_transforms.py (functionalize), torch/csrc/functorch/init.cpp
    (_propagate_functional_input_mutation)
Differs: a `functionalize` inside another works; PyTorch's ends in a failed assertion.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.pytree import tree_leaves, tree_map
from glasstorch.func.functional_tensor import functional, inside, is_functional, sync
from glasstorch.func.functionalization import Functionalizing
from glasstorch.func.layers import call, running
from glasstorch.func.view_inverses import Views


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """A function that computes the same without writing to a tensor, and writes to its arguments at the end.

    With remove="mutations_and_views", no two tensors share memory inside either: each view is a copy, and a write to it
    is worked into its base before that is used next.

    >>> def f(x):
    ...     x[0].add_(1)
    ...     return x.sum()

    runs `select`, `add`, `select_scatter` and `sum`, then `copy_` to `x`.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
            f"     remove='mutations': all inplace and out= operators will be removed from the program, and replaced "
            f"with their out-of-place equivalents.\n"
            f"     remove='mutations_and_views': In addition to the above, all aliasing operators {{view}} will be "
            f"replaced with their non-aliasing counterparts, {{view}}_copy.\n"
        )
    views = Views(reapplied=remove == "mutations")

    @wraps(func)
    def without_writes(*args: Any, **kwargs: Any) -> Any:
        with running(Functionalizing(views)) as level:

            def wrap(leaf: Any) -> Any:
                return functional(leaf, level) if isinstance(leaf, Tensor) else leaf

            def unwrap(leaf: Any) -> Any:
                if not (is_functional(leaf) and inside(leaf).owner is level):
                    return leaf
                sync(leaf)
                return inside(leaf).value

            given, wrapped = (args, kwargs), tree_map(wrap, (args, kwargs))
            outputs = tree_map(unwrap, func(*wrapped[0], **wrapped[1]))
            tree_map(unwrap, wrapped)
        for before, after in zip(tree_leaves(given), tree_leaves(wrapped), strict=True):
            if isinstance(before, Tensor):
                _write_back(before, after)
        return outputs

    return without_writes


def _write_back(argument: Tensor, after: Tensor) -> None:
    """Let the caller's argument have the geometry and the values that the function gave it."""
    found = inside(after)
    if found.changed_storage:
        argument.resize_(found.value.shape)
        argument.copy_(found.value)
    elif found.changed_shape:
        view = argument
        for step in found.path:
            view = call(step.operator, [view, *step.rest])
        argument.as_strided_(view.shape, view.stride(), view.storage_offset())
    if found.base.generation and not found.changed_storage:
        argument.copy_(found.value)
