"""How do two tensors take each other's place, for all who hold them?

Mirrors: torch/utils/__init__.py (swap_tensors), torch/csrc/autograd/python_variable.cpp (THPVariable_swap_tensor_impl)
Differs: a tensor is one object here, so that its slots are exchanged. Who else of the library holds it (a node that
    saved it, a view of it) is found among its referrers.
"""

from __future__ import annotations

import copyreg
import gc
import weakref
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.accumulate_grad import AccumulateGrad
from glasstorch.autograd.history import AutogradMeta
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.errors import AutogradError

HOLDERS = (SavedVariable, AutogradMeta)


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange all of two tensors but their identity: elements, class, attributes and history.

    Refused if somebody refers weakly to one of them, if their classes have different slots, or if a node or a view
    holds one. A backward pass that began before and reaches one of them is refused when it comes there.
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = _slots(type(t1))
    if slots != _slots(type(t2)):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    _check_unheld(t1, "t1")
    _check_unheld(t2, "t2")
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for slot in sorted(slots):
        first, second = _taken(t1, slot), _taken(t2, slot)
        _put(t1, slot, second)
        _put(t2, slot, first)


UNSET: Any = object()


def _slots(kind: type) -> frozenset[str]:
    names: frozenset[str] = frozenset(copyreg._slotnames(kind))  # type: ignore[attr-defined]
    return names


def _taken(tensor: Tensor, slot: str) -> Any:
    """What a slot holds, which is empty then; UNSET if it was empty. No class is asked."""
    try:
        value = object.__getattribute__(tensor, slot)
    except AttributeError:
        return UNSET
    object.__delattr__(tensor, slot)
    return value


def _put(tensor: Tensor, slot: str, value: Any) -> None:
    if value is not UNSET:
        object.__setattr__(tensor, slot, value)


def _check_unheld(tensor: Tensor, name: str) -> None:
    """Refuse a tensor that the library still needs as it is; a leaf's own node refuses when it is reached."""
    meta = tensor._autograd_meta
    node = None if meta is None or meta.accumulator is None else meta.accumulator()
    holders = sum(isinstance(one, HOLDERS) or _is_record(one) for one in gc.get_referrers(tensor))
    if holders:
        raise RuntimeError(
            f"Expected use_count of {name} to be 1 or 2 with an AccumulateGrad node but got "
            f"{1 + holders + (node is not None)} make sure you are not holding references to the tensor in other "
            f"places. A node saved it for the backward pass, or there is a view of it."
        )
    if isinstance(node, AccumulateGrad):
        node.register_prehook(_refuse)


def _is_record(one: object) -> bool:
    """Whether a dict is what an AutogradMeta holds: its base, or a gradient."""
    return type(one) is dict and any(type(owner) is AutogradMeta for owner in gc.get_referrers(one))


def _refuse(gradients: Any) -> Any:
    raise AutogradError(
        "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen when you try to run "
        "backward on a tensor that was swapped. Change a module's device or dtype before its forward pass, or after "
        "both passes, and not between them."
    )
