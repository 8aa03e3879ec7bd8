"""How is the text of a graph parsed?

Mirrors: torch/csrc/jit/ir/irparser.cpp (parseIR), torch/csrc/jit/frontend/schema_type_parser.cpp (parseType)
Differs: every text that printer.py writes can be parsed, and prints back the same: with numbers of values, scopes,
    source locations, subgraphs, and nodes without outputs. A value's scope is the block that defines it and those
    inside. The values of tensor constants are passed beside the text; PyTorch makes them up, or refuses.

The grammar is in printer.py.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from glasstorch._tensor import Tensor
from glasstorch.core.device import DEVICE as DEVICE_PATTERN
from glasstorch.core.device import TYPES as DEVICE_TYPES
from glasstorch.core.device import device as Device
from glasstorch.core.device import device_from
from glasstorch.core.dtype import DTYPES
from glasstorch.core.errors import Rule
from glasstorch.jit.ir import Block, Graph, Node, SourceRange, Value
from glasstorch.jit.printer import SUBGRAPH
from glasstorch.jit.types import (
    ANY,
    BOOL,
    DEVICE,
    FLOAT,
    GENERATOR,
    INT,
    NONE,
    NUMBER,
    STRING,
    ListType,
    OpaqueType,
    OptionalType,
    TensorType,
    TupleType,
    Type,
)

TOKEN: Final = re.compile(
    r"""
    (?P<space>  \s+ )
  | (?P<comment>\#[^\n]* )
  | (?P<scope>  ,\ scope:\ [^\n#]* )
  | (?P<string> "(?:\\.|[^"\\\n])*" )
  | (?P<value>  %\w+(?:\.\w+)* )
  | (?P<kind>   \w+::\w+ )
  | (?P<arrow>  -> )
  | (?P<number> -?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|inf\b|nan\b) )
  | (?P<word>   [A-Za-z_]\w* )
  | (?P<sign>   [()\[\]{}<>,:=?*] )
    """,
    re.VERBOSE | re.ASCII,
)
PLACE: Final = re.compile(r"#\s*(?P<filename>.*):(?P<line>\d+):(?P<column>\d+)\s*")
ESCAPED: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
UNESCAPED: Final = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
# The name of a type -> the type.
WORDS: Final[dict[str, Type]] = {
    str(type): type for type in (INT, FLOAT, BOOL, STRING, DEVICE, NONE, NUMBER, ANY, GENERATOR)
} | {"None": NONE, "Storage": OpaqueType("Storage"), "Stream": OpaqueType("Stream")}
LITERAL_STARTS: Final = ("True", "False", "None", "annotate", "[", "(", "{", "<")
DTYPE_WORDS: Final = {d.scalar_name: d for d in DTYPES}
END: Final = "the end of the text"

Read = TypeVar("Read")


class IRParseError(Rule, RuntimeError):
    """A text cannot be parsed as a graph; the message says where, what was expected and what was found."""


class Token(NamedTuple):
    """A token: its kind, its text, and where it starts."""

    kind: str
    text: str
    start: int


def parse_ir(text: str, tensor_constants: Sequence[Tensor] = ()) -> Graph:
    """The graph that the text describes; IRParseError says where it cannot be parsed.

    `tensor_constants` are the tensors for each `<Tensor>` or `{1}` in the text, in order, as printer.tensor_constants
    returns them.

    >>> print(parse_ir("graph(%x : Tensor): %y : Tensor = aten::relu(%x) return (%y)"), end="")
    graph(%x : Tensor):
      %y : Tensor = aten::relu(%x)
      return (%y)
    """
    parser = _Parser(text, tensor_constants)
    graph = parser.graph()
    parser.finish()
    return graph


def parse_type(text: str) -> Type:
    """The type that the text describes: `Float(2, 3)`, `int[]?`."""
    parser = _Parser(text, ())
    found = parser.type()
    parser.finish()
    return found


class _Names:
    """The values in scope, and all values of the graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.known: dict[str, Value] = {}
        self.all: dict[str, Value] = {}

    def number(self) -> None:
        """Give each value the number in the text, and named values numbers above those."""
        numbered = {int(name): value for name, value in self.all.items() if name.isdigit()}
        self.graph._unique = max(numbered, default=-1) + 1
        for name, value in self.all.items():
            value.unique = int(name) if name.isdigit() else self.graph.next_unique()


class _Parser:
    """Reads tokens from left to right, one method for each rule of the grammar."""

    def __init__(self, text: str, tensor_constants: Sequence[Tensor]) -> None:
        self.text = text
        self.line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.locations: dict[int, SourceRange] = {}  # line -> the source location in its comment
        self.tokens = self._tokens()
        self.next = 0
        self.tensors = tensor_constants
        self.tensors_read = 0

    # Rules ---------------------------------------------------------------------------------------------------

    def graph(self) -> Graph:
        self.expect("word", "graph")
        graph = Graph()
        names = _Names(graph)
        self.parameters(graph.block, names)
        self.nodes(graph.block, names, "return")
        for value in self.used_values(names):
            graph.register_output(value)
        names.number()
        while self.at("with") and self.subgraph(graph):
            pass
        return graph

    def parameters(self, block: Block, names: _Names) -> None:
        self.expect("sign", "(")
        for token, type in self.list_until(")", self.typed):
            self.define(token, block.add_input(type=type), names)
        self.expect("sign", ":")

    def nodes(self, block: Block, names: _Names, end: str) -> None:
        while not self.at(end):
            self.node(block, names)
        self.take()

    def node(self, block: Block, names: _Names) -> None:
        outputs: list[tuple[Token, Type]] = []
        if self.peek.kind == "value":
            outputs = self.list_until("=", self.typed)
        elif self.at("="):
            self.take()
        elif self.peek.kind != "kind":
            raise self.unexpected("a node, such as '%2 : Tensor = aten::relu(%1)'")
        kind = self.expect("kind", what="the kind of a node, such as aten::add")
        node = Node(names.graph, kind.text)
        if self.at("["):
            self.take()
            node.attributes.update(self.list_until("]", self.attribute))
        for value in self.used_values(names):
            node.add_input(value)
        if self.peek.kind == "scope":
            node.scope = self.take().text.removeprefix(", scope: ").rstrip()
        node.source = self.locations.get(self.line_of(self.tokens[self.next - 1].start))
        for token, type in outputs:
            self.define(token, node.add_output(type), names)
        block.append_node(node)
        if kind.text == "prim::Constant" and node.outputs and "value" in node.attributes:
            node.attributes["value"] = self.typed_value(node.attributes["value"], node.outputs[0].type, kind)
        self.blocks(node, names, {token.text[1:] for token, _ in outputs})

    def blocks(self, node: Node, names: _Names, made: set[str]) -> None:
        """The blocks of a node, in which its own outputs are not in scope."""
        outside = names.known
        while self.peek.kind == "word" and self.peek.text == f"block{len(node.blocks)}":
            self.take()
            names.known = {name: value for name, value in outside.items() if name not in made}
            block = node.add_block()
            self.parameters(block, names)
            self.nodes(block, names, "->")
            for value in self.used_values(names):
                block.register_output(value)
        names.known = outside

    def subgraph(self, graph: Graph) -> bool:
        """Read a `with` if it belongs to a node of this graph; it may belong to the enclosing graph."""
        kind = self.tokens[self.next + 1].text
        for node in graph.all_nodes():
            if node.kind == kind and SUBGRAPH not in node.attributes:
                self.next += 2
                self.expect("sign", "=")
                node.kind = kind.rpartition("_")[0]
                node.attributes[SUBGRAPH] = self.graph()
                return True
        return False

    def typed(self) -> tuple[Token, Type]:
        token = self.expect("value", what="a value, such as %x")
        if not self.at(":"):
            return token, TensorType()
        self.take()
        return token, self.type()

    def used_values(self, names: _Names) -> list[Value]:
        self.expect("sign", "(")
        return self.list_until(")", lambda: self.used(names))

    def used(self, names: _Names) -> Value:
        token = self.expect("value", what="a value, such as %x")
        found = names.known.get(token.text[1:])
        if found is None:
            raise self.error_at(token, f"no value {token.text} is in scope here")
        return found

    def define(self, token: Token, value: Value, names: _Names) -> None:
        name = token.text[1:]
        if name in names.all:
            raise self.error_at(token, f"{token.text} is defined twice")
        if not name.isdigit():
            try:
                value.set_debug_name(name)
            except ValueError as error:
                raise self.error_at(token, str(error)) from None
        names.all[name] = names.known[name] = value

    # Types ---------------------------------------------------------------------------------------------------

    def type(self) -> Type:
        found: Type
        if self.at("("):
            self.take()
            found = TupleType(tuple(self.list_until(")", self.type)))
        else:
            found = self.base_type()
        while self.at("[") or self.at("?"):
            if self.take().text == "?":
                found = OptionalType(found)
            else:
                self.expect("sign", "]")
                found = ListType(found)
        return found

    def base_type(self) -> Type:
        token = self.expect("word", what="a type, such as Tensor or int[]")
        if token.text in WORDS:
            return WORDS[token.text]
        dtype = DTYPE_WORDS.get(token.text.removesuffix("Tensor"))
        if dtype is None and token.text != "Tensor":
            known = ", ".join([*sorted(WORDS), "Tensor", *sorted(DTYPE_WORDS)])
            raise self.error_at(token, f"expected a type but found '{token.text}'; known are {known}")
        ranked = token.text in DTYPE_WORDS  # Float has a known rank; that of FloatTensor and Tensor may be unknown
        if not self.at("("):
            if ranked:
                raise self.unexpected(f"'(' after {token.text}; with unknown sizes it is {token.text}Tensor")
            return TensorType(dtype)
        self.take()
        parts = self.list_until(")", self.tensor_part)
        sizes = tuple(size for name, size in parts if name == "size")
        facts = {name: fact for name, fact in parts if name != "size"}
        return TensorType(dtype, sizes if sizes or ranked or not parts else None, **facts)

    def tensor_part(self) -> tuple[str, Any]:
        """A size, or a named property: `strides=[3, 1]`, `requires_grad=0`, `device=cpu`."""
        if self.at("*"):
            self.take()
            return "size", None
        if self.peek.kind == "number":
            return "size", self.integer()
        name = self.expect("word", what="a size, *, strides=, requires_grad= or device=")
        self.expect("sign", "=")
        match name.text:
            case "strides":
                self.expect("sign", "[")
                return "strides", tuple(self.list_until("]", self.integer))
            case "requires_grad":
                return "requires_grad", bool(self.integer())
            case "device":
                return "device", self.device()
            case _:
                raise self.error_at(name, f"expected strides=, requires_grad= or device= but found '{name.text}='")

    def device(self) -> Device:
        token = self.expect("word", what="a device, such as cpu")
        if token.text not in DEVICE_TYPES:
            raise self.error_at(token, f"expected one of {', '.join(DEVICE_TYPES)} but found '{token.text}'")
        if not self.at(":"):
            return device_from(token.text)
        self.take()
        return device_from(token.text, self.integer())

    def integer(self) -> int:
        token = self.expect("number", what="an integer")
        if not token.text.lstrip("-").isdigit():
            raise self.error_at(token, f"expected an integer but found {token.text}")
        return int(token.text)

    # Attributes ----------------------------------------------------------------------------------------------

    def attribute(self) -> tuple[str, Any]:
        name = self.expect("word", what="the name of an attribute")
        self.expect("sign", "=")
        return name.text, self.literal()

    def literal(self) -> Any:
        token = self.peek
        if token.kind not in ("number", "string") and token.text not in LITERAL_STARTS:
            raise self.unexpected("a number, a string, True, False, None, a list, a tuple or <Tensor>")
        self.take()
        match token.kind, token.text:
            case "number", text:
                return int(text) if text.lstrip("-").isdigit() else float(text)
            case "string", _:
                return self.string(token)
            case _, ("True" | "False" | "None") as text:
                return {"True": True, "False": False, "None": None}[text]
            case _, "annotate":
                return self.annotated()
            case _, "[":
                return self.list_until("]", self.literal)
            case _, "(":
                return tuple(self.list_until(")", self.literal))
            case _, "{":
                if self.at("("):  # a complex number: its parts
                    self.literal()
                else:
                    self.expect("number", what="the element of a tensor")
                self.expect("sign", "}")
            case _:
                self.expect("word", "Tensor")
                self.expect("sign", ">")
        return self.tensor(token)

    def annotated(self) -> Any:
        """`annotate(List[int], [])`: the literal. Its type is written before the node too."""
        self.expect("sign", "(")
        depth = 0
        while depth or not self.at(","):
            if self.peek.kind not in ("word", "sign"):
                raise self.unexpected("an annotation, such as List[int]")
            depth += {"[": 1, "]": -1}.get(self.take().text, 0)
        self.take()
        value = self.literal()
        self.expect("sign", ")")
        return value

    def string(self, token: Token) -> str:
        try:
            return ESCAPED.sub(_unescaped, token.text[1:-1].encode()).decode()
        except UnicodeDecodeError:
            raise self.error_at(token, "the bytes of this string are not UTF-8") from None
        except ValueError as error:
            raise self.error_at(token, str(error)) from None

    def tensor(self, token: Token) -> Tensor:
        if self.tensors_read == len(self.tensors):
            raise self.error_at(
                token,
                f"the text does not hold the values of a tensor constant: this is number {self.tensors_read + 1}, and "
                f"tensor_constants has {len(self.tensors)}",
            )
        self.tensors_read += 1
        return self.tensors[self.tensors_read - 1]

    def typed_value(self, value: Any, type: Type, token: Token) -> Any:
        """The value of a constant converted to its type: 1 becomes True, "cpu" a device, 10000000000 a float."""
        match type, value:
            case _ if type == BOOL and value in (0, 1):
                return bool(value)
            case _ if type == FLOAT and isinstance(value, int | float):
                return float(value)
            case _ if type == DEVICE and isinstance(value, str):
                if DEVICE_PATTERN.fullmatch(value) is None or value.partition(":")[0] not in DEVICE_TYPES:
                    raise self.error_at(token, f"{value!r} is not a device; expected one of {', '.join(DEVICE_TYPES)}")
                return device_from(value)
            case ListType(), list():
                return [self.typed_value(element, type.element, token) for element in value]
            case TupleType(), tuple() if len(value) == len(type.elements):
                pairs = zip(value, type.elements, strict=True)
                return tuple(self.typed_value(element, inner, token) for element, inner in pairs)
            case OptionalType(), _ if value is not None:
                return self.typed_value(value, type.element, token)
        return value

    # Tokens --------------------------------------------------------------------------------------------------

    def _tokens(self) -> list[Token]:
        tokens = []
        position = 0
        while position < len(self.text):
            match = TOKEN.match(self.text, position)
            if match is None:
                raise self.error_at(Token("", "", position), f"cannot read the character {self.text[position]!r}")
            assert match.lastgroup is not None, "every alternative of the pattern has a name"
            if match.lastgroup == "comment":
                if location := PLACE.fullmatch(match.group()):
                    source = SourceRange(location["filename"], int(location["line"]), int(location["column"]))
                    self.locations[self.line_of(position)] = source
            elif match.lastgroup != "space":
                tokens.append(Token(match.lastgroup, match.group(), position))
            position = match.end()
        return [*tokens, Token("end", END, len(self.text))]

    @property
    def peek(self) -> Token:
        return self.tokens[self.next]

    def take(self) -> Token:
        token = self.tokens[self.next]
        self.next += token.kind != "end"
        return token

    def at(self, text: str) -> bool:
        return self.peek.text == text and self.peek.kind != "string"

    def expect(self, kind: str, text: str | None = None, what: str | None = None) -> Token:
        if self.peek.kind != kind or (text is not None and self.peek.text != text):
            raise self.unexpected(what or f"'{text}'")
        return self.take()

    def list_until(self, end: str, read: Callable[[], Read]) -> list[Read]:
        """Comma-separated items, up to and including the closing sign."""
        found: list[Read] = []
        while not self.at(end):
            found.append(read())
            if not self.at(","):
                break
            self.take()
        self.expect("sign", end, f"',' or '{end}'" if found else None)
        return found

    def finish(self) -> None:
        if self.at("with"):
            raise self.error_at(self.tokens[self.next + 1], "this is the kind and number of no node above")
        if self.peek.kind != "end":
            raise self.unexpected(END)
        if self.tensors_read != len(self.tensors):
            raise self.error_at(
                self.peek, f"the text has {self.tensors_read} tensor constants, tensor_constants {len(self.tensors)}"
            )

    def line_of(self, position: int) -> int:
        return bisect_right(self.line_starts, position)

    def unexpected(self, expected: str) -> IRParseError:
        found = self.peek.text if self.peek.kind == "end" else f"'{self.peek.text}'"
        return self.error_at(self.peek, f"expected {expected} but found {found}")

    def error_at(self, token: Token, problem: str) -> IRParseError:
        start = self.text.rfind("\n", 0, token.start) + 1
        line, _, _ = self.text[start:].partition("\n")
        column = token.start - start
        marks = "~" * max(1, len(token.text) if token.kind != "end" else 1)
        return IRParseError(
            f"line {self.line_of(token.start)}, column {column + 1}: {problem}\n{line}\n{' ' * column}{marks} <--- HERE"
        )


def _unescaped(match: re.Match[bytes]) -> bytes:
    text = match[1]
    if len(text) == 3:
        value = int(text, 8)
        if value > 255:
            raise ValueError(f"\\{text.decode()} is no byte: the largest is \\377")
        return bytes([value])
    return UNESCAPED.get(text, text)
