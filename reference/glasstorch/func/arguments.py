"""Which arguments does a transform differentiate, and what does it refuse?

Mirrors: torch/_functorch/eager_transforms.py (_slice_argnums, _replace_args, assert_* )
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import FLOATING
from glasstorch.core.pytree import tree_leaves

Argnums = int | tuple[int, ...]


def checked_argnums(argnums: Any, count: int) -> Argnums:
    """The places of arguments, counted from 0; RuntimeError for places that are not there, named twice or none."""
    if not isinstance(argnums, int | tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if isinstance(argnums, int):
        return _checked(argnums, count)
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    found = tuple(_checked(argnum, count) for argnum in argnums)
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def _checked(argnum: Any, count: int) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def chosen(args: Sequence[Any], argnums: Argnums) -> Any:
    """The arguments at some places: one, or a tuple."""
    return args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in argnums)


def replaced(args: Sequence[Any], argnums: Argnums, new: Any) -> tuple[Any, ...]:
    """The arguments, with others at some places."""
    result = list(args)
    for i, value in zip(
        (argnums,) if isinstance(argnums, int) else argnums, (new,) if isinstance(argnums, int) else new, strict=True
    ):
        result[i] = value
    return tuple(result)


def check_tensors(tree: Any) -> None:
    """ValueError for an argument that is not a tensor."""
    for leaf in tree_leaves(tree):
        if not isinstance(leaf, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")


def check_only_tensors(tree: Any) -> None:
    """RuntimeError for a leaf of a result that is not a tensor, and so is of no level."""
    for leaf in tree_leaves(tree):
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")


def check_output(output: Any, api: str) -> None:
    """RuntimeError unless the output is a tensor or a tuple of some."""
    if isinstance(output, Tensor):
        return
    if not isinstance(output, tuple):
        raise RuntimeError(f"{api}: Expected output of f to be a Tensor or Tensors, got {type(output)}")
    if not output:
        raise RuntimeError(f"{api}: Expected output of f to be a non-empty tuple of Tensors.")
    for one in output:
        if not isinstance(one, Tensor):
            raise RuntimeError(f"{api}: Expected output of f to be a Tensor or Tensors, got {type(one)} as an output")


def check_real(api: str, tree: Any, is_input: bool) -> None:
    """RuntimeError for a complex tensor, of which the Jacobian would be ambiguous."""
    for i, leaf in enumerate(tree_leaves(tree)):
        if isinstance(leaf, Tensor) and leaf.dtype.is_complex:
            raise RuntimeError(
                f"{api}: Expected all {'inputs' if is_input else 'outputs'} to be real but received complex tensor at "
                f"flattened input idx: {i}"
            )


def can_be_differentiated(value: Any) -> bool:
    """Whether a result can have a gradient."""
    return isinstance(value, Tensor) and value.dtype.category >= FLOATING and value.requires_grad
