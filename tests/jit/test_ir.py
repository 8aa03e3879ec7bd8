"""Do values, nodes and blocks stay in step under every edit?"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

import glasstorch
from glasstorch.jit.ir import Graph, Node, SourceRange, Use, Value
from glasstorch.jit.parser import parse_ir
from glasstorch.jit.types import BOOL, FLOAT, INT, TENSOR, ListType
from glasstorch.jit.verify import lint

Require = Callable[[str], Any]

BRANCH = """graph(%x : Tensor,
      %c : bool):
  %y : Tensor = aten::relu(%x)
  %z : Tensor = prim::If(%c)
    block0():
      %u : Tensor = aten::relu(%y)
      -> (%u)
    block1():
      %v : Tensor = aten::neg(%y)
      -> (%v)
  return (%z)
"""


def chain(length: int) -> tuple[Graph, list[Value]]:
    """A graph of relus, one after the other, and the values from its input to its output."""
    graph = Graph()
    values = [graph.add_input("x")]
    for _ in range(length):
        values.append(graph.insert("aten::relu", [values[-1]]))
    graph.register_output(values[-1])
    return graph, values


def named(graph: Graph) -> dict[str, Value]:
    values = [*graph.inputs, *(output for node in graph.all_nodes() for output in node.outputs)]
    return {value.debug_name: value for value in values}


def test_what_is_inserted_stands_at_the_insert_point() -> None:
    graph, values = chain(2)
    with graph.inserting_before(values[2].node) as place:
        assert graph.insert_point is place
        middle = graph.insert("aten::neg", [values[1]])
    last = graph.insert("aten::exp", [middle])
    assert [node.kind for node in graph.nodes] == ["aten::relu", "aten::neg", "aten::relu", "aten::exp"]
    assert middle.node.next is values[2].node
    assert middle.node.previous is values[1].node
    assert last.node.next is graph.return_node
    lint(graph)


def test_the_insert_point_may_be_the_end_of_a_block() -> None:
    graph = parse_ir(BRANCH)
    block = named(graph)["z"].node.blocks[1]
    with graph.inserting_before(block):
        value = graph.insert("aten::exp", [block.outputs[0]])
    block.replace_output(0, value)
    assert [node.kind for node in block.nodes] == ["aten::neg", "aten::exp"]
    assert value.node.owning_block is block
    lint(graph)


def test_uses_name_the_nodes_and_their_inputs() -> None:
    graph = Graph()
    x, y = graph.add_input("x"), graph.add_input("y")
    one = graph.insert_constant(1)
    total = graph.insert("aten::add", [x, x, one])
    graph.register_output(x)
    node = total.node
    assert x.uses == (Use(node, 0), Use(node, 1), Use(graph.return_node, 0))
    assert node.replace_input(0, y) is x
    assert (x.uses, y.uses) == ((Use(node, 1), Use(graph.return_node, 0)), (Use(node, 0),))
    node.replace_input_with(x, y)
    assert set(y.uses) == {Use(node, 0), Use(node, 1)}
    x.replace_all_uses_with(total)
    assert x.uses == ()
    assert graph.outputs == (total,)
    lint(graph)


def test_inserting_and_removing_inputs_keeps_the_uses() -> None:
    graph = Graph()
    x, y = graph.add_input("x"), graph.add_input("y")
    node = graph.insert("prim::ListConstruct", [x, x, y], ListType(TENSOR)).node
    node.insert_input(1, y)
    assert node.inputs == (x, y, x, y)
    assert set(x.uses) == {Use(node, 0), Use(node, 2)}
    assert set(y.uses) == {Use(node, 1), Use(node, 3)}
    lint(graph)
    node.remove_input(0)
    assert node.inputs == (y, x, y)
    assert (x.uses, set(y.uses)) == ((Use(node, 1),), {Use(node, 0), Use(node, 2)})
    lint(graph)
    node.remove_all_inputs()
    assert (x.uses, y.uses, node.inputs) == ((), (), ())


def test_replacing_after_a_node_leaves_what_runs_before_it() -> None:
    graph, values = chain(3)
    x = values[0]
    graph.register_output(x)
    changed = graph.create("aten::neg", [x]).insert_after(values[1].node)
    x.replace_all_uses_after(changed, changed.output)
    assert values[1].node.inputs == (x,)
    assert graph.outputs == (values[3], changed.output)
    lint(graph)


def test_a_destroyed_node_leaves_no_trace() -> None:
    graph, values = chain(2)
    node = values[2].node
    with pytest.raises(ValueError, match="%2 is used: aten::relu cannot be destroyed; replace its uses"):
        node.destroy()
    values[2].replace_all_uses_with(values[1])
    node.destroy()
    assert values[1].uses == (Use(graph.return_node, 0),)
    assert (node.owning_block, node.inputs, node.outputs) == (None, (), ())
    lint(graph)


def test_a_destroyed_insert_point_becomes_the_node_after_it() -> None:
    graph, values = chain(1)
    unused = graph.insert("aten::neg", [values[0]]).node
    with graph.inserting_before(unused):
        unused.destroy()
        assert graph.insert("aten::exp", [values[0]]).node.next is graph.return_node
    lint(graph)


def test_destroying_a_branch_destroys_what_is_in_it() -> None:
    graph = parse_ir(BRANCH)
    values = named(graph)
    graph.replace_output(0, values["y"])
    values["z"].node.destroy()
    assert values["y"].uses == (Use(graph.return_node, 0),)
    assert values["c"].uses == ()
    assert set(graph.names) == {"x", "c", "y"}
    lint(graph)


def test_nodes_may_be_moved() -> None:
    graph = Graph()
    x = graph.add_input("x")
    a, b, c = (graph.insert(f"aten::{name}", [x]).node for name in ("exp", "neg", "relu"))
    assert c.move_before(a) is c
    assert graph.nodes == (c, a, b)
    c.move_after(b)
    assert graph.nodes == (a, b, c)
    assert (a.is_before(c), c.is_before(a), c.is_after(b), b.is_after(b)) == (True, False, True, False)
    lint(graph)


def test_a_node_stands_in_one_place_at_a_time() -> None:
    graph, values = chain(2)
    with pytest.raises(ValueError, match="is in a block already; move_before and move_after take it elsewhere"):
        values[1].node.insert_after(values[2].node)
    loose = graph.create("aten::neg", [values[0]])
    with pytest.raises(ValueError, match="can only be inserted next to a node that is in a block"):
        graph.create("aten::exp", [values[0]]).insert_before(loose)
    with pytest.raises(ValueError, match="prim::Return is not among the nodes of a block"):
        graph.return_node.move_before(values[1].node)


def test_order_holds_after_any_number_of_insertions() -> None:
    graph = Graph()
    x = graph.add_input("x")
    generator = random.Random(7)
    order = [graph.insert("aten::relu", [x]).node]
    for _ in range(300):
        i = generator.randrange(2)  # at the front again and again, so that positions must be given anew
        node = graph.create("aten::relu", [x])
        node.insert_before(order[i]) if i < len(order) else graph.append_node(node)
        order.insert(i, node)
    assert graph.nodes == tuple(order)
    assert all(a.is_before(b) and b.is_after(a) for a, b in pairwise(order))
    lint(graph)


def test_order_reaches_into_blocks() -> None:
    graph = parse_ir(BRANCH)
    values = named(graph)
    y, z, u, v = (values[name].node for name in "yzuv")
    assert all(a.is_before(b) for a, b in [(y, u), (z, u), (u, v), (u, graph.return_node), (graph.param_node, y)])
    assert not any(a.is_before(b) for a, b in [(u, y), (u, z), (v, u), (graph.return_node, v), (y, graph.param_node)])


def test_a_name_that_is_taken_moves_on_as_in_pytorch(require: Require) -> None:
    torch = require("torch")
    names = ["x", "x", "x", "x.1", "y.3", "y.3", "y", "x"]
    theirs, ours = torch._C.Graph(), Graph()
    for name in names:
        theirs.addInput().setDebugName(name)
        ours.add_input(name)
    assert [value.debug_name for value in ours.inputs] == [value.debugName() for value in theirs.inputs()]
    lint(ours)


@pytest.mark.parametrize("name", ["1", "12.x", "a b", "x..y", "x.", "%x", "é"])
def test_a_name_that_could_not_be_read_back_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="Invalid name: "):
        Graph().add_input(name)


def test_a_name_may_be_taken_away() -> None:
    graph = Graph()
    x = graph.add_input("x")
    assert x.has_debug_name
    assert x.set_debug_name("").debug_name == "0"
    assert not graph.names


def test_a_value_of_another_graph_is_refused() -> None:
    (graph, _), (other, values) = chain(1), chain(1)
    with pytest.raises(ValueError, match="belongs to another graph"):
        graph.create("aten::relu", values[:1])
    with pytest.raises(ValueError, match="belongs to another graph"):
        graph.return_node.replace_input(0, values[0])
    with pytest.raises(ValueError, match="belongs to another graph"):
        graph.create("aten::relu", graph.inputs).insert_before(other.return_node)


def test_an_output_that_is_used_cannot_be_erased() -> None:
    graph = Graph()
    node = graph.insert_node(graph.create("prim::ListUnpack", [graph.add_input("x", ListType(TENSOR))], 3))
    a, b, c = node.outputs
    graph.register_output(c)
    with pytest.raises(ValueError, match="has 1 uses; only an unused output can be erased"):
        node.erase_output(2)
    node.erase_output(0)
    assert (node.outputs, b.offset, c.offset) == ((b, c), 0, 1)
    new = node.insert_output(0, INT)
    assert (new.offset, b.offset, c.offset, new.type) == (0, 1, 2, INT)
    assert new.unique > a.unique
    with pytest.raises(ValueError, match="has 3 outputs; `output` asks for the only one"):
        _ = node.output


def test_inputs_and_outputs_of_a_graph_may_be_erased() -> None:
    graph, _ = chain(1)
    graph.add_input("unused")
    graph.erase_input(1)
    graph.register_output(graph.inputs[0])
    graph.erase_output(0)
    assert [value.debug_name for value in graph.inputs] == ["x"]
    assert graph.outputs == graph.inputs
    lint(graph)


def test_nodes_replace_each_other_output_by_output() -> None:
    graph, values = chain(1)
    with graph.inserting_before(graph.return_node):
        other = graph.insert("aten::neg", [values[0]])
    values[1].node.replace_all_uses_with(other.node)
    assert graph.outputs == (other,)
    with pytest.raises(ValueError, match="aten::relu has 1 outputs and prim::Print 0; to replace all uses, they must"):
        values[1].node.replace_all_uses_with(graph.create("prim::Print", [], 0))


@pytest.mark.parametrize("value", [None, True, 3, 2.5, "a", [1, 2], (1, "b"), glasstorch.device("cpu")])
def test_a_constant_keeps_its_value(value: object) -> None:
    graph = Graph()
    constant = graph.insert_constant(value)
    assert constant.is_constant
    assert constant.constant() == value
    assert type(constant.constant()) is type(value)
    lint(graph)


def test_a_constant_may_be_given_its_type() -> None:
    graph = Graph()
    assert repr(graph.insert_constant(1, FLOAT).constant()) == "1.0"
    assert graph.insert_constant([], ListType(INT)).type == ListType(INT)
    assert graph.insert_constant(glasstorch.float32).constant() == 6
    tensor = glasstorch.ones(2)
    assert graph.insert_constant(tensor).constant() is tensor
    lint(graph)
    with pytest.raises(ValueError, match="%x is made by prim::Param: it is not a constant"):
        graph.add_input("x").constant()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("(%x : Tensor, %n : int): %y : Tensor = aten::add(%x, %x, %n)", "aten::add.Tensor"),
        ("(%x : Tensor, %n : Tensor): %y : Tensor = aten::max(%x, %n)", "aten::max.other"),
        ("(%x : Tensor, %n : bool): %y : Tensor = aten::gt(%x, %n)", "aten::gt.Scalar"),
        ("(%x : Float(2), %n : Float(2)): %y : Tensor = aten::gt(%x, %n)", "aten::gt.Tensor"),
    ],
)
def test_the_inputs_decide_which_overload_a_node_calls(text: str, name: str) -> None:
    node = parse_ir(f"graph{text} return (%y)").nodes[0]
    assert node.operator().name == name
    assert node.schema() is node.operator().schema


def test_a_node_that_calls_no_operator_lists_those_there_are() -> None:
    graph = Graph()
    node = graph.insert("aten::gt", [graph.add_input("x")]).node
    assert node.maybe_schema() is None
    with pytest.raises(
        ValueError, match=r"(?s)for aten::gt.  Argument types: Tensor\n\nCandidates:\n\taten::gt.Tensor\("
    ):
        node.schema()
    with pytest.raises(ValueError, match="Candidates: none; there is no operator of that name"):
        graph.insert("prim::If", [], BOOL).node.operator()


def test_the_kind_of_a_node_has_a_namespace() -> None:
    with pytest.raises(ValueError, match=r"such as aten::add; got 'aten::add\.Tensor'"):
        Graph().create("aten::add.Tensor")


def test_a_copy_prints_the_same_and_shares_nothing() -> None:
    graph = parse_ir(BRANCH)
    extra = graph.insert("aten::neg", [graph.inputs[0]])
    graph.insert("aten::exp", [extra]).node.source = SourceRange("a.py", 3, 4)
    extra.node.scope = "net"
    extra.replace_all_uses_with(graph.inputs[0])
    extra.node.destroy()  # so that numbers have a gap
    graph.insert_node(graph.create("prim::FusionGroup", [], 0, {"Subgraph": Graph()}))
    graph.free_name("x")
    copy = graph.copy()
    assert copy.free_name("x") == graph.free_name("x") == "x.3"
    text = str(graph)
    assert str(copy) == text
    lint(copy)
    mine = {id(part) for node in graph.all_nodes() for part in (node, *node.outputs, *node.blocks)}
    theirs = {id(part) for node in copy.all_nodes() for part in (node, *node.outputs, *node.blocks)}
    assert not mine & theirs
    inner = copy.find_all_nodes("prim::FusionGroup")[0].attributes["Subgraph"]
    inner.add_input("only_here")
    assert copy.insert("aten::neg", copy.outputs).unique == graph.insert("aten::neg", graph.outputs).unique
    assert "only_here" not in str(graph)


def test_a_clone_uses_what_the_map_says() -> None:
    graph = parse_ir(BRANCH)
    values = named(graph)
    clone = graph.insert_node(
        graph.create_clone(values["z"].node, lambda value: {values["y"]: values["x"]}.get(value, value))
    )
    assert [block.nodes[0].inputs for block in clone.blocks] == [(values["x"],), (values["x"],)]
    assert [block.nodes[0].kind for block in clone.blocks] == ["aten::relu", "aten::neg"]
    lint(graph)


def test_all_nodes_are_found_in_blocks_too() -> None:
    graph = parse_ir(BRANCH)
    assert [node.kind for node in graph.all_nodes()] == [
        "aten::relu", "prim::If", "aten::relu", "aten::neg",
    ]  # fmt: skip
    assert len(graph.find_all_nodes("aten::relu")) == 2


def test_a_block_may_be_taken_away() -> None:
    graph = parse_ir(BRANCH)
    branch = named(graph)["z"].node
    branch.erase_block(0)
    assert len(branch.blocks) == 1
    assert [use.user.kind for use in named(graph)["y"].uses] == ["aten::neg"]


def test_a_node_shows_itself_in_one_line() -> None:
    node: Node = chain(1)[0].nodes[0]
    assert repr(node) == "<Node %1 : Tensor = aten::relu(%x)>"
    assert repr(node.output) == "%1 : Tensor"


def test_lists_are_inserted_with_the_type_of_their_elements() -> None:
    graph, values = chain(1)
    built = graph.insert_list(TENSOR, values)
    assert (built.type, built.node.inputs) == (ListType(TENSOR), tuple(values))
    lint(graph)


def test_nodes_may_be_put_first() -> None:
    graph, values = chain(1)
    node = graph.prepend_node(graph.create("aten::neg", [values[0]]))
    assert graph.nodes == (node, values[1].node)
    lint(graph)
