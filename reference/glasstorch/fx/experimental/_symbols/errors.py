"""What is said where a program asks for a number that depends on elements?

Mirrors: torch/fx/experimental/symbolic_shapes.py (GuardOnDataDependentSymNode, _suggest_torch_checks)
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import sympy

from glasstorch._tensor import Tensor
from glasstorch.core.pytree import tree_leaves
from glasstorch.core.symbols import SymInt
from glasstorch.core.user_line import user_frame
from glasstorch.fx.experimental._symbols.printing import PythonPrinter
from glasstorch.fx.experimental._symbols.stacks import SKIPPED, here


class GuardOnDataDependentSymNode(RuntimeError):
    """A program branches on a number that is known only once elements are."""

    cond: Any

    def __init__(self, cond: Any, *args: Any) -> None:
        super().__init__(*args)
        self.cond = cond


class PendingUnbackedSymbolNotFound(RuntimeError):
    """A symbol was made for a number that depends on elements, and no result holds it."""


def data_dependent(expr: Any, unhinted: Any, size_like: set[Any]) -> GuardOnDataDependentSymNode:
    """The error for an expression that cannot be decided, with the checks that would decide it."""
    sizes = ", ".join(str(s) for s in sorted(expr.free_symbols, key=str) if s in size_like) or "none"
    advice = ""
    if expr.is_integer:
        what = "Could not extract specialized integer from data-dependent expression"
    else:
        what = "Could not guard on data-dependent expression"
        advice = (
            "consider using data-dependent friendly APIs such as guard_or_false, guard_or_true and "
            "statically_known_true."
        )
    message = (
        f"{what} {expr} (unhinted: {unhinted}).  (Size-like symbols: {sizes})\n\n{advice}\nCaused by: {here()}\n"
        'For more information, run with TORCH_LOGS="dynamic"\n'
    )
    error = GuardOnDataDependentSymNode(expr, message)
    _suggest_checks(error)
    return error


def _suggest_checks(error: GuardOnDataDependentSymNode) -> None:
    """Add the line of the program, and the checks over its variables that would let it go on."""
    frame = user_frame(SKIPPED)
    if frame is None:
        return
    message = error.args[0] + f"\nThe following call raised this error:\n  {here().maybe_user_loc}\n"
    names: dict[str, list[str]] = defaultdict(list)
    for variable, value in frame.f_locals.items():
        for leaf in tree_leaves(value) if isinstance(value, list | tuple | dict | Tensor | SymInt) else ():
            if isinstance(leaf, SymInt):
                names[str(leaf)].append(variable)
            elif isinstance(leaf, Tensor):
                sizes_of_leaf: tuple[Any, ...] = leaf._shape
                for i, size in enumerate(sizes_of_leaf):
                    if isinstance(size, SymInt):
                        names[str(size)].append(f"{variable}.shape[{i}]")
    condition = error.cond
    symbols = sorted(s.name for s in condition.free_symbols)
    if isinstance(condition, sympy.logic.boolalg.Boolean) and all(s in names for s in symbols):
        printer = PythonPrinter(lambda symbol: names[symbol.name][0])
        message += "\nTo fix the error, insert one of the following checks before this call:"
        for i, fix in enumerate((condition, sympy.Not(condition))):
            message += f"\n  {i + 1}. torch._check({printer.doprint(fix)})"
        replaced = ", ".join(f"`{s}` with {' or '.join(names[s])}" for s in symbols)
        message += f"\n\n(These suggested fixes were derived by replacing {replaced} in {condition} and its negation.)"
    error.args = (message,)
