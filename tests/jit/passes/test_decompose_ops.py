"""Are products with a bias taken apart where their sum can be fused, and only there?"""

from __future__ import annotations

import pytest

import glasstorch
from glasstorch.jit.interpreter import Code
from glasstorch.jit.passes.decompose_ops import decompose_ops
from glasstorch.jit.passes.fuse_pointwise import fuse_pointwise
from glasstorch.jit.types import NoneType
from tests.jit.passes.texts import NONE, ONE, after, graph_of

INPUTS = "%x : Tensor, %w : Tensor, %b : Tensor, %n : int"
LINEAR = "%l : Tensor = aten::linear(%x, %w, %b)"


def left(nodes: str, returns: str) -> list[str]:
    return after(decompose_ops, graph_of(f"{ONE}\n{NONE}\n{nodes}", returns, INPUTS))


def test_linear_before_a_pointwise_operator_becomes_a_product_and_a_sum() -> None:
    assert left(f"{LINEAR} %r : Tensor = aten::relu(%l)", "%r") == ["linear", "add", "relu"]


def test_all_products_share_one_none() -> None:
    nodes = f"{LINEAR} %r : Tensor = aten::relu(%l) %m : Tensor = aten::linear(%r, %w, %b) %s : Tensor = aten::relu(%m)"
    graph = graph_of(nodes, "%s", INPUTS)
    decompose_ops(graph)
    assert sum(node.output.type == NoneType() for node in graph.find_all_nodes("prim::Constant")) == 1


def test_addmm_before_a_pointwise_operator_becomes_a_product_and_a_sum() -> None:
    nodes = "%a : Tensor = aten::addmm(%b, %x, %w, %one, %one) %r : Tensor = aten::relu(%a)"
    assert left(nodes, "%r") == ["mm", "add", "relu"]


def test_what_is_added_may_be_the_pointwise_one() -> None:
    nodes = "%e : Tensor = aten::exp(%b) %a : Tensor = aten::addmm(%e, %x, %w, %one, %one)"
    assert left(nodes, "%a") == ["exp", "mm", "add"]


def test_a_sum_that_would_stand_alone_stays_with_its_product() -> None:
    assert left(f"{LINEAR} %r : Tensor = aten::t(%l)", "%r") == ["linear", "t"]
    assert left(LINEAR, "%l") == ["linear"]


def test_a_pointwise_operator_before_the_product_does_not_help() -> None:
    assert left("%e : Tensor = aten::exp(%x) %l : Tensor = aten::linear(%e, %w, %b)", "%l") == ["exp", "linear"]


def test_linear_without_a_bias_stays() -> None:
    assert left("%l : Tensor = aten::linear(%x, %w, %none) %r : Tensor = aten::relu(%l)", "%r") == ["linear", "relu"]


@pytest.mark.parametrize("factors", ["%n, %one", "%one, %n", "%two, %one", "%one, %two"])
def test_addmm_with_factors_stays(factors: str) -> None:
    nodes = f"""%two : int = prim::Constant[value=2]()
      %a : Tensor = aten::addmm(%b, %x, %w, {factors}) %r : Tensor = aten::relu(%a)"""
    assert left(nodes, "%r") == ["addmm", "relu"]


def test_blocks_are_searched_and_do_not_count_as_beside() -> None:
    nodes = f"""{LINEAR}
      %c : bool = prim::Constant[value=1]()
      %r : Tensor = prim::If(%c)
        block0():
          %e : Tensor = aten::exp(%l)
          -> (%e)
        block1():
          %m : Tensor = aten::linear(%x, %w, %b)
          %f : Tensor = aten::exp(%m)
          -> (%f)"""
    assert left(nodes, "%r") == ["linear", "If", "exp", "linear", "add", "exp"]


def test_names_and_lines_are_kept() -> None:
    graph = graph_of(f"{LINEAR} %r : Tensor = aten::relu(%l)", "%r", INPUTS)
    decompose_ops(graph)
    assert graph.names["l"].node.kind == "aten::add"


@pytest.mark.parametrize("shape", [(3, 4), (4,), (2, 3, 4), (0, 4)])
@pytest.mark.parametrize("dtype", [glasstorch.float32, glasstorch.float64])
def test_results_are_the_same(shape: tuple[int, ...], dtype: glasstorch.dtype) -> None:
    x, w, b = (glasstorch.randn(size, dtype=dtype) for size in (shape, (5, 4), (5,)))
    graph = graph_of(f"{LINEAR} %r : Tensor = aten::relu(%l)", "%r", INPUTS.replace(", %n : int", ""))
    (wanted,) = Code(graph)(x, w, b)
    assert decompose_ops(graph)
    assert fuse_pointwise(graph)
    (found,) = Code(graph)(x, w, b)
    assert glasstorch.equal(found, wanted)
    assert found.stride() == wanted.stride()
