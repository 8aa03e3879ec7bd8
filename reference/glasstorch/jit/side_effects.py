"""What does a node do besides giving its outputs?

Mirrors: torch/csrc/jit/ir/ir.cpp (Node::hasSideEffects, Node::isNondeterministic)
Differs: drawing random numbers moves the generator on, which counts as an effect; PyTorch removes a draw that nobody
    uses, and every later one gives other numbers. What writes to memory is the question of alias_analysis.py.
"""

from __future__ import annotations

from typing import Final

from glasstorch.dispatch.operator import Operator
from glasstorch.dispatch.tags import Tag
from glasstorch.jit.ir import Node

# Kinds of ours that have no schema and do nothing but give values.
PURE_PRIMITIVES: Final = frozenset(
    f"prim::{name}"
    for name in (
        "Constant",
        "ListConstruct",
        "ListUnpack",
        "TupleConstruct",
        "TupleUnpack",
        "TupleIndex",
        "If",
        "Loop",
        "FusionGroup",
        "DifferentiableGraph",
    )
)


def is_nondeterministic(node: Node) -> bool:
    """Whether two runs of the node with equal inputs may give different values: it draws random numbers."""
    operator = node.maybe_operator()
    return operator is not None and _draws(operator)


def is_uninitialised(node: Node) -> bool:
    """Whether the node gives memory as it finds it."""
    operator = node.maybe_operator()
    return operator is not None and Tag.uninitialised in operator.tags


def is_opaque(node: Node) -> bool:
    """Whether nothing is known of what the node does: its kind has no schema, or it takes a storage."""
    schema = node.maybe_schema()
    if schema is None:
        return node.kind not in PURE_PRIMITIVES
    return any(argument.type.base == "Storage" for argument in schema.arguments)


def has_side_effects(node: Node) -> bool:
    """Whether somebody would notice if the node did not run, though nobody uses its outputs; writes not counted."""
    if is_opaque(node) or is_nondeterministic(node):
        return True
    return any(has_side_effects(inner) for block in node.blocks for inner in block.nodes)


def _draws(operator: Operator) -> bool:
    """Whether its tags say so, or, as a user's operator may have none, it takes a generator."""
    takes_generator = any(argument.type.base == "Generator" for argument in operator.schema.arguments)
    return Tag.nondeterministic_seeded in operator.tags or takes_generator
