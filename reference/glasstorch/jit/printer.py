"""How is a graph printed as text?

Mirrors: torch/csrc/jit/ir/ir.cpp (Graph::print, Node::print, printAttribute), aten/src/ATen/core/ivalue.cpp
    (operator<<), c10/util/StringUtil.h (printQuotedString)
Differs: a tensor constant of two to ten elements is `<Tensor>`, as PyTorch writes those of more: the text never holds
    what parse_ir cannot read. Non-ASCII text is written as octal escapes of its bytes; PyTorch's escapes are wrong.
    Printed without source locations, blocks have none either; PyTorch leaves theirs.

    graph      = "graph(" [typed ("," typed)*] "):" node* "return (" [names] ")" with*
    typed      = name [":" type]
    names      = name ("," name)*
    name       = "%" (number | letter (letter | digit | "." )*)
    node       = [typed ("," typed)*] "=" kind [attributes] "(" [names] ")" [", scope: " text] [place] block*
    place      = "#" file ":" line ":" column
    kind       = word "::" word
    attributes = "[" word "=" literal ("," word "=" literal)* "]"
    block      = "block" number "(" [typed ("," typed)*] "):" node* "-> (" [names] ")"
    with       = "with" kind "_" number "=" graph        (the Subgraph attribute of the node of that kind and number)
    type       = ("int" | "float" | ... | tensor | "(" [type ("," type)*] ")") ("[]" | "?")*
    tensor     = ("Tensor" | "Float" | "FloatTensor" | ...) ["(" sizes, strides=[...], requires_grad=0, device=cpu ")"]
    literal    = number | string | "True" | "False" | "None" | "[" literals "]" | "(" literals ")"
               | "annotate(" annotation "," literal ")" | "{" number "}" | "<Tensor>"

A `with` follows the graph whose nodes it belongs to, in the order of those nodes. Blocks are indented by four spaces,
their nodes by two more; parse_ir accepts any indentation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.jit.ir import Block, Graph, Node, Value
from glasstorch.jit.types import ListType, NumberType, OptionalType, TensorType, TupleType, Type

ESCAPES: Final = {
    "\\": "\\\\", "'": "\\'", '"': '\\"', "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    "\v": "\\v",
}  # fmt: skip
SUBGRAPH: Final = "Subgraph"


def print_graph(graph: Graph, source_ranges: bool = True) -> str:
    """The text of a graph; with `source_ranges`, each node is followed by its location in the program."""
    groups: list[Node] = []
    lines = [f"graph({_typed(graph.inputs, ',' + chr(10) + '      ')}):"]
    lines += _block_lines(graph.block, 1, groups, source_ranges)
    lines.append(f"  return ({_names(graph.outputs)})")
    text = "\n".join(lines) + "\n"
    for i, node in enumerate(groups):
        text += f"with {node.kind}_{i} = {print_graph(node.attributes[SUBGRAPH], source_ranges)}"
    return text


def print_node(node: Node, source_ranges: bool = True) -> str:
    """The text of a node and the blocks in it, without its subgraph."""
    return "\n".join(_node_lines(node, 0, [], source_ranges)) + "\n"


def tensor_constants(graph: Graph) -> list[Tensor]:
    """The tensor constants of the graph, in the order of its text.

    The text does not contain their values: parse_ir needs this list.
    """
    found: list[Tensor] = []
    subgraphs: list[Graph] = []
    for node in graph.all_nodes():
        for name, attribute in node.attributes.items():
            if name == SUBGRAPH:
                subgraphs.append(attribute)
            else:
                found += _tensors(attribute)
    for subgraph in subgraphs:
        found += tensor_constants(subgraph)
    return found


def print_literal(value: Any, type: Type | None = None) -> str:
    """The text of an attribute. For the value of a constant, `type` is the type of its output.

    >>> print(print_literal([0.5, 2.0]), print_literal("a\\tb"), print_literal(True))
    [0.5, 2.] "a\\tb" 1
    """
    return str(int(value)) if isinstance(value, bool) else _inner(value, type)


def annotation(type: Type) -> str:
    """A type as written in `annotate(...)`: `List[int]` for `int[]`."""
    match type:
        case ListType():
            return f"List[{annotation(type.element)}]"
        case OptionalType():
            return f"Optional[{annotation(type.element)}]"
        case TupleType():
            return f"Tuple[{', '.join(map(annotation, type.elements)) or '()'}]"
        case TensorType():
            return "Tensor"
        case NumberType():
            return "number"
    return str(type)


def _block_lines(block: Block, level: int, groups: list[Node], source_ranges: bool) -> Iterator[str]:
    for node in block.nodes:
        yield from _node_lines(node, level, groups, source_ranges)


def _node_lines(node: Node, level: int, groups: list[Node], source_ranges: bool) -> Iterator[str]:
    kind = node.kind
    shown = {name: attribute for name, attribute in node.attributes.items() if name != SUBGRAPH}
    if SUBGRAPH in node.attributes:
        kind += f"_{len(groups)}"
        groups.append(node)
    type = node.outputs[0].type if node.kind == "prim::Constant" and node.outputs else None
    attributes = ", ".join(f"{name}={print_literal(attribute, type)}" for name, attribute in shown.items())
    line = f"{'  ' * level}{_typed(node.outputs)} = {kind}{f'[{attributes}]' if shown else ''}({_names(node.inputs)})"
    if node.scope:
        line += f", scope: {node.scope}"
    if source_ranges and node.source is not None:
        line += f" # {node.source}"
    yield line
    for i, block in enumerate(node.blocks):
        yield f"{'  ' * (level + 1)}block{i}({_typed(block.inputs)}):"
        yield from _block_lines(block, level + 2, groups, source_ranges)
        yield f"{'  ' * (level + 2)}-> ({_names(block.outputs)})"


def _typed(values: Iterable[Value], separator: str = ", ") -> str:
    return separator.join(f"%{value.debug_name} : {value.type}" for value in values)


def _names(values: Iterable[Value]) -> str:
    return ", ".join(f"%{value.debug_name}" for value in values)


def _inner(value: Any, declared: Type | None) -> str:
    match value:
        case None | bool() | int():
            return str(value)
        case float():
            return _float(value)
        case str() | Device():
            return _quoted(str(value))
        case Tensor():
            return _tensor(value)
        case tuple():
            inner = [_inner(element, None) for element in value]
            return f"({', '.join(inner)}{',' * (len(inner) == 1)})"
        case list():
            text = f"[{', '.join(_inner(element, None) for element in value)}]"
            unclear = isinstance(declared, ListType) and (not value or isinstance(declared.element, OptionalType))
            return f"annotate({annotation(declared)}, {text})" if declared is not None and unclear else text
    raise TypeError(f"cannot write an attribute of type {type(value).__name__}: {value!r}")


def _float(value: float) -> str:
    """A float's text: integers below 1e10 end in a dot, others have 17 digits, so that they read back exactly."""
    if math.isfinite(value) and abs(value) < 1e10 and value == int(value):
        return f"{value:.0f}."
    return f"{value:.17g}"


def _quoted(text: str) -> str:
    written = []
    for byte in text.encode():
        character = chr(byte)
        plain = character if " " <= character <= "~" else f"\\{byte:03o}"
        written.append(ESCAPES.get(character, plain))
    return f'"{"".join(written)}"'


def _tensor(value: Tensor) -> str:
    element = value.item() if value.numel() == 1 else None
    if element is None:
        return "<Tensor>"
    if isinstance(element, complex):
        return f"{{({element.real:g},{element.imag:g})}}"
    return f"{{{element:g}}}" if isinstance(element, float) else f"{{{int(element)}}}"


def _tensors(attribute: Any) -> Iterator[Tensor]:
    if isinstance(attribute, Tensor):
        yield attribute
    elif isinstance(attribute, list | tuple):
        for element in attribute:
            yield from _tensors(element)
