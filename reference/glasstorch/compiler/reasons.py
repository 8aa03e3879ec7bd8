"""What does PyTorch call the reason for which a capture ended, and what can be done about it?

Mirrors: torch/_dynamo/graph_break_registry.json, torch/_dynamo/exc.py (unimplemented)
Differs: reasons are worded differently here. This table leads from their words to PyTorch's name for the kind, and
    explanations and hints belong to the kind.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

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


class Advice(NamedTuple):
    """Why a kind of reason ends a graph, and what a program can do instead."""

    explanation: str
    hints: tuple[str, ...]


TORCH_WHERE: Final = "Choose between two results with `torch.where`, which computes both."
NOT_ALWAYS: Final = "Elements of a tensor are not known while the program is captured"
OUTSIDE: Final = "Call it before or after the function that is compiled."
ADVICE: Final[Mapping[str, Advice]] = MappingProxyType({
    "Data-dependent branching": Advice(
        f"{NOT_ALWAYS}, and the program branches on one.",
        (TORCH_WHERE, "Branch on a size, or on a number that is an argument: a guard compares these."),
    ),
    "Tensor.tolist() with non-integer tensor": Advice(
        f"{NOT_ALWAYS}, and tolist() makes Python numbers of them.",
        ("Compute with the tensor itself, or unpack it with `unbind`.", OUTSIDE),
    ),
    "Unsupported Tensor.item() call with capture_scalar_outputs=False": Advice(
        f"{NOT_ALWAYS}, and the program makes a Python number of one.",
        ("Keep the number in a tensor of one element.", OUTSIDE),
    ),
    "Unsupported Tensor.backward() call": Advice(
        "backward() changes gradients of tensors that the graph does not know.",
        ("Compile what gives the loss, and call backward() of its result.",),
    ),
    "Dynamic shape operator": Advice(
        f"{NOT_ALWAYS}, and the size of a result depends on them.",
        (f"{TORCH_WHERE} It keeps the size, where a mask does not.", OUTSIDE),
    ),
    "Data dependent operator": Advice(
        f"{NOT_ALWAYS}, and the result of an operator is a Python number that depends on them.",
        ("Use an operator that gives a tensor.", OUTSIDE),
    ),
    "Call to `torch._dynamo.graph_break()`": Advice(
        "The program asks for the end of a graph.", ("Remove the call where one graph is wanted.",)
    ),
    "Skip calling `torch.compiler.disable()`d function": Advice(
        "The function is marked to run as it is.",
        ("Remove the mark, or call the function outside of what is compiled.",),
    ),
    "Failed to trace builtin operator": Advice(
        "The function is written in C, and what it gives for values that are not known yet is not known either.",
        (OUTSIDE, "Messages can be printed from hooks, or after the compiled function."),
    ),
    SKIPPED: Advice(
        "The function has no bytecode that could be captured, and is none of those that are understood.",
        (OUTSIDE, "Leave a function that only computes with tensors to the graph by `torch.compiler.allow_in_graph`."),
    ),
})  # fmt: skip
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


def message_of(reason: str, where: str = "") -> str:
    """The message of an error that names a reason: where PyTorch has a heading for it, with an explanation and hints.

    >>> print(message_of("backward() of a tensor", "line 3 in step"))
    Unsupported Tensor.backward() call
      Explanation: backward() changes gradients of tensors that the graph does not know.
      Hint: Compile what gives the loss, and call backward() of its result.
    <BLANKLINE>
      Developer debug context: backward() of a tensor (line 3 in step)
    """
    place = f"{reason}{f' ({where})' if where else ''}"
    kind = kind_of(reason)
    advice = None if kind is None else ADVICE.get(kind)
    if advice is None:
        return place
    hints = "".join(f"  Hint: {hint}\n" for hint in advice.hints)
    return f"{kind}\n  Explanation: {advice.explanation}\n{hints}\n  Developer debug context: {place}"


def hints_of(reason: str) -> tuple[str, ...]:
    """What a program can do instead; nothing where nothing is known."""
    advice = ADVICE.get(kind_of(reason) or "")
    return () if advice is None else advice.hints
