"""Which line of the user's program led to a guard?

Mirrors: torch/_guards.py (SLoc, ShapeGuard), torch/fx/experimental/symbolic_shapes.py (_get_stack_summary)
"""

from __future__ import annotations

import linecache
import os
import sys
from types import FrameType
from typing import Any, NamedTuple

import sympy

from glasstorch.core.user_line import user_frame

SKIPPED = (os.path.dirname(sympy.__file__) + os.sep,)


class SLoc(NamedTuple):
    """The line of the library at which a decision was made, and the line of the program that led to it."""

    framework_loc: str | None
    maybe_user_loc: str | None

    def __str__(self) -> str:
        if self.maybe_user_loc is None:
            return f"({self.framework_loc or ''})"
        return f"{self.maybe_user_loc} ({self.framework_loc or ''})"


class ShapeGuard(NamedTuple):
    """A condition on sizes that a program relied on, and where."""

    expr: Any
    sloc: SLoc
    size_oblivious: bool = False


class RuntimeAssert(NamedTuple):
    """A condition that can be checked only when the program runs, and what is said where it does not hold."""

    expr: Any
    msg: str
    stack: SLoc


def _text(frame: FrameType) -> str:
    file, line = frame.f_code.co_filename, frame.f_lineno
    code = linecache.getline(file, line).strip()
    return f"{code}  # {os.path.basename(file)}:{line} in {frame.f_code.co_name}"


def here(framework_loc: str | None = None) -> SLoc:
    """The line of the program, and what of the library it called."""
    user = user_frame(SKIPPED)
    inside = sys._getframe(1)
    while inside.f_back is not None and inside.f_back is not user:
        inside = inside.f_back
    return SLoc(framework_loc or _text(inside), None if user is None else _text(user))
