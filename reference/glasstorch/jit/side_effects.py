"""Which effects does a node have besides computing its outputs?

Mirrors: torch/csrc/jit/ir/ir.cpp (Node::hasSideEffects, Node::isNondeterministic)
Differs: drawing random numbers advances the generator, which counts as an effect; PyTorch removes an unused draw, which
    changes the numbers of all later ones. Writes to memory are the subject of alias_analysis.py.
"""

from __future__ import annotations

from typing import Final

from glasstorch.dispatch.operator import Operator
from glasstorch.dispatch.tags import Tag
from glasstorch.jit.ir import Node
from glasstorch.jit.numbers import OPERATIONS

# Kinds without a schema that only compute their outputs.
PURE_PRIMITIVES: Final = frozenset(OPERATIONS) | frozenset(
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
    """Whether the node returns uninitialised memory."""
    operator = node.maybe_operator()
    return operator is not None and Tag.uninitialised in operator.tags


def is_opaque(node: Node) -> bool:
    """Whether the node's effects are unknown: its kind has no schema, or it takes a storage."""
    schema = node.maybe_schema()
    if schema is None:
        return node.kind not in PURE_PRIMITIVES
    return any(argument.type.base == "Storage" for argument in schema.arguments)


def has_side_effects(node: Node) -> bool:
    """Whether omitting the node would be visible even if its outputs are unused; writes are not counted."""
    if is_opaque(node) or is_nondeterministic(node):
        return True
    return any(has_side_effects(inner) for block in node.blocks for inner in block.nodes)


def _draws(operator: Operator) -> bool:
    """Whether its tags say so, or, as a user's operator may have none, it takes a generator."""
    takes_generator = any(argument.type.base == "Generator" for argument in operator.schema.arguments)
    return Tag.nondeterministic_seeded in operator.tags or takes_generator
