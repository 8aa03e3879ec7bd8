"""Which operators are aliases, and what are their canonical names?

Mirrors: torch/csrc/jit/passes/normalize_ops.cpp (NormalizeOps, getOperatorAliasMap)
Differs: aliases are what the operator table calls `alias_of`, so `trapz` is `trapezoid`. TorchScript's `degrees` and
    `radians` do not exist here.

The tracer runs this pass, so that no other pass has to handle two names of one operator.
"""

from __future__ import annotations

from glasstorch.dispatch.operator import Operator, registry
from glasstorch.jit.ir import Graph, Node


def normalize_ops(graph: Graph) -> bool:
    """Rename nodes of alias operators to their canonical names."""
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
    """The operator that this one is an alias of; None if the name has overloads of its own, as `max` has."""
    if operator.alias_of is None:
        return None
    overloads = registry.overloads(operator.namespace, operator.schema.name)
    return operator.alias_of if all(o.alias_of or o.schema.is_out for o in overloads) else None


def _rename(node: Node, kind: str) -> None:
    """Replace this node by one of another kind with the same inputs and outputs."""
    graph = node.graph
    with graph.inserting_before(node):
        made = graph.insert_node(graph.create(kind, node.inputs, len(node.outputs)))
    made.source, made.scope = node.source, node.scope
    for old, new in zip(node.outputs, made.outputs, strict=True):
        old.replace_all_uses_with(new)
        new.copy_metadata(old)
    node.destroy()
    assert made.maybe_operator() is not None, f"no operator {kind} takes what its other name does"
