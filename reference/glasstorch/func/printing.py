"""How does a wrapped tensor look, and what of it can Python see?

Mirrors: torch/_tensor_str.py (_functorch_wrapper_str_intern), torch/_functorch/apis.py (debug_unwrap)
"""

from __future__ import annotations

import textwrap
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.hooks import set_transform_hooks
from glasstorch.core.keys import FUNCTIONALIZE, WRAPPED
from glasstorch.func.functional_tensor import inside as functional_inside
from glasstorch.func.functional_tensor import sync
from glasstorch.func.layers import alive
from glasstorch.func.wrapped import BATCHED, NO_TRUTH, tracked, wrapping


class _Seen:
    """The answers to core/hooks.py (TransformHooks)."""

    def text(self, tensor: Tensor) -> str:
        if tensor.key_set & FUNCTIONALIZE:
            return _functional(tensor)
        inside = wrapping(tensor)
        level = inside.owner.level  # type: ignore[attr-defined]  # any interpreter's
        kind = f"GradTrackingTensor(lvl={level}, value="
        if inside.bdim is not None:
            kind = f"BatchedTensor(lvl={level}, bdim={inside.bdim}, value="
        return f"{kind}\n{textwrap.indent(repr(inside.value), '    ')}\n)"

    def is_batch(self, tensor: Tensor) -> bool:
        tensor = alive(tensor)
        while tensor.key_set & WRAPPED:
            if tensor.key_set & BATCHED:
                return True
            tensor = wrapping(tensor).value
        return False

    def is_example(self, tensor: Tensor) -> bool:
        return bool(alive(tensor).key_set & BATCHED)

    def check_truth(self, tensor: Tensor) -> None:
        if self.is_example(tensor):
            raise RuntimeError(NO_TRUTH)

    def without_history(self, tensor: Tensor) -> Tensor:
        inside = wrapping(tensor)
        return tensor.detach() if inside.bdim is not None else tracked(inside.value, inside.owner)


def _functional(tensor: Tensor) -> str:
    """A functional tensor, brought up to date."""
    sync(tensor)
    found = functional_inside(tensor)
    if found.owner is None:
        return f"_to_functional_tensor({found.value!r})"
    return f"FunctionalTensor(lvl={found.owner.level}, value=\\\n{found.value!r})"  # type: ignore[attr-defined]


set_transform_hooks(_Seen())


def debug_unwrap(tensor: Any, *, recurse: bool = True) -> Any:
    """The value inside a wrapped tensor, without any wrapping unless `recurse` is False; for looking at it only.

    What is computed of it in a function that is transformed has no defined meaning.
    """
    if not (isinstance(tensor, Tensor) and tensor.key_set & WRAPPED):
        return tensor
    value = wrapping(tensor).value
    return debug_unwrap(value) if recurse else value
