"""What does a node of a traced graph do?

Mirrors: torch/_inductor/pattern_matcher.py (CallFunction)
"""

from __future__ import annotations

import operator
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.patterns.matcher import Match, Operation
from glasstorch.compiler.patterns.rewriting import Refused, value_of
from glasstorch.dispatch.overload import OpOverload
from glasstorch.fx._names import at
from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Node


def read(node: Node) -> Operation | None:
    """An operator by its name, with its arguments in the order of the schema, or an element of several results."""
    if node.op != "call_function":
        return None
    if node.target is operator.getitem:
        return Operation("getitem", tuple(node.args))
    target = node.target
    if not isinstance(target, OpOverload) or target.namespace != "aten" or target._schema.is_mutable:
        return None
    declared = target._schema.arguments
    rest = [node.kwargs.get(one.name, one.default_value) for one in declared[len(node.args) :]]
    return Operation(target.name.removeprefix("aten::"), (*node.args, *rest))


def is_returned(node: Node) -> bool:
    """Whether the caller gets a value, or a view of it."""
    return any(user.op == "output" or (_shows(user) and is_returned(user)) for user in node.users)


def _shows(node: Node) -> bool:
    target = node.target
    return not isinstance(target, OpOverload) or target.is_view or target.name == "aten::_unsafe_view"


def stand_for(match: Match, source: Any) -> Node:
    """A value that can be read in place of the match's own; refused where the program could tell the two apart."""
    if not isinstance(source, Node):
        raise Refused("it is a number")
    if geometry(source) != geometry(match.anchor):
        raise Refused("it has another dtype, other sizes or other strides")
    if is_returned(match.anchor):
        raise Refused("it is a result, whose memory must be its own")
    return source


def geometry(node: Node) -> Any:
    """Sizes, strides and dtype of a node's result. Refused if they are not known."""
    like = value_of(node)
    if not isinstance(like, Tensor) or not all(isinstance(size, int) for size in like.shape):
        raise Refused("its sizes are not known")
    return tuple(like.shape), like.stride(), like.dtype


def call(graph: Graph, name: str, *args: Any, **kwargs: Any) -> Node:
    """A new node that calls an operator, by the name of its overload."""
    packet, _, overload = name.partition(".")
    return graph.call_function(getattr(getattr(at("").ops.aten, packet), overload or "default"), args, kwargs)
