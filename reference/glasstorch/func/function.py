"""How does a user's Function run under a transform?

Mirrors: torch/_functorch/autograd_function.py (custom_function_call and its rules for Grad, Jvp and Vmap)

At a level that differentiates, a Function of our own is applied: its forward calls the user's Function at the levels
below, and its backward and jvp are the user's. Under vmap the user's rule for a batch runs at the levels below, or the
one that is generated (function_vmap.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.autograd.function import Function, set_under_transforms
from glasstorch.autograd.modes import set_grad_enabled
from glasstorch.autograd.tangents import forward_mode
from glasstorch.autograd.tangents import level as dual_level
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.pytree import _broadcast_to_and_flatten, tree_flatten, tree_leaves, tree_map, tree_unflatten
from glasstorch.func.batching import Batch
from glasstorch.func.function_vmap import dims_of, vmapped
from glasstorch.func.layers import Rest, alive, stack
from glasstorch.func.tracking import Tracking
from glasstorch.func.wrapped import batched, tracked, values_of, wrapping_by

MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What the `vmap` of a Function is told about the batch."""

    batch_size: int
    randomness: str


def apply(cls: type[Function], args: tuple[Any, ...]) -> Any:
    """Apply a Function at the level of the innermost transform."""
    frames = stack.get()
    args = tree_map(lambda leaf: alive(leaf) if isinstance(leaf, Tensor) else leaf, args)
    interpreter, rest = frames[-1].interpreter, Rest(frames[:-1])
    if isinstance(interpreter, Tracking):
        return _recorded(interpreter, rest, cls, args)
    assert isinstance(interpreter, Batch)
    return _batched(interpreter, rest, cls, args)


set_under_transforms(apply)


# At a level that differentiates ---------------------------------------------------------------------------------------


def _recorded(owner: Tracking, rest: Rest, cls: type[Function], args: tuple[Any, ...]) -> Any:
    """Apply a Function that records the user's at this level."""

    def forward(*given: Any) -> Any:
        values = values_of(given, owner)
        with set_grad_enabled(owner.recorded or owner.tangents is not None), forward_mode(enabled=True):
            result = rest.call(cls.apply, *values)
        return around(result, values, given, lambda value: tracked(value, owner))

    members = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(cls.setup_context),
        "backward": staticmethod(cls.backward),
        "vjp": staticmethod(cls.vjp),
        "jvp": staticmethod(cls.jvp),
        "clear_saved_tensors_on_access": cls.clear_saved_tensors_on_access,
    }
    here: Any = type(f"{cls.__name__}Generated", (Function,), members)
    token = dual_level.set(rest.duals if owner.tangents is None else owner.tangents)
    try:
        return here._apply_once(
            tuple(tracked(a, owner) if isinstance(a, Tensor) and wrapping_by(owner, a) is None else a for a in args),
            True,
        )
    finally:
        dual_level.reset(token)


def around(result: Any, values: Any, given: Any, wrap: Callable[..., Tensor], dims: Sequence[Any] | None = None) -> Any:
    """The result at this level: a value that was given as it was given, and any other wrapped."""
    same = {id(value): own for value, own in zip(tree_leaves(values), tree_leaves(given), strict=True)}
    flat, spec = tree_flatten(result)
    found = [
        value if not isinstance(value, Tensor) else same[id(value)] if id(value) in same else wrap(value, *more)
        for value, *more in (zip(flat, strict=True) if dims is None else zip(flat, dims, strict=True))
    ]
    return tree_unflatten(found, spec)


# Under vmap -----------------------------------------------------------------------------------------------------------


def _batched(owner: Batch, rest: Rest, cls: type[Function], args: tuple[Any, ...]) -> Any:
    """Run the rule for a batch that the user has written, or the one that is generated."""
    overridden = cls.vmap is not Function.vmap
    if cls.generate_vmap_rule and overridden:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            f"staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            f"ambiguity. {MORE}"
        )
    values, dims = values_of(args, owner), dims_of(args, owner)
    if cls.generate_vmap_rule:
        *outputs, out_dims = rest.call(vmapped(cls, dims, owner.size, owner.randomness).apply, *values)
        outputs = outputs if isinstance(out_dims, tuple) else outputs[0]
        flat, spec = tree_flatten(tuple(outputs) if isinstance(out_dims, tuple) else outputs)
        flat_dims = _broadcast_to_and_flatten(out_dims, spec)
        assert flat_dims is not None, "the generated rule returns dimensions of the outputs' structure"
        return tree_unflatten([hidden(owner, *pair) for pair in zip(flat, flat_dims, strict=True)], spec)
    if not overridden:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement "
            f"the vmap staticmethod or set generate_vmap_rule=True. {MORE}"
        )
    if all(dim is None for dim in tree_leaves(dims)):
        return rest.call(cls.apply, *args)
    made = rest.call(cls.vmap, VmapInfo(owner.size, owner.randomness), dims, *values)
    result, out_dims = two_returns(made)
    spec = tree_flatten(result)[1]
    flat_dims = _broadcast_to_and_flatten(out_dims, spec)
    if flat_dims is None:
        raise RuntimeError(
            f"The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
            f"{tree_flatten(out_dims)[1]} but output has structure {spec}. {MORE}"
        )
    return around(result, values, args, lambda value, dim: hidden(owner, value, dim), flat_dims)


def hidden(owner: Batch, value: Any, dim: int | None) -> Any:
    """A result as a batch; as it is where it has no dimension of examples."""
    return value if dim is None else batched(value, wrap_dim(dim, value.ndim) if dim >= 0 else dim, owner)


def two_returns(made: Any) -> tuple[Any, Any]:
    """The result and the dimensions of its batch, which the user's rule has returned."""
    expected = (
        "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible "
        "with the output. "
    )
    if not isinstance(made, tuple):
        raise RuntimeError(f"{expected}Got a {type(made)} instead")
    if len(made) != 2:
        raise RuntimeError(f"{expected}Got {len(made)} returns instead")
    return made
