"""Which operators are written as simpler ones, so that a part of them can be fused?

Mirrors: torch/csrc/jit/passes/decompose_ops.cpp (DecomposeOps)
Differs: `linear` is decomposed too, and only where a pointwise operator stands beside the sum: elsewhere the kernel
    that adds while it has the product at hand is the better one. Layer and batch norm are left as they are.

As in PyTorch a sum of its own is more lenient than the operator that it comes from: it promotes dtypes and broadcasts
the product, which `addmm` refuses; and half precision is rounded once more, after the product.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from glasstorch.jit.constants import UNKNOWN, known
from glasstorch.jit.ir import Graph, Node, Value
from glasstorch.jit.passes.fuse_pointwise import is_fusible
from glasstorch.jit.types import NONE, TENSOR


def decompose_ops(graph: Graph) -> bool:
    """Write `addmm` as `mm` and `add`, and `linear` with a bias as `linear` without and `add`, where that helps fusion.

    The factors of an `addmm` must be known to be 1.
    """
    found = [node for node in graph.all_nodes() if node.kind in DECOMPOSITIONS]
    changed = [_decompose(node) for node in found]  # in order: the sum that one becomes stands beside the next
    graph.lint()
    return any(changed)


def _decompose(node: Node) -> bool:
    if not _is_beside_pointwise(node):
        return False
    with node.graph.inserting_before(node):
        summands = DECOMPOSITIONS[node.kind](node)
        if summands is None:
            return False
        total = _new(node, "aten::add", *summands, node.graph.insert_constant(1))
    total.type = node.output.type
    name = node.output.debug_name if node.output.has_debug_name else ""
    node.output.replace_all_uses_with(total)
    node.destroy()
    total.set_debug_name(name)
    return True


def _is_beside_pointwise(node: Node) -> bool:
    """Whether a pointwise operator of the same block uses the result, or makes the tensor that is added."""
    users = [use.user for use in node.output.uses]
    maker = node.inputs[ADDED[node.kind]].node
    return any(other.owning_block is node.owning_block and is_fusible(other) for other in (*users, maker))


def _addmm(node: Node) -> tuple[Value, Value] | None:
    bias, left, right, beta, alpha = node.inputs
    if any(known(factor) is UNKNOWN or known(factor) != 1 for factor in (beta, alpha)):
        return None
    return _new(node, "aten::mm", left, right), bias


def _linear(node: Node) -> tuple[Value, Value] | None:
    rows, weight, bias = node.inputs
    if not bias.type.is_subtype_of(TENSOR):
        return None
    return _new(node, "aten::linear", rows, weight, _none(node.graph)), bias


def _none(graph: Graph) -> Value:
    """The constant None, at the beginning of the graph, where all nodes can use it."""
    for node in graph.nodes:
        if node.kind != "prim::Constant":
            break
        if node.output.type == NONE:
            return node.output
    with graph.inserting_before(graph.nodes[0]):
        return graph.insert_constant(None)


def _new(node: Node, kind: str, *inputs: Value) -> Value:
    """The output of a new node at the insert point, which comes from the same line of the program."""
    made = node.graph.insert_node(node.graph.create(kind, inputs))
    made.source, made.scope = node.source, node.scope
    return made.output


# kind -> gives the two summands that a node is made of, as new nodes at the insert point; None where it is not
DECOMPOSITIONS: Final[dict[str, Callable[[Node], tuple[Value, Value] | None]]] = {
    "aten::addmm": _addmm,
    "aten::linear": _linear,
}
# kind -> which of its inputs is added to the product
ADDED: Final = {"aten::addmm": 0, "aten::linear": 2}
