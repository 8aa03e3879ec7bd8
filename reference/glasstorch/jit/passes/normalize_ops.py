"""Which operators of a graph are others under another name?

Mirrors: torch/csrc/jit/passes/normalize_ops.cpp (NormalizeOps, getOperatorAliasMap)
Differs: other names are what the operator table calls `alias_of`, so `trapz` is `trapezoid`. `degrees` and `radians` of
    TorchScript are not there.

The tracer runs it, so that no other pass has to know two names of one operator.
"""

from __future__ import annotations

from glasstorch.dispatch.operator import Operator, registry
from glasstorch.jit.ir import Graph, Node


def normalize_ops(graph: Graph) -> bool:
    """Give the nodes of operators that have two names the usual one."""
    found = [
        (node, usual)
        for node in graph.all_nodes()
        if (operator := node.maybe_operator()) is not None and (usual := original(operator)) is not None
    ]
    for node, usual in found:
        _rename(node, usual.name.partition(".")[0])
    graph.lint()
    return bool(found)


def original(operator: Operator) -> Operator | None:
    """The operator of which this one is another name; None where the name has overloads of its own, as `max` has."""
    if operator.alias_of is None:
        return None
    overloads = registry.overloads(operator.namespace, operator.schema.name)
    return operator.alias_of if all(o.alias_of or o.schema.is_out for o in overloads) else None


def _rename(node: Node, kind: str) -> None:
    """Put a node of another kind, with the same inputs and outputs, in the place of this one."""
    graph = node.graph
    with graph.inserting_before(node):
        made = graph.insert_node(graph.create(kind, node.inputs, len(node.outputs)))
    made.source, made.scope = node.source, node.scope
    for old, new in zip(node.outputs, made.outputs, strict=True):
        old.replace_all_uses_with(new)
        new.copy_metadata(old)
    node.destroy()
    assert made.maybe_operator() is not None, f"no operator {kind} takes what its other name does"
