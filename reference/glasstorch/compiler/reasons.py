"""What does PyTorch call the reason for which a capture ended?

Mirrors: torch/_dynamo/graph_break_registry.json, torch/_dynamo/exc.py (unimplemented)
Differs: reasons are worded differently here. This table leads from their words to PyTorch's name for the kind.
"""

from __future__ import annotations

import builtins
import re
from typing import Final

SKIPPED: Final = "Attempted to call function marked as skipped"
KINDS: Final = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"a branch on a tensor", "Data-dependent branching"),
        (r"tolist\(\) of a tensor", "Tensor.tolist() with non-integer tensor"),
        (r"\w+\(\) of a tensor, whose elements", "Unsupported Tensor.item() call with capture_scalar_outputs=False"),
        (r"backward\(\) of a tensor", "Unsupported Tensor.backward() call"),
        (
            r"the result of an operator depends on elements: aten\.(nonzero|masked_select|_?unique)",
            "Dynamic shape operator",
        ),
        (r"the result of an operator depends on elements", "Data dependent operator"),
        (r"Unsupported Tensor\.requires_grad_\(\) call", "Unsupported Tensor.requires_grad_() call"),
        (r"Tensor\.retain_grad\(\)", "Tensor.retain_grad() with AOTDispatcher"),
        (r"Attempted to use tensor creation", "Attempted to use tensor creation function with requires_grad=True"),
        (r"Shape mismatch with out=", "Shape mismatch with out= tensor variant"),
        (r"Call to `torch\._dynamo\.graph_break\(\)`", "Call to `torch._dynamo.graph_break()`"),
        (r"Skip calling `torch", "Skip calling `torch.compiler.disable()`d function"),
        (r"__call__ of an object of the class \w*descriptor", SKIPPED),
    )
)
BUILTIN: Final = re.compile(r"a call of the builtin (\w+)")


def kind_of(reason: str) -> str | None:
    """PyTorch's name of the kind of a reason; None where it has none that is the same.

    >>> kind_of("a call of the builtin print, of which nothing is known here")
    'Failed to trace builtin operator'
    """
    builtin = BUILTIN.match(reason)
    if builtin is not None:
        return "Failed to trace builtin operator" if hasattr(builtins, builtin[1]) else SKIPPED
    return next((kind for pattern, kind in KINDS if pattern.match(reason)), None)
