"""Finds the nodes of forward, then those of them that a node of backward uses."""

from typing import Any

from glasstorch.compiler.partition import _extract_fwd_bwd_modules
from glasstorch.fx import GraphModule, Node


def default_partition(
    joint_module: GraphModule, _joint_inputs: Any, *, num_fwd_outputs: int, **unused: Any
) -> tuple[GraphModule, GraphModule]:
    """The forward and the backward module of a joint graph."""
    nodes = list(joint_module.graph.nodes)
    forward = {node for node in nodes if runs_forward(node)}
    kept = [node for node in nodes if node in forward and node.op != "get_attr" and used_by_backward(node, forward)]
    return _extract_fwd_bwd_modules(joint_module, kept, num_fwd_outputs=num_fwd_outputs)


def runs_forward(node: Node) -> bool:
    """Whether forward has or makes a value."""
    if node.op == "placeholder":
        return not str(node.target).startswith("tangents")
    return node.op != "output" and node.meta.get("partitioner_tag") != "is_backward"


def used_by_backward(node: Node, forward: set[Node]) -> bool:
    """Whether a node of backward uses a value."""
    return any(user not in forward and user.op != "output" for user in node.users)
