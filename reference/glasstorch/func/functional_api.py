"""What can a program do with functional tensors by hand?

Mirrors: torch/csrc/autograd/python_torch_functions_manual.cpp (_to_functional_tensor and its like)
Differs: the functions that ask about storages (`_functionalize_was_storage_changed` and others) are missing.
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.core.keys import FUNCTIONALIZE
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.func.functional_tensor import commit_update, functional, inside, is_functional, replace, sync
from glasstorch.func.functionalization import reapply_views as views_are_reapplied

__all__ = [
    "_disable_functionalization",
    "_enable_functionalization",
    "_from_functional_tensor",
    "_functionalize_commit_update",
    "_functionalize_has_data_mutation",
    "_functionalize_has_metadata_mutation",
    "_functionalize_replace",
    "_functionalize_sync",
    "_is_functional_tensor",
    "_sync",
    "_to_functional_tensor",
]


def _to_functional_tensor(t: Tensor) -> Tensor:
    """A functional tensor around a tensor, without its history."""
    if is_functional(t):
        raise RuntimeError("_to_functional_tensor: the tensor is a functional one already; expected one that is not")
    return functional(t)


def _from_functional_tensor(t: Tensor) -> Tensor:
    """The value of a functional tensor, without what was written through its aliases since `_sync`."""
    return inside(_checked("_from_functional_tensor", t)).value


def _is_functional_tensor(t: Tensor) -> bool:
    """Whether a tensor is a functional one."""
    return is_functional(t)


def _sync(t: Tensor) -> None:
    """Bring a functional tensor up to date with what was written through its aliases."""
    sync(_checked("_sync", t))


_functionalize_sync = _sync


def _functionalize_replace(t: Tensor, other: Tensor) -> None:
    """Give a functional tensor another value."""
    replace(_checked("_functionalize_replace", t), other)


def _functionalize_commit_update(t: Tensor) -> None:
    """Let the aliases of a functional tensor see the value that it was given."""
    commit_update(_checked("_functionalize_commit_update", t))


def _functionalize_has_data_mutation(t: Tensor) -> bool:
    """Whether a functional tensor, or an alias of it, was written to."""
    found = inside(_checked("_functionalize_has_data_mutation", t))
    return found.base.generation > 0


def _functionalize_has_metadata_mutation(t: Tensor) -> bool:
    """Whether the sizes or strides of a functional tensor were changed in place."""
    return inside(_checked("_functionalize_has_metadata_mutation", t)).changed_shape


def _enable_functionalization(*, reapply_views: bool = False) -> None:
    """Make each operator functional in this context, factory functions too, until it is disabled."""
    included, allowed = active_keys.get()
    if included & FUNCTIONALIZE:
        raise RuntimeError(
            "multiple layers of mode-style functionalization nesting is not currently supported, outside of the "
            "functionalize() transform"
        )
    active_keys.set((included | FUNCTIONALIZE, allowed))
    views_are_reapplied.set(reapply_views)


def _disable_functionalization() -> None:
    """End what `_enable_functionalization` began."""
    included, allowed = active_keys.get()
    active_keys.set((included & ~FUNCTIONALIZE, allowed))


def _checked(function: str, tensor: Tensor) -> Tensor:
    if not is_functional(tensor):
        raise RuntimeError(f"{function}: expected a functional tensor; _to_functional_tensor makes one of any tensor")
    return tensor
