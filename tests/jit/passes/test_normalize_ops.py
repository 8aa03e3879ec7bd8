"""Do graphs know operators under one name, PyTorch's?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.dispatch.operator import registry
from glasstorch.jit.passes.normalize_ops import normalize_ops, original
from tests.jit.passes.texts import after, graph_of

Require = Callable[[str], Any]


def program(torch: Any) -> Callable[[Any], Any]:
    def under_other_names(x: Any) -> Any:
        y = torch.subtract(torch.absolute(x).multiply(x), 2).clip_(0).arccosh()
        return torch.greater(torch.row_stack([torch.ger(y, y).moveaxis(0, 1)]).swapaxes(0, 1), 0)

    return under_other_names


def special(torch: Any) -> Callable[[Any], Any]:
    def under_other_names(x: Any) -> Any:
        one = ("erf", "erfc", "exp2", "expm1", "expit", "i0", "log1p", "logit", "psi", "gammaln", "round", "sinc")
        of_one = [getattr(torch.special, name)(x) for name in one]
        of_more = [
            *(torch.special.gammainc(x, x), torch.special.xlogy(x, 2), torch.special.polygamma(1, x)),
            *(torch.special.softmax(x, 0), torch.special.log_softmax(x, 0), torch.special.logsumexp(x, 0)),
            *(torch.special.multigammaln(x + 2, 2), torch.orgqr(x, x[0]), torch.linalg.matmul(x, x)),
            *(torch.det(x), torch.inverse(x), torch.matrix_exp(x), torch.matrix_power(x, 2), torch.concat([x, x])),
        ]
        return *of_one, *of_more

    return under_other_names


@pytest.mark.parametrize(("made", "given"), [(program, [1.0, 1.0]), (special, [[0.5, 0.25], [0.125, 0.5]])])
def test_traces_have_the_names_of_pytorchs(made: Callable[..., Any], given: list[Any], require: Require) -> None:
    torch = require("torch")
    with pytest.warns(DeprecationWarning, match=r"torch\.jit"):
        theirs = str(torch.jit.trace(made(torch), torch.tensor(given)).graph)
    ours = str(glasstorch.jit.trace(made(glasstorch), glasstorch.tensor(given)).graph)
    names = re.findall(r"= (aten::\w+)", ours)
    assert names == re.findall(r"= (aten::\w+)", theirs)
    assert not [name for name in names if any(map(original, registry.overloads(*name.split("::"))))]


def test_a_node_keeps_its_place_its_type_and_its_name() -> None:
    graph = graph_of("%y : Tensor = aten::negative(%x) %z : Tensor = aten::exp(%y)", "%z", "%x : Tensor")
    assert normalize_ops(graph)
    assert [(node.kind, node.output.debug_name) for node in graph.nodes] == [("aten::neg", "y"), ("aten::exp", "z")]
    assert not normalize_ops(graph)


def test_nodes_in_blocks_are_renamed_too() -> None:
    graph = graph_of(
        "%r : Tensor = prim::If(%c) block0(): %a : Tensor = aten::fix(%x) -> (%a) block1(): -> (%x)",
        "%r",
        "%x : Tensor, %c : bool",
    )
    assert normalize_ops(graph)
    assert [node.kind for node in graph.all_nodes()] == ["prim::If", "aten::trunc"]


@pytest.mark.parametrize(
    ("other", "usual"),
    [("arctan2", "atan2"), ("arctan2_", "atan2_"), ("swapaxes_", "transpose_"), ("max.other", None), ("abs", None)],
)
def test_other_names_stand_in_the_operator_table(other: str, usual: str | None) -> None:
    assert original(registry.find(f"aten::{other}")) is (usual and registry.find(f"aten::{usual}"))


def test_what_has_one_name_is_left_alone() -> None:
    assert after(normalize_ops, graph_of("%y : Tensor = aten::neg(%x)", "%y", "%x : Tensor")) == ["neg"]
