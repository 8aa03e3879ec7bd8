"""Which nodes of a joint graph can be computed before the gradients arrive, and which need them?

Mirrors: torch/_functorch/partitioners.py (classify_nodes, NodeInfo, OpTypes, _size_of)
Differs: what may be computed again is said by the tags of an operator; every view may.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.compiler.drawn_again import is_random as is_random
from glasstorch.compiler.partition import extract, is_primal, is_tangent, results_of
from glasstorch.core.symbols import about
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.tags import Tag
from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Node

FAR = 10**9  # the distance of what backward does not read


class Roles(NamedTuple):
    """The nodes of a joint graph by what they need."""

    order: dict[Node, int]  # of those that forward has to compute, in the order of the graph
    of_tangents: set[Node]  # computed from gradients that arrive
    backward: set[Node]  # those, and what backward returns
    distance: dict[Node, int]  # how many steps it is to a node that forward does not compute

    def is_forward(self, node: Node) -> bool:
        """Whether forward has to compute it."""
        return node in self.order


def roles_of(graph: Graph, num_fwd_outputs: int) -> Roles:
    """The roles of the nodes, by what the results of forward and backward depend on."""
    of_tangents: set[Node] = set()
    for node in graph.nodes:
        if is_tangent(node):
            of_tangents.add(node)
        if node in of_tangents:
            of_tangents.update(node.users)
    results = results_of(graph)
    backward = of_tangents | {value for value in results[num_fwd_outputs:] if isinstance(value, Node)}
    primals = [node for node in graph.nodes if is_primal(node)]
    names = {node.name for node in extract(graph, primals, results[:num_fwd_outputs]).nodes if node.op != "output"}
    forward = [node for node in graph.nodes if node.name in names]
    order = {node: place for place, node in enumerate(forward)}
    distance: dict[Node, int] = {}
    for node in reversed(list(graph.nodes)):
        if node.op == "output":
            distance[node] = FAR
        elif node not in order:
            distance[node] = 0
        else:
            distance[node] = min((distance[user] + 1 for user in node.users), default=FAR)
    return Roles(order, of_tangents, backward, distance)


# Kinds of operators ---------------------------------------------------------------------------------------------------


@cache
def _tags_of_family(name: str) -> frozenset[Tag]:
    """The tags of an operator under all its overloads: `add` is pointwise if one of them is."""
    prefix = name.split(".", maxsplit=1)[0]
    found: set[Tag] = set()
    for other, one in registry.operators.items():
        if other.split(".")[0] == prefix:
            found.update(one.tags)
    return frozenset(found)


def _has(node: Node, *tags: Tag) -> bool:
    schema = getattr(node.target, "schema", None)
    return schema is not None and not _tags_of_family(schema.qualified_name).isdisjoint(tags)


def is_view(node: Node) -> bool:
    """Whether its result shows the memory of an argument, so that it costs nothing."""
    schema = getattr(node.target, "schema", None)
    return schema is not None and schema.is_view


def is_constant(node: Node) -> bool:
    """Whether it copies a tensor that the program wrote down, which is there in both passes."""
    return (
        bool(node.args)
        and isinstance(node.args[0], Node)
        and node.args[0].op == "get_attr"
        and _has(node, Tag.recomputable)
    )


def is_recomputable(node: Node) -> bool:
    """Whether it may be computed again: it costs little more than reading what it needs."""
    return (
        node.target is operator.getitem or is_view(node) or _has(node, Tag.pointwise, Tag.cheap, Tag.recomputable)
    ) and not (is_random(node) or is_written(node))


def is_written(node: Node) -> bool:
    """Whether an operator that writes to its arguments, such as a user's, writes to what it gives."""
    for user in node.users:
        schema = getattr(user.target, "schema", None)
        if schema is not None and any(argument.type.is_write for argument in schema.arguments):
            given = dict(zip((argument.name for argument in schema.arguments), user.args, strict=False)) | user.kwargs
            written = [given.get(argument.name) for argument in schema.arguments if argument.type.is_write]
            if any(one is node or (isinstance(one, list | tuple) and node in one) for one in written):
                return True
    return False


def is_compute_intensive(node: Node) -> bool:
    """Whether its work grows faster than its memory."""
    return _has(node, Tag.compute_intensive)


def fuses(node: Node, user: Node) -> bool:
    """Whether the two become one loop, so that the result between them need not be in memory."""
    if getattr(user.target, "schema", None) is not None and user.target.schema.name == "cat":
        return True
    return all(is_recomputable(one) or is_random(one) for one in (node, user))


def nbytes(value: Any) -> int:
    """The bytes of a value's elements, of all tensors in a list."""
    if isinstance(value, Tensor):
        return int(about(math.prod(value.shape))) * value.dtype.itemsize
    return sum(map(nbytes, value)) if isinstance(value, list | tuple) else 0


def nbytes_of(nodes: Iterable[Node]) -> int:
    """The bytes of what some nodes give."""
    return sum(nbytes(node.meta.get("val")) for node in nodes)
