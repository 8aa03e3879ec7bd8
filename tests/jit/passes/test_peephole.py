"""Are small patterns written shorter, and only where nobody can tell?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from glasstorch.jit.parser import parse_ir
from glasstorch.jit.passes.dead_code import eliminate_dead_code
from glasstorch.jit.passes.peephole import peephole
from tests.jit.passes.texts import FLOAT, LONG, NONE, ONE, after, graph_of

BOOL = FLOAT.replace("Float", "Bool")
HEAD = (
    f"{ONE} {NONE} %zero : int = prim::Constant[value=0]() %yes : bool = prim::Constant[value=1]()"
    " %no : bool = prim::Constant[value=0]() %s : int[] = prim::Constant[value=[2, 3]]()"
    " %float : int = prim::Constant[value=6]() %double : int = prim::Constant[value=7]()\n"
)


def left(nodes: str, returns: str = "%r", type: str = FLOAT, constants: Any = (), disable: bool = False) -> list[str]:
    """What is left of a graph of x and y of this type after the pass, and after what is dead went."""
    graph = graph_of(HEAD + nodes, returns, f"%x : {type}, %y : {type}, %c : bool", constants)
    before = str(graph)
    assert peephole(graph, disable_shape_peepholes=disable) == (str(graph) != before)
    eliminate_dead_code(graph)
    return [node.kind.partition("::")[2] for node in graph.all_nodes() if node.kind != "prim::Constant"]


USE = " %r : Tensor = aten::neg(%p)"

# Patterns of views and conversions that need nothing, and those that believe what the types say.
TWICE = ("%q : Tensor = aten::t(%x) %p : Tensor = aten::t(%q)",) + tuple(
    f"%q : Tensor = aten::transpose(%x, %zero, %one) %p : Tensor = aten::transpose(%q, {dims})"
    for dims in ("%zero, %one", "%one, %zero")
)
TYPED = (
    "%p : Tensor = aten::expand(%x, %s, %no)",
    "%p : Tensor = aten::view(%x, %s)",
    "%p : Tensor = aten::reshape(%x, %s)",
    "%p : Tensor = aten::contiguous(%x, %zero)",
    "%p : Tensor = aten::to(%x, %float, %no, %no, %none)",
    "%p : Tensor = aten::type_as(%x, %y)",
)


@pytest.mark.parametrize("pattern", TWICE + TYPED)
def test_a_view_like_its_base_is_the_base(pattern: str) -> None:
    assert left(pattern + USE) == ["neg"]


@pytest.mark.parametrize("pattern", TYPED)
def test_types_are_not_believed_where_that_is_asked(pattern: str) -> None:
    assert len(left(pattern + USE, disable=True)) == 2
    assert len(left(pattern + USE, type="Tensor")) == 2


@pytest.mark.parametrize("pattern", TWICE + TYPED)
def test_a_pattern_stays_while_somebody_writes(pattern: str) -> None:
    assert len(left(pattern + " %w : Tensor = aten::relu_(%p)" + USE)) == pattern.count("aten") + 2


@pytest.mark.parametrize("pattern", TWICE + TYPED[:3])
def test_the_caller_gets_a_view_and_not_the_input(pattern: str) -> None:
    assert left(pattern, "%p") == [word.partition("(")[0] for word in pattern.split("aten::")[1:]]


def test_a_conversion_that_does_something_stays() -> None:
    for pattern in (
        "%p : Tensor = aten::to(%x, %double, %no, %no, %none)",
        "%p : Tensor = aten::to(%x, %float, %no, %yes, %none)",
        "%two : int[] = prim::Constant[value=[4, 2, 3]]() %p : Tensor = aten::expand(%x, %two, %no)",
    ):
        assert len(left(pattern + USE)) == 2
    assert left(TYPED[3] + USE, type=FLOAT.replace("[3, 1]", "[1, 2]")) == ["contiguous", "neg"]


def test_other_dimensions_do_not_swap_back() -> None:
    pattern = "%q : Tensor = aten::transpose(%x, %zero, %one) %p : Tensor = aten::transpose(%q, %one, %one)"
    assert left(pattern + USE) == ["transpose", "transpose", "neg"]


NEUTRAL = [
    # The call, the second operand's number, the input's type, whether the call can go.
    ("aten::mul(%x, %k)", 1, FLOAT, True),
    ("aten::mul(%x, %k)", 1, LONG, True),
    ("aten::mul(%x, %k)", 1.0, FLOAT, True),
    ("aten::mul(%x, %k)", 1.0, LONG, False),  # becomes a float
    ("aten::mul(%x, %k)", 1, BOOL, False),  # becomes an integer
    ("aten::mul(%x, %k)", 2, FLOAT, False),
    ("aten::mul(%x, %k)", 1, "Float(requires_grad=0, device=cpu)", False),  # no dimension: the other's dtype may win
    ("aten::div(%x, %k)", 1, FLOAT, True),
    ("aten::div(%x, %k)", 1, LONG, False),  # becomes a float
    ("aten::sub(%x, %k, %one)", 0, FLOAT, True),
    ("aten::sub(%x, %k, %one)", 0.0, FLOAT, True),
    ("aten::sub(%x, %k, %one)", -0.0, FLOAT, False),  # makes 0.0 of -0.0
    ("aten::sub(%x, %k, %one)", 1, FLOAT, False),
    ("aten::add(%x, %k, %one)", 0, LONG, True),
    ("aten::add(%x, %k, %one)", 0, FLOAT, False),  # makes 0.0 of -0.0
    ("aten::add(%x, %k, %one)", 0.0, LONG, False),
]


@pytest.mark.parametrize(("call", "number", "type", "goes"), NEUTRAL)
def test_arithmetic_that_changes_nothing_goes(call: str, number: float, type: str, goes: bool) -> None:
    nodes = f"%k : Tensor = prim::Constant[value={{1}}]() %p : Tensor = {call}" + USE
    kinds = left(nodes, type=type, constants=[glasstorch.tensor(number)])
    assert kinds == (["neg"] if goes else [call[6:9], "neg"])


def test_a_factor_that_learns_stays() -> None:
    nodes = "%k : Tensor = prim::Constant[value={1}]() %p : Tensor = aten::mul(%x, %k)" + USE
    assert left(nodes, constants=[glasstorch.tensor(1.0, requires_grad=True)]) == ["mul", "neg"]


def test_the_caller_gets_a_product_and_not_the_factor() -> None:
    k = glasstorch.tensor(1)
    nodes = "%k : Tensor = prim::Constant[value={1}]() %p : Tensor = aten::mul(%x, %k)"
    assert left(nodes, "%p", constants=[k]) == ["mul"]
    fresh = f"%k : Tensor = prim::Constant[value={{1}}]() %n : {FLOAT} = aten::neg(%x) %p : Tensor = aten::mul(%n, %k)"
    assert left(fresh, "%p", constants=[k]) == ["neg"]
    assert left(fresh, "%p, %n", constants=[k]) == ["neg", "mul"]
    both = f"{fresh} %p2 : Tensor = aten::mul(%n, %k)"
    assert left(both, "%p, %p2", constants=[k]) == ["neg", "mul"]


def test_a_tuple_or_list_taken_apart_is_what_it_was_made_of() -> None:
    parts = "%a : Tensor, %b : Tensor = prim::{0}Unpack(%q) %r : Tensor = aten::mul(%a, %b)"
    assert left("%q : (Tensor, Tensor) = prim::TupleConstruct(%x, %y) " + parts.format("Tuple")) == ["mul"]
    assert left("%q : Tensor[] = prim::ListConstruct(%x, %y) " + parts.format("List")) == ["mul"]
    assert left("%q : Tensor[] = aten::chunk(%x, %one, %zero) %r : Tensor = prim::ListUnpack(%q)") == [
        "chunk",
        "ListUnpack",
    ]


BRANCH = "%r : {} = prim::If(%c)\n block0():\n -> ({})\n block1():\n -> ({})"


def test_an_if_that_repeats_its_condition_or_gives_one_value_goes() -> None:
    assert left(BRANCH.format("bool", "%yes", "%no")) == []
    assert left(BRANCH.format("bool", "%no", "%yes")) == ["If"]
    assert left(BRANCH.format("Tensor", "%x", "%x")) == []
    assert left(BRANCH.format("Tensor", "%x", "%y")) == ["If"]


def test_patterns_inside_blocks_are_found() -> None:
    inner = TWICE[0].replace("%q", "%q2")
    nodes = (
        f"%r : Tensor = prim::If(%c)\n block0():\n {inner}"
        f" %n : Tensor = aten::neg(%p)\n -> (%n)\n block1():\n %m : Tensor = aten::exp(%y)\n -> (%m)"
    )
    assert left(nodes) == ["If", "neg", "exp"]


def test_the_pass_says_whether_it_changed_anything() -> None:
    graph = parse_ir("graph(%x : Tensor):\n  %y : Tensor = aten::neg(%x)\n  return (%y)\n")
    assert after(peephole, graph) == ["neg"]
