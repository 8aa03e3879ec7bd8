"""Does a traced function run a graph that was optimised for the call, and the same one for the next like it?"""

from __future__ import annotations

import copy
import threading
import time
from typing import Any

import pytest

import glasstorch
from glasstorch import jit, nn
from glasstorch.core.errors import ArgumentError
from glasstorch.jit.executor import GraphExecutor
from glasstorch.jit.parser import parse_ir
from glasstorch.jit.verify import LintError

Tensor = glasstorch.Tensor


def wasteful(x: Tensor) -> Tensor:
    (x * 5).exp()  # nobody uses it
    return (x.t().t() + 1).exp()


def kinds(graph: Any) -> list[str]:
    return [node.kind for node in graph.nodes if node.kind != "prim::Constant"]


def test_a_call_runs_an_optimised_copy_and_keeps_the_graph() -> None:
    traced = jit.trace(wasteful, glasstorch.zeros(2, 2))
    text = str(traced.graph)
    x = glasstorch.rand(2, 3)
    with jit.fuser("none"):
        assert glasstorch.equal(traced(x), wasteful(x))
        assert kinds(jit.last_executed_optimized_graph()) == ["aten::add", "aten::exp"]
        assert traced.graph_for(x) is jit.last_executed_optimized_graph()
    assert str(traced.graph) == text


def test_a_plan_is_made_once_for_all_shapes_and_dtypes() -> None:
    traced = jit.trace(wasteful, glasstorch.zeros(2, 2))
    first = traced.graph_for(glasstorch.zeros(2, 2))
    assert traced.graph_for(glasstorch.zeros(3, 1, dtype=glasstorch.int64)) is first


def test_calls_that_record_gradients_have_a_plan_of_their_own() -> None:
    traced = jit.trace(wasteful, glasstorch.zeros(2, 2))
    x = glasstorch.zeros(2, 2, requires_grad=True)
    with_gradients = traced.graph_for(x)
    assert traced.graph_for(x.detach()) is not with_gradients
    with glasstorch.no_grad():
        assert traced.graph_for(x) is traced.graph_for(x.detach())


def test_nodes_are_fused_where_no_gradient_is_recorded() -> None:
    traced = jit.trace(wasteful, glasstorch.zeros(2, 2))
    x = glasstorch.rand(3, 2)
    assert kinds(traced.graph_for(x)) == ["prim::FusionGroup"]
    assert kinds(traced.graph_for(x.requires_grad_())) == ["prim::DifferentiableGraph"]
    with jit.fuser("none"):
        assert kinds(traced.graph_for(x.detach())) == ["aten::add", "aten::exp"]
    wanted = glasstorch.autograd.grad(wasteful(x).sum(), x)[0]
    assert glasstorch.allclose(glasstorch.autograd.grad(traced(x).sum(), x)[0], wanted)


def test_gradients_are_asked_for_inside_tuples_too() -> None:
    traced = jit.trace(lambda pair: pair[0] + pair[1], ((glasstorch.zeros(2), glasstorch.zeros(2)),))
    x, y = glasstorch.zeros(2), glasstorch.ones(2, requires_grad=True)
    assert traced.graph_for((x, y)) is not traced.graph_for((x, x))
    traced((x, y)).sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


def test_without_optimisation_the_graph_runs_as_it_was_traced() -> None:
    traced = jit.trace(wasteful, glasstorch.zeros(2, 2))
    x = glasstorch.rand(2, 2)
    with jit.optimized_execution(False):
        assert glasstorch.equal(traced(x), wasteful(x))
        assert str(jit.last_executed_optimized_graph()) == str(traced.graph)
    traced(x)
    assert str(jit.last_executed_optimized_graph()) != str(traced.graph)


def test_a_traced_function_inside_a_trace_is_recorded_operator_by_operator() -> None:
    inner = jit.trace(wasteful, glasstorch.zeros(2, 2))
    outer = jit.trace(lambda x: inner(x) * 2, glasstorch.zeros(2, 2))
    assert kinds(outer.graph) == ["aten::mul", "aten::exp", "aten::t", "aten::t", "aten::add", "aten::exp", "aten::mul"]


def test_an_unknown_fuser_is_refused_with_the_known_ones() -> None:
    with (
        pytest.raises(ValueError, match=r"unrecognized fuser option \(name: fuser9\); expected one of default, cpp"),
        jit.fuser("fuser9"),
    ):
        pass


def test_each_thread_has_its_own_last_graph() -> None:
    jit.trace(wasteful, glasstorch.zeros(2, 2))(glasstorch.zeros(2, 2))
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            jit.last_executed_optimized_graph()
        except ArgumentError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert "no graph has been executed in this thread" in str(errors[0])


def test_threads_that_come_together_get_one_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(graph: Any) -> bool:
        time.sleep(0.05)  # long enough for all to come
        return False

    monkeypatch.setattr("glasstorch.jit.executor.run_nondiff_optimization", slowly)
    executor = GraphExecutor(jit.trace(wasteful, glasstorch.zeros(2, 2)).graph)
    barrier = threading.Barrier(4)
    plans = []

    def run() -> None:
        barrier.wait()
        plans.append(executor.plan_for((glasstorch.zeros(2, 2),)))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(plans) == 4
    assert len(set(map(id, plans))) == 1


def test_a_long_graph_can_be_copied() -> None:
    def long(x: Tensor) -> Tensor:
        for _ in range(400):
            x = x + 1
        return x

    traced = copy.deepcopy(jit.trace(long, glasstorch.zeros(1), check_trace=False))
    with jit.fuser("none"):
        assert traced(glasstorch.zeros(1)).item() == 400.0


def test_a_module_says_which_graph_a_call_runs() -> None:
    traced = jit.trace(nn.Linear(2, 2), glasstorch.zeros(1, 2))
    with glasstorch.no_grad():
        traced(glasstorch.zeros(3, 2))
        assert traced.graph_for(glasstorch.zeros(3, 2)) is jit.last_executed_optimized_graph()


def test_a_graph_made_of_text_can_be_executed() -> None:
    executor = GraphExecutor(parse_ir("graph(%x : Tensor): %y : Tensor = aten::neg(%x) return (%y)"))
    assert executor(glasstorch.ones(1))[0].item() == -1.0


@pytest.mark.parametrize("optimised", [False, True])
def test_a_graph_edited_into_nonsense_is_refused_by_the_rule_that_it_breaks(optimised: bool) -> None:
    traced = jit.trace(wasteful, glasstorch.zeros(2, 2), check_trace=False)
    last = traced.graph.nodes[-1]
    last.replace_input(0, last.output)
    with pytest.raises(LintError, match="inputs_are_made_before"), jit.optimized_execution(optimised):
        traced(glasstorch.zeros(2, 2))
