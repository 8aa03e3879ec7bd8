"""Are those nodes grouped for their gradient that can be, and does the graph compute the same?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from glasstorch.jit.interpreter import Code
from glasstorch.jit.ir import Graph
from glasstorch.jit.parser import parse_ir
from glasstorch.jit.passes.create_autodiff_subgraphs import GROUP, create_autodiff_subgraphs, may_be_differentiated

HEAD = """graph(%x : Tensor, %y : Tensor):
  %none : NoneType = prim::Constant()
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %yes : bool = prim::Constant[value=1]()
  %size : int[] = prim::ListConstruct(%two, %two)
"""


def program(body: str, returned: str) -> Graph:
    lines = "\n".join(f"  {line.strip()}" for line in body.strip().splitlines())
    return parse_ir(f"{HEAD}{lines}\n  return ({returned})\n")


def kinds(graph: Graph) -> list[str]:
    quiet = ("prim::Constant", "prim::ListConstruct")
    return [node.kind.partition("::")[2] for node in graph.nodes if node.kind not in quiet]


def grouped(graph: Graph) -> list[list[str]]:
    """What each group of a graph holds."""
    return [kinds(node.attributes["Subgraph"]) for node in graph.find_all_nodes(GROUP)]


def outcome(graph: Graph) -> list[Any]:
    glasstorch.manual_seed(0)
    x, y = (glasstorch.rand(2, 2, requires_grad=True) for _ in range(2))
    results = Code(graph)(x, y)
    wanted = [result for result in results if result.requires_grad]
    sum(result.sum() for result in wanted).backward()  # type: ignore[union-attr]
    return [[r.tolist() for r in results], *(t.grad.tolist() for t in (x, y) if t.grad is not None)]


# body, outputs, the graph's nodes afterwards, the nodes of its groups
CASES: dict[str, tuple[str, str, list[str], list[list[str]]]] = {
    "all nodes of a pure graph": (
        """%a : Tensor = aten::mul(%x, %y)
           %b : Tensor = aten::exp(%a)
           %c : Tensor = aten::sum(%b, %none)""",
        "%c",
        ["DifferentiableGraph"],
        [["mul", "exp", "sum"]],
    ),
    "values used outside are its outputs": (
        """%a : Tensor = aten::mul(%x, %y)
           %b : Tensor = aten::exp(%a)""",
        "%a, %b",
        ["DifferentiableGraph"],
        [["mul", "exp"]],
    ),
    "parts that share no values are apart": (
        """%a : Tensor = aten::exp(%x)
           %c : Tensor = aten::sin(%y)
           %b : Tensor = aten::neg(%a)
           %d : Tensor = aten::neg(%c)""",
        "%b, %d",
        ["DifferentiableGraph", "DifferentiableGraph"],
        [["exp", "neg"], ["sin", "neg"]],
    ),
    "a single node is left": ("%a : Tensor = aten::mul(%x, %y)", "%a", ["mul"], []),
    "a write stays, and nothing passes it": (
        """%a : Tensor = aten::mul(%x, %y)
           %b : Tensor = aten::neg(%a)
           %c : Tensor = aten::exp_(%b)
           %d : Tensor = aten::sin(%c)
           %e : Tensor = aten::neg(%d)""",
        "%e",
        ["DifferentiableGraph", "exp_", "DifferentiableGraph"],
        [["mul", "neg"], ["sin", "neg"]],
    ),
    "a draw of random numbers stays": (
        """%a : Tensor = aten::mul(%x, %y)
           %b : Tensor = aten::neg(%a)
           %r : Tensor = aten::rand(%size, %none, %none, %none, %none)
           %c : Tensor = aten::mul(%b, %r)
           %d : Tensor = aten::sin(%c)""",
        "%d",
        ["DifferentiableGraph", "rand", "DifferentiableGraph"],
        [["mul", "neg"], ["mul", "sin"]],
    ),
    "a view inside": (
        """%t : Tensor = aten::t(%x)
           %a : Tensor = aten::mul(%t, %y)
           %v : Tensor = aten::t(%a)
           %b : Tensor = aten::exp(%v)""",
        "%b",
        ["DifferentiableGraph"],
        [["t", "mul", "t", "exp"]],
    ),
    "a view that escapes stays outside": (
        """%a : Tensor = aten::mul(%x, %y)
           %b : Tensor = aten::exp(%a)
           %v : Tensor = aten::t(%b)""",
        "%v",
        ["DifferentiableGraph", "t"],
        [["mul", "exp"]],
    ),
    "a view that escapes cuts a group in two": (
        """%a : Tensor = aten::mul(%x, %y)
           %b : Tensor = aten::exp(%a)
           %v : Tensor = aten::t(%b)
           %c : Tensor = aten::sin(%v)
           %d : Tensor = aten::neg(%c)""",
        "%v, %d",
        ["DifferentiableGraph", "t", "DifferentiableGraph"],
        [["mul", "exp"], ["sin", "neg"]],
    ),
    "what comes back by way of another node is apart": (
        """%a : Tensor = aten::mul(%x, %y)
           %b : Tensor = aten::exp(%a)
           %n : Tensor = aten::nonzero(%b)
           %k : Tensor = aten::sum(%n, %none)
           %c : Tensor = aten::mul(%b, %k)
           %d : Tensor = aten::neg(%c)""",
        "%d",
        ["DifferentiableGraph", "nonzero", "DifferentiableGraph"],
        [["mul", "exp"], ["sum", "mul", "neg"]],
    ),
    "lists of tensors are inside": (
        """%a : Tensor = aten::mul(%x, %y)
           %all : Tensor[] = prim::ListConstruct(%a, %x)
           %b : Tensor = aten::cat(%all, %zero)
           %parts : Tensor[] = aten::chunk(%b, %two, %zero)
           %c : Tensor, %d : Tensor = prim::ListUnpack(%parts)
           %e : Tensor = aten::mul(%c, %d)""",
        "%e",
        ["DifferentiableGraph"],
        [["mul", "cat", "chunk", "ListUnpack", "mul"]],
    ),
    "a piece of a list that escapes keeps the list outside": (
        """%a : Tensor = aten::mul(%x, %y)
           %b : Tensor = aten::exp(%a)
           %parts : Tensor[] = aten::chunk(%b, %two, %zero)
           %c : Tensor, %d : Tensor = prim::ListUnpack(%parts)""",
        "%c, %d",
        ["DifferentiableGraph", "chunk", "ListUnpack"],
        [["mul", "exp"]],
    ),
    "a list used inside and outside": (
        """%a : Tensor = aten::mul(%x, %y)
           %all : Tensor[] = prim::ListConstruct(%a, %x)
           %b : Tensor = aten::cat(%all, %zero)
           %c : Tensor, %d : Tensor = prim::ListUnpack(%all)""",
        "%b, %c, %d",
        ["DifferentiableGraph", "ListUnpack"],
        [["mul", "cat"]],
    ),
    "what is made without tensors is outside": (
        """%o : Tensor = aten::ones(%size, %none, %none, %none, %none)
           %a : Tensor = aten::mul(%x, %o)
           %b : Tensor = aten::mul(%a, %y)""",
        "%b",
        ["ones", "DifferentiableGraph"],
        [["mul", "mul"]],
    ),
    "a result that may be an argument escapes": (
        """%a : Tensor = aten::mul(%x, %y)
           %b : Tensor = aten::exp(%a)
           %c : Tensor = aten::type_as(%b, %x)""",
        "%c, %b",
        ["DifferentiableGraph", "type_as"],
        [["mul", "exp"]],
    ),
    "a branch that writes keeps its place": (
        """%w : Tensor = aten::clone(%y, %none)
           %a : Tensor = aten::add(%x, %w, %one)
           %b : Tensor = aten::exp(%a)
           %u : Tensor = prim::If(%yes)
             block0():
               %v : Tensor = aten::zero_(%w)
               -> (%v)
             block1():
               -> (%w)
           %c : Tensor = aten::mul(%b, %w)
           %d : Tensor = aten::sin(%c)""",
        "%d",
        ["DifferentiableGraph", "If", "DifferentiableGraph"],
        [["clone", "add", "exp"], ["mul", "sin"]],
    ),
    "memory as it was found is outside": (
        """%e : Tensor = aten::empty_like(%x, %none, %none, %none, %none, %none)
           %z : Tensor = aten::mul(%e, %y)
           %m : Tensor = aten::zeros_like(%z, %none, %none, %none, %none, %none)
           %a : Tensor = aten::mul(%x, %m)
           %b : Tensor = aten::mul(%a, %y)""",
        "%b",
        ["empty_like", "DifferentiableGraph"],
        [["mul", "zeros_like", "mul", "mul"]],
    ),
    "inside of a branch": (
        """%b : Tensor = prim::If(%yes)
             block0():
               %a : Tensor = aten::mul(%x, %y)
               %c : Tensor = aten::exp(%a)
               -> (%c)
             block1():
               -> (%x)""",
        "%b",
        ["If"],
        [["mul", "exp"]],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_groups(case: str) -> None:
    body, returned, left, groups = CASES[case]
    graph = program(body, returned)
    before = outcome(graph)
    assert create_autodiff_subgraphs(graph) == bool(groups)
    graph.lint()
    assert kinds(graph) == left
    assert grouped(graph) == groups
    assert outcome(graph) == before
    assert not create_autodiff_subgraphs(graph)
    text = str(graph)
    assert str(parse_ir(text)) == text


def test_the_threshold_is_the_smallest_group() -> None:
    body, returned, _, _ = CASES["all nodes of a pure graph"]
    assert not create_autodiff_subgraphs(program(body, returned), threshold=4)
    unpacking = """%parts : Tensor[] = aten::chunk(%x, %two, %zero)
                   %c : Tensor, %d : Tensor = prim::ListUnpack(%parts)
                   %e : Tensor = aten::mul(%c, %d)"""
    assert not create_autodiff_subgraphs(program(unpacking, "%e"), threshold=3)
    assert create_autodiff_subgraphs(program(unpacking, "%e"), threshold=2)
    graph = program("%a : Tensor = aten::mul(%x, %y)", "%a")
    assert create_autodiff_subgraphs(graph, threshold=1)
    assert grouped(graph) == [["mul"]]


def test_a_tensor_constant_with_sizes_is_an_input_and_a_number_is_inside() -> None:
    constant = glasstorch.ones(2, 2)
    traced = glasstorch.jit.trace(lambda x: (x * constant + 1).exp(), glasstorch.rand(2, 2))
    graph = traced.graph.copy()
    create_autodiff_subgraphs(graph)
    (node,) = graph.find_all_nodes(GROUP)
    assert len(node.inputs) == 2
    inside = [n.output.constant() for n in node.attributes["Subgraph"].find_all_nodes("prim::Constant")]
    assert [value.tolist() for value in inside if isinstance(value, glasstorch.Tensor)] == [1]


def test_outputs_keep_their_names_and_places() -> None:
    graph = program("%a : Tensor = aten::mul(%x, %y)\n  %named : Tensor = aten::exp(%a)", "%named")
    graph.find_all_nodes("aten::mul")[0].source = place = glasstorch.jit.ir.SourceRange("model.py", 3, 0)
    create_autodiff_subgraphs(graph)
    (node,) = graph.find_all_nodes(GROUP)
    assert node.output.debug_name == "named"
    assert node.source == place


def test_a_list_that_a_node_before_the_group_uses_stays_before_it() -> None:
    graph = program(
        """%made : Tensor = aten::ones(%size, %none, %none, %none, %none)
        %a : Tensor = aten::reshape(%made, %size)
        %b : Tensor = aten::mul(%a, %a)""",
        "%b",
    )
    assert create_autodiff_subgraphs(graph)
    assert kinds(graph) == ["ones", "DifferentiableGraph"]
    assert grouped(graph) == [["reshape", "mul"]]


def test_what_is_printed_is_printed_where_it_was() -> None:
    graph = program(
        """%a : Tensor = aten::mul(%x, %y)
           %b : Tensor = aten::exp(%a)
            = prim::Print(%b)
           %c : Tensor = aten::sin(%x)
           %d : Tensor = aten::mul(%b, %c)""",
        "%d",
    )
    create_autodiff_subgraphs(graph)
    assert kinds(graph) == ["DifferentiableGraph", "Print", "DifferentiableGraph"]


def test_a_node_that_writes_is_in_no_group() -> None:
    graph = program("%a : Tensor = aten::neg_(%x)\n  %b : Tensor = aten::neg(%x)", "%a, %b")
    assert [may_be_differentiated(node) for node in graph.nodes if node.kind.startswith("aten::")] == [False, True]
