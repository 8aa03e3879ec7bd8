"""Do passes keep the values and gradients of traced functions, also for sizes that the trace did not see?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import glasstorch
from glasstorch import jit
from glasstorch.jit.interpreter import Code
from glasstorch.jit.ir import Graph
from glasstorch.jit.passes.common_subexpression import eliminate_common_subexpressions
from glasstorch.jit.passes.constant_propagation import propagate_constants
from glasstorch.jit.passes.dead_code import eliminate_dead_code
from glasstorch.jit.passes.erase_shapes import erase_shape_information
from glasstorch.jit.passes.peephole import peephole

Tensor = glasstorch.Tensor


def believing(graph: Graph) -> None:
    """Every pass, by the types of the example."""
    for change in (propagate_constants, peephole, eliminate_common_subexpressions, eliminate_dead_code):
        change(graph)


def forgetting(graph: Graph) -> None:
    """Every pass, after the types of the example were forgotten."""
    erase_shape_information(graph)
    believing(graph)


def long_way(x: Tensor, w: Tensor) -> Tensor:
    a = ((x @ w) * 1).contiguous()
    b = (x @ w).relu()
    c = a.t().t() + b / 1
    c += glasstorch.ones(4) * 3
    (x * 5).exp()  # nobody uses it
    return c.sum() + (glasstorch.zeros(3) + 2).sum()


def writes(x: Tensor, w: Tensor) -> Tensor:
    product = x @ w
    before = product + 1
    product.mul_(2)
    (x @ w).neg_()  # nobody uses it
    return (before * (product + 1)).sum()


def views_and_writes(x: Tensor, w: Tensor) -> Tensor:
    product = x @ w
    row = product[0]
    row.mul_(2)
    column = product.t()[0]
    before = column * column
    column.add_(1)
    after = column * column
    return (before - after).sum() + product.sum()


@pytest.mark.parametrize("function", [long_way, writes])
@pytest.mark.parametrize("optimise", [believing, forgetting])
def test_values_and_gradients_stay(
    function: Callable[[Tensor, Tensor], Tensor], optimise: Callable[[Graph], None]
) -> None:
    glasstorch.manual_seed(0)
    x, w = glasstorch.rand(2, 3, requires_grad=True), glasstorch.rand(3, 4, requires_grad=True)
    graph = jit.trace(function, (x, w)).graph.copy()
    count = len(graph.nodes)
    optimise(graph)
    assert len(graph.nodes) < count
    expected = glasstorch.autograd.grad(function(x, w), (x, w))
    (value,) = Code(graph)(x, w)
    assert value.item() == function(x, w).item()
    for one, other in zip(glasstorch.autograd.grad(value, (x, w)), expected, strict=True):
        assert glasstorch.equal(one, other)


def test_a_write_between_two_equal_nodes_keeps_both() -> None:
    x, w = glasstorch.rand(2, 3), glasstorch.rand(3, 4)
    graph = jit.trace(views_and_writes, (x, w)).graph.copy()
    believing(graph)
    assert Code(graph)(x, w)[0].item() == views_and_writes(x, w).item()
    squares = [node for node in graph.find_all_nodes("aten::mul") if node.inputs[0] is node.inputs[1]]
    assert len(squares) == 2


def test_a_graph_that_forgot_its_example_runs_on_other_sizes() -> None:
    def doubled(x: Tensor) -> Tensor:
        return x.contiguous() * 1 * 2

    graph = jit.trace(doubled, (glasstorch.rand(2, 3),)).graph.copy()
    forgetting(graph)
    transposed = glasstorch.arange(6).reshape(3, 2).t()
    assert Code(graph)(transposed)[0].stride() == doubled(transposed).stride() == (3, 1)
