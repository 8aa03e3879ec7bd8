"""How does the source text of a module become a graph?

Mirrors: torch/csrc/jit/frontend/ir_emitter.cpp (to_ir), torch/csrc/jit/passes/inliner.cpp, lower_graph.cpp
Differs: calls of functions and of the methods of children are inlined at once, and the tensors of modules become inputs
    of the graph, as the tracer's graphs have them. What the text of a traced program does not need is refused with its
    line: classes other than modules, dictionaries, `return` in a branch, exceptions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.jit.archived_object import ArchivedObject
from glasstorch.jit.ir import Block, Graph, Value
from glasstorch.jit.source_expressions import Expressions
from glasstorch.jit.source_nodes import Nodes
from glasstorch.jit.source_text import Sources, not_understood
from glasstorch.jit.source_types import Constant, ListOf, TupleOf, read_type
from glasstorch.jit.types import BOOL, INT, NONE, TENSOR, OptionalType, Type
from glasstorch.serialization.zip_format import ArchiveError

MOST_CALLS: Final = 100_000  # of methods: a short text could call for any number of copies
DEEPEST: Final = 100  # calls of methods in each other
NO_END: Final = 2**63 - 1  # the trip count of a loop that ends by its condition only
UNNAMED: Final = re.compile(r"_\d*")  # what a printer calls a value that has no name


def graph_of(outermost: ArchivedObject, sources: Sources, constants: Sequence[Tensor]) -> tuple[Graph, list[str]]:
    """The graph of a module's `forward`, and the names of the parameters that its last inputs are."""
    nodes = Nodes(sources, constants, outermost)
    frame = _Frame(nodes, "", {})
    method = frame.method(outermost, "forward", None)
    record = sources.of_class(outermost.path).record
    taken = _arguments(record, method)[1:]
    inputs: list[Any] = [nodes.graph.add_input(argument.arg, _type(record, argument)) for argument in taken]
    result = frame.call_method(outermost, "forward", inputs, method)
    nodes.graph.register_output(nodes.value(result, record, method))
    return nodes.graph, nodes.used


def _arguments(record: str, function: ast.FunctionDef) -> list[ast.arg]:
    """What a function takes, `self` included."""
    given = function.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults:
        raise not_understood(record, function, "expected a function whose arguments have neither defaults nor stars")
    return given.args


def _type(record: str, argument: ast.arg) -> Type:
    return TENSOR if argument.annotation is None else read_type(record, argument.annotation)


class _Frame(Expressions):
    """One call of a method: its statements, and what its names stand for."""

    def method(self, held: ArchivedObject, name: str, at: ast.AST | None) -> ast.FunctionDef:
        """The text of a method."""
        source = self.nodes.sources.of_class(held.path)
        found = source.methods.get(name)
        if found is None:
            message = f"the class {source.path} has no method {name}"
            raise ArchiveError(f"{source.record}: {message}") if at is None else self.bad(at, message)
        return found

    def call_method(self, held: ArchivedObject, name: str, given: list[Any], at: ast.AST) -> Any:
        """What a method of a module returns."""
        method, record = self.method(held, name, at), self.nodes.sources.of_class(held.path).record
        return self.call_text(record, method, [held, *given], at)

    def call_function(self, path: str, given: list[Any], at: ast.AST) -> Any:
        """What a function that stands beside the classes returns."""
        found = self.nodes.sources.of_function(path)
        if found is None:
            raise self.bad(at, "the archive has no text of this function")
        return self.call_text(*found, given, at)

    def call_text(self, record: str, function: ast.FunctionDef, given: list[Any], at: ast.AST) -> Any:
        """What a function returns: its statements are put into the graph."""
        nodes = self.nodes
        nodes.calls += 1
        nodes.depth += 1
        if nodes.calls > MOST_CALLS or nodes.depth > DEEPEST:
            raise not_understood(record, at, f"more than {MOST_CALLS} calls, or {DEEPEST} in each other")
        names = [argument.arg for argument in _arguments(record, function)]
        if len(names) != len(given):
            raise not_understood(record, at, f"{function.name} takes {len(names)} arguments, not {len(given)}")
        frame = _Frame(nodes, record, dict(zip(names, given, strict=True)))
        *before, last = function.body
        if not isinstance(last, ast.Return):
            raise not_understood(record, last, "expected `return` as the last statement")
        frame.run(before, _read([last]))
        result = Constant(None) if last.value is None else frame.evaluate(last.value)
        nodes.depth -= 1
        return result

    # Statements -----------------------------------------------------------------------------------------------------

    def run(self, statements: Sequence[ast.stmt], later: set[str]) -> None:
        """Put statements into the graph; `later` are the names that are read after them."""
        for i, statement in enumerate(statements):
            match statement:
                case ast.Assign(targets=[target], value=value):
                    self.assign(target, self.evaluate(value))
                case ast.Expr(value=value):
                    self.evaluate(value)
                case ast.Pass():
                    continue
                case ast.If():
                    self.branches(statement, later | _read(statements[i + 1 :]))
                case ast.For() | ast.While():
                    self.loop(statement, later | _read(statements[i + 1 :]))
                case _:
                    raise self.bad(statement, "this statement is not one of a traced program")

    def assign(self, target: ast.expr, given: Any) -> None:
        """Give a value a name, or the parts of one their names."""
        match target:
            case ast.Name(id=name):
                if isinstance(given, ListOf | TupleOf):
                    given = self.value(given, target)
                if isinstance(given, Value) and not UNNAMED.fullmatch(name):
                    self.name(given, name)
                self.names[name] = given
            case ast.Tuple(elts=targets):
                for one, part in zip(targets, self.parts(given, len(targets), target), strict=True):
                    self.assign(one, part)
            case _:
                raise self.bad(target, "a value can be given to names only")

    def name(self, value: Value, name: str) -> None:
        """Keep the text's name of a value; a parameter has its own."""
        if not value.has_debug_name and value.node is not self.nodes.graph.param_node:
            value.set_debug_name(name)

    def branches(self, statement: ast.If, later: set[str]) -> None:
        """An `if`: its results are the names that both branches, or one of them anew, give a value."""
        graph = self.nodes.graph
        condition = self.condition(statement.test)
        node = graph.insert_node(graph.create("prim::If", [condition], 0))
        before, ends = self.names, []
        for body in (statement.body, statement.orelse):
            self.names = dict(before)
            block = node.add_block()
            with graph.inserting_before(block):
                self.run(body, later)
            ends.append((block, self.names))
        (_, left), (_, right) = ends
        self.names = dict(before)
        for name in sorted(left.keys() & right.keys() & later, key=list(left).index):
            if left[name] is right[name]:
                continue
            values = [self.at_end_of(block, names[name], statement) for block, names in ends]
            for (block, _), value in zip(ends, values, strict=True):
                block.register_output(value)
            self.assign(ast.Name(name), node.add_output(self.common(values, statement)))

    def common(self, values: Sequence[Value], at: ast.AST) -> Type:
        """The type of a value that is one or the other."""
        left, right = (value.type.unshaped() for value in values)
        if right.is_subtype_of(left):
            return left
        if left.is_subtype_of(right):
            return right
        if NONE in (left, right):
            return OptionalType(right if left == NONE else left)
        raise self.bad(at, f"a name is of the type {left} in one branch and {right} in the other")

    def at_end_of(self, block: Block, given: Any, at: ast.AST) -> Value:
        """The value, inserted at the end of a block where it is not in the graph yet."""
        with self.nodes.graph.inserting_before(block):
            return self.value(given, at)

    def loop(self, statement: ast.For | ast.While, later: set[str]) -> None:
        """A `for` over a range, or a `while`: its results are the names that it gives another value."""
        graph = self.nodes.graph
        if statement.orelse:
            raise self.bad(statement, "a loop has no `else` here")
        if isinstance(statement, ast.For):
            match statement:
                case ast.For(target=ast.Name(id=counter), iter=ast.Call(func=ast.Name(id="range"), args=[end])):
                    most, start = self.value(self.evaluate(end), end), graph.insert_constant(True)
                case _:
                    raise self.bad(statement, "a `for` counts over range(n)")
        else:
            counter = ""
            most, start = graph.insert_constant(NO_END), self.condition(statement.test)
        written = {node.id for node in _names(statement.body) if isinstance(node.ctx, ast.Store)}
        read = _read(statement.body) | later
        carried = [name for name in self.names if name in written and name in read and name != counter]
        values = [self.value(self.names[name], statement) for name in carried]
        node = graph.insert_node(
            graph.create("prim::Loop", [most, start, *values], [v.type.unshaped() for v in values])
        )
        body = node.add_block()
        before, self.names = self.names, dict(self.names)
        number = body.add_input(counter if counter and not UNNAMED.fullmatch(counter) else "", INT)
        if counter:
            self.names[counter] = number
        for name, value in zip(carried, values, strict=True):
            self.names[name] = body.add_input("", value.type.unshaped())
        with graph.inserting_before(body):
            self.run(statement.body, read)
            go_on = self.condition(statement.test) if isinstance(statement, ast.While) else graph.insert_constant(True)
            ends = [go_on, *(self.value(self.names[name], statement) for name in carried)]
        for value in ends:
            body.register_output(value)
        self.names = before
        for name, output in zip(carried, node.outputs, strict=True):
            self.assign(ast.Name(name), output)

    def condition(self, test: ast.expr) -> Value:
        """The value that an `if` or a `while` asks."""
        value = self.value(self.evaluate(test), test)
        if value.type != BOOL:
            raise self.bad(test, f"a condition is a bool, not {value.type}")
        return value


def _names(statements: Sequence[ast.stmt]) -> list[ast.Name]:
    return [node for statement in statements for node in ast.walk(statement) if isinstance(node, ast.Name)]


def _read(statements: Sequence[ast.stmt]) -> set[str]:
    """The names that statements read."""
    return {node.id for node in _names(statements) if isinstance(node.ctx, ast.Load)}
