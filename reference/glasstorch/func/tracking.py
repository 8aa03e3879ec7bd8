"""How is a call recorded at the level of a transform that differentiates?

Mirrors: aten/src/ATen/functorch/ADInterpreters.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.tangents import Level, forward_enabled
from glasstorch.autograd.tangents import level as dual_level
from glasstorch.core.keys import ADINPLACEORVIEW, AUTOGRAD_AND_NESTED, DUAL, MATH_BITS, WRAPPED
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.operator import Operator
from glasstorch.dispatch.tags import Tag
from glasstorch.func.layers import BACK, FRONT, Interpreter, Rest, call, map_tensors, rebuilt
from glasstorch.func.wrapped import refresh, tracked, wrapping_by


class Tracking(Interpreter):
    """The interpreter of `grad` and `vjp`, which records backward, or with tangents that of `jvp`.

    A call comes twice: see Note [Levels of transforms] (func/layers.py). Inside a `dual_level`, a tensor that `grad`
    tracks may have a tangent, too.
    """

    def __init__(self, *, forward: bool = False) -> None:
        self.recorded = grad_mode.get()  # whether the transforms outside may record
        self.tangents = Level() if forward else None

    def process(self, operator: Operator, arguments: Sequence[Any], rest: Rest) -> Any:
        self.check_not_captured(operator, arguments)
        captured = Tag.of_its_level not in operator.tags

        def here(tensor: Tensor) -> Tensor:
            if wrapping_by(self, tensor) is not None or tensor._number is not None:
                return tensor
            return tracked(tensor, self, captured)

        arguments = map_tensors(here, arguments)
        included, allowed = active_keys.get()
        included = (included & ~(FRONT | DUAL)) | BACK | ADINPLACEORVIEW
        allowed = (allowed | AUTOGRAD_AND_NESTED) & ~(FRONT | WRAPPED | DUAL)
        tangents = rest.duals if self.tangents is None else self.tangents
        if tangents is not None and forward_enabled.get():
            included, allowed = included | DUAL, allowed | DUAL
        token = active_keys.set((included, allowed))
        level_token = dual_level.set(tangents)
        try:
            return call(operator, arguments)
        finally:
            dual_level.reset(level_token)
            active_keys.reset(token)

    def check_not_captured(self, operator: Operator, arguments: Sequence[Any]) -> None:
        """Refuse to change in place a tensor that is not made at this level, or a view of one.

        Mirrors: checkForInvalidMutationOnCaptures in aten/src/ATen/functorch/ADInterpreters.cpp
        """
        if not operator.schema.is_inplace or not isinstance(arguments[0], TensorImpl):
            return
        found = wrapping_by(self, arguments[0])
        if found is None or found.captured:
            raise RuntimeError(
                f"During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place "
                f"operation ({operator.name}) that would mutate a captured Tensor. This is not supported; please "
                f"rewrite the function being transformed to explicitly accept the mutated Tensor(s) as inputs."
            )

    def come_back(self, operator: Operator, arguments: Sequence[Any], rest: Rest) -> Any:
        known: dict[int, Tensor] = {}
        of_captured = False

        def inside(tensor: Tensor) -> Tensor:
            nonlocal of_captured
            found = wrapping_by(self, tensor)
            if found is None:
                return tensor
            of_captured |= found.captured
            known[id(found.value)] = tensor
            return found.value

        values = map_tensors(inside, arguments)
        token = None if self.recorded or self.tangents is not None else grad_mode.set(False)
        try:
            result = rest.call(call, operator, values)
        finally:
            if token is not None:
                grad_mode.reset(token)

        return self.around(result, known, rest, of_captured and operator.schema.is_view)

    def around(self, value: Any, known: dict[int, Tensor], rest: Rest, captured: bool) -> Any:
        """A result at this level; the argument itself, where it is one that was changed in place."""
        if isinstance(value, (list, tuple)):
            return rebuilt(value, [self.around(one, known, rest, captured) for one in value])
        if not isinstance(value, TensorImpl):
            return value
        if (same := known.get(id(value))) is not None:
            refresh(same)
            return same
        made: Any = rest.call(_resolved, value) if value.key_set & MATH_BITS else value
        return tracked(made, self, captured)


def _resolved(tensor: Tensor) -> Tensor:
    """The tensor without its bits, which a wrapped one does not show."""
    return tensor.resolve_conj().resolve_neg()
