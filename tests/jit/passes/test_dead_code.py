"""Does what nobody needs go, and all that somebody sees stay?"""

from __future__ import annotations

import pytest

from glasstorch.jit.passes.dead_code import eliminate_dead_code
from tests.jit.passes.texts import ONE, after, graph_of


def left(nodes: str, returns: str = "%r", inputs: str = "%x : Tensor, %y : Tensor, %n : int, %c : bool") -> list[str]:
    return after(eliminate_dead_code, graph_of(f"{ONE}\n{nodes}", returns, inputs))


def test_a_chain_that_nobody_uses_goes() -> None:
    assert left("%a : Tensor = aten::relu(%x) %b : Tensor = aten::neg(%a) %r : Tensor = aten::tanh(%x)") == ["tanh"]


def test_a_write_to_an_input_stays() -> None:
    assert left("%a : Tensor = aten::relu_(%x)", "%y") == ["relu_"]


def test_a_write_through_a_view_stays_while_the_base_is_used() -> None:
    nodes = "%r : Tensor = aten::neg(%x) %v : Tensor = aten::t(%r) %w : Tensor = aten::relu_(%v)"
    assert left(nodes) == ["neg", "t", "relu_"]


def test_a_write_after_the_last_use_goes() -> None:
    nodes = "%a : Tensor = aten::neg(%x) %r : Tensor = aten::tanh(%a) %w : Tensor = aten::relu_(%a)"
    assert left(nodes) == ["neg", "tanh"]


def test_a_write_before_the_last_use_stays() -> None:
    nodes = "%a : Tensor = aten::neg(%x) %w : Tensor = aten::relu_(%a) %r : Tensor = aten::tanh(%a)"
    assert left(nodes) == ["neg", "relu_", "tanh"]


def test_a_write_to_an_out_argument_stays_while_it_is_read() -> None:
    nodes = "%a : Tensor = aten::neg(%x) %w : Tensor = aten::exp(%y, %a) %r : Tensor = aten::tanh(%a)"
    assert left(nodes) == ["neg", "exp", "tanh"]


@pytest.mark.parametrize("view", ["aten::type_as(%a, %a)", "aten::contiguous(%a, %n)"])
def test_a_write_to_what_may_be_the_argument_itself_stays(view: str) -> None:
    nodes = (
        f"%a : Tensor = aten::neg(%x) %v : Tensor = {view} %w : Tensor = aten::relu_(%v) %r : Tensor = aten::tanh(%a)"
    )
    assert "relu_" in left(nodes)


def test_a_write_to_an_element_of_a_list_stays_while_the_list_is_used() -> None:
    nodes = (
        "%a : Tensor = aten::neg(%x) %l : Tensor[] = prim::ListConstruct(%a, %y) %w : Tensor = aten::relu_(%a)"
        " %r : Tensor = aten::stack(%l, %one)"
    )
    assert left(nodes) == ["neg", "ListConstruct", "relu_", "stack"]


def test_a_random_draw_stays_as_the_next_one_would_differ() -> None:
    nodes = (
        "%none : NoneType = prim::Constant() %s : int[] = prim::ListConstruct(%one)"
        " %a : Tensor = aten::rand(%s, %none, %none, %none, %none)"
    )
    assert left(nodes, "%x") == ["ListConstruct", "rand"]


def test_a_node_of_which_nothing_is_known_stays() -> None:
    assert left("%a : Tensor = aten::neg(%x) %u : Tensor = prim::Print(%a)", "%y") == ["neg", "Print"]


def test_an_output_of_an_if_that_nobody_uses_goes_from_both_blocks() -> None:
    graph = graph_of(
        "%r : Tensor, %q : Tensor = prim::If(%c)\n block0():\n %a : Tensor = aten::neg(%x)\n"
        " %b : Tensor = aten::relu(%x)"
        "\n -> (%a, %b)\n block1():\n -> (%x, %x)",
        "%r",
        "%x : Tensor, %c : bool",
    )
    assert after(eliminate_dead_code, graph) == ["If", "neg"]
    (node,) = graph.find_all_nodes("prim::If")
    assert len(node.outputs) == 1
    assert [len(block.outputs) for block in node.blocks] == [1, 1]


def test_an_if_that_only_writes_to_what_is_used_later_stays() -> None:
    nodes = (
        "%a : Tensor = aten::neg(%x) = prim::If(%c)\n block0():\n"
        " %w : Tensor = aten::relu_(%a)\n -> ()\n block1():\n -> ()"
    )
    assert left(nodes + "\n%r : Tensor = aten::tanh(%a)") == ["neg", "If", "relu_", "tanh"]
    assert left(nodes, "%x") == []


LOOP = """
%t : bool = prim::Constant[value=1]()
%k : Tensor = aten::clone(%x, %n2)
%r : Tensor, %q : Tensor = prim::Loop(%n, %t, %x, %k)
  block0(%i : int, %a : Tensor, %b : Tensor):
    {body}
    -> (%t, %a2, %b2)
"""


def test_what_a_loop_carries_only_for_itself_goes() -> None:
    body = "%a2 : Tensor = aten::neg(%a) %b2 : Tensor = aten::relu(%b)"
    assert left("%n2 : NoneType = prim::Constant()" + LOOP.format(body=body)) == ["Loop", "neg"]


def test_what_a_loop_carries_for_another_value_stays() -> None:
    body = "%a2 : Tensor = aten::mul(%a, %b) %b2 : Tensor = aten::relu(%b)"
    kinds = left("%n2 : NoneType = prim::Constant()" + LOOP.format(body=body))
    assert kinds == ["clone", "Loop", "mul", "relu"]


def test_a_write_at_the_end_of_a_body_stays_while_its_start_reads() -> None:
    body = "%a2 : Tensor = aten::mul(%a, %k) %w : Tensor = aten::relu_(%k) %b2 : Tensor = aten::relu(%b)"
    kinds = left("%n2 : NoneType = prim::Constant()" + LOOP.format(body=body))
    assert kinds == ["clone", "Loop", "mul", "relu_"]


def test_a_loop_that_gives_nothing_used_goes() -> None:
    body = "%a2 : Tensor = aten::neg(%a) %b2 : Tensor = aten::relu(%b)"
    assert left("%n2 : NoneType = prim::Constant()" + LOOP.format(body=body), "%x") == []
