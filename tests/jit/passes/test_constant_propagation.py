"""Is what is known computed once, and nothing that must be computed each time?"""

from __future__ import annotations

import glasstorch
from glasstorch.jit.interpreter import Code
from glasstorch.jit.passes.constant_propagation import propagate_constants
from tests.jit.passes.texts import NONE, ONE, after, graph_of

HEAD = f"""{ONE} {NONE}
%yes : bool = prim::Constant[value=1]() %no : bool = prim::Constant[value=0]()
%s : int[] = prim::Constant[value=[2]]() %k : Tensor = aten::ones(%s, %none, %none, %none, %none)"""


def left(nodes: str, returns: str = "%r") -> list[str]:
    return after(propagate_constants, graph_of(f"{HEAD}\n{nodes}", returns, "%x : Tensor, %n : int, %c : bool"))


def test_an_operator_on_constants_becomes_a_constant() -> None:
    graph = graph_of(f"{HEAD} %q : Tensor = aten::neg(%k) %r : Tensor = aten::mul(%q, %x)", "%r")
    assert after(propagate_constants, graph) == ["mul"]
    folded = graph.find_all_nodes("aten::mul")[0].inputs[0].constant()
    assert folded.tolist() == [-1.0, -1.0]
    assert str(graph.find_all_nodes("aten::mul")[0].inputs[0].type).startswith("Float(2")


def test_several_results_become_several_constants() -> None:
    nodes = "%zero : int = prim::Constant[value=0]() %q : Tensor, %i : Tensor = aten::max(%k, %zero, %no)"
    assert left(f"{nodes} %r : Tensor = aten::mul(%q, %i)") == ["mul"]


def test_numbers_become_constants() -> None:
    graph = graph_of(f"{HEAD} %r : bool = aten::equal(%k, %k)", "%r")
    assert after(propagate_constants, graph) == []
    assert graph.outputs[0].constant() is True


def test_what_the_caller_gets_is_made_anew_in_each_run() -> None:
    graph = graph_of(f"{HEAD} %v : Tensor = aten::t(%k)", "%v")
    assert after(propagate_constants, graph) == ["ones", "t"]
    first, second = (
        Code(graph)(glasstorch.ones(1), glasstorch.ones(1)),
        Code(graph)(glasstorch.ones(1), glasstorch.ones(1)),
    )
    first[0].zero_()
    assert second[0].tolist() == [1.0, 1.0]


def test_what_somebody_writes_to_is_not_folded() -> None:
    assert left("%w : Tensor = aten::add_(%k, %x, %one) %r : Tensor = aten::neg(%k)") == ["ones", "add_", "neg"]
    kinds = left("%v : Tensor = aten::t(%k) %w : Tensor = aten::relu_(%v) %r : Tensor = aten::neg(%k)")
    assert kinds == ["ones", "t", "relu_", "neg"]


def test_random_and_uninitialised_memory_is_not_folded() -> None:
    for call in ("rand(%s, %none, %none, %none, %none)", "empty(%s, %none, %none, %none, %none, %none)"):
        kinds = left(f"%q : Tensor = aten::{call} %r : Tensor = aten::mul(%q, %x)")
        assert kinds == [call.partition("(")[0], "mul"]


def test_what_fails_stays_and_fails_in_the_run() -> None:
    kinds = left("%q : Tensor = aten::select(%k, %one, %one) %r : Tensor = aten::mul(%q, %x)")
    assert kinds == ["select", "mul"]


def test_what_requires_a_gradient_is_not_folded() -> None:
    weight = glasstorch.ones(2, requires_grad=True)
    nodes = "%w : Tensor = prim::Constant[value=<Tensor>]() %q : Tensor = aten::neg(%w) %r : Tensor = aten::mul(%q, %x)"
    assert after(propagate_constants, graph_of(nodes, "%r", constants=[weight])) == ["neg", "mul"]
    assert after(propagate_constants, graph_of(nodes, "%r", constants=[weight.detach()])) == ["mul"]


BRANCH = "%r : Tensor = prim::If({})\n block0():\n %a : Tensor = aten::neg(%x)\n -> (%a)\n block1():\n -> (%x)"


def test_the_branch_that_is_taken_takes_the_place_of_the_if() -> None:
    assert left(BRANCH.format("%yes"), "%r, %k") == ["ones", "neg"]
    assert left(BRANCH.format("%no"), "%r, %k") == ["ones"]
    assert left(BRANCH.format("%c"), "%r, %k") == ["ones", "If", "neg"]


def test_what_the_chosen_branch_knows_is_folded() -> None:
    nodes = "%q : Tensor = prim::If(%yes)\n block0():\n %a : Tensor = aten::neg(%k)\n -> (%a)\n block1():\n -> (%k)"
    assert left(f"{nodes}\n%r : Tensor = aten::mul(%q, %x)") == ["mul"]


def test_what_a_branch_gives_the_caller_is_not_folded() -> None:
    nodes = "%r : Tensor = prim::If(%yes)\n block0():\n %a : Tensor = aten::neg(%k)\n -> (%a)\n block1():\n -> (%x)"
    assert left(nodes) == ["neg"]


LOOP = "%r : Tensor = prim::Loop({})\n block0(%i : int, %a : Tensor):\n %b : Tensor = aten::neg(%a)\n -> (%yes, %b)"


def test_a_loop_that_never_starts_goes() -> None:
    zero = "%zero : int = prim::Constant[value=0]()\n"
    assert left(zero + LOOP.format("%zero, %c, %x"), "%r, %k") == ["ones"]
    assert left(LOOP.format("%n, %no, %x"), "%r, %k") == ["ones"]
    assert left(LOOP.format("%one, %yes, %x"), "%r, %k") == ["ones", "Loop", "neg"]
