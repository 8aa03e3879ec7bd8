"""Which nodes repeat the computation of an earlier one?

Mirrors: torch/csrc/jit/passes/common_subexpression_elimination.cpp, torch/csrc/jit/ir/node_hashing.cpp
Differs: constants are equal only if they are identical bit for bit: 1 is not True, and 0.0 is not -0.0.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable
from typing import Any

from glasstorch.jit.alias_analysis import AliasAnalysis
from glasstorch.jit.ir import Block, Graph, Node
from glasstorch.jit.side_effects import has_side_effects

Seen = ChainMap[Hashable, Node]


def eliminate_common_subexpressions(graph: Graph) -> bool:
    """Replace nodes that compute the same as an earlier one by that one.

    Two nodes are not merged if any node writes to their inputs or outputs, or if both outputs are returned: a caller
    that writes to one of two returned tensors would see whether they are one.
    """
    changed = _merge(graph.block, ChainMap(), AliasAnalysis(graph))
    graph.lint()
    return changed


def _merge(block: Block, seen: Seen, analysis: AliasAnalysis) -> bool:
    """Merge the nodes of a block with earlier ones, in this block and in enclosing ones."""
    changed = False
    for node in block.nodes:
        if node.blocks:
            for inner in node.blocks:
                changed |= _merge(inner, seen.new_child(), analysis)
            continue
        if has_side_effects(node) or analysis.has_writers((*node.inputs, *node.outputs)):
            continue
        first = seen.setdefault(_key(node), node)
        if first is not node and _may_stand_for(first, node, analysis):
            node.replace_all_uses_with(first)
            for kept, dropped in zip(first.outputs, node.outputs, strict=True):
                analysis.merged(kept, dropped)
            node.destroy()
            changed = True
    return changed


def _may_stand_for(first: Node, node: Node, analysis: AliasAnalysis) -> bool:
    return not (any(map(analysis.is_returned, first.outputs)) and any(map(analysis.is_returned, node.outputs)))


def _key(node: Node) -> Hashable:
    """Equal for two nodes with the same results, provided that nothing they read changes in between."""
    attributes = tuple((name, constant_key(value)) for name, value in sorted(node.attributes.items()))
    return node.kind, node.inputs, attributes, tuple(output.type for output in node.outputs)


def constant_key(value: Any) -> Hashable:
    """Equal for two attributes that no program can distinguish; a tensor is equal only to itself."""
    if isinstance(value, list | tuple):
        return type(value), tuple(map(constant_key, value))
    if isinstance(value, float):
        return float, value.hex() if value == value else "nan"
    if isinstance(value, bool | int | str | None):
        return type(value), value
    return type(value), id(value)
