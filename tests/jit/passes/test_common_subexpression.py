"""Is what was computed before used again, and never where somebody would see it?"""

from __future__ import annotations

import glasstorch
from glasstorch.jit.passes.common_subexpression import constant_key, eliminate_common_subexpressions
from tests.jit.passes.texts import NONE, ONE, after, graph_of

INPUTS = "%x : Tensor, %y : Tensor, %n : int, %c : bool"


def left(nodes: str, returns: str) -> list[str]:
    return after(eliminate_common_subexpressions, graph_of(f"{ONE}\n{nodes}", returns, INPUTS))


TWICE = "%a : Tensor = aten::neg(%x) %b : Tensor = aten::neg(%x)"


def test_the_second_of_two_equal_nodes_goes() -> None:
    assert left(f"{TWICE} %r : Tensor = aten::mul(%a, %b)", "%r") == ["neg", "mul"]


def test_what_follows_from_equal_nodes_is_equal_too() -> None:
    nodes = f"{TWICE} %d : Tensor = aten::exp(%a) %e : Tensor = aten::exp(%b) %r : Tensor = aten::mul(%d, %e)"
    assert left(nodes, "%r") == ["neg", "exp", "mul"]


def test_other_inputs_make_another_node() -> None:
    nodes = (
        "%a : Tensor = aten::sub(%x, %y, %one) %b : Tensor = aten::sub(%y, %x, %one) %r : Tensor = aten::mul(%a, %b)"
    )
    assert left(nodes, "%r") == ["sub", "sub", "mul"]


def test_two_results_for_the_caller_stay_two() -> None:
    assert left(TWICE, "%a, %b") == ["neg", "neg"]
    assert left(f"{TWICE} %v : Tensor = aten::t(%a)", "%v, %b") == ["neg", "neg", "t"]


def test_of_three_equal_nodes_two_results_for_the_caller_stay_two() -> None:
    nodes = f"{TWICE} %d : Tensor = aten::neg(%x) %r : Tensor = aten::exp(%a)"
    assert left(nodes, "%b, %d, %r") == ["neg", "neg", "exp"]


def test_nothing_is_merged_that_somebody_writes_to() -> None:
    kinds = left(f"{TWICE} %w : Tensor = aten::relu_(%b) %r : Tensor = aten::mul(%a, %b)", "%r")
    assert kinds == ["neg", "neg", "relu_", "mul"]


def test_nothing_is_merged_that_somebody_writes_to_through_a_view() -> None:
    kinds = left(
        f"{TWICE} %v : Tensor = aten::t(%b) %w : Tensor = aten::relu_(%v) %r : Tensor = aten::mul(%a, %b)", "%r"
    )
    assert kinds == ["neg", "neg", "t", "relu_", "mul"]


def test_nothing_is_merged_whose_input_changes_in_between() -> None:
    nodes = "%a : Tensor = aten::neg(%x) %w : Tensor = aten::relu_(%x) %b : Tensor = aten::neg(%x)"
    assert left(f"{nodes} %r : Tensor = aten::mul(%a, %b)", "%r") == ["neg", "relu_", "neg", "mul"]


def test_nothing_is_merged_whose_input_changes_through_another_input() -> None:
    nodes = "%a : Tensor = aten::neg(%x) %w : Tensor = aten::relu_(%y) %b : Tensor = aten::neg(%x)"
    assert left(f"{nodes} %r : Tensor = aten::mul(%a, %b)", "%r") == ["neg", "relu_", "neg", "mul"]


def test_random_draws_are_not_merged() -> None:
    draw = "aten::rand(%s, %none, %none, %none, %none)"
    nodes = f"{NONE} %s : int[] = prim::ListConstruct(%one) %a : Tensor = {draw} %b : Tensor = {draw}"
    kinds = left(f"{nodes} %r : Tensor = aten::mul(%a, %b)", "%r")
    assert kinds == ["ListConstruct", "rand", "rand", "mul"]


def test_a_block_uses_what_was_computed_around_it() -> None:
    nodes = (
        "%a : Tensor = aten::neg(%x) %q : Tensor = prim::If(%c)\n block0():\n %b : Tensor = aten::neg(%x)"
        " %e : Tensor = aten::exp(%b)\n -> (%e)\n block1():\n -> (%a)\n %r : Tensor = aten::exp(%q)"
    )
    assert left(nodes, "%r") == ["neg", "If", "exp", "exp"]


def test_nothing_outside_uses_what_a_block_computed() -> None:
    nodes = (
        "%q : Tensor = prim::If(%c)\n block0():\n %a : Tensor = aten::neg(%x)\n -> (%a)\n block1():\n"
        " %d : Tensor = aten::neg(%x)\n -> (%d)\n %b : Tensor = aten::neg(%x) %r : Tensor = aten::mul(%q, %b)"
    )
    assert left(nodes, "%r") == ["If", "neg", "neg", "neg", "mul"]


def test_equal_constants_are_merged_and_unequal_ones_are_not() -> None:
    graph = graph_of(
        "%a : int = prim::Constant[value=1]() %b : bool = prim::Constant[value=1]()"
        " %d : int = prim::Constant[value=1]()"
        " %e : float = prim::Constant[value=1.]()",
        "%a, %b, %d, %e",
    )
    assert eliminate_common_subexpressions(graph)
    assert [value.constant() for value in graph.outputs] == [1, True, 1, 1.0]
    assert len(graph.find_all_nodes("prim::Constant")) == 3


def test_constants_are_equal_to_the_bit() -> None:
    assert constant_key(0.0) != constant_key(-0.0)
    assert constant_key(1) != constant_key(True)
    assert constant_key([1, 2]) != constant_key((1, 2))
    assert constant_key(float("nan")) == constant_key(float("nan"))
    tensor = glasstorch.ones(2)
    assert constant_key(tensor) == constant_key(tensor)
    assert constant_key(tensor) != constant_key(glasstorch.ones(2))
