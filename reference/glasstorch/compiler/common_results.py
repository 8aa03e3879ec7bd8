"""Which nodes compute what another one has computed already?

Mirrors: torch/_functorch/compile_utils.py (fx_graph_cse, raise_getitems)
"""

from __future__ import annotations

import operator
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.roles import is_written
from glasstorch.core.pytree import tree_flatten
from glasstorch.dispatch.tags import Tag
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node


def fx_graph_cse(fx_g: Graph) -> Graph:
    """A copy of a graph in which no two nodes call the same with the same arguments.

    Kept apart are random numbers, memory that is not initialised, writes, and what shares memory with a result: each
    result has memory of its own.
    """
    shared = {_storage(node) for node in fx_g.output_node().all_input_nodes} - {None}
    graph, copies = Graph(), dict[Node, Node]()
    known: dict[Any, Node] = {}
    for node in fx_g.nodes:
        key = None if node.op != "call_function" or _storage(node) in shared or _is_unique(node) else _key(node, copies)
        if key is not None and key in known:
            copies[node] = known[key]
            continue
        copies[node] = graph.node_copy(node, lambda source: copies[source])
        if key is not None:
            known[key] = copies[node]
    return graph


def _storage(node: Node) -> int | None:
    value = node.meta.get("val")
    return int(value.untyped_storage()._cdata) if isinstance(value, Tensor) else None


def _is_unique(node: Node) -> bool:
    schema = getattr(node.target, "schema", None)
    if schema is None:
        return node.is_impure()
    if is_written(node):
        return True
    tags = set[Tag](node.target.tags)
    writes = any(argument.type.is_write for argument in schema.arguments)
    return writes or Tag.nondeterministic_seeded in tags or Tag.uninitialised in tags


def _key(node: Node, copies: dict[Node, Node]) -> Any:
    """What two nodes have in common that compute the same; None for arguments that cannot be compared."""
    leaves, spec = tree_flatten((node.args, node.kwargs))
    known = [(type(leaf), copies[leaf] if isinstance(leaf, Node) else _compared(leaf)) for leaf in leaves]
    try:
        key = node.target, tuple(known), str(spec)
        hash(key)
    except TypeError:
        return None
    return key


def _compared(leaf: Any) -> Any:
    return repr(leaf) if isinstance(leaf, float | complex) else leaf  # nan, and -0.0 beside 0.0


def raise_getitems(gm: GraphModule) -> GraphModule:
    """Take the elements of each list directly after it, so that the list is freed."""
    ends: dict[Node, Node] = {}  # of the elements of each list that stand there already, the last
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.target is operator.getitem and isinstance(node.args[0], Node):
            after = ends.get(node.args[0], node.args[0])
            if after.next is not node:
                after.append(node)
            ends[node.args[0]] = node
    gm.recompile()
    return gm
