"""Is every effect of a node known, and nothing taken for one that is none?"""

from __future__ import annotations

import pytest

import glasstorch
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.tags import Tag
from glasstorch.jit.ir import Node
from glasstorch.jit.parser import parse_ir
from glasstorch.jit.side_effects import (
    has_side_effects,
    is_nondeterministic,
    is_opaque,
    is_uninitialised,
)
from tests.agreement.oracles import operator, runs
from tests.agreement.samples import Row, arrays, in_library
from tests.agreement.table import ROWS


def node(text: str) -> Node:
    """The last node of a graph of these nodes."""
    head = "graph(%x : Tensor, %c : bool, %s : int[]):\n %none : NoneType = prim::Constant()"
    return parse_ir(f"{head} {text}\n return (%x)\n").nodes[-1]


def test_arithmetic_and_containers_have_no_effect() -> None:
    for text in (
        "%y : Tensor = aten::neg(%x)",
        "%y : Tensor[] = prim::ListConstruct(%x)",
        "%y : Tensor = aten::relu_(%x)",
    ):
        assert not has_side_effects(node(text))
        assert not is_opaque(node(text))


def test_a_draw_has_an_effect() -> None:
    draw = node("%y : Tensor = aten::rand(%s, %none, %none, %none, %none)")
    assert is_nondeterministic(draw)
    assert has_side_effects(draw)
    with_generator = node("%f : float = prim::Constant[value=0.]() %y : Tensor = aten::uniform_(%x, %f, %f, %none)")
    assert is_nondeterministic(with_generator)


def test_a_node_without_a_schema_may_do_anything() -> None:
    assert is_opaque(node("%y : Tensor = prim::PythonOp(%x)"))
    assert has_side_effects(node("%y : Tensor = prim::PythonOp(%x)"))
    assert has_side_effects(node("%y : Tensor = aten::unheard_of(%x)"))


def test_an_if_has_the_effects_of_its_blocks() -> None:
    text = "%y : Tensor = prim::If(%c)\n block0():\n %a : Tensor = {}\n -> (%a)\n block1():\n -> (%x)"
    assert not has_side_effects(node(text.format("aten::neg(%x)")))
    assert has_side_effects(node(text.format("prim::PythonOp(%x)")))


def test_memory_as_it_is_found_is_known() -> None:
    assert is_uninitialised(node("%y : Tensor = aten::empty(%s, %none, %none, %none, %none, %none)"))
    assert not is_uninitialised(node("%y : Tensor = aten::zeros(%s, %none, %none, %none, %none)"))


def test_what_makes_empty_tensors_is_tagged() -> None:
    tagged = {one.schema.name for one in registry.operators.values() if Tag.uninitialised in one.tags}
    names = {one.schema.name for one in registry.operators.values()}
    assert {name for name in names if name.startswith(("empty", "new_empty"))} == tagged


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.op)
def test_an_operator_that_draws_is_known_to_draw(row: Row) -> None:
    call, run = runs(row)[0]
    args, kwargs = in_library(glasstorch, call, arrays(row, call, run))
    before = glasstorch.get_rng_state().tolist()
    operator(row.op)(*args, **kwargs)
    draws = Tag.nondeterministic_seeded in operator(row.op).tags
    assert draws or glasstorch.get_rng_state().tolist() == before
