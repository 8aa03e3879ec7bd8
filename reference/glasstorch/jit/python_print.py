"""How is a graph printed as a Python function?

Mirrors: torch/csrc/jit/serialization/python_print.cpp (PythonPrintImpl)
Differs: parameters that a graph takes as inputs are read from `self` at the start; PyTorch's graphs contain these
    reads. A subgraph is printed as a separate function below the one that calls it; PyTorch refuses it. Values are not
    named after the program's variables: PyTorch's tracer looks these up.

Tensor constants are printed as `CONSTANTS.c0` and so on, in order.

# Note [Inlining]
A value with a single use, by the node that runs next (constants aside), is printed where it is used, as a nested call.
The nodes are visited from the last to the first, and the inputs of each likewise: as long as the preceding node is the
one that makes the input, its text can be nested without changing the order of evaluation. A value that would make a
line too long is given a name after all, and so are those that would have been printed before it in the same line.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.errors import ArgumentError
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.jit.constants import UNKNOWN, known
from glasstorch.jit.ir import Block, Graph, Node, Value
from glasstorch.jit.numbers import CASTS, OPERATIONS
from glasstorch.jit.printer import SUBGRAPH, annotation, print_literal, tensor_constants
from glasstorch.jit.types import AnyType, ListType, OptionalType, plain_constant
from glasstorch.operators.generated import functions as operators

MAX_INLINE_LENGTH: Final = 40  # characters, with the indentation
NO_END: Final = 2**63 - 1  # the trip count of a loop that ends by its condition only
RESERVED: Final = frozenset(
    [*keyword.kwlist, "torch", "CONSTANTS", "annotate", "inf", "nan", "print", "range", "getattr", "self", "ops", "_"]
)


def print_function(name: str, graph: Graph, parameters: Sequence[str] = (), first: str | None = None) -> str:
    """The text of a graph as a function of this name.

    `parameters` are the module's names for the graph's last inputs: the function reads these from `first`, which is
    then its first argument.

    >>> from glasstorch.jit.parser import parse_ir
    >>> print(print_function("f", parse_ir("graph(%x : Tensor): %y : Tensor = aten::relu(%x) return (%y)")), end="")
    def f(x: Tensor) -> Tensor:
      return torch.relu(x)
    """
    return _Printer(constants_of(graph)).function(name, graph, parameters, first)


def print_method(graph: Graph, parameters: Sequence[str], owner: str, constants: Sequence[Tensor]) -> str:
    """The text of a graph as the method `forward` of the class `owner`; `constants` are all its tensor constants."""
    return _Printer(constants).function("forward", graph, parameters, "self", f": {owner}")


def constants_of(graph: Graph) -> list[Tensor]:
    """The tensors that the text names CONSTANTS.c0, CONSTANTS.c1, ...; equal ones are merged."""
    found: list[Tensor] = []
    for tensor in tensor_constants(graph):
        if not any(_is_same(tensor, other) for other in found):
            found.append(tensor)
    return found


def _is_same(one: Tensor, other: Tensor) -> bool:
    alike = (one.dtype, one.device, one.shape) == (other.dtype, other.device, other.shape)
    return one is other or (alike and not one.is_meta and operators.equal(one, other))


class _Printer:
    """Writes one function, line by line."""

    def __init__(self, constants: Sequence[Tensor]) -> None:
        self.constants = constants
        self.lines: list[str] = []
        self.level = 0
        self.names: set[str] = set()
        self.next_number: dict[str, int] = {}
        self.texts: dict[Value, str] = {}  # the expression for each value
        self.inlined: set[Node] = set()
        self.split_up_to: dict[Node, int] = {}  # a node -> the last of its inputs that was checked for splitting
        self.below: list[tuple[str, Graph]] = []

    # Functions and blocks ------------------------------------------------------------------------------------

    def function(
        self, name: str, graph: Graph, parameters: Sequence[str], first: str | None, type_of_first: str = ""
    ) -> str:
        if first is not None:
            self.names.add(first)
        inputs = graph.inputs[: len(graph.inputs) - len(parameters)]
        for i, value in enumerate(inputs):
            self.texts[value] = self.free_name(_base(value) if value.has_debug_name else f"argument_{i}")
        named = [f"{self.texts[value]}: {annotation(value.type.unshaped())}" for value in inputs]
        taken = named if first is None else [first + type_of_first, *named]
        types = [annotation(value.type.unshaped()) for value in graph.outputs]
        given = types[0] if len(types) == 1 else f"Tuple[{', '.join(types)}]" if types else "None"
        self.lines.append(f"def {name}({f',{chr(10)}    '.join(taken)}) -> {given}:")
        with self.indented():
            self.read_parameters(first, parameters, graph.inputs[len(inputs) :])
            self.find_inlined(graph.block)
            self.block(graph.block, others=bool(graph.outputs))
            if graph.outputs:
                self.line(f"return {self.joined(graph.outputs)}")
        text = "\n".join(self.lines) + "\n"
        for inner_name, inner in self.below:
            text += "\n" + _Printer(self.constants).function(inner_name, inner, (), None)
        return text

    def read_parameters(self, first: str | None, paths: Sequence[str], values: Sequence[Value]) -> None:
        """One line for each parameter and for each module on the path to it; the last one used is read first."""
        modules = {"": first or ""}
        for path, value in reversed(list(zip(paths, values, strict=True))):
            *parents, last = path.split(".")
            for i, parent in enumerate(parents):
                here = ".".join(parents[: i + 1])
                if here not in modules:
                    text = _attribute(modules[".".join(parents[:i])], parent)
                    modules[here] = self.free_name(parent)
                    self.line(f"{modules[here]} = {text}")
            text = _attribute(modules[".".join(parents)], last)
            self.texts[value] = self.free_name(last)
            self.line(f"{self.texts[value]} = {text}")

    def block(self, block: Block, others: bool) -> None:
        """`others` says whether more lines of the block follow, so that it needs no `pass`."""
        if not others and all(node.kind == "prim::Constant" for node in block.nodes):
            self.line("pass")
        for node in block.nodes:
            self.node(node)

    def line(self, text: str) -> None:
        self.lines.append("  " * self.level + text)

    @contextmanager
    def indented(self) -> Iterator[None]:
        self.level += 1
        yield
        self.level -= 1

    # Nodes ---------------------------------------------------------------------------------------------------

    def node(self, node: Node) -> None:
        if node.kind == "prim::Constant":
            self.texts[node.output] = self.constant(node.output)
        elif node.kind == "prim::If":
            self.branches(node)
        elif node.kind == "prim::Loop":
            self.loop(node)
        elif node.kind in ("prim::ListUnpack", "prim::TupleUnpack"):
            names = "".join(f"{self.name(value)}, " for value in node.outputs)
            self.line(f"{names}= {self.texts[node.inputs[0]]}" if names else self.texts[node.inputs[0]])
        elif node in self.inlined:
            self.texts[node.output] = text = self.call(node)
            if len(text) + 2 * self.level >= MAX_INLINE_LENGTH:
                self.split(node.output)
        else:
            self.assign(node.outputs, self.call(node))

    def assign(self, values: Sequence[Value], text: str) -> None:
        names = ", ".join(map(self.name, values))
        self.line(f"{names} = {text}" if names else text)

    def branches(self, node: Node) -> None:
        names = ", ".join(map(self.name, node.outputs))
        for head, block in zip((f"if {self.texts[node.inputs[0]]}:", "else:"), node.blocks, strict=True):
            self.line(head)
            with self.indented():
                self.block(block, others=bool(names))
                if names:
                    self.line(f"{names} = {self.joined(block.outputs)}")

    def loop(self, node: Node) -> None:
        """A loop with a trip count is printed as `for`, one with a condition as `while`."""
        (body,) = node.blocks
        most, start, *carried = node.inputs
        counts = known(start) is True and known(body.outputs[0]) is True
        if not counts and known(most) != NO_END:
            raise ArgumentError(
                "a loop with a count and a condition cannot be printed as python: it is neither for nor while"
            )
        for output, inside in zip(node.outputs, body.inputs[1:], strict=True):
            self.texts[inside] = self.name(output)
        for output, value in zip(node.outputs, carried, strict=True):
            self.line(f"{self.texts[output]} = {self.texts[value]}")
        counter = self.name(body.inputs[0])
        if counts:
            self.line(f"for {counter} in range({self.texts[most]}):")
        else:
            self.line(f"{counter} = {self.texts[start]}")
            self.line(f"while {counter}:")
        with self.indented():
            first = 1 if counts else 0
            changing = body.inputs[first:]
            self.block(body, others=bool(changing))
            if changing:
                self.line(f"{self.joined(changing)} = {self.joined(body.outputs[first:])}")

    # Expressions ---------------------------------------------------------------------------------------------

    def call(self, node: Node) -> str:
        """The right-hand side of a node that is not control flow."""
        if node.kind == "prim::TupleConstruct":
            return f"({self.joined(node.inputs)}{',' * (len(node.inputs) == 1)})"
        if node.kind == "prim::ListConstruct":
            return self.list_construct(node)
        if node.kind == "prim::Print":
            return f"print({self.joined(node.inputs)})"
        if SUBGRAPH in node.attributes:
            name = self.free_name(node.kind.rpartition(":")[2])
            self.below.append((name, node.attributes[SUBGRAPH]))
            return f"{name}({self.joined(node.inputs)})"
        if node.kind in CASTS:
            return f"{CASTS[node.kind]}({self.joined(node.inputs)})"
        if node.kind == "aten::__getitem__":
            return f"({self.texts[node.inputs[0]]})[{self.texts[node.inputs[1]]}]"
        namespace, _, name = node.kind.partition("::")
        function = f"torch.{name}" if namespace == "aten" else f"ops.{namespace}.{name}"
        if node.kind in OPERATIONS:
            return f"{function}({self.joined(node.inputs)})"
        return f"{function}({', '.join(self.arguments(node.schema(), node.inputs))})"

    def list_construct(self, node: Node) -> str:
        type = node.output.type
        assert isinstance(type, ListType), "a list has the type of one"
        text = f"[{self.joined(node.inputs)}]"
        unclear = not node.inputs or isinstance(type.element, OptionalType | AnyType)
        return f"annotate({annotation(type.unshaped())}, {text})" if unclear else text

    def arguments(self, schema: FunctionSchema, inputs: Sequence[Value]) -> Iterator[str]:
        """The arguments of a call, without trailing ones that equal the schema's defaults."""
        declared = schema.arguments
        outs = sum(1 for argument in declared if argument.type.is_write and argument.keyword_only)
        needed = len(declared) - outs
        while needed and declared[needed - 1].default is not None:
            value = known(inputs[needed - 1]) if inputs[needed - 1].is_constant else UNKNOWN
            default = plain_constant(declared[needed - 1].default_value)
            if value is UNKNOWN or isinstance(value, Tensor) or value != default:
                break
            needed -= 1
        for i, (argument, value) in enumerate(zip(declared, inputs, strict=True)):
            if i < needed or i >= len(declared) - outs:
                yield f"{argument.name}={self.texts[value]}" if argument.keyword_only else self.texts[value]

    def constant(self, value: Value) -> str:
        held = value.constant()
        if isinstance(held, bool):
            return str(held)
        if isinstance(held, Tensor):
            numbers = range(len(self.constants))
            number = next((i for i in numbers if self.constants[i] is held), None)
            if number is None:
                number = next(i for i in numbers if _is_same(held, self.constants[i]))
            return f"CONSTANTS.c{number}"
        if isinstance(held, Device) or (isinstance(held, str) and str(value.type) == "Device"):
            return f"torch.device({print_literal(str(held))})"
        return print_literal(held, value.type)

    def joined(self, values: Iterable[Value]) -> str:
        return ", ".join(self.texts[value] for value in values)

    # Names ---------------------------------------------------------------------------------------------------

    def name(self, value: Value) -> str:
        """Give the value a name that no other has, and return it."""
        self.texts[value] = self.free_name(_base(value) if value.has_debug_name else "_")
        return self.texts[value]

    def free_name(self, wanted: str) -> str:
        base = re.sub(r"\W", "_", wanted, flags=re.ASCII)
        base = f"_{base}" if base[0].isdigit() else base
        name = base
        while name in RESERVED or name in self.names:
            number = self.next_number.get(base, 0)
            self.next_number[base] = number + 1
            name = f"{base}{number}"
        self.names.add(name)
        return name

    # Which values need no name: Note [Inlining] --------------------------------------------------------------

    def find_inlined(self, block: Block) -> None:
        for node in (block.return_node, *reversed(block.nodes)):
            self.look_at(node)

    def look_at(self, node: Node) -> Node | None:
        """Mark the values that can be nested in a node; returns the node before all nested ones."""
        if node in self.inlined:
            return node
        for block in node.blocks:
            self.find_inlined(block)
        before = _before(node)
        for value in reversed(node.inputs):
            maker = value.node
            if maker is before and _may_be_inlined(value):
                before = self.look_at(maker)
                self.inlined.add(maker)
        return before

    def split(self, value: Value) -> None:
        """Give a nested value a name, after those that would be printed before it in the same line."""
        found: list[Value] = []
        use = value.uses[0]
        self.find_split(use.user, use.offset, found)
        for one in reversed(found):
            text = self.texts[one]
            self.assign([one], text)

    def find_split(self, user: Node, offset: int, found: list[Value]) -> None:
        seen = self.split_up_to.get(user)
        unseen = user.inputs[0 if seen is None else seen + 1 : offset + 1]
        found += [value for value in reversed(unseen) if value.node in self.inlined]
        self.split_up_to[user] = offset
        if seen is None and user in self.inlined:
            use = user.output.uses[0]
            self.find_split(use.user, use.offset - 1, found)  # the use itself is what is being written


def _base(value: Value) -> str:
    """The name of a value without the suffix that makes it unique."""
    return re.sub(r"\.\d+$", "", value.debug_name)


def _before(node: Node) -> Node | None:
    """The closest preceding node that is not a constant."""
    previous = node.previous
    while previous is not None and previous.kind == "prim::Constant":
        previous = previous.previous
    return previous


def _may_be_inlined(value: Value) -> bool:
    """Whether a value can be printed where it is used, if the order allows it."""
    node = value.node
    if len(node.outputs) != 1 or len(value.uses) != 1 or node.blocks:
        return False
    use = value.uses[0]
    if value.has_debug_name and use.user.kind != "prim::Return":
        return False  # it was given a name
    return not (use.user.kind == "prim::Loop" and use.offset >= 2)


def _attribute(owner: str, name: str) -> str:
    """The expression for an attribute; a name such as `0` cannot follow a dot."""
    return f"{owner}.{name}" if name.isidentifier() and not keyword.iskeyword(name) else f'getattr({owner}, "{name}")'
