"""Does a match know its nodes by the names that the pattern gives?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def matcher(torch: Any) -> Any:
    module = import_module(f"{torch.__name__}.fx.passes.utils.matcher_with_name_node_map_utils")
    return module.SubgraphMatcherWithNameNodeMap


def pattern(torch: Any, function: Any) -> Any:
    return torch.fx.symbolic_trace(function, concrete_args={"pair": (torch.fx.PH, torch.fx.PH)})


def test_nodes_are_found_by_name(torch: Any, matcher: Any) -> None:
    def wanted(pair: Any) -> Any:
        total = pair[0] + pair[1]
        positive = torch.relu(total)
        return positive, {"total": total, "positive": positive}

    graph = torch.fx.symbolic_trace(lambda x, y: torch.relu(x.neg() + y) * 2).graph
    found = matcher(pattern(torch, wanted)).match(graph)
    assert [{key: node.name for key, node in match.name_node_map.items()} for match in found] == [
        {"total": "add", "positive": "relu"}
    ]


def test_a_pattern_must_return_its_names_last(torch: Any, matcher: Any) -> None:
    for function, message in (
        (lambda pair: torch.relu(pair[0] + pair[1]), "to return a tuple"),
        (lambda pair: (torch.relu(pair[0] + pair[1]),), "at least two outputs"),
        (lambda pair: (pair[0] + pair[1], pair[0]), "dict output as the last element"),
    ):
        with pytest.raises(AssertionError, match=message):
            matcher(pattern(torch, function))
