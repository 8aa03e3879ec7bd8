"""How does a module call the parts into which another one was split?

Mirrors: torch/fx/passes/split_module.py (the base module of split_module)
"""

from __future__ import annotations

import inspect
from operator import getitem
from typing import Any

from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node, map_arg
from glasstorch.nn.modules.module import Module


class Partition:
    """One part of a split graph: which nodes it has, what it takes and gives, which other parts must run before.

    `environment` maps nodes of the old graph to those of this part's `graph`; `targets` has what the graph calls.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[Node, None] = {}
        self.outputs: dict[Node, None] = {}
        self.dependencies: dict[str, None] = {}
        self.dependents: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return (
            f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n outputs: {self.outputs},\n"
            f" partitions depended on: {self.dependencies},\n partition dependents: {self.dependents}"
        )


class OuterModule:
    """Builds the module that calls the parts."""

    def __init__(self, m: GraphModule, keep_names: bool | None, tuple_return: bool) -> None:
        self.m = m
        self.keep_names = keep_names
        self.tuple_return = tuple_return
        self.graph = Graph()
        self.targets: dict[str, Any] = {}
        self.environment: dict[Node, Node] = {}

    def fetch(self, nodes: Any) -> None:
        """Add the inputs and attributes among some nodes of the old graph, unless they are there."""
        for node in nodes:
            if node in self.environment or node.op not in ("placeholder", "get_attr"):
                continue
            if node.op == "get_attr":
                self.targets[node.target] = found_at(self.m, node.target)
                made = self.graph.get_attr(node.target)
            elif self.keep_names:
                made = self.graph.create_node("placeholder", node.name, node.args, type_expr=node.type)
            else:
                default = node.args[0] if node.args else inspect.Signature.empty
                made = self.graph.placeholder(node.target, node.type, default)
            made.meta = node.meta.copy()
            self.environment[node] = made

    def call(self, part: Partition) -> None:
        """Finish a part and call it, after what it needs of the old module has been fetched."""
        packed = len(part.outputs) != 1 or self.tuple_return
        results = tuple(part.environment[node] for node in part.outputs)
        part.graph.output(results if packed else results[0])
        self.fetch(self.m.graph.find_nodes(op="placeholder"))
        self.fetch(part.inputs)
        for node in part.inputs:
            if node not in self.environment:
                raise RuntimeError(
                    f"{part.submod_name} needs {node}, which a part computes that runs after it; the parts can be put "
                    "in order, but not with keep_original_order=True"
                )
        self.targets[part.submod_name] = GraphModule(part.targets, part.graph)
        made = self.graph.call_module(part.submod_name, tuple(self.environment[node] for node in part.inputs))
        for i, node in enumerate(part.outputs):
            self.environment[node] = self.graph.call_function(getitem, (made, i)) if packed else made

    def finished(self, partitions: dict[str, Partition]) -> GraphModule:
        """The module, whose `meta` says which of its children are parts."""
        output = self.m.graph.output_node()
        self.fetch([*self.m.graph.find_nodes(op="placeholder"), *output.all_input_nodes])
        self.graph.output(map_arg(output.args[0], self.environment.__getitem__))
        module = GraphModule(self.targets, self.graph)
        module.meta["partition_names"] = {part.submod_name for part in partitions.values()}
        return module


def found_at(module: Module, path: str) -> Any:
    """What a module has at a dotted path."""
    found: Any = module
    for name in path.split("."):
        if not hasattr(found, name):
            raise AttributeError(f"Node target {path} not found!")
        found = getattr(found, name)
    return found
