"""Do nodes get the types that signatures tell?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def annotate(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.experimental.schema_type_annotation").AnnotateTypesWithSchema


def a_module(torch: Any) -> Any:
    root = torch.nn.Module()
    root.linear, root.weight, root.rate = torch.nn.Linear(2, 2), torch.nn.Parameter(torch.ones(2)), 0.5
    root.own = type("Own", (torch.nn.Linear,), {})(2, 2)
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    values = [
        graph.call_function(torch.nn.functional.relu, (x,)),
        graph.call_function(torch.neg, (x,)),
        graph.call_module("linear", (x,)),
        graph.call_module("own", (x,)),
        graph.get_attr("weight"),
    ]
    graph.output(values)
    return torch.fx.GraphModule(root, graph)


@pytest.mark.parametrize("off", [None, "annotate_functionals", "annotate_modules", "annotate_get_attrs"])
def test_nodes_get_the_types_of_their_results(torch: Any, annotate: Any, off: str | None) -> None:
    made = annotate(a_module(torch), **({} if off is None else {off: False})).transform()
    types = {node.name: node.type for node in made.graph.nodes if node.type is not None}
    expected = {"relu": "annotate_functionals", "linear": "annotate_modules", "weight": "annotate_get_attrs"}
    assert types == {name: torch.Tensor for name, switch in expected.items() if switch != off}


def test_a_type_that_is_there_stays(torch: Any, annotate: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: torch.nn.functional.relu(x))
    assert annotate(module).transform()(torch.tensor(-1.0)).item() == 0
