"""Do torch's own passes make the same of a graph?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from glasstorch.jit.ir import Graph
from glasstorch.jit.parser import parse_ir
from glasstorch.jit.passes.common_subexpression import eliminate_common_subexpressions
from glasstorch.jit.passes.constant_propagation import propagate_constants
from glasstorch.jit.passes.dead_code import eliminate_dead_code
from glasstorch.jit.passes.erase_shapes import erase_shape_information
from glasstorch.jit.passes.peephole import peephole
from tests.jit.passes.texts import FLOAT, LONG, canonical

CONSTANTS = (
    " %zero : int = prim::Constant[value=0]() %two : int = prim::Constant[value=2]() %three : int ="
    " prim::Constant[value=3]() %yes : bool = prim::Constant[value=1]() %no : bool = prim::Constant[value=0]()"
    " %none : NoneType = prim::Constant()"
)
TEXTS = (
    "graph(%x : Tensor): %a : Tensor = aten::neg(%x) %b : Tensor = aten::relu(%x) return (%b)",
    "graph(%x : Tensor): %a : Tensor = aten::neg(%x) %w : Tensor = aten::relu_(%a) return (%x)",
    "graph(%x : Tensor): %w : Tensor = aten::relu_(%x) return (%x)",
    (
        "graph(%x : Tensor): %a : Tensor = aten::neg(%x) %v : Tensor = aten::t(%a)"
        " %w : Tensor = aten::relu_(%v) return (%a)"
    ),
    (
        "graph(%x : Tensor): %a : Tensor = aten::neg(%x) %r : Tensor = aten::exp(%a)"
        " %w : Tensor = aten::relu_(%a) return (%r)"
    ),
    "graph(%x : Tensor): %a : Tensor = aten::neg(%x) %b : Tensor = aten::neg(%x) return (%a, %b)",
    (
        "graph(%x : Tensor): %a : Tensor = aten::neg(%x) %b : Tensor = aten::neg(%x)"
        " %c : Tensor = aten::mul(%a, %b) return (%c)"
    ),
    (
        "graph(%x : Tensor): %a : Tensor = aten::neg(%x) %b : Tensor = aten::neg(%x) %c : Tensor = aten::neg(%x)"
        " %d : Tensor = aten::relu(%a) return (%b, %c, %d)"
    ),
    (
        "graph(%x : Tensor): %a : Tensor = aten::neg(%x) %b : Tensor = aten::neg(%x) %w : Tensor = aten::relu_(%b)"
        " %c : Tensor = aten::mul(%a, %b) return (%c)"
    ),
    (
        "graph(%x : Tensor): %a : Tensor = aten::t(%x) %b : Tensor = aten::t(%x)"
        " %c : Tensor = aten::mm(%a, %b) return (%c)"
    ),
    (
        "graph(%x : Tensor, %c : bool): %a : Tensor = aten::neg(%x) %r : Tensor = prim::If(%c) block0():"
        " %b : Tensor = aten::neg(%x) %e : Tensor = aten::exp(%b) -> (%e) block1(): %f : Tensor = aten::exp(%a) -> (%f)"
        " return (%r)"
    ),
    # Patterns for the peephole pass
    (
        f"graph(%x : {FLOAT}): %a : {FLOAT} = aten::t(%x) %b : {FLOAT} = aten::t(%a)"
        f" %r : Tensor = aten::neg(%b) return (%r)"
    ),
    (
        f"graph(%x : {FLOAT}):{CONSTANTS} %s : int[] = prim::Constant[value=[2, 3]]()"
        f" %a : Tensor = aten::expand(%x, %s, %no)"
        " %r : Tensor = aten::neg(%a) return (%r)"
    ),
    f"graph(%x : {FLOAT}, %y : {FLOAT}): %a : Tensor = aten::type_as(%x, %y) %r : Tensor = aten::neg(%a) return (%r)",
    f"graph(%x : {FLOAT}, %y : {LONG}): %a : Tensor = aten::type_as(%x, %y) %r : Tensor = aten::neg(%a) return (%r)",
    f"graph(%c : bool):{CONSTANTS} %r : bool = prim::If(%c) block0(): -> (%yes) block1(): -> (%no) return (%r)",
    f"graph(%c : bool):{CONSTANTS} %r : bool = prim::If(%c) block0(): -> (%no) block1(): -> (%yes) return (%r)",
    # What is known before the run
    (
        f"graph(%x : Tensor):{CONSTANTS} %r : Tensor = prim::If(%yes) block0():"
        f" %a : Tensor = aten::neg(%x) -> (%a) block1():"
        " -> (%x) return (%r)"
    ),
    (
        f"graph(%x : Tensor):{CONSTANTS} %r : Tensor = prim::If(%no) block0():"
        f" %a : Tensor = aten::neg(%x) -> (%a) block1():"
        " -> (%x) return (%r)"
    ),
    (
        f"graph(%x : Tensor):{CONSTANTS} %r : Tensor = prim::Loop(%zero, %yes, %x) block0(%i : int, %a : Tensor):"
        " %b : Tensor = aten::neg(%a) -> (%yes, %b) return (%r)"
    ),
    (
        f"graph(%x : Tensor, %n : int):{CONSTANTS} %r : Tensor = prim::Loop(%n, %no, %x) block0(%i : int, %a : Tensor):"
        " %b : Tensor = aten::neg(%a) -> (%yes, %b) return (%r)"
    ),
)
PASSES: dict[str, Callable[[Graph], bool]] = {
    "_jit_pass_dce_graph": eliminate_dead_code,
    "_jit_pass_cse": eliminate_common_subexpressions,
    "_jit_pass_constant_propagation": propagate_constants,
    "_jit_pass_peephole": peephole,
    "_jit_pass_erase_shape_information": erase_shape_information,
}


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("name", PASSES)
def test_torch_makes_the_same_of_it(name: str, text: str, require: Callable[[str], Any]) -> None:
    torch = require("torch")
    graph = parse_ir(text)
    other = torch._C.parse_ir(str(graph))
    PASSES[name](graph)
    getattr(torch._C, name)(other)
    # Some of PyTorch's passes clean up when they have changed something.
    eliminate_dead_code(graph)
    torch._C._jit_pass_dce_graph(other)
    assert canonical(str(graph)) == canonical(str(other))


def test_the_texts_give_every_pass_something_to_do() -> None:
    assert {name for name, change in PASSES.items() for text in TEXTS if change(parse_ir(text))} == set(PASSES)
