"""Do passes over modules run in an order that the constraints allow, until nothing changes?"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from operator import add, mul, sub
from typing import Any

import pytest


@pytest.fixture
def infra(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.infra.pass_manager")


@pytest.fixture
def base(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.infra.pass_base")


def exchanging(base: Any, old: Any, new: Any) -> Callable[[Any], Any]:
    """The pass that calls another function."""

    def exchange(module: Any) -> Any:
        found = module.graph.find_nodes(op="call_function", target=old)
        for node in found:
            node.target = new
        return base.PassResult(module, bool(found))

    return exchange


def a_module(torch: Any) -> Any:
    return torch.fx.symbolic_trace(lambda x, y: x + y)


def test_passes_run_until_nothing_changes(torch: Any, infra: Any, base: Any) -> None:
    passes = [exchanging(base, mul, sub), exchanging(base, add, mul)]
    x, y = torch.tensor(5), torch.tensor(3)
    for steps, result in ((1, 15), (2, 2), (9, 2)):
        manager = infra.PassManager(passes, steps=steps)
        done = manager(a_module(torch))
        assert done.modified
        assert done.graph_module(x, y).item() == result
    assert not infra.PassManager(passes)(torch.fx.symbolic_trace(lambda x: x)).modified


def test_passes_are_put_in_order(torch: Any, infra: Any, base: Any) -> None:
    first, second, third = (infra.pass_result_wrapper(lambda module: None) for _ in range(3))
    manager = infra.PassManager([third, second, first])
    manager.add_constraint(infra.this_before_that_pass_constraint(first, second))
    manager.add_constraint(infra.this_before_that_pass_constraint(second, third))
    with pytest.raises(RuntimeError, match="pass schedule constraint violated"):
        manager.validate_constraints()
    manager(a_module(torch))
    assert manager.passes == [first, second, third]
    manager.validate_constraints()
    manager.add_constraint(infra.this_before_that_pass_constraint(third, first))
    with pytest.raises(RuntimeError, match="Circular dependency detected"):
        manager.solve_constraints()


def test_a_pass_is_checked_before_and_after(torch: Any, infra: Any, base: Any) -> None:
    seen: list[str] = []

    class Checked(base.PassBase):  # type: ignore[misc,name-defined]
        def requires(self, graph_module: Any) -> None:
            seen.append("requires")

        def call(self, graph_module: Any) -> Any:
            seen.append("call")
            return base.PassResult(graph_module, False)

        def ensures(self, graph_module: Any) -> None:
            seen.append("ensures")

    manager = infra.PassManager(run_checks_after_each_pass=True)
    manager.add_pass(Checked())
    manager.add_checks(lambda module: seen.append("check"))
    assert not manager(a_module(torch)).modified
    assert seen == ["check", "requires", "call", "ensures", "check"]
    with pytest.raises(TypeError, match="should only take in one variable"):
        manager.add_checks(lambda: None)


def test_an_error_names_the_pass(torch: Any, infra: Any, base: Any) -> None:
    def fails(module: Any) -> Any:
        raise ValueError("no")

    fine = infra.pass_result_wrapper(lambda module: module)
    with pytest.raises(Exception, match=r"running the 'fails' pass after the following passes: \['<lambda>'\]") as told:
        infra.PassManager([fine, fails])(a_module(torch))
    assert isinstance(told.value.__cause__, ValueError)
    with pytest.raises(Exception, match="running the '<lambda>' pass") as told:
        infra.PassManager([lambda module: None])(a_module(torch))
    assert "should be type PassResult" in str(told.value.__cause__)


def test_a_function_becomes_a_pass(torch: Any, infra: Any, base: Any) -> None:
    module, other = a_module(torch), a_module(torch)
    given = base.PassResult(other, False)
    for returned, result in ((None, (module, True)), (other, (other, True)), (given, (other, False))):
        assert infra.pass_result_wrapper(lambda _, value=returned: value)(module) == result
    assert infra.pass_result_wrapper(None) is None
    assert infra.pass_result_wrapper(max).__name__ == "builtin_function_or_method"
