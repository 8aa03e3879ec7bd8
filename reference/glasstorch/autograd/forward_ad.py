"""How does a user ask for tangents, in forward mode?

Mirrors: torch/autograd/forward_ad.py, torch/csrc/autograd/forward_grad.cpp
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType
from typing import NamedTuple, Protocol

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import Guard
from glasstorch.autograd.tangents import Level, forward_mode, set_tangent, tangent_of
from glasstorch.autograd.tangents import level as _level
from glasstorch.core.dtype import FLOATING
from glasstorch.core.errors import AutogradError
from glasstorch.core.keys import DUAL, TRANSFORMED
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.dispatch.active_keys import active_keys

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """A dual tensor taken apart: the value, and the tangent or None."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Begin a level, in which tensors may have tangents; its number, which is 0.

    RuntimeError inside another: higher derivatives are those of `func.jvp`.
    """
    if _level.get() is not None:
        raise AutogradError("Nested forward mode AD is not supported at the moment")
    _level.set(Level())
    _mark(included=True)
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level: all tensors lose their tangents."""
    current = _level.get()
    if current is None:
        raise AutogradError("Dual level must be a positive number.")  # PyTorch's words: it has no level -1
    if level not in (None, 0):
        raise AutogradError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    _level.set(None)
    _mark(included=False)
    current.leave()


def _set_fwd_grad_enabled(mode: bool) -> AbstractContextManager[None]:
    """Follow tangents, or do not, for the time of a `with` block."""
    return forward_mode(enabled=mode)


def _mark(included: bool) -> None:
    """Let calls find their entries for tangents, or no longer: Note [Tangents] (autograd/forward.py)."""
    keys, allowed = active_keys.get()
    active_keys.set((keys | DUAL, allowed | DUAL) if included else (keys & ~DUAL, allowed & ~DUAL))


class UnderVmap(Protocol):
    """What func/dual.py does where vmap runs: the batches, and not each example, are made duals."""

    def make_dual(self, tensor: Tensor, tangent: Tensor) -> Tensor | None:
        """The batch of duals; None where no vmap runs innermost."""

    def unpack_dual(self, tensor: Tensor) -> UnpackedDualTensor | None:
        """The batches of values and tangents; None where no vmap runs innermost."""


_under_vmap: UnderVmap


def set_under_vmap(hooks: UnderVmap) -> None:
    """Called once by func/dual.py."""
    global _under_vmap
    _under_vmap = hooks


def check_kinds(primal: Tensor, tangent: Tensor) -> None:
    """ValueError unless both are of floating-point or complex numbers."""
    for name, value in (("primal", primal), ("tangent", tangent)):
        if value.dtype.category < FLOATING:
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {value.dtype}")


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of the tensor that carries this tangent, which is copied if it is laid out otherwise.

    The view is recorded, so that it can be differentiated backward. RuntimeError outside of a level, and where the
    tensor has a tangent; ValueError unless both are of floating-point or complex numbers.
    """
    if _level.get() is None:
        raise AutogradError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    check_kinds(tensor, tangent)
    if active_keys.get()[0] & TRANSFORMED and (batch := _under_vmap.make_dual(tensor, tangent)) is not None:
        return batch
    if tangent_of(tensor) is not None:
        raise AutogradError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
            "supported."
        )
    if tangent_of(tangent) is not None:
        raise AutogradError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not supported."
        )
    dual = tensor.view_as(tensor)
    set_tangent(dual, tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """A view of the tensor without its tangent, and the tangent itself, None where there is none."""
    if _level.get() is None:
        return UnpackedDualTensor(tensor, None)
    if active_keys.get()[0] & TRANSFORMED and (batch := _under_vmap.unpack_dual(tensor)) is not None:
        return batch
    tangent = tangent_of(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    keys, allowed = active_keys.get()
    token = active_keys.set((keys & ~DUAL, allowed))
    try:
        primal = tensor.view_as(tensor)
        if primal._autograd_meta is not None:
            primal._autograd_meta.follows_base = False
        return UnpackedDualTensor(primal, tangent)
    finally:
        active_keys.reset(token)


class dual_level(Guard):
    """A level for the time of a `with` block, or of each call of a function that it decorates."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        exit_dual_level()

    def clone(self) -> dual_level:
        return dual_level()


__getattr__ = _refuse_unknown_names(__name__)
