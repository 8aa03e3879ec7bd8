"""Is a graph written as PyTorch writes it?"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.jit.ir import Graph, SourceRange
from glasstorch.jit.parser import parse_ir, parse_type
from glasstorch.jit.printer import annotation, print_graph, print_literal, print_node, tensor_constants
from glasstorch.jit.types import INT, STRING, TENSOR, ListType, OptionalType, Type

Require = Callable[[str], Any]

CONSTANTS = [
    True, False, None, 0, -7, 1 << 40, "", "a", "tab\t quote' \" back\\ \n\r\v\f\a\b\x00\x7f", [1, 2],
    [1.5, 2.0], ["a", "b"], [True, False], (1, 2), (1, (2.5, "a")), (1,), ((),), 1.0, -0.0, 0.1, 1e-5, 1e300, 1e22,
    1e16, 1e10, 9999999999.0, 123456.0, 1 / 3, math.inf, -math.inf, math.nan, 2.5e-310, 1e-7, 0.5, -3.0,
]  # fmt: skip


@pytest.mark.parametrize("value", CONSTANTS, ids=repr)
def test_a_constant_is_written_as_in_pytorch(value: object, require: Require) -> None:
    theirs, ours = require("torch")._C.Graph(), Graph()
    theirs.insertConstant(value)
    ours.insert_constant(value)
    assert str(ours) == str(theirs)


def test_random_floats_are_written_as_in_pytorch(require: Require) -> None:
    generator = random.Random(11)
    theirs, ours = require("torch")._C.Graph(), Graph()
    for _ in range(500):
        (value,) = struct.unpack("d", generator.randbytes(8))
        for number in (value, float(generator.randrange(-(10**12), 10**12)), generator.uniform(-2, 2)):
            if not math.isnan(number):
                theirs.insertConstant(number)
                ours.insert_constant(number)
    assert str(ours) == str(theirs)


@pytest.mark.parametrize(
    "element", [3, 3.0, 3.5, -0.25, True, 1e-7, 1e30, 1 / 3, 123456789.0, math.inf, 1.5 - 2j, 1e10j]
)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_a_tensor_of_one_element_is_written_as_in_pytorch(
    element: complex, shape: tuple[int, ...], require: Require
) -> None:
    torch = require("torch")
    theirs, ours = torch._C.Graph(), Graph()
    theirs.insertConstant(torch.full(shape, element))
    ours.insert_constant(glasstorch.full(shape, element))
    assert str(ours) == str(theirs)


def test_the_elements_of_a_larger_tensor_are_not_written(require: Require) -> None:
    torch = require("torch")
    theirs, ours = torch._C.Graph(), Graph()
    theirs.insertConstant(torch.ones(3, 4))
    ours.insert_constant(glasstorch.ones(3, 4))
    assert str(ours) == str(theirs)
    few = Graph()
    few.insert_constant(glasstorch.ones(2))
    assert "[value=<Tensor>]" in str(few)


def test_text_outside_ascii_is_written_in_octal() -> None:
    assert print_literal("é") == '"\\303\\251"'


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        ([], ListType(INT), "annotate(List[int], [])"),
        ([], ListType(TENSOR), "annotate(List[Tensor], [])"),
        ([], None, "[]"),
        ([1, None], ListType(OptionalType(INT)), "annotate(List[Optional[int]], [1, None])"),
        ([1], ListType(INT), "[1]"),
        ([True], None, "[True]"),
        (True, None, "1"),
        (glasstorch.device("cuda:1"), None, '"cuda:1"'),
    ],
)
def test_a_literal_says_its_type_where_it_is_not_clear(value: object, type: Type | None, text: str) -> None:
    assert print_literal(value, type) == text


def test_an_annotation_is_a_type_as_python_writes_it(require: Require) -> None:
    torch = require("torch")
    for text in ("int[]", "Float(2)[]", "(int, str?)", "()", "Scalar[]?", "Device", "(int)[][]"):
        graph = torch._C.parse_ir(f"graph(%x : {text}):\n  return (%x)")
        assert annotation(parse_type(text)) == next(graph.inputs()).type().annotation_str


def test_what_no_text_can_hold_is_refused() -> None:
    graph = Graph()
    graph.insert("prim::Constant", (), STRING, {"value": {1}})
    with pytest.raises(TypeError, match=r"cannot write an attribute of type set: \{1\}"):
        print_graph(graph)


def test_nodes_without_outputs_with_scopes_and_places_are_written() -> None:
    graph = Graph()
    x = graph.add_input("x")
    node = graph.insert_node(graph.create("prim::Print", [x], 0))
    node.source, node.scope = SourceRange("a b.py", 3, 4), "__module.fc"
    assert str(graph) == "graph(%x : Tensor):\n   = prim::Print(%x), scope: __module.fc # a b.py:3:4\n  return ()\n"
    assert "#" not in print_graph(graph, source_ranges=False)
    assert str(node) == print_node(node) == " = prim::Print(%x), scope: __module.fc # a b.py:3:4\n"


PROGRAM = """
def compute(x, n: int, flag: bool):
    for i in range(n):
        if flag:
            x = x.relu()
        else:
            x = x.neg()
            if i > 3:
                x = x.exp()
    return x, n
"""


def test_branches_and_loops_are_written_as_in_pytorch(require: Require) -> None:
    graph = require("torch").jit.CompilationUnit(PROGRAM).compute.graph
    text = str(graph)
    assert text.count("block") == 5
    assert "# <string>:" in text
    assert str(parse_ir(text)) == text
    assert "#" not in print_graph(parse_ir(text), source_ranges=False)


def test_subgraphs_follow_the_graph_whose_nodes_they_belong_to() -> None:
    inner = parse_ir("graph(%a : Tensor): return (%a)")
    middle = parse_ir("graph(%b : Tensor): return (%b)")
    middle.insert("prim::FusionGroup", middle.inputs, attributes={"Subgraph": inner})
    outer = parse_ir("graph(%c : Tensor): return (%c)")
    for graph in (middle, inner):
        outer.insert("prim::FusionGroup", outer.inputs, attributes={"level": 1, "Subgraph": graph.copy()})
    assert str(outer) == (
        "graph(%c : Tensor):\n"
        "  %1 : Tensor = prim::FusionGroup_0[level=1](%c)\n"
        "  %2 : Tensor = prim::FusionGroup_1[level=1](%c)\n"
        "  return (%c)\n"
        "with prim::FusionGroup_0 = graph(%b : Tensor):\n"
        "  %1 : Tensor = prim::FusionGroup_0(%b)\n"
        "  return (%b)\n"
        "with prim::FusionGroup_0 = graph(%a : Tensor):\n"
        "  return (%a)\n"
        "with prim::FusionGroup_1 = graph(%a : Tensor):\n"
        "  return (%a)\n"
    )
    assert str(parse_ir(str(outer))) == str(outer)


def test_tensor_constants_are_listed_in_the_order_of_the_text() -> None:
    inner, outer = Graph(), Graph()
    tensors = [glasstorch.full((2,), float(i)) for i in range(4)]
    inner.insert_constant(tensors[3])
    outer.insert_constant(tensors[0])
    outer.insert("prim::FusionGroup", [], attributes={"Subgraph": inner})
    outer.insert_constant([tensors[1], tensors[2]])
    found = tensor_constants(outer)
    assert [id(tensor) for tensor in found] == [id(tensor) for tensor in tensors]
    again = parse_ir(str(outer), found)
    assert str(again) == str(outer)
    assert [id(tensor) for tensor in tensor_constants(again)] == [id(tensor) for tensor in tensors]
