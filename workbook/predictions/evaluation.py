"""What is the value of a question's answer, in the kernel that has just run its cell?

The answer is an expression over the names of the notebook, and over three more: `printed`, what the cell printed;
`shown`, the value of its last line; and `error`, the exception that it raised.
"""

from __future__ import annotations

import sys
from typing import Any

from workbook.predictions.literals import plain, written


def call(expression: str, printed: str, *, displayed: bool) -> str:
    """The text that a kernel evaluates to find the value of an expression."""
    arguments = f"{expression!r}, {printed!r}, displayed={displayed}"
    return f"__import__('workbook.predictions.evaluation', fromlist=['evaluate']).evaluate({arguments})"


def evaluate(expression: str, printed: str, *, displayed: bool) -> str:
    """The literal of an expression's value. Called inside the kernel."""
    from IPython import get_ipython

    names: dict[str, Any] = dict(get_ipython().user_ns)
    names |= {"printed": printed, "shown": names.get("_") if displayed else None}
    names["error"] = getattr(sys, "last_value", None)
    return written(plain(eval(expression, names)))
