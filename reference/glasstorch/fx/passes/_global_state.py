"""Which nodes change a state that later nodes depend on, although no edge says so?

Mirrors: torch/fx/passes/split_module.py (GLOBAL_STATE_NODES, grad_regions)
Differs: autocasting is never switched by a node.

`torch._C._set_grad_enabled(False)` in a graph holds until the next such call. Where the graph is split, each part that
runs while it holds must begin with it, and parts must run in the order of the nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch.autograd.modes import _set_grad_enabled
from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Node


def grad_regions(graph: Graph, part_of: Callable[[Node], Any]) -> dict[Node, list[Any]]:
    """Of each node that switches the recording of gradients, the parts in which it holds, sorted.

    AssertionError is raised if there is such a node and the parts do not come one after the other.
    """
    regions: dict[Node, set[Any]] = {}
    active: Node | None = None
    parts: list[Any] = []
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        part = part_of(node)
        parts.append(part)
        if node.op == "call_function" and node.target is _set_grad_enabled:
            if len(node.args) != 1:
                raise AssertionError(f"Expected 1 arg for _set_grad_enabled, got {len(node.args)}")
            if not isinstance(node.args[0], bool):
                raise AssertionError(f"Expected bool arg, got {type(node.args[0])}")
            active = node
            regions[active] = set()
        if active is not None:
            regions[active].add(part)
    if regions:
        _check_order(parts)
    return {node: sorted(found) for node, found in regions.items()}


def _check_order(parts: list[Any]) -> None:
    highest = -1
    for part in parts:
        if part < highest:
            raise AssertionError(
                "autocast or set_grad_enabled require monotonically increasing "
                f"partitions: highest: {highest}, this node's: {part}"
            )
        highest = part
