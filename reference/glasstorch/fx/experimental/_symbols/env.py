"""Where do the symbols of one capture live?

Mirrors: torch/fx/experimental/symbolic_shapes.py (ShapeEnv)
Differs: three parts, by what they do: creation.py, deciding.py and checking.py. Nothing is validated by a solver, and
    no events are recorded for a replay.
"""

from __future__ import annotations

import sympy

from glasstorch.core.symbols import SymInt
from glasstorch.fx.experimental._symbols.checking import Checking
from glasstorch.fx.experimental._symbols.creation import Creation
from glasstorch.fx.experimental._symbols.ranges import ValueRanges


class ShapeEnv(Creation, Checking):
    """Symbols that stand for sizes, what is known of them, and the guards that a program's decisions left."""

    def _constrain_range(self, symbol: sympy.Symbol, min: float, max: float) -> None:
        """Note that a symbol lies between two numbers, without a guard."""
        self._update_var_to_range(symbol, ValueRanges(min, max))

    def _constrain_unify(self, a: SymInt | int, b: SymInt | int) -> None:
        """Let two symbols be one."""
        left, right = (v.node.expr if isinstance(v, SymInt) else sympy.Integer(v) for v in (a, b))
        symbol, other = (left, right) if left.is_Symbol else (right, left)
        if not symbol.is_Symbol:
            raise AssertionError(f"constraining non-Symbols NYI: {left} and {right}")
        self.replacements[symbol] = self.replace(other)
        self._replacements_version_counter += 1

    def constrain_symbol_range(self, s: sympy.Symbol, compiler_min: int, compiler_max: int) -> None:
        """Narrow the range of a symbol."""
        self._update_var_to_range(s, ValueRanges(compiler_min, compiler_max))
