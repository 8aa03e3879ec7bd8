"""How is a view made once more, of another base?

Mirrors: torch/csrc/autograd/python_variable.cpp (view_func_impl, rev_view_func_impl), autograd_meta.cpp (has_same_meta)
Differs: for a view that remembers its operators (view_replay.py) there are no inverses of them, and no visitors.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.seen import Look, seen_in, steps_of
from glasstorch.core.errors import ArgumentTypeError, AutogradError
from glasstorch.core.keys import MATH_BITS
from glasstorch.core.tensor_impl import TensorImpl


def made_again(view: Tensor, new_base: Tensor, visitors: tuple[Any, ...], *, alike: bool) -> Tensor | None:
    """The view of another tensor that `view` is of its base; None for a tensor that is no view.

    With `alike`, None also for a tensor that is laid out otherwise than the base. Visitors are refused where
    the view remembers its operators, whose arguments PyTorch hands to them.
    """
    if not isinstance(new_base, Tensor):
        raise ArgumentTypeError(
            f"_view_func(): argument 'new_base' (position 1) must be Tensor, not {type(new_base).__name__}"
        )
    meta = view._autograd_meta
    if meta is None or meta.base is None or (alike and not _are_alike(new_base, meta.base)):
        return None
    if meta.steps is None:
        return new_base.as_strided(view._shape, view.strides(), view._offset)
    steps = steps_of(view)
    if any(step.replay is not None for step in steps) and any(visitor is not None for visitor in visitors):
        raise AutogradError(
            "_view_func(): glasstorch calls no visitors with the sizes and tensors that a view remembers; leave "
            "symint_visitor_fn and tensor_visitor_fn out, or make the view where view replay is off"
        )
    return seen_in(new_base, Look.of(meta.base)._replace(offset=new_base._offset), steps)


def base_made_again(view: Tensor, new_view: Tensor) -> None:
    """None for a tensor that is no view; a view keeps no function that makes its base of another view."""
    if not isinstance(new_view, Tensor):
        raise AutogradError("_rev_view_func expect a single argument that is a Tensor")
    meta = view._autograd_meta
    if meta is None or meta.base is None:
        return
    if meta.steps is None:
        raise AutogradError("No _rev_view_func() found")
    raise AutogradError(
        "No _rev_view_func() found: glasstorch has no inverses of view operators, also where a view remembers its own"
    )


def _are_alike(tensor: Tensor, base: Tensor) -> bool:
    """Whether sizes, strides, offset, bits and the elements of the storages agree; dtypes need not."""
    return (
        tensor._shape == base._shape
        and tensor._offset == base._offset
        and not (tensor.key_set ^ base.key_set) & MATH_BITS
        and _elements_of_storage(tensor) == _elements_of_storage(base)
        and all(
            ours == theirs
            for size, ours, theirs in zip(tensor._shape, tensor.strides(), base.strides(), strict=True)
            if size > 1
        )
    )


def _elements_of_storage(tensor: Tensor) -> int:
    return TensorImpl.untyped_storage(tensor).nbytes() // tensor.dtype.itemsize
