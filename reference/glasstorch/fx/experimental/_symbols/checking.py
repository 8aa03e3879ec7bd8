"""Is a graph right for other sizes?

Mirrors: torch/fx/experimental/symbolic_shapes.py (ShapeEnv.produce_guards, ShapeEnv.produce_guards_expression,
    ShapeEnv.evaluate_guards_for_args, ShapeEnv.bind_symbols, ShapeEnv.format_guards)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import sympy

from glasstorch._tensor import Tensor
from glasstorch.core.symbols import SymFloat, SymInt
from glasstorch.fx.experimental._symbols.contexts import (
    ConstraintViolationError,
    DimConstraint,
    RelaxedUnspecConstraint,
    StatelessSymbolicContext,
    StrictMinMaxConstraint,
)
from glasstorch.fx.experimental._symbols.deciding import Deciding
from glasstorch.fx.experimental._symbols.functions import IN_PYTHON
from glasstorch.fx.experimental._symbols.printing import PythonPrinter
from glasstorch.fx.experimental._symbols.ranges import ValueRanges
from glasstorch.fx.experimental._symbols.sources import LocalSource, Source, TensorProperty, TensorPropertySource
from glasstorch.fx.experimental._symbols.stacks import ShapeGuard

SYMPY_INTERP = {**IN_PYTHON, "math": math}


class Checking(Deciding):
    """The part of an environment that says what must be true of other inputs."""

    def format_guards(self, verbose: bool = False) -> str:
        """The guards as a list, one a line; `verbose`, with the lines of the program that led to them."""
        return "\n".join(f" - {guard.expr}{f' {guard.sloc}' if verbose else ''}" for guard in self.guards)

    def get_nontrivial_guards(self) -> list[Any]:
        """The guards that do not follow from what is known of the symbols."""
        return [self.simplify(g.expr) for g in self.guards if self._maybe_evaluate_static(g.expr, axioms=()) is None]

    def get_pruned_guards(self, symints: Sequence[SymInt]) -> list[ShapeGuard]:
        """The guards that are about these symbols only."""
        known = {s.node.expr for s in symints if s.node.expr.is_Symbol}
        return [g for g in self.guards if g.expr.free_symbols <= known]

    def produce_guards(
        self,
        placeholders: Sequence[Any],
        sources: Sequence[Source],
        source_ref: Callable[[Source], str] = lambda source: source.name,
        *,
        guards: Sequence[ShapeGuard] | None = None,
        input_contexts: Sequence[Any] | None = None,
        ignore_static: bool = True,
        **options: Any,
    ) -> list[str]:
        """Python expressions over the inputs' sources that are true of inputs for which the graph is right.

        That equal sizes are equal, the guards, and the range of each symbol. `ignore_static` leaves out sizes that are
        numbers, where something else checks them. ConstraintViolationError if a guard forbids what `mark_dynamic` asks.
        """
        if any(value is not None for value in options.values()):
            raise NotImplementedError(f"produce_guards: {', '.join(options)} is not in glasstorch")
        facts: list[tuple[Source, Any, DimConstraint]] = []
        for i, (value, source) in enumerate(zip(placeholders, sources, strict=True)):
            facts += self._facts_of(value, source, input_contexts[i] if input_contexts else None)
        where: dict[Any, list[Source]] = {}
        for source, expr, _ in facts:
            for symbol, of in ((expr, source),) if expr.is_Symbol else ():
                where.setdefault(symbol, []).append(of)
        self._check_constraints(facts, where)

        def name_of(symbol: Any) -> str:
            known = where.get(symbol) or self.var_to_sources.get(symbol)
            if not known:
                raise RuntimeError(f"{symbol} has no source among {[s.name for s in sources]}")
            return source_ref(known[0])

        printer = PythonPrinter(name_of)
        texts = [
            f"{source_ref(source)} == {printer.doprint(expr)}"
            for source, expr, _ in facts
            if not (expr.is_Symbol and where[expr][0] == source)
            and not (ignore_static and isinstance(source, TensorPropertySource) and expr.is_number)
        ]
        issued: dict[Any, None] = {}
        for guard in self.guards if guards is None else guards:
            if self._maybe_evaluate_static(guard.expr, axioms=(), size_oblivious=guard.size_oblivious) is None:
                issued.setdefault(self.simplify(guard.expr))
        texts += map(printer.doprint, issued)
        return texts + [text for symbol in where for text in self._limits(symbol, printer)]

    def _facts_of(self, value: Any, source: Source, context: Any) -> list[tuple[Source, Any, DimConstraint]]:
        """The numbers of one input, with what they are in this graph."""
        if isinstance(value, SymInt | SymFloat):
            return [(source, value.node.expr, getattr(context, "constraint", None))]
        if isinstance(value, int | float):
            return [(source, sympy.sympify(value), None)]
        if not isinstance(value, Tensor):
            return []
        context = context or StatelessSymbolicContext([None] * value.dim())  # type: ignore[list-item]
        kinds = (
            (TensorProperty.SIZE, value._shape, context.constraint_sizes),
            (TensorProperty.STRIDE, value.strides(), context.constraint_strides),
        )
        facts = [
            (TensorPropertySource(source, kind, i), _expr(number), constraints[i])
            for kind, numbers, constraints in kinds
            for i, number in enumerate(numbers)
        ]
        return [*facts, (TensorPropertySource(source, TensorProperty.STORAGE_OFFSET), _expr(value._offset), None)]

    def _limits(self, symbol: Any, printer: PythonPrinter) -> list[str]:
        within = self.var_to_range.get(symbol)
        if within is None:
            return []
        name, texts = printer.doprint(symbol), []
        if within.lower != -math.inf:
            texts.append(f"{within.lower} <= {name}")
        if within.upper != math.inf:
            texts.append(f"{name} <= {within.upper}")
        result = [" and ".join(texts)] if texts else []
        return [*result, f"not math.isnan({name})"] if symbol.name.startswith("zf") else result

    def _check_constraints(self, facts: Any, where: Any) -> None:
        """ConstraintViolationError where a size that must be free is a number, or bound by a guard."""
        broken: list[tuple[str, str]] = []
        for source, expr, constraint in facts:
            if constraint is None or constraint.warn_only:
                continue
            if expr.is_number:
                broken.append((source.name, _specialized(source.name, int(expr), constraint)))
            elif isinstance(constraint, StrictMinMaxConstraint):
                within = self.bound_sympy(expr)
                wanted = constraint.vr & ValueRanges(2, math.inf)
                if not wanted.issubset(within):
                    text = f"Not all values of {constraint.render(source)} satisfy the generated guard "
                    broken.append((source.name, f"{text}{within.lower} <= {source.name} <= {within.upper}."))
        if broken:
            names = ", ".join(sorted({name for name, _ in broken}))
            lines = "\n".join(f"  - {text}" for _, text in broken)
            raise ConstraintViolationError(
                f'Constraints violated ({names})! For more information, run with TORCH_LOGS="+dynamic".\n{lines}'
            )

    def produce_guards_expression(
        self, placeholders: Sequence[Any], *, guards: Sequence[ShapeGuard] | None = None, ignore_static: bool = True
    ) -> str | None:
        """All guards in one expression, over inputs named `t0`, `t1` and so on; None if there are none."""
        names = [LocalSource(f"t{i}") for i in range(len(placeholders))]
        return (
            " and ".join(self.produce_guards(placeholders, names, guards=guards, ignore_static=ignore_static)) or None
        )

    def evaluate_guards_expression(self, code: str, args: Sequence[Any]) -> bool:
        """Whether such an expression is true of other inputs."""
        return bool(eval(code, dict(SYMPY_INTERP), {"L": {f"t{i}": value for i, value in enumerate(args)}}))

    def evaluate_guards_for_args(
        self, placeholders: Sequence[Any], args: Sequence[Any], *, ignore_static: bool = True
    ) -> bool:
        """Whether a graph that was made for these placeholders is right for other inputs."""
        code = self.produce_guards_expression(placeholders, ignore_static=ignore_static)
        return True if code is None else self.evaluate_guards_expression(code, args)

    def evaluate_symexpr(self, code: str) -> Any:
        """The value of an expression in words for the sizes of the example."""
        return eval(code, dict(SYMPY_INTERP), {str(s): int(v) for s, v in self.backed_var_to_val.items()})

    def bind_symbols(self, placeholders: Sequence[Any], args: Sequence[Any]) -> dict[Any, int]:
        """Which number each symbol stands for in other inputs."""
        bound: dict[Any, int] = {}
        for value, given in zip(placeholders, args, strict=False):
            pairs = [(value, given)]
            if isinstance(value, Tensor):
                pairs = [
                    *zip(value._shape, given._shape, strict=True),
                    *zip(value.strides(), given.strides(), strict=True),
                ]
                pairs.append((value._offset, given._offset))
            for symbol, number in pairs:
                expr = symbol.node.expr if isinstance(symbol, SymInt) else None
                if expr is not None and expr.is_Symbol and bound.setdefault(expr, number) != number:
                    raise AssertionError(f"{bound[expr]} != {number}")
        return bound


def _expr(number: Any) -> Any:
    return number.node.expr if isinstance(number, SymInt) else sympy.Integer(number)


def _specialized(name: str, number: int, constraint: DimConstraint) -> str:
    if isinstance(constraint, RelaxedUnspecConstraint):
        return (
            f"You marked {name} as dynamic but your code specialized it to be a constant ({number}). If you're using "
            f"mark_dynamic, either remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it with "
            f"either Dim.STATIC or Dim.AUTO."
        )
    return f"Not all values of {name} in the specified range satisfy the generated guard {name} == {number}."
