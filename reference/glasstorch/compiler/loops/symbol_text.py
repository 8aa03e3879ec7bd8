"""How is a size that is a symbol written, so that Python and C++ read it alike?

Mirrors: torch/utils/_sympy/printers.py (PythonPrinter, CppPrinter)
Differs: there is one text for both: sums stand in parentheses, and what the languages write in two ways is a function.
"""

from __future__ import annotations

from typing import Any

from glasstorch.compiler.symbolic import NeedsNumbers
from glasstorch.fx.experimental._symbols.printing import PythonPrinter


class BothLanguages(PythonPrinter):
    """Writes sums, products, quotients that are rounded down and remainders; NeedsNumbers for anything else."""

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        return f"({super()._print_Add(expr)})"

    def _print_Mul(self, expr: Any) -> str:
        return f"({super()._print_Mul(expr)})"

    def _print_Pow(self, expr: Any) -> str:
        return f"({super()._print_Pow(expr)})"

    def _print_FloorDiv(self, expr: Any) -> str:
        return f"size_quotient({', '.join(map(self._print, expr.args))})"

    def _print_Mod(self, expr: Any) -> str:
        return f"size_remainder({', '.join(map(self._print, expr.args))})"

    _print_PythonMod = _print_Mod


WRITTEN = ("Add", "Mul", "Pow", "FloorDiv", "CleanDiv", "Mod", "PythonMod", "Symbol")


def written(expr: Any) -> str:
    """The text of an expression."""
    for part in _parts(expr):
        if not part.is_Integer and type(part).__name__ not in WRITTEN:
            raise NeedsNumbers(f"a size {expr}")
    return str(BothLanguages().doprint(expr))


def _parts(expr: Any) -> list[Any]:
    return [expr, *(part for argument in expr.args for part in _parts(argument))]
