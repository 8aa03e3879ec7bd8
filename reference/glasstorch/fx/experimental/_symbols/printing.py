"""How is an expression written as Python code over the sources of its symbols?

Mirrors: torch/utils/_sympy/printers.py (PythonPrinter), torch/fx/experimental/symbolic_shapes.py
    (ShapeGuardPythonPrinter)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy.printing.precedence import PRECEDENCE, precedence
from sympy.printing.str import StrPrinter

TIGHT = PRECEDENCE["Atom"] - 0.5


class PythonPrinter(StrPrinter):  # type: ignore[misc]
    """Writes expressions as Python, and symbols as `name_of` says."""

    printmethod = "_python_text"  # no class has it: `_sympystr` is for people

    def __init__(self, name_of: Callable[[Any], str] = str) -> None:
        super().__init__()
        self._name_of = name_of

    def _print_Symbol(self, expr: Any) -> str:
        return self._name_of(expr)

    def _joined(self, expr: Any, mark: str, level: float) -> str:
        return mark.join(self.parenthesize(arg, level) for arg in expr.args)

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        return self._joined(expr, " + ", precedence(expr))

    def _print_Mul(self, expr: Any) -> str:
        return self._joined(expr, "*", precedence(expr))

    def _print_Relational(self, expr: Any) -> str:
        return self._joined(expr, f" {expr.rel_op} ", precedence(expr))

    def _print_And(self, expr: Any) -> str:
        return self._joined(expr, " and ", PRECEDENCE["And"])

    def _print_Or(self, expr: Any) -> str:
        return self._joined(expr, " or ", PRECEDENCE["Or"])

    def _print_Not(self, expr: Any) -> str:
        return f"not ({self._print(expr.args[0])})"

    def _print_Mod(self, expr: Any) -> str:
        return self._joined(expr, " % ", TIGHT)

    def _print_PythonMod(self, expr: Any) -> str:
        return self._joined(expr, " % ", TIGHT)

    def _print_FloorDiv(self, expr: Any) -> str:
        return self._joined(expr, " // ", TIGHT)

    def _print_CleanDiv(self, expr: Any) -> str:
        return self._print_FloorDiv(expr)

    def _print_IntTrueDiv(self, expr: Any) -> str:
        return self._joined(expr, " / ", TIGHT)

    def _print_FloatTrueDiv(self, expr: Any) -> str:
        return self._joined(expr, " / ", TIGHT)

    def _print_Pow(self, expr: Any) -> str:
        base, exponent = expr.args
        return "*".join([self.parenthesize(base, PRECEDENCE["Mul"])] * int(exponent))

    def _print_PowByNatural(self, expr: Any) -> str:
        return self._joined(expr, " ** ", PRECEDENCE["Pow"])

    def _print_FloatPow(self, expr: Any) -> str:
        return self._joined(expr, " ** ", PRECEDENCE["Pow"])

    def _print_ToFloat(self, expr: Any) -> str:
        return f"float({self._print(expr.args[0])})"

    def _print_TruncToInt(self, expr: Any) -> str:
        return f"math.trunc({self._print(expr.args[0])})"

    def _print_FloorToInt(self, expr: Any) -> str:
        return f"math.floor({self._print(expr.args[0])})"

    def _print_CeilToInt(self, expr: Any) -> str:
        return f"math.ceil({self._print(expr.args[0])})"

    def _print_RoundToInt(self, expr: Any) -> str:
        return f"round({self._print(expr.args[0])})"

    def _print_Max(self, expr: Any) -> str:
        return f"max({', '.join(map(self._print, expr.args))})"

    def _print_Min(self, expr: Any) -> str:
        return f"min({', '.join(map(self._print, expr.args))})"

    def _print_Abs(self, expr: Any) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Float(self, expr: Any) -> str:
        return str(float(expr))

    def _print_Rational(self, expr: Any) -> str:
        return f"({expr.p} / {expr.q})"

    def _print_Piecewise(self, expr: Any) -> str:
        text = ""
        for value, condition in reversed(expr.args):
            shown = self._print(value)
            text = f"({shown} if {self._print(condition)} else {text})" if text else shown
        return text
