"""How do the results of a user's Function get their tangents?

Mirrors: torch/csrc/autograd/custom_function.cpp (_process_forward_mode_AD), torch/csrc/autograd/python_function.cpp
    (jvp_user_function in THPFunction_apply)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.tangents import forward_mode, set_tangent, tangent_of
from glasstorch.core.dtype import FLOATING
from glasstorch.core.errors import AutogradError
from glasstorch.operators.generated import functions as f

NOT_IN_PLACE = (
    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an "
    "input inplace, then the jvp function must modify the corresponding gradient inplace."
)
NOT_A_VIEW = "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
OF_ANOTHER = "A custom Function is returning a view but the jvp is not returning a view of the {}."


class Jvp:
    """The tangents of a call's arguments, and the rules for those of its results."""

    def __init__(self, arguments: Sequence[Any]) -> None:
        self.arguments = arguments
        self.tensors = [a for a in arguments if isinstance(a, Tensor)]
        self.tangents = [tangent_of(tensor) for tensor in self.tensors]
        self.versions = [-1 if tangent is None else tangent._version for tangent in self.tangents]

    def __bool__(self) -> bool:
        """Whether some argument has a tangent."""
        return any(tangent is not None for tangent in self.tangents)

    def run(
        self,
        jvp: Callable[..., Any],
        materialize: bool,
        returned: Sequence[Any],
        outputs: Sequence[Any],
        *marks: set[int],
    ) -> None:
        """Give the outputs the tangents that `jvp` returns; `marks` are those without gradient, and those changed.

        `returned` is what forward returned: an argument among it has another tensor as output, a view of it.
        """
        constant, dirty = marks
        found = iter(self.tangents)
        given = [self._given(a, next(found), materialize) if isinstance(a, Tensor) else None for a in self.arguments]
        with forward_mode(enabled=False):
            made = jvp(*given)
        made = made if isinstance(made, tuple) else (made,)
        for place, tangent in enumerate(made):
            if not (tangent is None or isinstance(tangent, Tensor)):
                raise AutogradError(
                    f"expected Variable or None (got {type(tangent).__name__}) for grad output {place}."
                )
        if len(made) != len(outputs):
            raise AutogradError(
                f"Function's jvp returned an invalid number of forward gradients (expected {len(outputs)} but got "
                f"{len(made)})"
            )
        for place, (raw, output, tangent) in enumerate(zip(returned, outputs, made, strict=True)):
            if not isinstance(raw, Tensor):
                continue
            if id(raw) in constant or raw.dtype.category < FLOATING:
                if tangent is not None:
                    raise AutogradError(
                        f"Function's jvp returned a gradient at position {place}, but  the corresponding forward "
                        f"output is not a differentiable Tensor.You should return None at that position instead."
                    )
            elif (argument := self._place_of(raw)) is not None:
                self._check_argument(argument, tangent, changed=id(raw) in dirty)
            elif tangent is not None:
                set_tangent(output, tangent, in_place=self._is_new_in_view(output, tangent))

    @staticmethod
    def _given(tensor: Tensor, tangent: Tensor | None, materialize: bool) -> Tensor | None:
        """What jvp is called with for an argument."""
        if tangent is not None or not materialize or tensor.dtype.category < FLOATING:
            return tangent
        return f.zeros_like(tensor.detach())

    def _place_of(self, raw: Tensor) -> int | None:
        """Which of the arguments' tensors a result is; None for another."""
        return next((place for place, tensor in enumerate(self.tensors) if tensor is raw), None)

    def _check_argument(self, place: int, tangent: Tensor | None, *, changed: bool) -> None:
        """An argument that is returned has the tangent of the argument, changed in place as it is, or viewed."""
        own = self.tangents[place]
        if changed:
            if tangent is not own or (own is not None and own._version == self.versions[place]):
                raise AutogradError(NOT_IN_PLACE)
        elif tangent is None or base_of(tangent) is not own:
            raise AutogradError(NOT_A_VIEW)

    def _is_new_in_view(self, output: Tensor, tangent: Tensor) -> bool:
        """Whether a result is a view of an argument that has had no tangent; refused if the tangent is no such view."""
        base = base_of(output)
        for tensor, own in zip(self.tensors, self.tangents, strict=True):
            own_base = base_of(tensor)
            if base is None or base is not (tensor if own_base is None else own_base):
                continue
            if own is None:
                return True
            if (of := base_of(tangent)) is None:
                raise AutogradError(NOT_A_VIEW)
            if (tangent_base := base_of(own)) is not None:
                if tangent_base is not of:
                    raise AutogradError(OF_ANOTHER.format("same base as the given grad input"))
            elif own is not of:
                raise AutogradError(OF_ANOTHER.format("given grad input"))
            return False
        return False


def base_of(tensor: Any) -> Any:
    """The base of a view; None for a tensor that is none."""
    meta = tensor._autograd_meta
    return None if meta is None else meta.base
