"""How does a graph forget what it knows of its tensors?

Mirrors: torch/csrc/jit/passes/shape_analysis.cpp (EraseShapeInformation)
"""

from __future__ import annotations

from glasstorch.jit.ir import Block, Graph


def erase_shape_information(graph: Graph) -> bool:
    """Make every type of a tensor plain `Tensor`.

    The types of a traced graph are those of its example. Before it may run on others, nothing may rely on them.
    """
    changed = _erase(graph.block)
    graph.lint()
    return changed


def _erase(block: Block) -> bool:
    values = [*block.inputs, *(output for node in block.nodes for output in node.outputs)]
    changed = any(value.type != value.type.unshaped() for value in values)
    for value in values:
        value.type = value.type.unshaped()
    inner = [_erase(inner) for node in block.nodes for inner in node.blocks]
    return changed or any(inner)
