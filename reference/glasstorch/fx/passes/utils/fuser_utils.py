"""How do several nodes become one?

Mirrors: torch/fx/passes/utils/fuser_utils.py
"""

from __future__ import annotations

import copy
import heapq
from collections.abc import Iterable
from operator import getitem
from typing import Any

from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node
from glasstorch.fx.passes.tools_common import legalize_graph as legalize_graph
from glasstorch.fx.passes.tools_common import stable_topological_sort


def topo_sort(nodes: Iterable[Node]) -> list[Node]:
    """The nodes with each after those of its inputs that are among them, and otherwise as they are given.

    AssertionError is raised if there is a cycle.
    """
    places = {node: place for place, node in enumerate(nodes)}
    missing = {node: sum(source in places for source in node.all_input_nodes) for node in places}
    ready = [(places[node], node) for node, count in missing.items() if count == 0]
    ordered: list[Node] = []
    while ready:
        _, node = heapq.heappop(ready)
        ordered.append(node)
        for user in node.users:
            if user in missing:
                missing[user] -= 1
                if missing[user] == 0:
                    heapq.heappush(ready, (places[user], user))
    if len(ordered) != len(places):
        raise AssertionError("topological sorted nodes doesn't have same length as input nodes")
    return ordered


def validate_partition(partition: Iterable[Node]) -> bool:
    """Whether some nodes could run as one step: no path leaves them and comes back.

    >>> from glasstorch.fx import symbolic_trace
    >>> a, b, c = list(symbolic_trace(lambda x: (x + 1).relu() * 2).graph.nodes)[1:4]
    >>> validate_partition([a, b]), validate_partition([a, c])
    (True, False)
    """
    inside = set(partition)
    outside = [user for node in inside for user in node.users if user not in inside]
    seen: set[Node] = set(outside)
    while outside:
        for user in outside.pop().users:
            if user in inside:
                return False
            if user not in seen:
                seen.add(user)
                outside.append(user)
    return True


def fuse_as_graphmodule(
    gm: GraphModule,
    nodes: list[Node],
    module_name: str,
    partition_lookup_table: dict[Node, Any] | None = None,
    *,
    always_return_tuple: bool = False,
) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:
    """A module that computes what some sorted nodes of another one do, with its inputs and outputs in the old graph.

    Parameters and submodules are shared with `gm`, whose graph stays as it is. AssertionError is raised for nodes of
    other graphs, removed ones, or ones that cannot run as one step.
    """
    for node in nodes:
        if node.graph.owning_module is not gm:
            raise AssertionError(f"{node} doesn't belong to passed in graph module {gm._get_name()}")
        if node._erased:
            raise AssertionError(f"{node} has been removed from owning graph")
    inside = set(nodes) if partition_lookup_table is None else partition_lookup_table
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    subgraph = Graph()
    inputs: dict[Node, Node] = {}
    copies: dict[Node, Node] = {}

    def copied(node: Node) -> Node:
        if node.op == "get_attr":  # fetched again rather than passed in
            if node not in copies:
                copies[node] = subgraph.node_copy(node)
            return copies[node]
        if node in inside:
            return copies[node]
        if node not in inputs:
            inputs[node] = subgraph.placeholder(node.name, type_expr=node.type)
            inputs[node].meta = copy.copy(node.meta)
        return inputs[node]

    for node in nodes:
        copies[node] = subgraph.node_copy(node, copied)
    outputs = {node: copies[node] for node in nodes if any(user not in inside for user in node.users)}
    results = tuple(outputs.values())
    subgraph.output(results[0] if len(results) == 1 and not always_return_tuple else results)
    subgraph.lint()
    return GraphModule(gm, subgraph, class_name=module_name), tuple(inputs), tuple(outputs)


def insert_subgm(
    gm: GraphModule,
    sub_gm: GraphModule,
    orig_inputs: tuple[Node, ...],
    orig_outputs: tuple[Node, ...],
    insertion_point: Node | None = None,
) -> GraphModule:
    """Add a submodule to a module, and let its call give what some nodes gave; returns the module.

    The call goes after `insertion_point`, or after the last of the nodes.
    """
    if insertion_point is None and not orig_outputs:
        raise AssertionError(
            "Cannot determine insertion point: no insertion_point provided and orig_outputs is empty. "
            "Pass the last partition node as insertion_point."
        )
    gm.add_submodule(sub_gm.__class__.__name__, sub_gm)
    with gm.graph.inserting_after(max(orig_outputs) if insertion_point is None else insertion_point):
        call = gm.graph.call_module(sub_gm.__class__.__name__, args=orig_inputs, kwargs=None)
    if not isinstance(sub_gm.graph.output_node().args[0], tuple):
        orig_outputs[0].replace_all_uses_with(call, propagate_meta=True)
        return gm
    with gm.graph.inserting_before(call.next):
        for i, node in enumerate(orig_outputs):
            item = gm.graph.call_function(getitem, (call, i))
            node.replace_all_uses_with(item, propagate_meta=True)
    if orig_outputs:
        call.meta["val"] = tuple(node.meta.get("val") for node in orig_outputs)
    return gm


def erase_nodes(gm: GraphModule, nodes: list[Node]) -> None:
    """Remove sorted nodes, users before what they use."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


def fuse_by_partitions(
    gm: GraphModule,
    partitions: list[dict[Node, int | None]],
    prefix: str = "fused_",
    always_return_tuple: bool = False,
) -> GraphModule:
    """Replace each group of nodes by the call of a submodule that computes them; returns the module, changed."""
    for number, partition in enumerate(partitions):
        nodes = topo_sort(partition)
        fused, inputs, outputs = fuse_as_graphmodule(
            gm, nodes, f"{prefix}{number}", partition, always_return_tuple=always_return_tuple
        )
        insert_subgm(gm, fused, inputs, outputs, nodes[-1])
        erase_nodes(gm, nodes)
    stable_topological_sort(gm)
    gm.graph.lint()
    return gm
