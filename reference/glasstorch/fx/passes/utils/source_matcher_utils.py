"""Which nodes came of one call of a function or layer?

Mirrors: torch/fx/passes/utils/source_matcher_utils.py
Differs: lists are in the order of the graph; PyTorch's come from sets. The class of a module is never noted as a text.

When a program is decomposed into operators, one layer becomes several nodes. Their `meta` tells where they came from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Node

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]


@dataclass
class SourcePartition:
    """Nodes that came of one call of `source`, and the nodes around them.

    `input_nodes` give them values, `output_nodes` are those whose results are used by others, and `params` are those
    that fetch parameters.
    """

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    output_nodes: list[Node] = field(default_factory=list)
    params: list[Node] = field(default_factory=list)


def get_source_partitions(
    graph: Graph, wanted_sources: list[Any], filter_fn: Callable[[Node], bool] | None = None
) -> dict[Any, list[SourcePartition]]:
    """For each of these functions and classes of modules, the groups of nodes that came of its calls.

    Sources of which nothing came are left out; so are groups with a node for which `filter_fn` is false.
    """
    groups: dict[Any, dict[str, list[Node]]] = {}
    for node in graph.nodes:
        if (found := _source_of(node, wanted_sources)) is not None:
            source, call = found
            groups.setdefault(source, {}).setdefault(call, []).append(node)
    return {
        source: [
            _partition(nodes, source) for nodes in calls.values() if filter_fn is None or all(map(filter_fn, nodes))
        ]
        for source, calls in groups.items()
    }


def _source_of(node: Node, wanted: list[Any]) -> tuple[Any, str] | None:
    """The source that a node came of, if it is wanted, and a text that tells its calls apart."""
    if (stack := node.meta.get("source_fn_stack")) is not None:
        call, source = stack[-1][:2]
        return (source, call) if source in wanted else None
    if (noted := node.meta.get("torch_fn")) is not None:
        call, path = noted  # such as "relu_1" and "function.relu"
        name = path.split(".")[1]
        if name in wanted:
            return name, call
    modules = node.meta.get("nn_module_stack") if node.op == "call_function" else None
    if not modules:
        return None
    path, kind = list(modules.values())[-1]  # the innermost
    for source in wanted:
        if kind == source or (isinstance(source, type) and isinstance(kind, type) and issubclass(kind, source)):
            return source, path
    return None


def _partition(nodes: list[Node], source: Any) -> SourcePartition:
    inputs: dict[Node, None] = {}
    for node in nodes:
        found = [arg for arg in node.args if isinstance(arg, Node) and arg not in nodes and arg.op != "get_attr"]
        inputs.update(dict.fromkeys(found))
    params = [node for node in nodes if node.op == "get_attr"]
    outputs = [node for node in nodes if node.op != "get_attr" and any(user not in nodes for user in node.users)]
    return SourcePartition(nodes, source, list(inputs), outputs, params)


def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Whether a node of the second group uses the result of one of the first."""
    return any(user in subgraph2.nodes for node in subgraph1.nodes for user in node.users)
