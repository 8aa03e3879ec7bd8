"""Does a condition on symbols hold?

Mirrors: torch/fx/experimental/symbolic_shapes.py (ShapeEnv.evaluate_expr, ShapeEnv._maybe_evaluate_static,
    ShapeEnv._maybe_guard_rel, ShapeEnv._set_replacement, ShapeEnv._refine_ranges,
    ShapeEnv.guard_or_defer_runtime_assert)
Differs: answers are not cached, except by sympy.

# Note [How a condition is decided]
First by what is known: ranges of symbols, guards that were noted before, remainders that are 0. Then by the example:
the condition holds for the sizes that the program was given, or it does not, and a guard says that the graph is right
only for sizes of which the same is true. Where there is no example the condition can only be asserted
(`torch._check`), or a size that depends on elements may count as general, neither 0 nor 1.

# Note [Sizes inside an operator]
A shape function asks whether a size is 1, or 0, to decide how to broadcast, or what a stride is. For a size that
depends on elements the answer is not known. While an operator's shape function runs, such a size counts as general
(`oblivious`).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sympy

from glasstorch.fx.experimental._symbols.errors import data_dependent
from glasstorch.fx.experimental._symbols.functions import CleanDiv, FloorDiv, IntTrueDiv, Mod, TruncToInt
from glasstorch.fx.experimental._symbols.node import SymNode
from glasstorch.fx.experimental._symbols.ranges import ValueRanges, bounds
from glasstorch.fx.experimental._symbols.relations import canonical, implications, solved
from glasstorch.fx.experimental._symbols.stacks import RuntimeAssert, ShapeGuard, here
from glasstorch.fx.experimental._symbols.state import State, expanded

UNREACHED = 2**59  # bytes, which no tensor has
MOST_SYMBOLS = 5  # of an equation that is solved

log = logging.getLogger("glasstorch.fx.experimental.symbolic_shapes")


class Deciding(State):
    """The part of an environment that decides conditions and draws conclusions."""

    # By what is known -------------------------------------------------------------------------------------------

    def simplify(self, expr: Any, size_oblivious: bool = False) -> Any:
        """An expression with what is known of its symbols used."""
        expr = self.replace(expanded(expr))
        changed: dict[Any, Any] = {}
        for atom in expr.atoms(sympy.Max) if not size_oblivious else ():
            least, other = (*sorted(atom.args, key=lambda a: a not in (0, 1)), None)[:2]
            if len(atom.args) != 2 or least not in (0, 1):
                continue
            if self._maybe_evaluate_static(sympy.Ge(other, least)) == sympy.true:
                changed[atom] = other
        for atom in expr.atoms(TruncToInt):
            if isinstance(atom.args[0], IntTrueDiv):
                base, divisor = atom.args[0].args
                changed[atom] = FloorDiv(base, divisor)
        for atom in expr.atoms(FloorDiv):
            if not isinstance(atom, CleanDiv) and self.replace(Mod(*atom.args)) in self.divisible:
                changed[atom] = CleanDiv(*atom.args)
        return expanded(expr.xreplace(changed)) if changed else expr

    def _maybe_evaluate_static(
        self,
        expr: Any,
        *,
        unbacked_only: bool = False,
        size_oblivious: bool = False,
        axioms: tuple[Any, ...] | None = None,
    ) -> Any:
        """The value of an expression if it is certain for all sizes; else None.

        `unbacked_only`: the expression with as many symbols without an example removed as can be.
        """
        expr = canonical(self.simplify(expr, size_oblivious))
        known = self.axioms if axioms is None else {k: v for e in axioms for k, v in implications(e).items()}
        expr = expr.xreplace(known)
        if not expr.free_symbols and (expr.is_number or expr.is_Boolean):
            return expr
        moved, ranges = {}, {}
        for i, symbol in enumerate(sorted(expr.free_symbols, key=str)):
            within = self._range_of(symbol, size_oblivious)
            if within.lower == -math.inf or not within.is_int or (unbacked_only and symbol in self.backed_var_to_val):
                ranges[symbol] = within
                continue
            # A symbol that starts at 1 lets sympy use that it is positive.
            positive, offset = sympy.Symbol(f"evaluate_static_shape_{i}", positive=True, integer=True), within.lower - 1
            moved[symbol] = positive + offset
            ranges[positive] = ValueRanges(1, within.upper - offset)
        shifted = canonical(expanded(expr.xreplace(moved)))
        if shifted.is_number or shifted in (sympy.true, sympy.false):
            return shifted
        within = bounds(shifted, ranges)
        if within.is_singleton():
            return sympy.sympify(within.lower)
        return expr if unbacked_only else None

    # With the example -------------------------------------------------------------------------------------------

    def evaluate_sym_node(
        self, sym_node: SymNode, size_oblivious: bool = False, fallback_value: bool | None = None
    ) -> Any:
        """The value of a symbol, with a guard that it is that."""
        return self.evaluate_expr(
            sym_node.expr, sym_node.hint, size_oblivious=size_oblivious, fallback_value=fallback_value
        )

    def evaluate_expr(
        self,
        orig_expr: Any,
        hint: Any = None,
        fx_node: Any = None,
        size_oblivious: bool = False,
        fallback_value: bool | None = None,
        *,
        forcing_spec: bool = False,
    ) -> Any:
        """The value of an expression; see Note [How a condition is decided]."""
        if orig_expr.is_number or orig_expr in (sympy.true, sympy.false):
            return orig_expr
        size_oblivious = size_oblivious or bool(self.oblivious)
        known = self._maybe_evaluate_static(orig_expr, size_oblivious=size_oblivious)
        if known is not None:
            return known
        if (
            self.oblivious
            and hint is not None
            and any(abs(int(n)) >= UNREACHED for n in orig_expr.atoms(sympy.Integer))
        ):
            return sympy.sympify(hint)  # of a check that something can be counted at all, which no guard repeats
        expr = orig_expr
        if not expr.free_symbols <= self.backed_var_to_val.keys():
            expr = self._maybe_evaluate_static(expr, unbacked_only=True)
            if not expr.free_symbols <= self.backed_var_to_val.keys():
                if fallback_value is not None:
                    return sympy.sympify(fallback_value)
                raise self._make_data_dependent_error(orig_expr.xreplace(self.backed_var_to_val), orig_expr)
        value = sympy.sympify(hint) if hint is not None else expr.xreplace(self.backed_var_to_val)
        if value == sympy.true:
            fact = expr
        elif value == sympy.false:
            fact = sympy.Not(expr)
        else:
            fact = sympy.Eq(expr, value)
        if self.frozen and not self._suppressed:
            raise RuntimeError(f"a guard was added to a frozen ShapeEnv: {fact} ({here()})")
        if not self._suppressed:
            self._conclude(fact)
            self.guards.append(ShapeGuard(fact, here(), size_oblivious))
            log.info("eval %s [guard added]", fact)
            self.axioms.update(implications(self.simplify(fact)))
        return value

    def guard_or_defer_runtime_assert(self, orig_expr: Any, msg: str, fx_node: Any = None) -> bool:
        """Let a condition hold: by a guard if there is an example, else by an assertion that the graph makes."""
        known = self._maybe_evaluate_static(orig_expr)
        if known is not None:
            return bool(known)
        expr = self._maybe_evaluate_static(orig_expr, unbacked_only=True)
        if expr.free_symbols <= self.backed_var_to_val.keys() and not self.prefer_deferred_runtime_asserts_over_guards:
            return bool(self.evaluate_expr(expr))
        if not self._suppressed:
            self._conclude(orig_expr)
            expr = canonical(orig_expr)
            unknown = [s for s in expr.free_symbols if s not in self.backed_var_to_val]
            last = max(unknown, key=lambda s: int("".join(filter(str.isdigit, s.name)))) if unknown else None
            self.deferred_runtime_asserts.setdefault(last, []).append(RuntimeAssert(expr, msg, here()))
            self.axioms.update(implications(self.simplify(expr)))
            self.num_deferred_runtime_asserts += 1
        return True

    @contextmanager
    def suppress_guards(self) -> Iterator[None]:
        """In the block, conditions are decided by the example, and no guards are noted."""
        self._suppressed += 1
        try:
            yield
        finally:
            self._suppressed -= 1

    def freeze(self) -> None:
        """Refuse guards from here on."""
        self.frozen = True

    def _make_data_dependent_error(self, expr: Any, unhinted_expr: Any) -> Exception:
        return data_dependent(expr, unhinted_expr, self.size_like)

    # What follows -----------------------------------------------------------------------------------------------

    def _conclude(self, expr: Any) -> None:
        """Use a relation that is true: narrow ranges, and replace a symbol that an equation determines."""
        if isinstance(expr, sympy.And):
            for part in expr.args:
                self._conclude(part)
            return
        if not isinstance(expr, sympy.core.relational.Relational) or isinstance(expr, sympy.Ne):
            return
        free = sorted(expr.free_symbols, key=self._order, reverse=True)
        if not 0 < len(free) <= MOST_SYMBOLS:
            return
        self._refine_ranges(expr)
        if not isinstance(expr, sympy.Eq):
            return
        if expr.has(Mod):
            remainder = next(iter(expr.atoms(Mod)))
            found = solved(expr, remainder, through_floor=False)
            if found is not None and found[1] == 0:
                self.divisible.add(remainder)
            return
        if any(d.divisor != 1 for d in expr.atoms(FloorDiv)):
            return
        left, right = expr.lhs, expr.rhs
        for symbol, other in ((left, right), (right, left)):
            if symbol.is_Symbol and (symbol.name.startswith("zf") or self._may_replace(symbol, other)):
                self._set_replacement(symbol, self.replace(other))
                return
        found = solved(expr, free[0], through_floor=False)
        if found is not None and all(t.is_integer for t in sympy.preorder_traversal(found[1])):
            target = self.replace(found[1])
            if target.free_symbols <= self.backed_var_to_val.keys():
                self._set_replacement(free[0], target)

    def _may_replace(self, symbol: Any, other: Any) -> bool:
        """Whether a symbol without an example may be replaced: not by one that is made only later."""
        if symbol in self.backed_var_to_val:
            return False
        return all(s in self.backed_var_to_val or s in self.unbacked_inputs for s in other.free_symbols)

    def _order(self, symbol: Any) -> tuple[float, str]:
        """Larger sizes are replaced by smaller ones, and symbols without an example first."""
        value = self.backed_var_to_val.get(symbol)
        return (math.inf if value is None or not symbol.is_integer else int(value), symbol.name)

    def _set_replacement(self, symbol: Any, target: Any) -> None:
        """Note what a symbol equals, unless its range would be forgotten by that."""
        if target == self.replacements.get(symbol) or symbol in target.free_symbols:
            return
        source = self.var_to_range[symbol]
        self._update_var_to_range(symbol, self.bound_sympy(target))
        if not self.bound_sympy(target).issubset(source) and len(target.free_symbols) == 1:
            (other,) = target.free_symbols
            found = solved(sympy.Eq(symbol, target), other, through_floor=False)
            if found is not None:
                within = bounds(found[1], self.var_to_range)
                ends = [b if math.isinf(b) else f(b) for b, f in zip(within, (math.ceil, math.floor), strict=True)]
                self._update_var_to_range(other, ValueRanges(ends[0], ends[1]))
        if target.is_Symbol and (symbol in self.size_like or target in self.size_like):
            self.size_like |= {symbol, target}
        if not self.bound_sympy(target).issubset(source):
            return
        self.replacements[symbol] = target
        self._replacements_version_counter += 1

    def _refine_ranges(self, expr: Any) -> None:
        expr = self.simplify(expr)
        for symbol in sorted(expr.free_symbols, key=str):
            found = solved(expr, symbol)
            if found is None or not (symbol.is_integer and found[1].is_integer):
                continue
            relation, other = found
            old, limits = self.var_to_range[symbol], self.bound_sympy(other)
            lower, upper = old
            if lower <= limits.lower and isinstance(relation, sympy.Eq | sympy.Ge | sympy.Gt):
                lower = limits.lower + isinstance(relation, sympy.Gt)
            if upper >= limits.upper and isinstance(relation, sympy.Eq | sympy.Le | sympy.Lt):
                upper = limits.upper - isinstance(relation, sympy.Lt)
            if (lower, upper) != old:
                self._update_var_to_range(symbol, ValueRanges(lower, upper))
                if self.var_to_range[symbol].is_singleton():
                    self._set_replacement(symbol, sympy.Integer(int(lower)))
