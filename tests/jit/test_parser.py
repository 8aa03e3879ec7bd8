"""Is every graph that can be written read back as it was, and is any other text refused where it goes wrong?"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.jit.ir import Block, Graph, SourceRange, Value
from glasstorch.jit.parser import IRParseError, parse_ir, parse_type
from glasstorch.jit.printer import tensor_constants
from glasstorch.jit.types import BOOL, DEVICE, FLOAT, INT, NONE, TENSOR, ListType, TupleType
from glasstorch.jit.verify import lint

Require = Callable[[str], Any]

ADD = """graph(%x.1 : Tensor,
      %y : int):
  %2 : int = prim::Constant[value=1]()
  %3 : Tensor = aten::add(%x.1, %y, %2)
  return (%3)
"""
# PyTorch's parse_ir reads all of these.
SHARED = [
    ADD,
    "graph():\n  return ()",
    "graph(%4 : Tensor):\n  return (%4)",
    "graph(%x):\n  %y, %z = prim::TupleUnpack(%x)\n  return (%z, %y)",
    "graph(%x : Tensor,   %b : bool):  # what a comment says is left out\n  prim::Print(%x)\n  return (%x)",
    """graph(%x : Tensor, %b : bool):
      %y : Tensor = prim::If(%b)
        block0():
          -> (%x)
        block1():
          %z : Tensor = aten::relu(%x)
          -> (%z)
      return (%y)""",
    """graph(%x : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu), %n : int):
      %t : bool = prim::Constant[value=1]()
      %y : Tensor = prim::Loop(%n, %t, %x)
        block0(%i : int, %c : Tensor):
          %d : Tensor = aten::relu(%c)
          -> (%t, %d)
      return (%y)""",
    'graph():\n  %x : int = prim::foo[a=1, b="x\\n\\"\\101", c=[1,2]]()\n  return (%x)',
    'graph():\n  %x : int = prim::foo[d=1.5, e=[1.5, 2.], f=["a"], g=-3]()\n  return (%x)',
    'graph():\n  %x : Device = prim::Constant[value="cuda:1"]()\n  return (%x)',
    "graph():\n  %x : int[] = prim::Constant[value=annotate(List[int], [])]()\n  return (%x)",
    "graph():\n  %x : float = prim::Constant[value=1e-5]()\n  return (%x)",
    "graph():\n  %x : float = prim::Constant[value=-inf]()\n  return (%x)",
]


@pytest.mark.parametrize("text", SHARED)
def test_a_text_is_read_as_pytorch_reads_it(text: str, require: Require) -> None:
    theirs = str(require("torch")._C.parse_ir(text))
    again = str(parse_ir(theirs))
    assert again == theirs
    ours = parse_ir(text)
    assert [node.kind for node in ours.all_nodes()] == [node.kind for node in parse_ir(theirs).all_nodes()]
    assert str(parse_ir(str(ours))) == str(ours)


def test_numbers_are_kept_and_names_have_numbers_above_them() -> None:
    graph = parse_ir("graph(%x : Tensor): %7 : Tensor = aten::relu(%x) return (%7)")
    assert [value.unique for value in (*graph.inputs, graph.nodes[0].output)] == [8, 7]
    assert graph.insert("aten::neg", graph.inputs).debug_name == "9"


# Random graphs: what is written is read back, with the same text, and keeps the rules.


def fill(block: Block, known: list[Value], generator: random.Random, depth: int) -> None:
    """Put random nodes that keep the rules into a block."""
    graph = block.graph
    with graph.inserting_before(block):
        for _ in range(generator.randrange(1, 6)):
            tensors = [value for value in known if value.type == TENSOR]
            tensor, other = generator.choice(tensors), generator.choice(tensors)
            match generator.randrange(6 if depth else 4):
                case 0:
                    made = graph.insert("aten::relu", [tensor])
                case 1:
                    made = graph.insert("aten::add", [tensor, other, graph.insert_constant(generator.randrange(-9, 9))])
                case 2:
                    made = graph.insert_constant(
                        generator.choice([None, True, 0.1, "a'b\n\"é", [1, 2], (1, (2.0, "x")), [0.5, 1e16], [True]])
                    )
                case 3:
                    pair = graph.insert("prim::TupleConstruct", [tensor, other], TupleType((TENSOR, TENSOR)))
                    node = graph.insert_node(graph.create("prim::TupleUnpack", [pair], 2))
                    node.scope = generator.choice(["", "net/fc.0"])
                    made = node.outputs[1]
                case 4:
                    node = graph.insert_node(graph.create("prim::If", [graph.insert_constant(True)]))
                    for _ in range(2):
                        inner = node.add_block()
                        fill(inner, list(known), generator, depth - 1)
                    made = node.output
                case _:
                    starts = [graph.insert_constant(3), graph.insert_constant(True), tensor]
                    node = graph.insert_node(graph.create("prim::Loop", starts))
                    inner = node.add_block()
                    inner.add_input("i", INT)
                    fill(inner, [*known, inner.add_input(type=TENSOR)], generator, depth - 1)
                    with graph.inserting_before(inner):
                        inner.return_node.insert_input(0, graph.insert_constant(False))
                    made = node.output
            if generator.random() < 0.3:
                made.set_debug_name(generator.choice(["x", "y.1", "self.weight", "_"]))
            made.node.source = generator.choice([None, SourceRange("a/b c.py", 12, 4)])
            known.append(made)
    if not block.outputs:
        block.register_output(generator.choice([value for value in known if value.type == TENSOR]))


@pytest.mark.parametrize("seed", range(60))
def test_a_random_graph_is_read_back_as_it_was_written(seed: int) -> None:
    generator = random.Random(seed)
    graph = Graph()
    fill(graph.block, [graph.add_input("x"), graph.add_input("y")], generator, depth=2)
    for node in graph.nodes:  # leave gaps in the numbers
        if generator.random() < 0.3 and not any(value.uses for value in node.outputs):
            node.destroy()
    lint(graph)
    text = str(graph)
    again = parse_ir(text)
    lint(again)
    assert str(again) == text
    for mine, theirs in zip(graph.all_nodes(), again.all_nodes(), strict=True):
        assert mine.attributes == theirs.attributes
        assert repr(mine.attributes) == repr(theirs.attributes)  # True is not 1 here
        assert [value.type for value in mine.outputs] == [value.type for value in theirs.outputs]
        assert (mine.scope, mine.source) == (theirs.scope, theirs.source)


def test_a_trace_is_read_back_with_its_tensor_constants() -> None:
    def compute(x: Any, y: Any) -> Any:
        return (x + y * 2).relu().sum(-1), y.split(1)[0], x * (1 - 2j)

    graph = glasstorch.jit.trace(compute, (glasstorch.ones(2, 3), glasstorch.ones(2, 3))).graph
    lint(graph)
    again = parse_ir(str(graph), tensor_constants(graph))
    lint(again)
    assert str(again) == str(graph)


def test_constants_are_read_as_their_types_say() -> None:
    lines = {
        "bool = prim::Constant[value=1]": (True, BOOL),
        "float = prim::Constant[value=10000000000]": (1e10, FLOAT),
        'Device = prim::Constant[value="cpu"]': (glasstorch.device("cpu"), DEVICE),
        "NoneType = prim::Constant": (None, NONE),
        "float[] = prim::Constant[value=[1, 2.5]]": ([1.0, 2.5], ListType(FLOAT)),
        "bool[] = prim::Constant[value=[1, 0]]": ([True, False], ListType(BOOL)),
        "(float, int) = prim::Constant[value=(1, 2)]": ((1.0, 2), TupleType((FLOAT, INT))),
        "float? = prim::Constant[value=2]": (2.0, parse_type("float?")),
    }
    for line, (value, type) in lines.items():
        constant = parse_ir(f"graph():\n  %x : {line}()\n  return (%x)").outputs[0]
        assert (constant.constant(), constant.type) == (value, type)
        assert repr(constant.constant()) == repr(value)


def test_a_string_comes_back_byte_by_byte() -> None:
    text = "".join(map(chr, range(0x250))) + "\U0001f600"
    graph = Graph()
    graph.insert_constant(text)
    assert parse_ir(str(graph)).nodes[0].attributes["value"] == text


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "expected 'graph' but found the end of the text"),
        ("graph(%x : Tensor:\n  return ()", 1, 18, r"expected ',' or '\)' but found ':'"),
        ("graph(%x : Tensr):\n  return ()", 1, 12, "expected a type but found 'Tensr'; known are Any, "),
        ("graph(%x : Float):\n  return ()", 1, 17, r"expected '\(' after Float; with unknown sizes it is FloatTensor"),
        ("graph(%x : Float(2, size=3)):\n  return ()", 1, 21, "expected strides=, requires_grad= or device= but"),
        ("graph(%x : Float(2.5)):\n  return ()", 1, 18, "expected an integer but found 2.5"),
        ("graph(%x : Float(2, device=tpu)):\n  return ()", 1, 28, "expected one of cpu, cuda, .* but found 'tpu'"),
        ("graph(%x : int[3]):\n  return ()", 1, 16, "expected ']' but found '3'"),
        ("graph(x : Tensor):\n  return ()", 1, 7, "expected a value, such as %x but found 'x'"),
        ("graph(%x : Tensor, %x : int):\n  return ()", 1, 20, "%x is defined twice"),
        ("graph():\n  %y : Tensor = aten::relu(%z)\n  return (%y)", 2, 28, "no value %z is in scope here"),
        ("graph():\n  %y : Tensor = aten::relu(%y)\n  return (%y)", 2, 28, "no value %y is in scope here"),
        ("graph(%x : Tensor):\n  %y : Tensor = relu(%x)\n  return (%y)", 2, 17, "expected the kind of a node, such as"),
        ("graph(%x : Tensor):\n  relu(%x)\n  return (%x)", 2, 3, "expected a node, such as '%2 : Tensor = aten::relu"),
        ("graph(%x : Tensor):\n  %y = aten::relu %x\n  return (%y)", 2, 19, r"expected '\(' but found '%x'"),
        ("graph(%x : Tensor):\n  %y = aten::relu(%x)\n", 3, 1, "expected a node, .* but found the end of the text"),
        ("graph(%x : Tensor):\n  return (%x)\nmore", 3, 1, "expected the end of the text but found 'more'"),
        ("graph():\n  %y : int = prim::Constant[value=]()\n  return (%y)", 2, 35, "expected a number, a string, True"),
        ("graph():\n  %y : int = prim::Constant[value=1()\n  return (%y)", 2, 36, r"expected ',' or '\]' but"),
        ("graph():\n  %y : str = prim::Constant[value=\"a]()\n  return (%y)", 2, 35, "cannot read the character '\"'"),
        ('graph():\n  %y : str = prim::Constant[value="\\777"]()\n  return (%y)', 2, 35, r"\\777 is no byte"),
        ('graph():\n  %y : str = prim::Constant[value="\\377"]()\n  return (%y)', 2, 35, "are not UTF-8"),
        ('graph():\n  %y : Device = prim::Constant[value="tpu"]()\n  return (%y)', 2, 17, "'tpu' is not a device"),
        ("graph():\n  %y : Tensor = prim::Constant[value={1}]()\n  return (%y)", 2, 38, "does not hold the values"),
        ("graph():\n  %1x : int = prim::Constant[value=1]()\n  return (%1x)", 2, 3, "Invalid name: '1x'"),
        ("graph():\n  %y : int = prim::Constant[value=annotate(1, 1)]()\n  return ()", 2, 44, "expected an annotation"),
        ("graph(): return ()\nwith prim::A_0 = graph(): return ()", 2, 6, "the kind and number of no node above"),
        ("graph(%b : bool):\n  prim::If(%b)\n    block1():\n      -> ()\n  return ()", 3, 5, "expected a node"),
        ("graph(%b : bool):\n  prim::If(%b)\n    block0():\n      return ()", 4, 7, "expected a node"),
        ("graph():\n  ;", 2, 3, "cannot read the character ';'"),
    ],
)  # fmt: skip
def test_a_text_that_is_no_graph_is_refused_where_it_goes_wrong(
    text: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(IRParseError, match=rf"^line {line}, column {column}: .*{message}") as raised:
        parse_ir(text)
    shown = str(raised.value).splitlines()
    assert shown[-1].index("~") == column - 1
    assert shown[-1].endswith("~ <--- HERE")
    assert shown[-2] == (text.splitlines() + [""])[line - 1]


def test_a_value_made_in_a_block_is_not_known_after_it() -> None:
    text = (
        "graph(%x : Tensor, %b : bool):\n  prim::If(%b)\n    block0():\n      %y : Tensor = aten::relu(%x)\n"
        "      -> ()\n    block1():\n      -> ({})\n  return ({})\n"
    )
    for inner, outer in (("%y", ""), ("", "%y")):
        with pytest.raises(IRParseError, match="no value %y is in scope here"):
            parse_ir(text.format(inner, outer))


def test_the_last_block_is_left_and_its_node_ends_after_it() -> None:
    text = (
        "graph(%x : Tensor):\n  %z = prim::If(%x)\n    block0():\n      %y = aten::relu({})\n      -> ()\n"
        "  return ({})\n"
    )
    assert len(parse_ir(text.format("%x", "%z")).nodes[0].blocks) == 1
    for inner, outer, unknown in (("%x", "%y", "%y"), ("%z", "%z", "%z")):
        with pytest.raises(IRParseError, match=f"no value {unknown} is in scope here"):
            parse_ir(text.format(inner, outer))


@pytest.mark.parametrize("end", range(0, len(ADD) - 1, 3))
def test_a_truncated_text_is_refused(end: int) -> None:
    with pytest.raises(IRParseError):
        parse_ir(ADD[:end])


def test_as_many_tensors_are_given_as_the_text_has() -> None:
    text = "graph():\n  %x : Long() = prim::Constant[value={1}]()\n  return (%x)\n"
    one = glasstorch.tensor(1)
    assert parse_ir(text, [one]).outputs[0].constant() is one
    with pytest.raises(IRParseError, match="the text has 1 tensor constants, tensor_constants 2"):
        parse_ir(text, [one, one])
    with pytest.raises(IRParseError, match="this is number 1, and tensor_constants has 0"):
        parse_ir(text)


def test_a_type_alone_is_read_to_its_end() -> None:
    assert parse_type("(Tensor, int[])?") == parse_type(" ( Tensor , int [ ] ) ? ")
    with pytest.raises(IRParseError, match="line 1, column 5: expected the end of the text but found 'int'"):
        parse_type("int int")


def test_two_subgraphs_are_given_to_their_nodes() -> None:
    text = (
        "graph(%x : Tensor):\n  %1 : Tensor = prim::FusionGroup_0(%x)\n  %2 : Tensor = prim::FusionGroup_1(%1)\n"
        "  return (%2)\nwith prim::FusionGroup_0 = graph(%x : Tensor):\n  %1 : Tensor = aten::neg(%x)\n  return (%1)\n"
        "with prim::FusionGroup_1 = graph(%x : Tensor):\n  %1 : Tensor = aten::exp(%x)\n  return (%1)\n"
    )
    graph = parse_ir(text)
    lint(graph)
    assert [node.attributes["Subgraph"].nodes[0].kind for node in graph.nodes] == ["aten::neg", "aten::exp"]
    assert str(graph) == text
