"""How does a part of a graph become a module of its own, and are two graphs the same?

Mirrors: torch/fx/passes/utils/common.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.passes.utils.matcher_utils import SubgraphMatcher
from glasstorch.nn.modules.module import Module

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]


class HolderModule(Module):
    """A module that only has children: those of the dict."""

    def __init__(self, d: Mapping[str, Module | None]) -> None:
        super().__init__()
        for name, child in d.items():
            self.add_module(name, child)


def lift_subgraph_as_module(
    gm: GraphModule, subgraph: Graph, comp_name: str = "", class_name: str = "GraphModule"
) -> tuple[GraphModule, dict[str, str]]:
    """A module of a graph whose nodes were copied from `gm`'s, and a dict of the paths of what the two share.

    What the graph calls and fetches is at the same path in both. The dict has each path, and the same with `comp_name`
    before it, for a module that will be a child of that name.
    """
    root = HolderModule({})
    paths: dict[str, str] = {}
    for node in subgraph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        *way, name = node.target.split(".")
        ours: Any = root
        theirs: Any = gm
        for step in way:
            if not hasattr(ours, step):
                ours.add_module(step, HolderModule({}))
            ours, theirs = getattr(ours, step), getattr(theirs, step)
        setattr(ours, name, getattr(theirs, name))
        paths[node.target] = f"{comp_name}.{node.target}"
    return GraphModule(root, subgraph, class_name), paths


def compare_graphs(left: Graph, right: Graph) -> bool:
    """Whether two graphs have the same inputs, outputs and nodes, connected in the same way.

    >>> from glasstorch.fx import symbolic_trace
    >>> one, same, other = (symbolic_trace(f).graph for f in (lambda x: x + 1, lambda y: y + 1, lambda x: x + 2))
    >>> compare_graphs(one, same), compare_graphs(one, other)
    (True, False)
    """
    return bool(SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right))
