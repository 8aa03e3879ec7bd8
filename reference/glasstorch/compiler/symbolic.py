"""How does one compiled graph serve all sizes that are symbols?

Mirrors: torch/_dynamo/output_graph.py (the tracing context's fake mode, which AOTAutograd goes on with),
    torch/_functorch/_aot_autograd/runtime_wrappers.py (the guards that a backend adds)
Differs: the graphs below a captured one have an environment of symbols of their own, and what was decided about them is
    checked when the graph is called. Where it does not hold, another graph is compiled.

A graph that cannot be made with symbols is made for numbers: once for each of their values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

from glasstorch._subclasses.fake_tensor import FakeTensorMode
from glasstorch._tensor import Tensor
from glasstorch.compiler.watching import told
from glasstorch.core.symbols import SymInt, is_symbol
from glasstorch.fx._names import at
from glasstorch.fx.graph_module import GraphModule

Run = Callable[[Sequence[Any]], Any]
SYMBOLS: Final = "glasstorch.fx.experimental"  # which needs sympy: it is imported when there is a symbol
SMALLEST: Final = 2  # a size that is a symbol is neither 0 nor 1


class NeedsNumbers(Exception):
    """A graph cannot be made with symbols; the message says why."""


class Variant(NamedTuple):
    """A compiled graph, and what must be true of the numbers that its symbols stand for."""

    holds: Callable[..., bool]
    run: Run


def by_guards(
    compile_with: Callable[[Sequence[Any], Symbolic], Run],
    compile_for: Callable[[Sequence[Any]], Run],
    fn: Callable[..., Any],
    examples: Sequence[Any],
) -> Run:
    """A function that is compiled with symbols; or for numbers, once for each, where that is impossible.

    `compile_with` is given the values of a call and fake tensors that have symbols, `compile_for` values alone.
    """
    places = [i for i, example in enumerate(examples) if is_symbol(example)]
    variants: list[Variant] = []
    made: dict[tuple[Any, ...], Run] = {}
    impossible: list[str] = []

    def add(values: Sequence[Any], numbers: tuple[Any, ...]) -> Run:
        if not impossible and all(type(number) is int and number >= SMALLEST for number in numbers):
            try:
                symbolic = Symbolic(fn, examples, values)
                run = compile_with(values, symbolic)
                variants.append(Variant(symbolic.check(), run))
                return run
            except Exception as error:  # noqa: BLE001  # whatever it is, the graph may still be made for numbers
                impossible.append(f"{type(error).__name__}: {error}")
                told("hint", text=f"sizes become numbers: {impossible[0]}", module=fn)
        made[numbers] = compile_for(values)
        return made[numbers]

    def run(values: Sequence[Any]) -> Any:
        numbers = tuple(values[i] for i in places)
        for variant in variants:
            if variant.holds(*numbers):
                return variant.run(values)
        return (made.get(numbers) or add(values, numbers))(values)

    return run


class Symbolic:
    """An environment with a symbol for each symbol among a graph's inputs, and fake tensors like its inputs."""

    def __init__(self, fn: Callable[..., Any], examples: Sequence[Any], values: Sequence[Any]) -> None:
        if not isinstance(fn, GraphModule):
            raise NeedsNumbers("a function whose graph is not known")
        likes = [node.meta.get("example_value") for node in fn.graph.find_nodes(op="placeholder")]
        if len(likes) != len(values):
            raise NeedsNumbers("inputs that are not those of the graph")
        shapes, sources = map(import_module, (f"{SYMBOLS}.symbolic_shapes", f"{SYMBOLS}._symbols.sources"))
        self.env = shapes.ShapeEnv()
        self.mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=self.env)
        self.new: dict[Any, Any] = {}  # the symbols of the captured graph, and those here
        self.names: list[str] = []  # of the numbers that `check` is given
        self.fakes: list[Any] = []
        for i, (example, value) in enumerate(zip(examples, values, strict=True)):
            if not is_symbol(example):
                continue
            if not isinstance(example, SymInt) or not (expr := example.node.expr).is_Symbol:
                raise NeedsNumbers(f"the input {example}")
            if expr not in self.new:
                source = sources.ConstantSource(f"input{i}")
                self.new[expr] = self.env.create_symbol(value, source, shapes.DimDynamic.DYNAMIC)
                self.names.append(str(self.new[expr]))
            else:
                self.names.append(f"same{i}")
        for example, value, like in zip(examples, values, likes, strict=True):
            self.fakes.append(self._renamed(example) if is_symbol(example) else self._like(value, like))

    def number(self, expr: Any) -> Any:
        """An expression of the new symbols as a size."""
        return self.env.create_symintnode(expr, hint=int(expr.xreplace(self.env.backed_var_to_val)))

    def _like(self, value: Any, like: Any) -> Any:
        """A fake tensor like one of a call, whose sizes are those of the captured graph."""
        if not isinstance(value, Tensor):
            return value
        sizes = [self._renamed(size) for size in like._shape]
        strides = [self._renamed(stride) for stride in like.stride()]
        if not any(map(is_symbol, [*sizes, *strides])):
            return self.mode.from_tensor(value, static_shapes=True).detach()
        if [*map(_hint, sizes)] != [*value.shape] or [*map(_hint, strides)] != [*value.stride()]:
            raise NeedsNumbers("an input has other sizes than its symbols say")
        with self.mode:
            return at("empty_strided")(sizes, strides, dtype=value.dtype, device=value.device)

    def _renamed(self, size: Any) -> Any:
        if not is_symbol(size):
            return size
        expr = size.node.expr
        if expr.is_Integer:
            return int(expr)
        if not expr.free_symbols <= self.new.keys():
            raise NeedsNumbers(f"the size {expr} is no symbol of the graph's inputs")
        return self.number(expr.xreplace(self.new))

    def check(self) -> Callable[..., bool]:
        """A function of numbers: whether all that was decided is true of them."""
        if self.env.deferred_runtime_asserts:
            raise NeedsNumbers("a condition that depends on elements")
        printer = import_module(f"{SYMBOLS}._symbols.printing").PythonPrinter(str)
        facts = [f"{name} >= {SMALLEST}" for name in self.names]
        facts += [f"({printer.doprint(guard.expr)})" for guard in self.env.guards]
        text = f"lambda {', '.join(self.names)}: {' and '.join(dict.fromkeys(facts))}"
        found: Callable[..., bool] = eval(text, {"math": import_module("math")})  # text of our own
        return found


def _hint(size: Any) -> Any:
    """The number that a size is in the call for which a graph is made."""
    return size.node.hint if is_symbol(size) else size
