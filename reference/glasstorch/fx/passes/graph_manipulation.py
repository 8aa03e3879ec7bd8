"""How large is what the nodes of a graph hold, and how is one target exchanged for another?

Mirrors: torch/fx/passes/graph_manipulation.py
Differs: no tensor is quantized.
"""

from __future__ import annotations

from typing import NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node, Target, map_arg
from glasstorch.fx.passes.shape_prop import ShapeProp, TensorMetadata

__all__ = ["get_size_of_all_nodes", "get_size_of_node", "get_tensor_meta", "replace_target_nodes_with", "size_bytes"]


def replace_target_nodes_with(
    fx_module: GraphModule, old_op: str, old_target: Target, new_op: str, new_target: Target
) -> None:
    """Let each node of one kind and target be of another kind and target, with the same arguments and name.

    The module gets a new graph.
    """
    graph = Graph()
    copies: dict[Node, Node] = {}
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            args, kwargs = (map_arg(part, copies.__getitem__) for part in (node.args, node.kwargs))
            copies[node] = graph.create_node(new_op, new_target, args, kwargs, node.name)
        else:
            copies[node] = graph.node_copy(node, copies.__getitem__)
    fx_module.graph = graph


class size_bytes(NamedTuple):  # the name that programs use
    """The bytes of a node's result, and of the result together with the parameters of the module that is called."""

    output_size: int
    total_size: int


def get_size_of_all_nodes(fx_module: GraphModule, args: list[Tensor] | None = None) -> None:
    """Note the sizes of each node but the output in its attribute `size_bytes`.

    With `args`, the module is run on them first, so that shapes are known; else `ShapeProp` must have been run.
    """
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            break
        node.size_bytes = get_size_of_node(fx_module, node)


def get_tensor_meta(node: Node) -> TensorMetadata:
    """What `ShapeProp` noted of a node; RuntimeError if it noted nothing."""
    noted = node.meta.get("tensor_meta")
    if not noted:
        raise RuntimeError(
            f"Node {node} has no tensor metadata associated with it! Check that shape propagation has run."
        )
    return noted  # type: ignore[no-any-return]


def get_size_of_node(fx_module: GraphModule, node: Node) -> size_bytes:
    """The sizes of one node. Parameters count with the bytes that an element of the result has."""
    parameters = fx_module.get_submodule(node.target).parameters() if node.op == "call_module" else ()
    noted = get_tensor_meta(node)
    count = noted.shape.numel()
    return size_bytes(
        count * noted.dtype.itemsize, (count + sum(one.numel() for one in parameters)) * noted.dtype.itemsize
    )
