"""Which warning does `range` give?

Mirrors: torch/csrc/autograd/python_torch_functions_manual.cpp (THPVariable_range)
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from glasstorch.calls.overloaded import UNASKED, ask_modes
from glasstorch.calls.parser import PythonFunction
from glasstorch.core.plain_types import PLAIN
from glasstorch.core.user_line import warn_user
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


@cache
def _parser() -> PythonFunction:
    """That of the overload with a step: Python's range always has one, so no other is called, or told in an error."""
    return functions._parse_range.longest()


def range(*args: Any, **kwargs: Any) -> Tensor:
    """The numbers from `start` to `end` in steps of `step`, including the end if a step reaches it; deprecated.

    New code should call `arange(start, end, step)`, which excludes the end.
    """
    if not PLAIN and (answer := ask_modes(range, "torch.range", args, **kwargs)) is not UNASKED:
        return answer  # type: ignore[no-any-return]
    warn_user(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    return _parser()(*args, **kwargs)  # type: ignore[no-any-return]
