"""What is the tangent of a tensor, and how is it kept?

Mirrors: torch/csrc/autograd/forward_grad.h (ForwardGrad, ForwardADLevel), autograd_meta.cpp (AutogradMeta::fw_grad,
    set_fw_grad)
Differs: there is one level, as in PyTorch, where nested ones are made of wrapped tensors. Each nested `jvp` has an
    object of its own that notes tangents; `jvp_runs` says that one of them does.

A tangent has its tensor's sizes and strides, so that a view of the tensor has a view of the tangent: a change of one is
seen by the other.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.history import AutogradMeta
from glasstorch.core.dtype import FLOATING
from glasstorch.core.errors import AutogradError
from glasstorch.core.keys import DUAL
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.operators.generated import functions as f


class Level:
    """The tensors that have a tangent, which they lose when the level is left."""

    def __init__(self) -> None:
        self.metas: weakref.WeakSet[AutogradMeta] = weakref.WeakSet()

    def leave(self) -> None:
        for meta in list(self.metas):
            meta.tangent = None


level: ContextVar[Level | None] = ContextVar("dual_level", default=None)
jvp_runs: ContextVar[bool] = ContextVar("jvp_runs", default=False)
forward_enabled: ContextVar[bool] = ContextVar("forward_enabled", default=True)


def check_no_level() -> None:
    """AutogradError inside a `dual_level` or a `func.jvp`: there is one level."""
    if level.get() is not None or jvp_runs.get():
        raise AutogradError("Nested forward mode AD is not supported at the moment")


@contextmanager
def level_of_jvp() -> Iterator[None]:
    """Hold the one level for a `func.jvp`: those inside of it share it; any other inside the other is refused."""
    if not jvp_runs.get():
        check_no_level()
    token = jvp_runs.set(True)
    try:
        with forward_mode(enabled=True):
            yield
    finally:
        jvp_runs.reset(token)


@contextmanager
def forward_mode(*, enabled: bool) -> Iterator[None]:
    """Follow tangents, or do not, at this and all levels of transforms, for the time of a `with` block."""
    token = forward_enabled.set(enabled)
    included, allowed = active_keys.get()
    on = enabled and level.get() is not None
    keys_token = active_keys.set((included | DUAL, allowed | DUAL) if on else (included & ~DUAL, allowed & ~DUAL))
    try:
        yield
    finally:
        active_keys.reset(keys_token)
        forward_enabled.reset(token)


def tangent_of(tensor: Any) -> Tensor | None:
    """A tensor's tangent; a view has a view of its base's. None where there is none."""
    meta = tensor._autograd_meta
    if meta is None:
        return None
    if (
        meta.tangent is None
        and meta.base is not None
        and meta.follows_base
        and (whole := tangent_of(meta.base)) is not None
    ):
        keep(meta, part_of(whole, tensor, meta.base))
    found: Tensor | None = meta.tangent
    return found


def part_of(tangent: Tensor, view: Tensor, base: Tensor) -> Tensor:
    """What of a base's tangent belongs to a view."""
    if view.dtype is not base.dtype:
        tangent = f.view_as_real(tangent) if base.dtype.is_complex else f.view_as_complex(tangent)
    return tangent.as_strided(view._shape, view.strides(), view._offset - base._offset + tangent._offset)


def keep(meta: AutogradMeta, tangent: Tensor) -> None:
    """Note a tangent, until the level is left."""
    meta.tangent = tangent
    current = level.get()
    assert current is not None
    current.metas.add(meta)


def set_tangent(tensor: Tensor, tangent: Tensor, *, in_place: bool = False) -> None:
    """Give a tensor a tangent, laid out as it is; after a change in place, into the one that it has.

    AutogradError where the sizes differ.
    """
    if tangent._shape != tensor._shape:
        raise AutogradError(
            f"Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor._shape)} while the given forward gradient is of size "
            f"{list(tangent._shape)}."
        )
    if tensor.dtype.category < FLOATING:
        return
    before = tangent_of(tensor)
    if before is not None and in_place:
        if before is not tangent:
            before.copy_(tangent)
        return
    meta = tensor._autograd_meta
    if meta is None:
        meta = tensor._autograd_meta = AutogradMeta()
    base = meta.base
    if base is not None and in_place:  # the base changes with its view, and so does its tangent
        zeros = tangent.new_empty_strided(base._shape, base.strides(), dtype=base.dtype).zero_()
        set_tangent(base, zeros)  # a batch, where the tangent is one
        whole = tangent_of(base)
        assert whole is not None
        tangent = part_of(whole, tensor, base).copy_(tangent)
    elif (
        tangent.strides() != tensor.strides()
        or tangent.is_conj() != tensor.is_conj()
        or tangent.is_neg() != tensor.is_neg()
    ):
        tangent = _laid_out_as(tensor, tangent)
    keep(meta, tangent)


def _laid_out_as(tensor: Tensor, tangent: Tensor) -> Tensor:
    """A copy of a tangent with the strides of its tensor, stored conjugated or negated where that is."""
    stored = tangent.conj() if tensor.is_conj() else tangent
    stored = stored._neg_view() if tensor.is_neg() else stored
    copy = tangent.new_empty_strided(tensor._shape, tensor.strides()).copy_(stored)
    copy = copy.conj() if tensor.is_conj() else copy
    return copy._neg_view() if tensor.is_neg() else copy
