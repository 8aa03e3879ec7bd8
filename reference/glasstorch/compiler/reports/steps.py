"""How is the stack of a symbolic execution written in one line?

Mirrors: torch/_dynamo/variables/base.py (VariableTracker.__repr__)
"""

from __future__ import annotations

from collections.abc import Sequence as Items
from typing import Any, Final

from glasstorch.compiler.bytecode.frame_base import NULL
from glasstorch.compiler.bytecode.values import (
    Constant,
    Function,
    Known,
    Mapping,
    Sequence,
    SymbolValue,
    TensorValue,
    describe,
)

LONGEST: Final = 40  # characters of one value
DEEPEST: Final = 6  # values of the stack, counted from its top


def shown(value: Any) -> str:
    """A value in few words: a tensor by the name of its node."""
    if value is NULL:
        return "NULL"
    if isinstance(value, TensorValue):
        return str(value.proxy.node.name)
    if isinstance(value, SymbolValue):
        return str(value.example)
    if isinstance(value, Function):
        return f"{value.code.co_name}()"
    if isinstance(value, Sequence):
        return f"{value.kind.__name__} of {len(value.items)}"
    if isinstance(value, Mapping):
        return f"dict of {len(value.items)}"
    if isinstance(value, Constant | Known):
        held = value.value
        name = getattr(held, "__qualname__", None) or getattr(held, "__name__", None)
        text = name if isinstance(name, str) else repr(held) if isinstance(value, Constant) else type(held).__name__
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return describe(value)


def shown_stack(stack: Items[Any]) -> str:
    """The stack, its top last."""
    top = [shown(value) for value in stack[-DEEPEST:]]
    return f"[{', '.join(['…'] * (len(stack) > DEEPEST) + top)}]"
