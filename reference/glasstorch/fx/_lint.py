"""Is a graph well formed?

Mirrors: torch/fx/graph.py (Graph.lint)
"""

from __future__ import annotations

from typing import Any

from glasstorch.fx.node import LEGAL_OPS, Node
from glasstorch.nn.modules.module import Module
from glasstorch.python_forms.tensor_types import typename

Graph = Any  # the class that holds nodes, which asks this file about itself


def check(graph: Graph) -> None:
    """Raise RuntimeError, or ValueError for a target of the wrong type, at the first node that is wrong."""
    names: set[str] = set()
    defined: set[Node] = set()
    for node in graph.nodes:
        if node.op not in LEGAL_OPS:
            raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
        if node.graph is not graph:
            raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
        if node not in graph._nodes_by_target:
            raise RuntimeError(f"Node '{node}' is not added to the side table")
        for argument in node._input_nodes:
            _check_argument(graph, node, argument, defined)
        defined.add(node)
        if node.name in names:
            raise RuntimeError(f"Node redefined name {node.name}!")
        names.add(node.name)
    if graph.owning_module is not None:
        for node in graph.nodes:
            _check_target(graph.owning_module, node)


def _check_argument(graph: Graph, node: Node, argument: Node, defined: set[Node]) -> None:
    if argument.graph is not graph:
        raise RuntimeError(
            f"Argument '{argument}' of Node '{node}' does not belong to this Graph, but was used as an argument! If "
            "you are copying nodes from another graph, make sure to use ``arg_transform`` on node_copy() to remap "
            f"values\n{graph}"
        )
    if argument not in defined:
        raise RuntimeError(
            f"Argument '{argument}' of Node '{node}' was used before it has been defined! Please check that Nodes in "
            f"the graph are topologically ordered\n{graph}"
        )


def _check_target(owner: Module, node: Node) -> None:
    """Does a node call something, and does the module have what it fetches or calls?"""
    is_function = node.op == "call_function"
    if not (callable(node.target) if is_function else isinstance(node.target, str)):
        raise ValueError(
            f"Node {node} target {node.target} has type {typename(node.target)} but "
            f"a {'Callable' if is_function else 'str'} is expected"
        )
    if node.op not in ("get_attr", "call_module"):
        return
    found: object = owner
    passed: list[str] = []
    for name in node.target.split("."):
        found = getattr(found, name, None)
        path = ".".join(passed)
        if found is None:
            raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {name} of {path}")
        if node.op == "call_module" and not isinstance(found, Module):
            raise RuntimeError(f"Node {node} target {node.target} {name} of {path} does not reference an nn.Module")
        passed.append(name)
