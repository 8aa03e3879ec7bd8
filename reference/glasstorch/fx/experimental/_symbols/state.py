"""What does an environment of symbols know?

Mirrors: torch/fx/experimental/symbolic_shapes.py (ShapeEnv.__init__, ShapeEnv.replace, ShapeEnv.bound_sympy)
"""

from __future__ import annotations

import math
from typing import Any

from glasstorch.fx.experimental._symbols.ranges import ValueRanges, bounds
from glasstorch.fx.experimental._symbols.sources import Source
from glasstorch.fx.experimental._symbols.stacks import RuntimeAssert, ShapeGuard


def expanded(expr: Any) -> Any:
    """An expression without parentheses around sums; a condition of conditions as it is."""
    return expr.expand() if hasattr(expr, "expand") else expr


class State:
    """The symbols of one capture: what they stand for, what is known of them, and what was relied on."""

    def __init__(
        self,
        *,
        should_record_events: bool | None = None,
        tracked_fakes: list[Any] | None = None,
        allow_scalar_outputs: bool = True,
        allow_dynamic_output_shape_ops: bool = True,
        assume_static_by_default: bool = False,
        specialize_zero_one: bool = True,
        duck_shape: bool | None = None,
        prefer_deferred_runtime_asserts_over_guards: bool = False,
        trace_asserts: bool = False,
        co_fields: dict[str, str] | None = None,
    ) -> None:
        self.tracked_fakes = tracked_fakes
        self.allow_scalar_outputs = allow_scalar_outputs
        self.allow_dynamic_output_shape_ops = allow_dynamic_output_shape_ops
        self.assume_static_by_default = assume_static_by_default
        self.specialize_zero_one = specialize_zero_one
        self.duck_shape = True if duck_shape is None else duck_shape
        self.prefer_deferred_runtime_asserts_over_guards = prefer_deferred_runtime_asserts_over_guards
        self.trace_asserts = trace_asserts
        self.guards: list[ShapeGuard] = []
        self.axioms: dict[Any, Any] = {}  # conditions that are known to be true or false
        self.backed_var_to_val: dict[Any, Any] = {}  # the values of the example
        self.var_to_range: dict[Any, ValueRanges] = {}
        self.var_to_sources: dict[Any, list[Source]] = {}
        self.source_to_var: dict[str, Any] = {}
        self.val_to_var: dict[int | float, Any] = {}  # of duck shaping
        self.unique_ids: set[int] = set()
        self.replacements: dict[Any, Any] = {}
        self.divisible: set[Any] = set()  # remainders that are known to be 0
        self.size_like: set[Any] = set()  # symbols without an example that are sizes
        self.unbacked_inputs: set[Any] = set()
        self.unbacked_symint_counter = self.unbacked_symfloat_counter = 0
        self.pending_fresh_unbacked_symbols: list[Any] = []
        self.deferred_runtime_asserts: dict[Any, list[RuntimeAssert]] = {}
        self.num_deferred_runtime_asserts = 0
        self.unnamed = 0  # how many tensors there are of which it was not said where they come from
        self.frozen = False
        self.oblivious = 0  # above 0 while shape functions run; see Note [Sizes inside an operator]
        self.notation: Any = None  # how expressions are written, where code is made of them; None for sympy's way
        self._suppressed = 0
        self._replacements_version_counter = 0

    @property
    def var_to_val(self) -> dict[Any, Any]:
        """The values of the example, by the name of earlier versions."""
        return self.backed_var_to_val

    def replace(self, expr: Any) -> Any:
        """An expression with each symbol that equals another expression replaced by that."""
        found = {s: self._find(s) for s in expr.free_symbols}
        found = {s: e for s, e in found.items() if s != e}
        return expanded(expr.xreplace(found)) if found else expr

    def _find(self, symbol: Any) -> Any:
        """What a symbol equals, all the way down."""
        if symbol not in self.replacements:
            return symbol
        target = self.replacements[symbol]
        deeper = target.xreplace({s: self._find(s) for s in target.free_symbols})
        self.replacements[symbol] = deeper
        return deeper

    def bound_sympy(self, expr: Any, size_oblivious: bool = False) -> ValueRanges:
        """Between which numbers an expression lies. `size_oblivious`: sizes without an example are at least 2."""
        ranges = {s: self._range_of(s, size_oblivious) for s in expr.free_symbols}
        return bounds(expr, ranges)

    def _range_of(self, symbol: Any, size_oblivious: bool) -> ValueRanges:
        known = self.var_to_range.get(symbol, ValueRanges(-math.inf, math.inf))
        if size_oblivious and symbol in self.size_like:
            narrowed = ValueRanges(max(2, known.lower), min(2**48 - 1, known.upper))
            return narrowed if narrowed.lower <= narrowed.upper else known
        return known

    def _update_var_to_range(self, symbol: Any, within: ValueRanges) -> None:
        """Narrow the range of a symbol; a size without an example is never narrowed to less than 2."""
        if within.upper < 2 and symbol in self.size_like:
            within = ValueRanges(within.lower, 2)
        old = self.var_to_range.get(symbol)
        self.var_to_range[symbol] = within if old is None else old & within

    def _constrain_range_for_size(self, symbol: Any, min: int | None = None, max: int | None = None) -> None:
        """Note that a symbol without an example is a size: it is not negative."""
        self._update_var_to_range(symbol, ValueRanges(0 if min is None else min, math.inf if max is None else max))
        self.size_like.add(symbol)
