"""Are pointwise operators merged where they may be, and nowhere else?"""

from __future__ import annotations

import sys

import pytest

import glasstorch
from glasstorch._tensor import wrapped_number
from glasstorch.jit import show_passes
from glasstorch.jit.alias_analysis import AliasAnalysis
from glasstorch.jit.interpreter import Code
from glasstorch.jit.ir import Graph, Node
from glasstorch.jit.passes.dead_code import eliminate_dead_code
from glasstorch.jit.passes.fuse_pointwise import followers, fuse_pointwise, is_fusible, may_fuse
from tests.jit.passes.texts import NONE, ONE, after, graph_of

INPUTS = "%x : Tensor, %y : Tensor, %n : int, %c : bool"
GROUP = "FusionGroup"
module = sys.modules[fuse_pointwise.__module__]


def left(nodes: str, returns: str) -> list[str]:
    return after(fuse_pointwise, graph_of(f"{ONE}\n{nodes}", returns, INPUTS))


def fused(nodes: str, returns: str) -> Graph:
    graph = graph_of(f"{ONE}\n{nodes}", returns, INPUTS)
    fuse_pointwise(graph)
    return graph


def inside(graph: Graph) -> list[list[str]]:
    """What each group has in it, without constants."""
    return [
        [n.kind.partition("::")[2] for n in group.attributes["Subgraph"].nodes if n.kind != "prim::Constant"]
        for group in graph.find_all_nodes("prim::FusionGroup")
    ]


CHAIN = "%a : Tensor = aten::neg(%x) %b : Tensor = aten::mul(%a, %y) %d : Tensor = aten::exp(%b)"


def test_a_chain_becomes_one_group() -> None:
    assert inside(fused(CHAIN, "%d")) == [["neg", "mul", "exp"]]


def test_a_group_takes_tensors_and_keeps_numbers() -> None:
    graph = fused("%a : Tensor = aten::sub(%x, %y, %one) %b : Tensor = aten::add(%a, %y, %one)", "%b")
    (group,) = graph.find_all_nodes("prim::FusionGroup")
    assert sorted(value.debug_name for value in group.inputs) == ["x", "y"]
    constants = group.attributes["Subgraph"].find_all_nodes("prim::Constant")
    assert [node.output.constant() for node in constants] == [1, 1]


def test_what_others_need_is_one_more_output() -> None:
    graph = fused(CHAIN, "%d, %a")
    (group,) = graph.find_all_nodes("prim::FusionGroup")
    assert [value.debug_name for value in group.outputs] == ["d", "a"]


def test_two_chains_that_meet_become_one_group() -> None:
    nodes = "%a : Tensor = aten::neg(%x) %b : Tensor = aten::exp(%y) %d : Tensor = aten::mul"
    for operands in ("(%a, %b)", "(%b, %a)"):
        assert inside(fused(nodes + operands, "%d")) == [["neg", "exp", "mul"]]


def test_an_operator_alone_stays() -> None:
    assert left("%a : Tensor = aten::neg(%x) %b : Tensor = aten::t(%a)", "%b") == ["neg", "t"]


def test_two_operators_that_share_only_an_input_stay() -> None:
    assert left("%a : Tensor = aten::neg(%x) %b : Tensor = aten::exp(%x)", "%a, %b") == ["neg", "exp"]


def test_groups_with_something_else_between_them_stay_two() -> None:
    nodes = f"{CHAIN} %m : Tensor = aten::mm(%d, %y) %e : Tensor = aten::neg(%m) %f : Tensor = aten::exp(%e)"
    assert left(nodes, "%f") == [GROUP, "mm", GROUP]


def test_no_group_needs_itself() -> None:
    """neg and add could be one loop, but for the product between them."""
    nodes = "%a : Tensor = aten::neg(%x) %m : Tensor = aten::mm(%a, %y) %b : Tensor = aten::add(%a, %m, %one)"
    assert left(nodes, "%b") == ["neg", "mm", "add"]


def test_no_group_needs_itself_by_way_of_another_member() -> None:
    nodes = (
        "%a : Tensor = aten::neg(%x) %b : Tensor = aten::exp(%a) %m : Tensor = aten::mm(%a, %y) "
        "%d : Tensor = aten::mul(%b, %m)"
    )
    assert left(nodes, "%d") == ["neg", "mm", GROUP]


def test_what_only_follows_waits_for_the_group() -> None:
    nodes = "%a : Tensor = aten::neg(%x) %m : Tensor = aten::mm(%a, %y) %b : Tensor = aten::exp(%a)"
    assert left(nodes, "%b, %m") == [GROUP, "mm"]


def test_a_group_takes_in_a_group_that_was_there() -> None:
    graph = fused(CHAIN, "%d, %a")
    (group,) = graph.find_all_nodes("prim::FusionGroup")
    squared = graph.insert("aten::mul", group.outputs)
    graph.register_output(squared)
    assert after(fuse_pointwise, graph) == [GROUP]
    assert inside(graph) == [["neg", "mul", "exp", "mul"]]
    x, y = glasstorch.randn(3), glasstorch.randn(3)
    *_, product = Code(graph)(x, y, 0, True)
    assert product.tolist() == ((x.neg() * y).exp() * x.neg()).tolist()


def test_what_waits_keeps_its_order() -> None:
    nodes = (
        "%a : Tensor = aten::neg(%x) %m : Tensor = aten::mm(%a, %y) %t : Tensor = aten::t(%m) "
        "%b : Tensor = aten::exp(%a)"
    )
    assert left(nodes, "%b, %t") == [GROUP, "mm", "t"]


def test_what_nobody_needs_makes_no_group() -> None:
    assert left("%a : Tensor = aten::neg(%x) %b : Tensor = aten::exp(%a)", "%x") == ["neg", "exp"]


# Memory that is written to -----------------------------------------------------------------------------------------


def test_operators_that_write_are_in_no_group() -> None:
    nodes = "%a : Tensor = aten::neg(%x) %b : Tensor = aten::relu_(%a) %d : Tensor = aten::exp(%b)"
    assert left(nodes, "%d") == ["neg", "relu_", "exp"]


def test_a_write_to_what_the_producer_gives_keeps_two_apart() -> None:
    nodes = "%a : Tensor = aten::neg(%x) %w : Tensor = aten::relu_(%a) %d : Tensor = aten::exp(%a)"
    assert left(nodes, "%d") == ["neg", "relu_", "exp"]


def test_a_write_to_what_the_producer_reads_keeps_two_apart() -> None:
    """exp reads what relu_ wrote, and relu_ may not be before neg."""
    nodes = "%a : Tensor = aten::neg(%x) %w : Tensor = aten::relu_(%x) %d : Tensor = aten::mul(%a, %x)"
    assert left(nodes, "%d") == ["neg", "relu_", "mul"]


def test_a_write_through_a_view_keeps_two_apart() -> None:
    nodes = (
        "%a : Tensor = aten::neg(%x) %v : Tensor = aten::t(%a) %w : Tensor = aten::relu_(%v) "
        "%d : Tensor = aten::exp(%a)"
    )
    assert left(nodes, "%d") == ["neg", "t", "relu_", "exp"]


def test_a_write_in_between_to_other_memory_does_not_matter() -> None:
    nodes = (
        f"{NONE}\n%o : Tensor = aten::clone(%x, %none) %a : Tensor = aten::neg(%x) %w : Tensor = aten::relu_(%o) "
        "%d : Tensor = aten::exp(%a)"
    )
    assert left(nodes, "%d, %o") == ["clone", "relu_", GROUP]


def test_a_write_to_what_the_producer_alone_reads_waits() -> None:
    nodes = (
        f"{NONE}\n%o : Tensor = aten::clone(%x, %none) %a : Tensor = aten::neg(%o) %w : Tensor = aten::relu_(%o) "
        "%d : Tensor = aten::exp(%a)"
    )
    assert left(nodes, "%d, %o") == ["clone", GROUP, "relu_"]


def test_random_numbers_are_drawn_in_order() -> None:
    """mul needs the second draw, and the first, which needs neg, may not come after it."""
    nodes = f"""{NONE}
      %low : float = prim::Constant[value=0.]()
      %high : float = prim::Constant[value=1.]()
      %size : int[] = prim::ListConstruct(%one)
      %a : Tensor = aten::neg(%x)
      %m : Tensor = aten::mm(%a, %y)
      %w : Tensor = aten::uniform_(%m, %low, %high, %none)
      %r : Tensor = aten::rand(%size, %none, %none, %none, %none)
      %d : Tensor = aten::mul(%a, %r)"""
    assert left(nodes, "%d") == ["ListConstruct", "neg", "mm", "uniform_", "rand", "mul"]


# Blocks and numbers --------------------------------------------------------------------------------------------------


def test_groups_do_not_reach_into_blocks() -> None:
    nodes = """%a : Tensor = aten::neg(%x)
      %r : Tensor = prim::If(%c)
        block0():
          %b : Tensor = aten::exp(%a)
          %d : Tensor = aten::neg(%b)
          -> (%d)
        block1():
          -> (%x)
      %e : Tensor = aten::exp(%r)"""
    graph = fused(nodes, "%e")
    assert [node.kind for node in graph.nodes if node.kind != "prim::Constant"] == [
        "aten::neg",
        "prim::If",
        "aten::exp",
    ]
    assert inside(graph) == [["exp", "neg"]]


def test_a_use_inside_a_block_is_a_use_in_between() -> None:
    nodes = """%a : Tensor = aten::neg(%x)
      %r : Tensor = prim::If(%c)
        block0():
          %b : Tensor = aten::t(%a)
          -> (%b)
        block1():
          -> (%x)
      %e : Tensor = aten::mul(%a, %r)"""
    assert left(nodes, "%e") == ["neg", "If", "t", "mul"]


def test_what_a_block_gives_is_used_by_it() -> None:
    nodes = """%a : Tensor = aten::neg(%x)
      %r : Tensor = prim::If(%c)
        block0():
          -> (%a)
        block1():
          -> (%x)
      %e : Tensor = aten::mul(%a, %r)"""
    assert left(nodes, "%e") == ["neg", "If", "mul"]


def test_a_write_inside_a_block_is_a_write_in_between() -> None:
    nodes = """%a : Tensor = aten::neg(%x)
      %r : Tensor = prim::If(%c)
        block0():
          %w : Tensor = aten::relu_(%x)
          -> (%y)
        block1():
          -> (%y)
      %e : Tensor = aten::mul(%a, %x)"""
    assert left(nodes, "%e, %r") == ["neg", "If", "relu_", "mul"]


def test_an_operator_with_a_number_that_is_not_known_stays() -> None:
    nodes = "%a : Tensor = aten::neg(%x) %b : Tensor = aten::add(%a, %y, %n)"
    assert left(nodes, "%b") == ["neg", "add"]


def test_an_operator_with_a_tensor_that_may_be_none_stays() -> None:
    graph = graph_of(
        "%a : Tensor = aten::neg(%x) %b : Tensor = aten::clamp(%a, %low, %x)", "%b", "%x : Tensor, %low : Tensor?"
    )
    assert after(fuse_pointwise, graph) == ["neg", "clamp"]


def test_a_tensor_that_is_a_constant_is_an_input() -> None:
    held = glasstorch.ones(2)
    traced = glasstorch.jit.trace(lambda x: (x * held + 1).exp(), glasstorch.zeros(2))
    graph = traced.graph.copy()
    fuse_pointwise(graph)
    (group,) = graph.find_all_nodes("prim::FusionGroup")
    assert [value.is_constant for value in group.inputs] == [False, True]
    held += 1
    assert Code(graph)(glasstorch.zeros(2))[0].tolist() == glasstorch.ones(2).exp().tolist()


def test_a_number_that_somebody_writes_to_is_an_input() -> None:
    number = wrapped_number(2.0)
    nodes = """%k : Tensor = prim::Constant[value=<Tensor>]()
      %a : Tensor = aten::mul(%x, %k)
      %b : Tensor = aten::exp(%a)"""
    for write, count in (("", 1), ("%w : Tensor = aten::relu_(%k)", 2)):
        graph = graph_of(f"{nodes} {write}", "%b", "%x : Tensor", [number])
        fuse_pointwise(graph)
        (group,) = graph.find_all_nodes("prim::FusionGroup")
        assert len(group.inputs) == count


# What decides ----------------------------------------------------------------------------------------------------


def nodes_of(nodes: str, returns: str) -> tuple[dict[str, Node], AliasAnalysis]:
    graph = graph_of(f"{ONE}\n{nodes}", returns, INPUTS)
    return {value.debug_name: node for node in graph.all_nodes() for value in node.outputs}, AliasAnalysis(graph)


def test_may_fuse_asks_for_an_output_that_the_consumer_uses() -> None:
    nodes, aliases = nodes_of(CHAIN, "%d")
    assert may_fuse(nodes["a"], nodes["b"], aliases)
    assert may_fuse(nodes["b"], nodes["d"], aliases)
    assert not may_fuse(nodes["a"], nodes["d"], aliases)
    assert not may_fuse(nodes["b"], nodes["a"], aliases)


def test_may_fuse_asks_that_both_are_pointwise() -> None:
    nodes, aliases = nodes_of("%a : Tensor = aten::neg(%x) %b : Tensor = aten::t(%a) %d : Tensor = aten::exp(%b)", "%d")
    assert not may_fuse(nodes["a"], nodes["b"], aliases)
    assert not may_fuse(nodes["b"], nodes["d"], aliases)


def test_may_fuse_asks_for_more_than_that_nothing_is_in_the_way() -> None:
    nodes, aliases = nodes_of("%a : Tensor = aten::neg(%x) %b : Tensor = aten::exp(%y)", "%a, %b")
    assert not may_fuse(nodes["a"], nodes["b"], aliases)


def test_views_and_writes_are_not_fusible() -> None:
    nodes, _ = nodes_of("%a : Tensor = aten::t(%x) %b : Tensor = aten::relu_(%a) %d : Tensor = aten::exp(%a)", "%b, %d")
    assert [name for name in "abd" if is_fusible(nodes[name])] == ["d"]


def test_groups_survive_other_passes() -> None:
    graph = fused(f"{CHAIN} %e : Tensor = aten::t(%d)", "%d")
    assert after(eliminate_dead_code, graph) == [GROUP]


def test_operators_without_a_loop_are_told() -> None:
    told: list[str] = []
    with show_passes(told.append):
        fused(f"{CHAIN} %e : Tensor = aten::t(%d)", "%e")
    assert told == ["fuse_pointwise: left %e : Tensor = aten::t(%d) as it is: no loop is known for it"]


def test_the_nodes_between_two_are_looked_at_twice_for_each_that_is_merged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def asked_for(length: int) -> int:
        """A chain that keeps every intermediate result, as derived gradients do."""
        nodes = ["%v0 : Tensor = aten::neg(%x)"]
        nodes += [f"%v{i} : Tensor = aten::mul(%v{i - 1}, %v{i // 2})" for i in range(1, length)]
        graph = graph_of("\n".join(nodes), f"%v{length - 1}", INPUTS)
        asked = []
        monkeypatch.setattr(module, "followers", lambda *between: asked.append(between) or followers(*between))
        fuse_pointwise(graph)
        assert inside(graph)[0].count("mul") == length - 1
        return len(asked)

    assert asked_for(80) == 2 * 79  # once to ask, once to merge


def test_constants_come_first_in_their_order_where_something_is_fused() -> None:
    nodes = (
        f"{NONE} %s : Tensor = aten::sum(%x, %none) %two : int = prim::Constant[value=2]() %a : Tensor = aten::neg(%x)"
    )
    graph = fused(
        f"{nodes} %three : int = prim::Constant[value=3]() %b : Tensor = aten::add(%a, %s, %two)", "%b, %three"
    )
    *constants, total, group = graph.nodes
    assert [node.output.constant() for node in constants] == [1, None, 2, 3]
    assert (total.kind, group.kind) == ("aten::sum", f"prim::{GROUP}")


def test_constants_stay_where_nothing_is_fused() -> None:
    nodes = f"{NONE} %s : Tensor = aten::sum(%x, %none) %three : int = prim::Constant[value=3]()"
    assert [node.kind for node in fused(nodes, "%s, %three").nodes][2:] == ["aten::sum", "prim::Constant"]
