"""Are nodes ordered and named?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def tools(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.tools_common")


@pytest.mark.parametrize("sort", ["legalize_graph", "stable_topological_sort"])
def test_nodes_out_of_order_are_sorted_again(torch: Any, tools: Any, sort: str) -> None:
    module = torch.fx.symbolic_trace(lambda x, y: (x + 1).relu() * y)
    add, relu = module.graph.find_nodes(op="call_function", target=__import__("operator").add) + [
        node for node in module.graph.nodes if node.name == "relu"
    ]
    relu.append(add)
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        module.graph.lint()
    assert getattr(tools, sort)(module) is module
    module.graph.lint()
    order = {"legalize_graph": "x add y relu mul output", "stable_topological_sort": "x y add relu mul output"}
    assert " ".join(node.name for node in module.graph.nodes) == order[sort]
    assert module(torch.ones(1), torch.full((1,), 3.0)).item() == 6


def test_a_cycle_is_refused(torch: Any, tools: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: (x + 1).relu())
    add, relu = list(module.graph.nodes)[1:3]
    add.args = (relu, 1)
    with pytest.raises(RuntimeError, match=r"Input graph has cycles, unable to add \[add, relu, output\]"):
        tools.legalize_graph(module)


def test_a_target_is_named(torch: Any, tools: Any) -> None:
    module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
    added = torch.fx.symbolic_trace(lambda x: torch.relu(x).neg())
    names = [tools.get_node_target(dict(added.named_modules()), node) for node in list(added.graph.nodes)[1:3]]
    assert names == ["torch.relu", "neg"]
    assert tools.get_node_target(dict(module.named_modules()), list(module.graph.nodes)[1]).endswith("ReLU")
    with pytest.raises(AssertionError, match="but found placeholder"):
        tools.get_node_target({}, next(iter(added.graph.nodes)))
