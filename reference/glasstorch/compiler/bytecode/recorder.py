"""What does the capture of a function write down: the graph, its inputs, and the guards?

Mirrors: torch/_dynamo/output_graph.py (OutputGraph)
Differs: a symbol is computed where another node needs it.
"""

from __future__ import annotations

import linecache
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import getitem
from typing import Any

from glasstorch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode
from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import _set_grad_enabled, enable_grad, is_grad_enabled
from glasstorch.compiler.bytecode.instructions import instructions_of
from glasstorch.compiler.bytecode.raising import of_an_operator
from glasstorch.compiler.bytecode.side_effects import SideEffects
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Constant,
    Context,
    Mapping,
    Sequence,
    SymbolValue,
    TensorValue,
    Value,
    known,
    mapped,
)
from glasstorch.compiler.guards import Guards
from glasstorch.compiler.shapes import AllNumbers, Sizes, Symbols
from glasstorch.core.layout import strided
from glasstorch.core.symbols import is_symbol
from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Node
from glasstorch.fx.proxy import Proxy, Scope, TracerBase
from glasstorch.nn.parameter import Parameter

PLAIN = (int, float, bool, str, complex, type(None))


class _Tracer(TracerBase):
    """Makes the nodes of a capture, each with the lines of the functions that are being executed."""

    def __init__(self) -> None:
        self.frames: list[Any] = []
        self.graph = Graph()
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.node_name_to_scope = {}

    def create_node(self, *args: Any, **kwargs: Any) -> Node:
        """A new node."""
        node = super().create_node(*args, **kwargs)
        if self.frames and node.op != "placeholder":
            node.stack_trace = self.lines()
        return node

    def lines(self) -> str:
        """The lines of the program that are being executed, the outermost first."""
        return "".join(line_of(*place(frame)) for frame in self.frames)


def place(frame: Any) -> tuple[str, int, str]:
    """Which line of which function is being executed."""
    code = frame.code
    return code.co_filename, instructions_of(code)[frame.at].line, code.co_name


@lru_cache(maxsize=4096)
def line_of(file: str, number: int, function: str) -> str:
    """A line of the program, as Python prints it below an error."""
    text = linecache.getline(file, number).strip()
    return f'  File "{file}", line {number}, in {function}\n' + (f"    {text}\n" if text else "")


class Recorder:
    """The graph of one capture. Each tensor of the outside becomes an input once, however often it is reached."""

    def __init__(self, names: dict[str, Any], sizes: Sizes | None = None) -> None:
        self.tracer = _Tracer()
        self.sizes = sizes or AllNumbers()
        self.symbols: Symbols | None = None  # made when there is one
        self.guards = Guards()
        self.effects = SideEffects(self.guards)
        self.grad_enabled = is_grad_enabled()  # when the capture began
        self.names = names  # the globals of the function that is captured
        self.inputs: dict[int, TensorValue] = {}
        # What the parts of an execution need of each other; a frame sets them.
        self.call: Callable[[Value, list[Value], dict[str, Value]], Value]
        self.truth: Callable[[Value], bool]
        self.same: Callable[[Value, Value], bool]
        self.items: Callable[[Value], Iterator[Value]]
        self.frames = self.tracer.frames  # that are being executed, the outermost one first
        self.generators: list[Any] = []  # the frames of all generators
        self.open_contexts: list[Context] = []  # whose block has begun and not ended
        self.cut_contexts: list[Context] = []  # in whose block the graph has ended
        self.tensors: dict[Node, Tensor] = {}  # of the inputs
        self.versions: dict[Node, int] = {}  # of the fake tensors of the inputs
        self.mode_functions: set[Any] = set()  # functions in the graph that set a mode
        self.fake = FakeTensorMode(allow_non_fake_inputs=True)
        self.is_handled = False  # whether an operator is in a block whose errors the program handles
        self.guards.lines = self.tracer.lines
        self.guards.grad_mode()

    @property
    def graph(self) -> Graph:
        """The graph so far."""
        return self.tracer.graph

    def input(self, tensor: Tensor, source: Source) -> TensorValue:
        """The value of a tensor of the outside."""
        found = self.inputs.get(id(tensor))
        if found is None:
            if tensor.is_neg() or tensor.is_conj():
                raise Unsupported("a tensor whose elements are kept negated or conjugated")
            if tensor.layout is not strided:
                raise Unsupported(f"a tensor of the layout {tensor.layout}")
            context = self.sizes.context_of(source.expression, tensor)
            made = self.fake.from_tensor(tensor) if context is None else self._with_symbols(tensor, source, context)
            example = self._example(tensor, made)
            proxy = self.tracer.create_proxy("placeholder", source.name, (), {}, type_expr=type(tensor))
            proxy.node.meta["example_value"] = example
            self.versions[proxy.node] = example._version
            found = self.inputs[id(tensor)] = TensorValue(proxy, example, True, source=source)
            self.tensors[proxy.node] = tensor
            self.guards.tensor(source.expression, tensor, context is None)
        elif found.source != source:
            assert found.source is not None
            self.guards.add("DUPLICATE_INPUT", source.expression, f"{found.source.expression} is {source.expression}")
        return found

    def _example(self, tensor: Tensor, example: Tensor) -> Tensor:
        """The fake tensor of one of the outside; one that has a history has one of its own."""
        if not tensor.requires_grad or tensor.is_leaf:
            return example
        with self.fake, enable_grad():
            cloned = example.clone()
        if self.symbols is None:
            return cloned if cloned.stride() == example.stride() else example
        self.symbols.shapes.append((cloned, cloned._shape))
        with self.symbols.env.suppress_guards():
            return cloned if cloned.stride() == example.stride() else example

    def input_of(self, value: TensorValue) -> TensorValue:
        """The input that a value is, as the result of an operator that changes its argument in place; or itself."""
        return next((found for found in self.inputs.values() if found.example is value.example), value)

    def _with_symbols(self, tensor: Tensor, source: Source, context: Any) -> Any:
        """The example of a tensor some of whose sizes are symbols, which are inputs before it."""
        symbols = self._symbols()
        where = symbols.source(source.expression)
        example = self.fake.from_tensor(tensor, static_shapes=False, source=where, symbolic_context=context)
        symbols.values.append((example, where, context))
        symbols.shapes.append((example, example._shape))
        numbers: tuple[Any, ...] = (*example._shape, *example.strides(), example._offset)
        for number in numbers:
            if is_symbol(number) and number.node.expr.is_Symbol:
                self._symbol_input(number, number.node.str(), symbols.name(number.node.expr))
        return example

    def _symbols(self) -> Symbols:
        if self.symbols is None:
            self.symbols = Symbols()
            self.fake.shape_env = self.symbols.env
        return self.symbols

    def _symbol_input(self, number: Any, name: str, where: str) -> None:
        symbols = self._symbols()
        if number.node.expr not in symbols.nodes:
            proxy = self.tracer.create_proxy("placeholder", name, (), {}, type_expr=type(number))
            proxy.node.meta["example_value"] = number
            symbols.nodes[number.node.expr] = proxy
            symbols.inputs[proxy.node] = where

    def number(self, value: int, source: Source) -> Value | None:
        """The symbol of an int of the outside; None if it is a constant."""
        if not self.sizes.is_symbol(source.expression, value):
            return None
        symbols = self._symbols()
        where = symbols.source(source.expression)
        found = symbols.made.get(source.expression)
        if found is None:
            expr = symbols.env.create_unspecified_symbol(value, where, symbols.dynamic)
            found = symbols.made[source.expression] = symbols.env.create_symintnode(expr, hint=value)
            symbols.values.append((found, where, None))
            self.guards.same_type(source.expression, value)
            self._symbol_input(found, source.name, source.expression)
        return SymbolValue(found, source=source)

    def proxy_of(self, value: TensorValue | SymbolValue) -> Any:
        """What stands for a value in the graph."""
        if isinstance(value, TensorValue):
            return value.proxy
        try:
            return self._symbols().proxy(value.example, self._computed)
        except NotImplementedError:
            return known(value)

    def _computed(self, function: Callable[..., Any], *args: Any) -> Proxy:
        name = self.graph._target_to_str(function)
        return self.tracer.create_proxy("call_function", function, args, {}, name=name)

    def call_function(self, function: Callable[..., Any], args: list[Value], kwargs: dict[str, Value]) -> Value:
        """A node that calls a function with values, and the value of its result."""
        return self._call("call_function", function, args, kwargs, function)

    def effect(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Proxy:
        """A node that calls a function whose result is no tensor, such as one that sets a mode."""
        name = self.graph._target_to_str(function)
        self.mode_functions.add(function)
        return self.tracer.create_proxy("call_function", function, args, {}, name=name)

    def call_method(self, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """A node that calls a method of the first argument, and the value of its result."""

        def run(owner: Any, *rest: Any, **named: Any) -> Any:
            return getattr(owner, name)(*rest, **named)

        return self._call("call_method", name, args, kwargs, run)

    def _call(
        self, kind: str, target: Any, args: list[Value], kwargs: dict[str, Value], run: Callable[..., Any]
    ) -> Value:
        self.is_handled |= any(frame.is_in_a_handled_block for frame in self.frames)
        given = [mapped(arg, lambda value: value.example) for arg in args]
        named = {name: mapped(arg, lambda value: value.example) for name, arg in kwargs.items()}
        try:
            with of_an_operator(), self.fake:
                example = run(*given, **named)
        except (DataDependentOutputException, DynamicOutputShapeException) as error:
            raise Unsupported(f"the result of an operator depends on elements: {error}") from error
        if isinstance(example, bool | int | float | complex | str):
            raise Unsupported(f"a call of {target} gives {type(example).__name__}, which a graph cannot hold")
        proxies = [mapped(arg, self.proxy_of) for arg in args]
        named_proxies = {name: mapped(arg, self.proxy_of) for name, arg in kwargs.items()}
        name = self.graph._target_to_str(target) if kind == "call_function" else None
        proxy = self.tracer.create_proxy(kind, target, tuple(proxies), named_proxies, name=name)
        return self._result(proxy, example)

    def _result(self, proxy: Proxy, example: Any) -> Value:
        """The value of what a node gives."""
        if isinstance(example, Tensor):
            proxy.node.meta["example_value"] = example
            return TensorValue(proxy, example)
        if isinstance(example, PLAIN):
            return Constant(example)
        if isinstance(example, list | tuple):
            items = [self._result(self._item(proxy, i), item) for i, item in enumerate(example)]
            return Sequence(items, type(example))
        if isinstance(example, dict):
            return Mapping({key: self._result(self._item(proxy, key), item) for key, item in example.items()})
        raise Unsupported(f"a call of {proxy.node.target} gives {type(example).__name__}, which a graph cannot hold")

    def _item(self, proxy: Proxy, key: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", getitem, (proxy, key), {})

    @property
    def writes(self) -> bool:
        """Whether an input is written to."""
        return any(value.example._version != self.versions[value.proxy.node] for value in self.inputs.values())

    @property
    def sets_modes(self) -> bool:
        """Whether the graph sets a mode of the library."""
        return any(node.target in self.mode_functions for node in self.graph.nodes if node.op == "call_function")

    def finish(self, results: list[Proxy]) -> None:
        """End the graph with these results, and erase the nodes that take a result apart but have no users."""
        self.tracer.create_node("output", "output", (tuple(proxy.node for proxy in results),), {})
        for node in reversed(self.graph.nodes):
            if not node.users and _only_takes_apart(node):
                self.graph.erase_node(node)
        self._inputs_first()
        self._drop_modes_without_use()
        kept = set() if self.symbols is None else self.symbols.of(self.graph.find_nodes(op="placeholder"))
        for node in self.graph.find_nodes(op="placeholder"):
            if not node.users and node not in kept:
                self.graph.erase_node(node)
        for text in () if self.symbols is None else self.symbols.guards():
            self.guards.add("SHAPE_ENV", "", text)
        # Parameters are left out, as in PyTorch, which would check each of a module's in every call.
        alone = [value for value in self.inputs.values() if not isinstance(self.tensors[value.proxy.node], Parameter)]
        self.guards.no_aliasing([value.source.expression for value in alone if value.source is not None])
        self.graph.lint()
        self.guards.lines = str

    def _inputs_first(self) -> None:
        """Put the inputs before the first operator: one may have been met later."""
        first = next(node for node in self.graph.nodes if node.op != "placeholder")
        for node in self.graph.find_nodes(op="placeholder"):
            first.prepend(node)

    def _drop_modes_without_use(self) -> None:
        """Erase pairs of nodes that set the mode of gradients and set it back, with nothing between them."""
        mode, previous, before = self.grad_enabled, None, self.grad_enabled
        for node in list(self.graph.nodes):
            if node.target is not _set_grad_enabled:
                previous = None
                continue
            if previous is not None and node.args[0] is before:
                self.graph.erase_node(node)
                self.graph.erase_node(previous)
                previous, mode = None, before
            else:
                previous, before, mode = node, mode, node.args[0]


def _only_takes_apart(node: Node) -> bool:
    return node.target is getitem
