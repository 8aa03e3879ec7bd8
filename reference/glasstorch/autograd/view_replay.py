"""How does a view remember the operators that make it from its base?

Mirrors: torch/autograd/grad_mode.py (_force_original_view_tracking), torch/csrc/autograd/generated/ViewFuncs.h,
    tools/autograd/gen_inplace_or_view_type.py (emit_view_func), c10/core/AutogradState.h (get_view_replay_enabled)
Differs: what remembers is put into the operators' tables when a program first asks for it, so that all others pay
    nothing; PyTorch asks in each view.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.engine_modes import SettingOfCalls
from glasstorch.autograd.seen import Look, steps_of
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.operator import Boxed, Operator, registry
from glasstorch.dispatch.resolve import Resolution

view_replay: ContextVar[bool] = ContextVar("view_replay", default=False)


@dataclass(frozen=True, slots=True)
class Replay:
    """A view operator with its arguments, to be called with another tensor; `number` picks one of several results."""

    operator: Operator
    rest: Sequence[Any]
    number: int | None

    def __call__(self, tensor: Tensor) -> Tensor:
        included, allowed = active_keys.get()
        keys = (tensor.key_set | included) & allowed
        result = self.operator.table[keys](keys, tensor, *self.rest)
        return result if self.number is None else result[self.number]  # type: ignore[no-any-return]


def is_view_replay_enabled() -> bool:
    """Whether a view that is made now is replayed, operator by operator, once its base was changed in place."""
    return view_replay.get()


class _force_original_view_tracking(SettingOfCalls):
    """Lets the views that are made from now on remember their operators, as a decorator those made in a call.

    Once its base was changed in place, such a view has the nodes of these operators, where others have
    AsStridedBackward0. Sets it immediately, and restores the previous setting at the end of a `with` block.
    """

    variable = view_replay
    function = "set_view_replay_enabled"

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        if mode:
            remember_from_now_on()


def remember_from_now_on() -> None:
    """Let the tables of view operators ask whether to remember; the first call empties all tables."""
    from glasstorch.autograd.shortcuts import shortened  # all formulas: loaded when one is needed

    def remembering(operator: Operator, keys: int, resolution: Resolution) -> Boxed:
        """In place of `shortened`: an entry that takes every hop where views are to be replayed."""
        short, every_hop = shortened(operator, keys, resolution), resolution.entry
        if resolution.choice.key is DispatchKey.ADInplaceOrView and operator.schema.is_view:
            every_hop = _remembered(operator, every_hop)
        return short if short is every_hop else _either(every_hop, short)

    if registry.shorten is shortened:
        registry.shorten = remembering
        registry.changed()


def _either(every_hop: Boxed, short: Boxed) -> Boxed:
    def entry(keys: int, *arguments: Any) -> Any:
        return (every_hop if view_replay.get() else short)(keys, *arguments)

    return entry


def _remembered(operator: Operator, run: Boxed) -> Boxed:
    """The kernel of a view operator; each view that it makes then has the operator as the last of its steps."""

    def entry(keys: int, self: Any, *rest: Any) -> Any:
        result = run(keys, self, *rest)
        several = isinstance(result, (list, tuple))
        for i, view in enumerate(result if several else [result]):
            meta = view._autograd_meta
            if meta is not None and meta.base is not None:
                before = self._autograd_meta
                steps = steps_of(self) if before is not None and before.base is not None else ()
                replay = Replay(operator, rest, i if several else None)
                meta.steps = (*steps, Look.of(view)._replace(replay=replay))
        return result

    return entry
