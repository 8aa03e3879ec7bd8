"""Is every rule of a graph kept by sound graphs, and does it refuse the damage that it is about?"""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

import glasstorch
from glasstorch.jit.ir import Graph, Use, Value
from glasstorch.jit.parser import parse_ir
from glasstorch.jit.types import FLOAT, INT, TENSOR, ListType, TupleType
from glasstorch.jit.verify import RULES, LintError, lint

# Every kind of node, branches in a loop, values used from outside of blocks.
SOUND = """graph(%x : Tensor,
      %c : bool,
      %n : int):
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %y : Tensor = aten::add(%x, %x, %one)
  %list : Tensor[] = prim::ListConstruct(%x, %y)
  %dim : int = prim::Constant[value=0]()
  %cat : Tensor = aten::cat(%list, %dim)
  %z : Tensor = prim::Loop(%n, %c, %cat)
    block0(%i : int, %carried : Tensor):
      %branch : Tensor = prim::If(%c)
        block0():
          %relu : Tensor = aten::relu(%carried)
          -> (%relu)
        block1():
          -> (%y)
      -> (%c, %branch)
  %pair : (Tensor, int) = prim::TupleConstruct(%z, %n)
  %first : Tensor, %second : int = prim::TupleUnpack(%pair)
  %a : Tensor, %b : Tensor = prim::ListUnpack(%list)
   = prim::Print(%a, %second)
  %grouped : Tensor = prim::FusionGroup_0(%b)
  %max : Tensor, %where : Tensor = aten::max(%grouped, %dim, %c)
  return (%first, %max)
with prim::FusionGroup_0 = graph(%0 : Tensor):
  %1 : Tensor = aten::neg(%0)
  %2 : Tensor = aten::exp(%1)
  return (%2)
"""


def sound() -> tuple[Graph, Callable[[str], Value]]:
    graph = parse_ir(SOUND)
    return graph, lambda name: graph.names[name]


def test_a_sound_graph_keeps_every_rule() -> None:
    graph, _ = sound()
    lint(graph)
    graph.lint()
    lint(Graph())


# Ten ways to damage what hangs together, past the edits that would refuse them, and more of each rule about kinds.


def unlink_backwards(graph: Graph, value: Callable[[str], Value]) -> None:
    value("cat").node._previous = value("y").node


def cut_the_ring(graph: Graph, value: Callable[[str], Value]) -> None:
    value("cat").node._next = None


def tie_a_knot(graph: Graph, value: Callable[[str], Value]) -> None:
    early, late = value("y").node, value("cat").node
    late._next, early._previous = early, late


def forget_the_block(graph: Graph, value: Callable[[str], Value]) -> None:
    value("relu").node.owning_block = graph.block


def forget_the_graph(graph: Graph, value: Callable[[str], Value]) -> None:
    value("y").node.graph = Graph()


def give_a_block_to_another(graph: Graph, value: Callable[[str], Value]) -> None:
    value("branch").node.blocks[0].owning_node = value("z").node


def swap_positions(graph: Graph, value: Callable[[str], Value]) -> None:
    a, b = value("y").node, value("cat").node
    a._position, b._position = b._position, a._position


def put_a_return_in_the_middle(graph: Graph, value: Callable[[str], Value]) -> None:
    graph.insert_node(graph.create("prim::Return", [], 0))


def rename_the_end(graph: Graph, value: Callable[[str], Value]) -> None:
    graph.return_node.kind = "prim::Print"


def give_the_parameters_an_input(graph: Graph, value: Callable[[str], Value]) -> None:
    graph.param_node.add_input(value("x"))


def claim_another_node(graph: Graph, value: Callable[[str], Value]) -> None:
    value("y").node = value("cat").node


def swap_outputs(graph: Graph, value: Callable[[str], Value]) -> None:
    value("max").node._outputs.reverse()


def use_before_it_is_made(graph: Graph, value: Callable[[str], Value]) -> None:
    value("y").node.replace_input(0, value("cat"))


def use_from_inside_a_block(graph: Graph, value: Callable[[str], Value]) -> None:
    graph.replace_output(0, value("relu"))


def use_its_own_output_inside(graph: Graph, value: Callable[[str], Value]) -> None:
    value("relu").node.replace_input(0, value("z"))


def use_a_destroyed_value(graph: Graph, value: Callable[[str], Value]) -> None:
    value("y").node._unlink()


def forget_a_use(graph: Graph, value: Callable[[str], Value]) -> None:
    value("x")._uses.pop()


def repeat_a_use(graph: Graph, value: Callable[[str], Value]) -> None:
    value("x")._uses.append(value("x")._uses[0])


def invent_a_use(graph: Graph, value: Callable[[str], Value]) -> None:
    value("none")._uses.append(Use(graph.return_node, 0))


def change_an_input_behind_its_back(graph: Graph, value: Callable[[str], Value]) -> None:
    value("y").node._inputs[0] = value("c")


def take_a_name_twice(graph: Graph, value: Callable[[str], Value]) -> None:
    value("y")._name = "x"


def take_a_number_twice(graph: Graph, value: Callable[[str], Value]) -> None:
    value("y").unique = value("x").unique


def keep_a_name_without_a_value(graph: Graph, value: Callable[[str], Value]) -> None:
    graph.names["gone"] = value("x")


def name_past_the_graph(graph: Graph, value: Callable[[str], Value]) -> None:
    value("y")._name = "unlisted"


def invent_a_kind(graph: Graph, value: Callable[[str], Value]) -> None:
    value("cat").node.kind = "prim::Guess"


def give_blocks_to_an_operator(graph: Graph, value: Callable[[str], Value]) -> None:
    value("cat").node.add_block()


def change_the_type_of_a_constant(graph: Graph, value: Callable[[str], Value]) -> None:
    value("one").type = FLOAT


def lose_the_value_of_a_constant(graph: Graph, value: Callable[[str], Value]) -> None:
    del value("one").node.attributes["value"]


def give_none_a_value(graph: Graph, value: Callable[[str], Value]) -> None:
    value("none").node.attributes["value"] = 1


def give_a_constant_an_input(graph: Graph, value: Callable[[str], Value]) -> None:
    value("dim").node.add_input(value("x"))


def put_a_bool_where_an_int_is_said(graph: Graph, value: Callable[[str], Value]) -> None:
    value("one").node.attributes["value"] = True


def put_a_number_in_a_list_of_tensors(graph: Graph, value: Callable[[str], Value]) -> None:
    value("list").node.replace_input(0, value("one"))


def make_a_list_a_tensor(graph: Graph, value: Callable[[str], Value]) -> None:
    value("list").type = TENSOR


def say_too_much_of_a_tuple(graph: Graph, value: Callable[[str], Value]) -> None:
    value("pair").type = TupleType((TENSOR, INT, INT))


def unpack_a_list_to_numbers(graph: Graph, value: Callable[[str], Value]) -> None:
    value("a").type = INT


def unpack_a_tuple_to_less(graph: Graph, value: Callable[[str], Value]) -> None:
    value("second").node.add_output(INT)


def branch_on_a_number(graph: Graph, value: Callable[[str], Value]) -> None:
    value("branch").node.replace_input(0, value("n"))


def lose_a_branch(graph: Graph, value: Callable[[str], Value]) -> None:
    value("branch").node.erase_block(1)


def give_another_type_from_a_branch(graph: Graph, value: Callable[[str], Value]) -> None:
    value("branch").node.blocks[1].replace_output(0, value("one"))


def loop_on_a_tensor(graph: Graph, value: Callable[[str], Value]) -> None:
    value("z").node.replace_input(0, value("x"))


def lose_the_condition(graph: Graph, value: Callable[[str], Value]) -> None:
    value("z").node.blocks[0].replace_output(0, value("one"))


def carry_another_type(graph: Graph, value: Callable[[str], Value]) -> None:
    value("z").node.replace_input(2, value("one"))


def carry_more_than_is_given(graph: Graph, value: Callable[[str], Value]) -> None:
    value("z").node.add_input(value("x"))


def call_an_operator_with_too_little(graph: Graph, value: Callable[[str], Value]) -> None:
    value("y").node.remove_input(2)


def call_an_operator_that_is_not_there(graph: Graph, value: Callable[[str], Value]) -> None:
    value("relu").node.kind = "aten::relux"


def give_an_operator_another_result(graph: Graph, value: Callable[[str], Value]) -> None:
    value("relu").node.add_output(TENSOR)


def give_an_operator_a_result_of_another_type(graph: Graph, value: Callable[[str], Value]) -> None:
    value("max").type = ListType(TENSOR)


def lose_the_subgraph(graph: Graph, value: Callable[[str], Value]) -> None:
    del value("grouped").node.attributes["Subgraph"]


def contain_itself(graph: Graph, value: Callable[[str], Value]) -> None:
    value("grouped").node.attributes["Subgraph"] = graph


def ask_a_subgraph_for_more(graph: Graph, value: Callable[[str], Value]) -> None:
    value("grouped").node.attributes["Subgraph"].add_input()


def hang_a_subgraph_on_an_operator(graph: Graph, value: Callable[[str], Value]) -> None:
    value("cat").node.attributes["Subgraph"] = Graph()


def damage_the_subgraph(graph: Graph, value: Callable[[str], Value]) -> None:
    inner = value("grouped").node.attributes["Subgraph"]
    inner.nodes[0].move_after(inner.nodes[1])


DAMAGE = {
    "nodes_form_a_ring": [unlink_backwards, cut_the_ring, tie_a_knot],
    "nodes_know_their_block": [forget_the_block, forget_the_graph, give_a_block_to_another],
    "positions_ascend": [swap_positions],
    "param_and_return_are_the_ends": [put_a_return_in_the_middle, rename_the_end, give_the_parameters_an_input],
    "outputs_know_their_node": [claim_another_node, swap_outputs],
    "inputs_are_made_before": [
        use_before_it_is_made,
        use_from_inside_a_block,
        use_its_own_output_inside,
        use_a_destroyed_value,
        damage_the_subgraph,
    ],
    "uses_match_inputs": [forget_a_use, repeat_a_use, invent_a_use, change_an_input_behind_its_back],
    "names_are_unique": [take_a_name_twice, take_a_number_twice, keep_a_name_without_a_value, name_past_the_graph],
    "kinds_are_known": [invent_a_kind, give_blocks_to_an_operator],
    "constants_have_their_value": [
        change_the_type_of_a_constant,
        lose_the_value_of_a_constant,
        give_none_a_value,
        give_a_constant_an_input,
        put_a_bool_where_an_int_is_said,
    ],
    "containers_fit_their_elements": [
        put_a_number_in_a_list_of_tensors,
        make_a_list_a_tensor,
        say_too_much_of_a_tuple,
        unpack_a_list_to_numbers,
        unpack_a_tuple_to_less,
    ],
    "branches_fit": [branch_on_a_number, lose_a_branch, give_another_type_from_a_branch],
    "loops_fit": [loop_on_a_tensor, lose_the_condition, carry_another_type, carry_more_than_is_given],
    "operators_take_their_inputs": [
        call_an_operator_with_too_little,
        call_an_operator_that_is_not_there,
        give_an_operator_another_result,
        give_an_operator_a_result_of_another_type,
    ],
    "subgraphs_fit": [lose_the_subgraph, contain_itself, ask_a_subgraph_for_more, hang_a_subgraph_on_an_operator],
}


@pytest.mark.parametrize(
    ("rule", "damage"), [(rule, damage) for rule, all_damage in DAMAGE.items() for damage in all_damage]
)
def test_damage_is_refused_by_the_rule_about_it(
    rule: str, damage: Callable[[Graph, Callable[[str], Value]], None]
) -> None:
    graph, value = sound()
    damage(graph, value)
    with pytest.raises(LintError, match=rf"^{rule}: .*\. The rule: ") as raised:
        lint(graph)
    assert raised.value.rule == rule


def test_there_is_damage_for_every_rule() -> None:
    assert list(DAMAGE) == [rule.__name__ for rule in RULES]


def test_every_rule_is_stated_in_one_sentence() -> None:
    assert [rule.__name__ for rule in RULES if not (rule.__doc__ or "").endswith(".")] == []


def test_a_tensor_constant_fits_its_type_whether_or_not_it_requires_a_gradient() -> None:
    graph = Graph()
    weight = glasstorch.ones(2)
    constant = graph.insert_constant(weight)
    weight.requires_grad_()
    lint(graph)
    constant.node.attributes["value"] = glasstorch.ones(3)
    with pytest.raises(LintError, match="constants_have_their_value"):
        lint(graph)


def test_a_lint_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(LintError("a: b", "a")))
    assert (str(error), error.rule) == ("a: b", "a")
