"""Which sizes and numbers of a function's arguments are symbols in its graph, and what must be true of them?

Mirrors: torch/_dynamo/variables/builder.py (wrap_symint, _automatic_dynamic), torch/_dynamo/pgo.py
    (FrameStateSizeEntry), torch/_dynamo/decorators.py (mark_dynamic, maybe_mark_dynamic, mark_static)
Differs: what a backend decides about symbols is checked below the guards: see symbolic.py.

A function is first captured for the sizes that it is called with. A size, or an int, that is another one at a later
capture becomes a symbol (automatic dynamic shapes); the graph is then right for all values of which the guards hold.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.compiler.settings import settings
from glasstorch.core.symbols import SymInt, is_symbol
from glasstorch.fx._names import at
from glasstorch.nn.parameter import Parameter

DYNAMIC, WEAK, STATIC = "_dynamo_dynamic_indices", "_dynamo_weak_dynamic_indices", "_dynamo_static_indices"
NEVER: Final = (0, 1)  # numbers that are constants: a program is usually another one with them


def _symbols(name: str) -> Any:
    """A module of fx.experimental, which needs sympy: it is imported when there is a symbol."""
    return import_module(f"glasstorch.fx.experimental.{name}")


class Marks(NamedTuple):
    """The dimensions of a tensor that `mark_dynamic`, `maybe_mark_dynamic` and `mark_static` have named."""

    dynamic: Collection[int] = ()
    weak: Collection[int] = ()
    static: Collection[int] = ()


def kinds_of(sizes: Sequence[int], seen: list[Any], marks: Marks, dynamic: bool | None) -> list[str]:
    """How each size is treated: as a number (STATIC), or as a symbol (DYNAMIC), which equal sizes share (DUCK).

    `seen` has the sizes of earlier captures, and None for one that was another before; what has changed is noted there.
    """
    kinds = []
    for i, size in enumerate(sizes):
        if seen[i] != size:
            seen[i] = None
        if i in marks.dynamic:
            kinds.append("DYNAMIC")
        elif size in NEVER:
            kinds.append("STATIC")
        elif i in marks.weak:
            kinds.append("DYNAMIC")
        elif dynamic is False or i in marks.static:
            kinds.append("STATIC")
        elif dynamic:
            kinds.append("DUCK")
        else:
            kinds.append("DYNAMIC" if seen[i] is None else "STATIC")
    return kinds


class Sizes:
    """What the captures of one function have seen of its arguments."""

    def __init__(self, dynamic: bool | None = None) -> None:
        self.dynamic = dynamic
        self.seen: dict[str, Any] = {}  # by the source: the number, or the sizes; None for one that was another before

    def _is_automatic(self) -> bool:
        return self.dynamic is None and settings.automatic_dynamic_shapes and settings.assume_static_by_default

    def context_of(self, source: str, tensor: Tensor) -> Any:
        """How each size of a tensor is treated; None if all are numbers."""
        sizes = [*tensor._shape]
        seen = self.seen.setdefault(source, sizes)
        if not isinstance(seen, list) or len(seen) != len(sizes):
            seen = self.seen[source] = sizes
        marks = Marks(*(_indices(tensor, name) for name in (DYNAMIC, WEAK, STATIC)))
        free = self.dynamic or (self.dynamic is None and not settings.assume_static_by_default)
        kinds = kinds_of(sizes, seen, marks, True if free else None if self._is_automatic() else False)
        if not marks.dynamic and (isinstance(tensor, Parameter) or set(kinds) <= {"STATIC"}):
            return None
        shapes = _symbols("symbolic_shapes")
        required = shapes.RelaxedUnspecConstraint(warn_only=False)
        return shapes.StatelessSymbolicContext(
            [shapes.DimDynamic[kind] for kind in kinds],
            constraint_sizes=[required if i in marks.dynamic else None for i in range(len(sizes))],
        )

    def is_symbol(self, source: str, number: int) -> bool:
        """Whether an int of the outside is a symbol."""
        before = self.seen.setdefault(source, number)
        if before != number:
            self.seen[source] = None
        if settings.specialize_int or number in NEVER:
            return False
        return bool(self.dynamic) or (self._is_automatic() and self.seen[source] is None)


class AllNumbers(Sizes):
    """For a capture in which nothing is a symbol."""

    def context_of(self, source: str, tensor: Tensor) -> None:
        return None

    def is_symbol(self, source: str, number: int) -> bool:
        return False


class Noted(Sizes):
    """What is known of sizes, for one capture, which notes whether it used symbols, and whether it had to."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes.dynamic)
        self.seen = sizes.seen
        self.has_symbols = self.is_required = False

    def context_of(self, source: str, tensor: Tensor) -> Any:
        context = super().context_of(source, tensor)
        self.has_symbols |= context is not None
        self.is_required |= bool(_indices(tensor, DYNAMIC))
        return context

    def is_symbol(self, source: str, number: int) -> bool:
        found = super().is_symbol(source, number)
        self.has_symbols |= found
        return found


def _indices(tensor: Tensor, name: str) -> set[int]:
    found: set[int] = getattr(tensor, name, set())
    return found


def _mark(name: str, tensor: Any, index: Any) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"a tensor is marked, got {type(tensor).__name__}")
    indices = range(tensor.dim()) if index is None else index if isinstance(index, list | tuple) else (index,)
    for i in indices:
        if not -tensor.dim() <= i < tensor.dim():
            raise IndexError(f"dimension {i} of a tensor with {tensor.dim()} dimensions cannot be marked")
        if not hasattr(tensor, name):
            setattr(tensor, name, set())
        getattr(tensor, name).add(i % tensor.dim())


def mark_dynamic(t: Any, index: Any, *, min: int | None = None, max: int | None = None, **options: Any) -> None:
    """Let sizes of a tensor be symbols; ConstraintViolationError if the program allows one number only."""
    if min is not None or max is not None or options:
        raise NotImplementedError("mark_dynamic: of its options glasstorch has none; ranges are stated by torch._check")
    _mark(DYNAMIC, t, index)


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Let sizes of a tensor be symbols, unless the program allows one number only."""
    _mark(WEAK, t, index)


def mark_static(t: Any, index: Any = None) -> None:
    """Let sizes of a tensor, or all of them, be numbers."""
    _mark(STATIC, t, index)


class Symbols:
    """The symbols of one capture: where they come from, and the nodes that compute with them."""

    def __init__(self) -> None:
        self.env = _symbols("symbolic_shapes").ShapeEnv(
            allow_scalar_outputs=False, allow_dynamic_output_shape_ops=False
        )
        self.sources = _symbols("_symbols.sources")
        self.nodes: dict[Any, Any] = {}  # the proxy of each expression
        self.inputs: dict[Any, str] = {}  # the source of each node that is an input
        self.made: dict[str, Any] = {}  # the symbol of each int of the outside, by its source
        self.dynamic = _symbols("symbolic_shapes").DimDynamic.DYNAMIC
        self.values: list[tuple[Any, Any, Any]] = []  # example, source and context of each input that has symbols
        self.shapes: list[tuple[Tensor, Any]] = []  # sizes of the examples before the program ran

    def source(self, expression: str) -> Any:
        """A source as the environment has them."""
        return self.sources.ExpressionSource(expression)

    def name(self, expr: Any) -> str:
        """Where the number that a symbol stands for is found."""
        return str(self.env.var_to_sources[expr][0].name)

    def of(self, nodes: Sequence[Any]) -> set[Any]:
        """The inputs that are the symbols of tensors which the graph uses."""
        free = _symbols("symbolic_shapes").free_symbols
        used = {s for node in nodes if node.users for s in free(node.meta.get("example_value"))}
        return {proxy.node for expr, proxy in self.nodes.items() if expr in used and proxy.node in self.inputs}

    def text(self, symbol: Any) -> str:
        """A symbol as Python code over the function's arguments; a number where an argument's sizes have changed."""
        if any(tensor._shape is not shape for tensor, shape in self.shapes):
            return repr(number_of(symbol))
        return str(_symbols("_symbols.printing").PythonPrinter(self.name).doprint(symbol.node.expr))

    def guards(self) -> list[str]:
        """What must be true of other arguments; an error where a size that was marked became a number."""
        values, sources, contexts = zip(*self.values, strict=True) if self.values else ((), (), ())
        texts: list[str] = self.env.produce_guards(values, sources, input_contexts=contexts, ignore_static=False)
        return texts

    def proxy(self, symbol: Any, call: Callable[..., Any]) -> Any:
        """The proxy of a symbol, or its number; `call` makes a node of a function and its arguments."""
        return self._of(symbol.node.expr, call)

    def _of(self, expr: Any, call: Callable[..., Any]) -> Any:
        if expr.is_Integer:
            return int(expr)
        if expr.is_Number:
            return float(expr)
        if expr not in self.nodes:
            function = _functions().get(expr.func)
            if function is None:
                raise NotImplementedError(f"a node for {expr}")
            parts = [self._of(part, call) for part in expr.args]
            found = call(function, *parts[:2]) if len(parts) > 1 else call(function, *parts)
            for part in parts[2:]:
                found = call(function, found, part)
            self.nodes[expr] = found
        return self.nodes[expr]


def _functions() -> dict[Any, Callable[..., Any]]:
    """The function of Python that each kind of expression stands for."""
    node, sympy = _symbols("_symbols.node"), import_module("sympy")
    found = {row.sympy: row.function for row in node.OPERATIONS.values() if isinstance(row.sympy, type)}
    written = _symbols("_symbols.functions")
    return found | {
        sympy.Add: operator.add, sympy.Mul: operator.mul, sympy.Pow: operator.pow, sympy.Max: at("sym_max"),
        written.CleanDiv: operator.floordiv, written.Mod: operator.mod,
    }  # fmt: skip


def number_of(symbol: Any) -> Any:
    """The number or the bool that a symbol stands for; a guard says that it is that."""
    return int(symbol) if isinstance(symbol, SymInt) else symbol.node.pytype(symbol)


def by_size(
    compile_for: Callable[[Sequence[Any]], Callable[[Sequence[Any]], Any]], examples: Sequence[Any]
) -> Callable[[Sequence[Any]], Any]:
    """A function that is compiled once for each of the numbers that the symbols among its inputs stand for."""
    places = [i for i, example in enumerate(examples) if is_symbol(example)]
    made: dict[tuple[Any, ...], Callable[[Sequence[Any]], Any]] = {}

    def run(values: Sequence[Any]) -> Any:
        key = tuple(values[i] for i in places)
        if key not in made:
            made[key] = compile_for(values)
        return made[key](values)

    return run
