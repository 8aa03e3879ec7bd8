"""How does a user ask for tangents, in forward mode?

Mirrors: torch/autograd/forward_ad.py, torch/csrc/autograd/forward_grad.cpp
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple, Protocol

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import Guard
from glasstorch.autograd.tangents import (
    Level,
    check_no_level,
    forward_enabled,
    forward_mode,
    jvp_runs,
    set_tangent,
    tangent_of,
)
from glasstorch.autograd.tangents import level as _level
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

    RuntimeError inside another, and inside `func.jvp`, which gives higher derivatives.
    """
    check_no_level()
    _level.set(Level())
    _mark(included=True)
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level: all tensors lose their tangents. RuntimeError where there is none, and for that of `func.jvp`."""
    number = _current_number()
    if level is not None and level != number:
        raise AutogradError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    if level is not None:
        _check_is_int(level, "exit_dual_level")
    current = _level.get()
    if current is None:
        raise AutogradError("Dual level must be a positive number.")  # PyTorch's words: it has no level -1
    _level.set(None)
    _mark(included=False)
    current.leave()


def _current_number() -> int:
    """The number of the level: -1 where there is none."""
    return -1 if _level.get() is None and not jvp_runs.get() else 0


def _is_fwd_grad_enabled() -> bool:
    """Whether tangents are followed, where there are some."""
    return forward_enabled.get()


class _set_fwd_grad_enabled(Guard):
    """Follow tangents, or do not, from now on; at the end of a `with` block as before."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"enabled must be a bool (got {type(mode).__name__})")
        self.prev = forward_enabled.get()
        _follow(mode)

    def clone(self) -> Any:
        """TypeError: as in PyTorch, a function cannot be decorated with it, since the mode is not given again."""
        made: Any = type(self)
        return made()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _follow(self.prev)


def _follow(enabled: bool) -> None:
    forward_enabled.set(enabled)
    _mark(included=enabled and _level.get() is not None)


def _mark(included: bool) -> None:
    """Let calls find their entries for tangents, or no longer: Note [Tangents] (autograd/forward.py)."""
    keys, allowed = active_keys.get()
    active_keys.set((keys | DUAL, allowed | DUAL) if included else (keys & ~DUAL, allowed & ~DUAL))


class UnderTransforms(Protocol):
    """What func/dual.py does where transforms run: duals are made of tensors of the innermost level, or of batches."""

    def make_dual(self, tensor: Tensor, tangent: Tensor) -> Tensor:
        """As below, at that level."""

    def unpack_dual(self, tensor: Tensor) -> UnpackedDualTensor:
        """As below, at that level."""


_under_transforms: UnderTransforms


def set_under_transforms(hooks: UnderTransforms) -> None:
    """Called once by func/dual.py."""
    global _under_transforms
    _under_transforms = hooks


def check_kinds(primal: Tensor, tangent: Tensor) -> None:
    """ValueError unless both are of floating-point or complex numbers."""
    for name, value in (("primal", primal), ("tangent", tangent)):
        if not (value.is_floating_point() or value.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {value.dtype}")


def _check_is_int(level: int, function: str) -> None:
    if type(level) is not int:
        raise TypeError(f"{function}(): argument 'level' must be int, not {type(level).__name__}")


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of the tensor that carries this tangent, which is copied if it is laid out otherwise.

    The view is recorded, so that it can be differentiated backward. RuntimeError outside of a level, and where the
    tensor has a tangent; ValueError unless both are of floating-point or complex numbers.
    """
    level = _current_number() if level is None else level
    if level < 0:
        raise AutogradError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    check_kinds(tensor, tangent)
    _check_is_int(level, "_make_dual")
    if level:
        raise AutogradError("Invalid level given to _make_dual")
    if _current_number() < 0:
        raise AutogradError(
            "Trying to access a forward AD level with an invalid index. This index was either not created or is "
            "already deleted."
        )
    inside = active_keys.get()[0] & TRANSFORMED
    return _under_transforms.make_dual(tensor, tangent) if inside else dual_of(tensor, tangent)


def dual_of(tensor: Tensor, tangent: Tensor) -> Tensor:
    """A view of the tensor that carries this tangent, at the level that notes it."""
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
    level = _current_number() if level is None else level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type(tensor).__name__}")
    _check_is_int(level, "_unpack_dual")
    if _current_number() < 0:
        return UnpackedDualTensor(tensor, None)
    inside = active_keys.get()[0] & TRANSFORMED
    found = _under_transforms.unpack_dual(tensor) if inside else taken_apart(tensor)
    if level and found.tangent is not None:
        raise AutogradError("Invalid level given to _fw_primal")
    return found


def taken_apart(tensor: Tensor) -> UnpackedDualTensor:
    """What a tensor shows, and its tangent, at the level that notes it."""
    tangent = tangent_of(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    with forward_mode(enabled=False):
        primal = tensor.view_as(tensor)
    if primal._autograd_meta is not None:
        primal._autograd_meta.follows_base = False
    return UnpackedDualTensor(primal, tangent)


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
