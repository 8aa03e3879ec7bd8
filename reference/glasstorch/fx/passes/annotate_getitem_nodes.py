"""Of which type is an item, if the type of its container is known?

Mirrors: torch/fx/passes/annotate_getitem_nodes.py
"""

from __future__ import annotations

import operator
import typing
from typing import Any

from glasstorch.fx.graph import Graph


def annotate_getitem_nodes(graph: Graph) -> None:
    """Give each node that fetches an item a type, if its container's is that of a tuple, list or named tuple.

    Annotations of names inside a function are lost when it is traced; those of its parameters are not, and tell the
    types of their items. AssertionError is raised if a tuple's type has no such item.
    """
    for node in graph.nodes:
        if node.target is not operator.getitem:
            continue
        container, index = node.args
        if container.type and (found := _type_of_item(container.type, index)) is not None:
            node.type = found


def _type_of_item(kind: Any, index: int) -> Any:
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        if inside[1:] == (...,):
            return inside[0]
        if len(inside) <= index:
            raise AssertionError(f"Index {index} out of range for parameterized_types (len={len(inside)})")
        return inside[index]
    if origin is list:
        return inside[0]
    if hasattr(kind, "_fields"):
        return kind.__annotations__.get(kind._fields[index])
    return None
