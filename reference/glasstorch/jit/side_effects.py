"""Which effects does a node have besides computing its outputs?

Mirrors: torch/csrc/jit/ir/ir.cpp (Node::hasSideEffects, Node::isNondeterministic)
Differs: drawing random numbers advances the generator, which counts as an effect; PyTorch removes an unused draw, which
    changes the numbers of all later ones. Writes to memory are the subject of alias_analysis.py.
"""

from __future__ import annotations

from typing import Final

from glasstorch.dispatch.schema import FunctionSchema
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
# Operators that draw random numbers; those that take a generator are known by that.
RANDOM: Final = frozenset(["rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm"])
# Operators whose result has whatever was in memory before.
UNINITIALISED: Final = frozenset(
    ["empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"]
)


def is_nondeterministic(node: Node) -> bool:
    """Whether two runs of the node with equal inputs may give different values: it draws random numbers."""
    schema = node.maybe_schema()
    return schema is not None and _draws(schema)


def is_uninitialised(node: Node) -> bool:
    """Whether the node gives memory as it finds it."""
    schema = node.maybe_schema()
    return schema is not None and schema.name in UNINITIALISED


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


def _draws(schema: FunctionSchema) -> bool:
    return schema.name in RANDOM or any(argument.type.base == "Generator" for argument in schema.arguments)
